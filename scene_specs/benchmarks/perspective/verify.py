"""Verification of perspective episodes: what the person sees gives one option, the stored answer.

Specs are verified by geometry of the ground, records by what was measured: the shares that the eyes see.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from operator import mul, sub
from typing import Any, NamedTuple

import numpy as np

from diorama.scene_specs.benchmarks.perspective.sight import CELL, CELLS, CORNERS, HIGH, PHOTO_AHEAD, Layout
from diorama.scene_specs.benchmarks.perspective.truth import SCREEN, Truth
from diorama.scene_specs.language.vocabulary import SHAPES
from diorama.scene_specs.model.record import EpisodeRecord, FrameAnnotation
from diorama.scene_specs.model.spec import EpisodeData, FrameData
from diorama.scene_specs.rotation import Vec

# Least share that is seen, most that is not seen, and least share of what is named that the image shows.
SEEN, UNSEEN, SHOWN = 0.9, 0.01, 0.7
# Least ratio of the sizes of what is smaller or larger.
_SIZES = 1.2
# Least angles between left and right for a person, degrees, and in the image, pixels as a share of its width.
_SIDE, _IMAGE_SIDE = 6.0, 0.02
# Angle from the gaze up to which shares are of what is in view, and from which objects are behind the person, degrees.
_VIEW, _BEHIND = 60.0, 105.0


class _Measured:
    """Who sees what by the annotation of an image; see Layout for the methods."""

    def __init__(self, image: FrameAnnotation, photo: FrameAnnotation | None = None) -> None:
        self._photo = _Measured(photo) if photo is not None else None
        self._objects = {item.name: item for item in image.objects}
        (self._observer,) = image.observers
        self.person, self.target = self._observer.name, str(self._observer.looks_at)
        self._width = 2 * image.camera.intrinsics[0][2]

    def shown(self, name: str) -> bool:
        return self._objects[name].visible_fraction >= SHOWN

    def sees(self, name: str) -> bool | None:
        share, angle = self._observer.visible[name], self._from_gaze(name)
        # Shares are 0 outside of the view, too, where people see something from the corner of the eye.
        unseen = share <= UNSEEN and not _VIEW < angle < _BEHIND
        return True if share >= SEEN else False if unseen else None

    def side(self, name: str, of: str) -> str:
        (x1, y1), (x2, y2) = (self._offset_from_person(point)[:2] for point in (of, name))
        turn = math.degrees(math.atan2(x1 * y2 - y1 * x2, x1 * x2 + y1 * y2))
        return "" if not _SIDE <= abs(turn) <= 180 - _SIDE else "left" if turn > 0 else "right"

    def camera_side(self, name: str, of: str) -> str:
        away = (self._objects[name].pixel_center[0] - self._objects[of].pixel_center[0]) / self._width
        return "" if abs(away) < _IMAGE_SIDE else "right" if away > 0 else "left"

    def gaze_is_clear(self) -> bool:
        names = {*self._objects} - {self.person, self.target, SCREEN}
        return self._from_gaze(self.target) < 0.1 and all(self._from_gaze(name) >= _SIDE for name in names)

    def pictured(self, name: str) -> bool | None:
        photo = self._photo
        return (photo is not None and not photo._objects[name].truncated and photo.shown(name)) or None

    def photo_side(self, name: str, of: str) -> str:
        return self._photo.camera_side(name, of) if self._photo else ""

    def size(self, name: str) -> float:
        return self._objects[name].scale

    def _from_gaze(self, name: str) -> float:
        """Angle of the middle of an object from the gaze, degrees."""
        away = self._offset_from_person(name)
        cosine = sum(map(mul, self._observer.gaze, away)) / math.hypot(*away)
        return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))

    def _offset_from_person(self, name: str) -> Vec:
        x, y, z = map(sub, self._objects[name].location, self._observer.eye)
        return x, y, z


# Who sees what; None and "" are of what is not clear.
Sight = Layout | _Measured


def verify_spec(data: EpisodeData) -> str:
    """Return why the stored truth of a spec, as JSON data, is wrong; "" if it is right. Raises SpecError."""
    truth = Truth.of_spec(data)
    if problem := form_problem(data, truth):
        return problem
    (frame,) = data["frames"]
    items = (item for item in frame["objects"] if item["shape"] not in CELLS)
    called = {item["name"]: f"{item['color']} {item['shape']}" for item in items}
    try:
        layout = Layout.of(frame)
        return photo_problem(frame, layout) or _find_problem(truth, layout, called)
    except ArithmeticError:
        return "the camera or the person is at, or straight above, what it looks at"


def verify_record(episode: EpisodeRecord) -> str:
    """Return why the stored truth contradicts what was measured; "" if it does not. Raises SpecError."""
    truth = Truth.of_record(episode)
    wanted = [1, 1] if truth.is_photographed else [1]
    if (counts := [len(episode_image.annotation.observers) for episode_image in episode.images]) != wanted:
        return f"expected these numbers of observers per image: {wanted}; found {counts}"
    image, *photos = (episode_image.annotation for episode_image in episode.images)
    called = {item.name: f"{item.color} {item.shape}" for item in image.objects}
    for photo in photos:
        (person,) = image.observers
        away = math.dist(
            photo.camera.location, [a + PHOTO_AHEAD * b for a, b in zip(person.eye, person.gaze, strict=True)]
        )
        if away > 0.02 or math.dist(photo.camera.extrinsics[2][:3], person.gaze) > 0.02:
            return f"the second image is not what {person.name} photographs"
    return _find_problem(truth, _Measured(image, *photos), called)


def _find_problem(truth: Truth, sight: Sight, called: Mapping[str, str]) -> str:
    """Return why the truth contradicts what is seen, "" if it does not. called: object -> its color and shape."""
    if truth.person != sight.person:
        return f"the truth is about {truth.person}; the image shows {sight.person}"
    named = dict.fromkeys((sight.target, *truth.asked, *(truth.options if truth.name == "facing" else ())))
    for name in named:
        if called.get(name) != name or list(called.values()).count(name) > 1:
            return f"found no object, or several, that is a {name}"
    kinds = {name.split()[-1] for name in truth.asked} if truth.name in ("director", "shelf") else ()
    if kinds and {name for name, words in called.items() if words.split()[-1] in kinds} != {*truth.asked}:
        return f"{truth.person} may mean another one than {', '.join(truth.asked)}"
    if hidden := [name for name in (sight.person, *named) if not sight.shown(name)]:
        return f"{hidden[0]} is hidden in the image"
    if truth.name == "level-2" and truth.of != sight.target:
        return f"left and right are counted from the {truth.of}; {truth.person} looks at the {sight.target}"
    derived = answers(truth, sight)
    if not derived.problem and (derived.answer, derived.egocentric) != (truth.answer, truth.egocentric):
        stored = f"{truth.answer!r} (from the camera: {', '.join(truth.egocentric)})"
        return f"the stored answer is {stored}; found {derived.answer!r} ({', '.join(derived.egocentric)})"
    return derived.problem


class Answers(NamedTuple):
    """The answer and the egocentric answers to a question, and why they are unclear."""

    answer: str = ""
    egocentric: tuple[str, ...] = ()
    problem: str = ""


def answers(truth: Truth, sight: Sight) -> Answers:
    """Return the answers to a question."""
    if truth.name == "facing":
        problem = "" if sight.gaze_is_clear() else "the person may look at another object"
        return Answers(sight.target, truth.options, problem)
    if truth.name == "second-view":
        side, camera = sight.photo_side(*truth.asked), sight.camera_side(*truth.asked)
        clear = side and camera and all(map(sight.pictured, truth.asked))
        problem = f"the photograph does not show clearly on which side of the {truth.asked[1]} the {truth.asked[0]} is"
        return Answers(side, (camera,), "" if clear else problem)
    if not sight.sees(sight.target):
        return Answers(problem=f"the person looks at the {sight.target} without seeing it")
    if truth.name == "level-2":
        ((name, of),) = zip(truth.asked, [truth.of or ""], strict=True)
        side, camera = sight.side(name, of), sight.camera_side(name, of)
        problem = f"the {name} is neither clearly left nor clearly right of the {of}"
        return Answers(side, (camera,), "" if side and camera and sight.sees(name) else problem)
    seen = {name: sight.sees(name) for name in truth.asked}
    if None in seen.values():
        part = next(name for name, share in seen.items() if share is None)
        return Answers(problem=f"the person sees a part of the {part}")
    if truth.name == "level-1":
        return Answers("yes" if all(seen.values()) else "no", ("yes",))
    visible = [name for name, share in seen.items() if share]
    if truth.name == "shelf":
        sizes = {name: sight.size(name) for name in truth.asked}
        ordered = sorted(sizes, key=lambda name: sizes[name], reverse=truth.which == "largest")
        if len(visible) < 2 or any(max(pair) < _SIZES * min(pair) for pair in combinations(sizes.values(), 2)):
            return Answers(problem=f"the person sees {len(visible)} of the three objects, or their sizes are alike")
        return Answers(next(name for name in ordered if name in visible), (ordered[0],))
    if len(visible) != 1:
        return Answers(problem=f"the person sees {len(visible)} of the two objects")
    return Answers(visible[0], truth.asked)


def form_problem(data: EpisodeData, truth: Truth) -> str:
    """Return the first reason why the geometry can't tell who sees what in a valid spec, as JSON data; "" if it can."""
    if len(data["frames"]) != 1:
        return f"expected 1 of frames; found {len(data['frames'])}"
    (frame,) = data["frames"]
    people, objects = frame.get("observers") or [], frame["objects"]
    if len(people) != 1 or not isinstance(people[0]["looks_at"], str):
        return "expected one of observers, whose looks_at names an object"
    if unknown := [key for key in ("random_objects", "pointer") if frame.get(key)]:
        return f"the geometry knows nothing of {unknown[0]}"
    cameras, count = frame.get("views") or [frame.get("camera") or {}], 1 + truth.is_photographed
    if len(cameras) != count:
        return f"expected cameras: {count}; found {len(cameras)} of views"
    if missing := [key for key in ("location", "look_at") if not cameras[0].get(key)]:
        return f"expected {missing[0]} of the camera; found none"
    if any(camera.get("jitter") for camera in cameras):
        return "the geometry knows nothing of jitter"
    walls = [item for item in objects if item.get("name") == SCREEN or item.get("shape") in CELLS]
    looks = [(item.get("shape"), item.get("size"), item.get("material")) for item in walls]
    if truth.name != "shelf" and looks != [({"polygon": CORNERS, "height": HIGH}, 1, "matte")]:
        return f"expected one object {SCREEN}, of the shape, size and material that render-specs perspective writes"
    if truth.name == "shelf" and not (
        looks and all(look in [(kind, CELL, "matte") for kind in CELLS] for look in looks)
    ):
        return f"expected cells of a shelf, of size {CELL} and matte, and no {SCREEN}"
    problems = (_body_problem(item, item in people, item in walls) for item in (*objects, *people))
    return next(filter(None, problems), "")


