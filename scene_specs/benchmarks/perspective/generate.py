"""Episodes of `perspective`. Each depends only on (seed, split, task, number) and is verified before it is returned."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from diorama.scene_specs.benchmarks.perspective import Options, sight
from diorama.scene_specs.benchmarks.perspective.truth import SCREEN, TaskName, Truth
from diorama.scene_specs.benchmarks.perspective.verify import answers, verify_spec
from diorama.scene_specs.language.rng import generator, pick, sample, shuffled
from diorama.scene_specs.language.vocabulary import COLORS, SHAPES
from diorama.scene_specs.model.spec import EpisodeData, FrameData, ObjectData

ATTEMPTS = 4000
TASKS: tuple[TaskName, ...] = ("level-1", "level-2", "second-view", "director", "facing", "shelf")
# Any four successive episodes from a multiple of four have one of each: the answer's place among the options, and
# whether the camera's point of view, or nearness to the camera, leads to it.
_CELLS = 4
PEOPLE = ("Anna", "Ben", "Clara", "David", "Emma", "Felix", "Hanna", "Jonas")
_COLORS = tuple(color for color in COLORS if color != "gray")
# The distance of the camera; the size of the person.
_DISTANCE, _SIZE = 11.0, 0.85
# With a shelf: the distance of the camera, and that of the shelf from the middle of the area; the sizes of the three
# that the person may mean, and of what it looks at.
_NEAR_DISTANCE, _SHELF_AT = 8.5, 1.8
_SIZES = (0.17, 0.215, 0.27, 0.2)


def generate(options: Options) -> Iterator[EpisodeData]:
    """Episodes by the options of `render-specs perspective`."""
    for task in TASKS if options.task == "all" else (options.task,):
        for number in range(options.first, options.first + options.count):
            yield perspective_spec(options.seed, options.split, task, number)


def perspective_spec(
    seed: int, split: str, task: TaskName, number: int, drawn: Counter[str] | None = None
) -> EpisodeData:
    """Return episode `number` of a task in a split, as JSON data for EpisodeSpec, independently of other episodes.

    Id: `perspective/<split>/<task>/<6 digits>`.

    Args:
        drawn: counts the places that were drawn for objects that the question is about, and near-ties among them.

    Raises:
        RuntimeError: no attempt gives a valid episode.
    """
    episode = f"perspective/{split}/{task}/{number:06d}"
    drawn = Counter() if drawn is None else drawn
    group = generator(seed, f"perspective/{split}/{task}", f"cells-{number // _CELLS}")
    cell = shuffled(group, range(_CELLS))[number % _CELLS]
    which = ("smallest", "largest")[number // _CELLS % 2] if task == "shelf" else None
    for attempt in range(ATTEMPTS):
        rng = generator(seed, episode, f"attempt-{attempt}")
        frame = _shelf_frame(rng, which, cell, drawn) if which else _draw_frame(rng, task, cell, drawn)
        if frame is not None and (truth := _truth_of(frame, rng, task, number, cell, which)) is not None:
            spec: EpisodeData = {"version": 1, "id": episode, "seed": seed, "stage": "mewl", "split": split}
            spec |= {"frames": [frame], "task": truth.model_dump(mode="json", exclude_none=True)}
            if not verify_spec(spec):
                return spec
    raise RuntimeError(f"episode {episode}, seed {seed}: none of {ATTEMPTS} attempts could be verified")


def _draw_frame(rng: np.random.Generator, task: TaskName, cell: int, drawn: Counter[str]) -> FrameData | None:
    """Draw a frame, as JSON data; None if there is no room for all."""
    colors, person = sample(rng, _COLORS, 6), pick(rng, PEOPLE)
    kinds = [pick(rng, SHAPES) for _ in range(5)]
    # The two that a person may mean differ from all others in shape.
    if task == "director":
        kinds[2:] = [pick(rng, [shape for shape in SHAPES if shape != kinds[0]]) for _ in range(3)]
        kinds[1] = kinds[0]
    items = _draw_objects(rng, colors, kinds, (0.35,) * 5)
    screen: ObjectData = {"name": SCREEN, "shape": {"polygon": sight.CORNERS, "height": sight.HIGH}, "color": "gray",
                          "material": "matte", "size": 1.0, "rotation_deg": between(rng, 0, 180)}  # fmt: skip
    observer = {"name": person, "looks_at": items[-1]["name"], "color": colors[5], "size": _SIZE}
    camera = _draw_camera(rng, _DISTANCE)[0]
    frame: FrameData = {"name": "scene", "objects": [screen, *items], "observers": [observer], "camera": camera}
    layout, wishes = sight.Layout.about({}, frame), _wishes_for(task, cell, [item["name"] for item in items])
    # What a question is about comes last, so that nothing hides it later.
    for item in (screen, observer, items[-1], *reversed(items[:-1])):
        if not place(rng, item, layout, wishes.get(item["name"]), drawn):
            return None
    if task == "second-view":
        frame["views"] = [{"name": "image", **frame.pop("camera")}, {"name": "photo", **layout.photo()}]
    return frame


def _draw_objects(
    rng: np.random.Generator, colors: Sequence[str], kinds: Sequence[str], sizes: Sequence[float]
) -> list[ObjectData]:
    return [
        {"name": f"{color} {shape}", "shape": shape, "color": color, "material": pick(rng, ("rubber", "metal")),
         "size": size, "rotation_deg": between(rng, 0, 360)}
        for color, shape, size in zip(colors, kinds, sizes, strict=False)
    ]  # fmt: skip


def _draw_camera(rng: np.random.Generator, far: float) -> tuple[dict[str, Any], float]:
    """Return a camera, as JSON data, and how far it is turned about the middle, radians."""
    yaw, up = math.radians(between(rng, 9, 89)), math.radians(between(rng, 36, 46))
    x, y = sight.beside((0.0, 0.0), yaw, 0.0, -far * math.cos(up))
    location = [round(value, 4) for value in (x, y, 0.4 + far * math.sin(up))]
    return {"location": location, "look_at": [0.0, 0.0, 0.4]}, yaw


def _shelf_frame(rng: np.random.Generator, which: str, cell: int, drawn: Counter[str]) -> FrameData:
    """Draw a frame whose person stands behind a shelf, one of whose cells is closed towards it.

    Sizes and distances are such that all is clear in each frame: if some were refused, what is at an end of the shelf,
    of which people see less, would be closed more often.
    """
    colors, kind = sample(rng, _COLORS, 5), pick(rng, ("sphere", "cylinder"))
    kinds = [*[kind] * 3, pick(rng, [shape for shape in SHAPES if shape != kind])]
    items, (camera, yaw) = _draw_objects(rng, colors, kinds, _SIZES), _draw_camera(rng, _NEAR_DISTANCE)
    order = items[:3] if which == "smallest" else items[2::-1]
    closed = pick(rng, order[1:]) if cell % 2 else order[0]
    turn = yaw + math.radians(between(rng, -8, 8))
    cells: list[ObjectData] = []
    for number, item in enumerate(shuffled(rng, items)):
        place = sight.beside((0.0, 0.0), turn, (2 * number - 3) * sight.CELL, -_SHELF_AT)
        item["location"] = [round(value, 4) for value in place]
        cells.append({"name": f"cell {number + 1}", "shape": sight.CELLS[item is closed], "color": "gray",
                      "material": "matte", "size": sight.CELL, "rotation_deg": round(math.degrees(turn), 4),
                      "location": item["location"]})  # fmt: skip
    spot = sight.beside((0.0, 0.0), turn, between(rng, -0.2, 0.2), between(rng, 2.5, 2.8))
    observer = {"name": pick(rng, PEOPLE), "looks_at": items[-1]["name"], "color": colors[-1], "size": _SIZE,
                "location": [round(value, 2) for value in spot]}  # fmt: skip
    frame: FrameData = {"name": "scene", "objects": [*cells, *shuffled(rng, items)], "observers": [observer]}
    frame["camera"] = camera
    layout = sight.Layout.of(frame)
    drawn += Counter({"drawn": 3, "near-ties": [layout.sees(item["name"]) for item in items[:3]].count(None)})
    return frame


def _wishes_for(task: TaskName, cell: int, names: list[str]) -> dict[str, Wish]:
    """Return what must be so about objects, the last of which the person looks at."""
    first = cell < _CELLS / 2
    side, other = ("left", "right") if first else ("right", "left")
    camera_side = side if cell % 2 else other
    asked = {
        "level-1": [Wish(first)],
        "level-2": [Wish(True, names[-1], side, camera_side)],
        "second-view": [Wish(True, names[1], side, camera_side, photo=True), Wish(True, photo=True)],
        "director": [Wish(first), Wish(not first)],
        "facing": [Wish(None)] * 4,
    }[task]
    return {**dict(zip(names, asked, strict=False)), names[-1]: Wish(True)}


def _truth_of(
    frame: FrameData, rng: np.random.Generator, task: TaskName, number: int, cell: int, which: str | None
) -> Truth | None:
    """Return the truth about a frame whose answer and egocentric answer are those of a cell; None if it has others."""
    (observer,) = frame["observers"]
    person, target = observer["name"], observer["looks_at"]
    sizes = {item["name"]: item["size"] for item in frame["objects"] if item["shape"] in SHAPES}
    names, others = [*sizes], [name for name in sizes if name != target]
    ordered = sorted(others, key=lambda name: sizes[name], reverse=which == "largest")
    asked, options = {
        "level-1": (names[:1], ["yes", "no"]),
        "level-2": (names[:1], ["left", "right"]),
        "second-view": (names[:2], ["left", "right"]),
        "director": (names[:2], names[:2]),
        "facing": ([], [*(others := shuffled(rng, others)[:3])[:cell], target, *others[cell:]]),
        "shelf": (sorted(ordered), ordered[:2] if cell // 2 != cell % 2 else ordered[1::-1]),
    }[task]
    of = target if task == "level-2" else None
    given = {"name": task, "number": number, "person": person, "asked": asked, "which": which, "of": of}
    given["options"] = options
    layout, first = sight.Layout.of(frame), options[cell if task == "facing" else cell // 2]
    answered = answers(Truth.model_validate({**given, "answer": first, "egocentric": options}), layout)
    if answered.problem or answered.answer != first:
        return None
    if task == "director" and layout.nearer(*asked) != cell % 2:
        return None
    return Truth.model_validate({**given, "answer": first, "egocentric": answered.egocentric})


# Half the side of the area, and of that of the screen; greatest distance from an eye; least distance between bodies on
# the ground, and from the line between an eye and what it sees.
_AREA, _MIDDLE, _REACH, _APART = 2.8, 1.2, 6.0, 0.2
# Least distance from an eye.
_NEAR = 1.5
_TRIES = 20
# How far from the limits of what is clear places are drawn, degrees: objects have a size, and gazes go down.
_WITHIN = 18.0


class Wish(NamedTuple):
    """What must be so about an object.

    Attributes:
        seen: whether the person sees it; None: whether the gaze passes it.
        of: name of the object from which the sides are counted, if any.
        side: for the person.
        camera_side: in the image.
        photo: whether to see is to photograph.
    """

    seen: bool | None
    of: str = ""
    side: str = ""
    camera_side: str = ""
    photo: bool = False

    def measured(self, layout: sight.Layout, name: str) -> tuple[bool | str | None, ...]:
        """Return what is so, with None or "" for what is not clear."""
        if self.seen is None:
            return (layout.beside_gaze(name),)
        seen, side = (layout.pictured, layout.photo_side) if self.photo else (layout.sees, layout.side)
        return seen(name), *((side(name, self.of), layout.camera_side(name, self.of)) if self.of else ())

    def expected(self) -> tuple[bool | str, ...]:
        """Return what must be found."""
        return self.seen is not False, *filter(None, (self.side, self.camera_side))


def place(
    rng: np.random.Generator, item: dict[str, Any], layout: sight.Layout, wish: Wish | None, drawn: Counter[str]
) -> bool:
    """Find a free place for an item, in sight of the camera, that is as wished; False without one.

    Args:
        item: as JSON data of a spec; its location is set.
        layout: of what was placed before; gets the item.
        wish: None if nothing is asked about the item.
        drawn: counts free places of what is asked about, and those of them for which the wish is not clear. Of what is
            to be seen, places with something on the way from the eye are not free.
    """
    name, others = item["name"], [*layout.bodies.items()]
    most, target = _MIDDLE if name == SCREEN else _AREA, name == layout.target
    # Before anything is looked at, the person stands for its eyes.
    eye = layout.bodies[layout.person].middle if target else layout.eyes()[:2] if wish else None
    for _ in range(_TRIES):
        spot = _draw_spot(rng, layout, eye, wish, target) if eye and wish else _draw_point(rng, most)
        item["location"] = [round(value, 2) for value in spot]
        body = layout.bodies[name] = sight.body_of(item)
        # Nothing stands between the eye and what is to be seen; the eye is inside the person's own body.
        start = eye if eye and wish and wish.seen else body.start
        starts = (body.start if other == layout.person else start for other, _ in others)
        free = all(
            sight.gap(a, body.end, near) - body.radius > _APART for a, (_, near) in zip(starts, others, strict=True)
        )
        if not free or max(map(abs, spot)) > most or not (name == SCREEN or layout.shown(name)):
            continue
        if wish is None:
            return True
        measured = wish.measured(layout, name)
        if not target:
            drawn["drawn"] += 1
            drawn["near-ties"] += None in measured or "" in measured
        if measured == wish.expected():
            return True
    return False


def _draw_spot(
    rng: np.random.Generator, layout: sight.Layout, eye: sight.Point, wish: Wish, target: bool
) -> sight.Point:
    """Draw a place for which a wish is likely to hold: behind the screen, or in a range of directions from the gaze."""
    # Looking down steeply, a person sees little of what is far away.
    near = 2.2 if target else 1.8 if wish.photo else _NEAR
    far = math.sqrt(between(rng, near**2, _REACH**2))
    if target:
        return sight.beside(eye, math.radians(between(rng, -180, 180)), far)
    if wish.seen is False and (spot := _behind_screen(rng, layout, eye)):
        return spot
    (x, y), most = layout.bodies[layout.target].middle, (sight.PICTURED if wish.photo else sight.VIEW) - _WITHIN
    low, high = {None: (sight.GAZE, 180.0), False: (sight.BEHIND + _WITHIN, 180.0), True: (0.0, most)}[wish.seen]
    sign = {"left": 1, "right": -1}.get(wish.side) or pick(rng, (-1, 1))
    if wish.of:
        low = sign * layout.angle(layout.target, wish.of) + sight.SIDE
    elif wish.photo:
        # What sides are counted from has room on both.
        high /= 2
    turn = math.atan2(y - eye[1], x - eye[0]) + math.radians(sign * between(rng, low, high))
    if wish.of:
        away = between(rng, 1.2 * sight.IMAGE_SIDE, 5 * sight.IMAGE_SIDE) * (1 if wish.camera_side == "right" else -1)
        far = layout.reach(eye, sight.beside((0.0, 0.0), turn, 1.0), layout.column(wish.of) + away)
        # This column of the image may be behind the person, or too near; then nothing is placed.
        far = far if far > near else 2 * _REACH
    return sight.beside(eye, turn, far)


def _behind_screen(rng: np.random.Generator, layout: sight.Layout, eye: sight.Point) -> sight.Point | None:
    """Draw a place behind the middle of the screen; None if the screen is not in view, or seen from its end."""
    start, end, *_ = layout.bodies[SCREEN]
    part = between(rng, 0.35, 0.65)
    x, y = (a + part * (b - a) - e for a, b, e in zip(start, end, eye, strict=True))
    sine = (x * (end[1] - start[1]) - y * (end[0] - start[0])) / (math.hypot(x, y) * math.dist(start, end))
    if abs(layout.angle(layout.target, SCREEN)) > sight.VIEW - _WITHIN or abs(sine) < 0.5:
        return None
    return sight.beside(eye, math.atan2(y, x), math.hypot(x, y) + between(rng, 1.2, 3))


def _draw_point(rng: np.random.Generator, most: float) -> sight.Point:
    return between(rng, -most, most), between(rng, -most, most)


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number with two decimals."""
    return round(low + (high - low) * float(rng.random()), 2)