def photo_problem(frame: FrameData, layout: Layout) -> str:
    """Return why the second camera of a frame, if any, is not that of the person; "" if it is."""
    for camera in (frame.get("views") or [])[1:]:
        for key, expected in layout.photo().items():
            if not np.allclose(camera.get(key, math.nan), expected, rtol=0, atol=0.01):
                return f"{key} of the second camera: expected {expected}, for {layout.person}; found {camera.get(key)}"
    return ""


def _body_problem(item: dict[str, Any], person: bool, wall: bool) -> str:
    name = item.get("name")
    for key in ("size",) if person else ("size", "rotation_deg"):
        if not isinstance(item.get(key), int | float):
            return f"{name}: expected a number as {key}; found {item.get(key, 'none')}"
    for key in ("location",) if person else ("name", "location", "color"):
        if item.get(key) is None:
            return f"{name}: expected a {key}; found none"
    if not person and not wall and item.get("shape") not in SHAPES:
        return f"{name}: expected one of the shapes {', '.join(SHAPES)}; found {item.get('shape', 'none')}"
    half = HIGH / 2 if name == SCREEN else item["size"]
    # A person in a pose is a little lower than one who looks straight ahead.
    if any(abs(z - half) > 0.01 * half for z in item["location"][2:]):
        return f"{name} does not stand on the ground: expected z = {half:g}; found {item['location'][2]:g}"
    return ""
