"""Episodes of `perspective`. Each depends only on (seed, split, task, number) and is verified before it is returned."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from diorama.scene_specs.benchmarks.perspective import Options
from diorama.scene_specs.benchmarks.perspective.places import Wish, between, place
from diorama.scene_specs.benchmarks.perspective.sight import CORNERS, HIGH, Layout
from diorama.scene_specs.benchmarks.perspective.truth import SCREEN, TaskName, Truth
from diorama.scene_specs.benchmarks.perspective.verify import answers, verify_spec
from diorama.scene_specs.language.rng import generator, pick, sample, shuffled
from diorama.scene_specs.language.spec_data import EpisodeData, FrameData, ObjectData
from diorama.scene_specs.language.vocabulary import COLORS, SHAPES

ATTEMPTS = 4000
TASKS: tuple[TaskName, ...] = ("level-1", "level-2", "second-view", "director", "facing")
# Any four successive episodes from a multiple of four have one of each: the answer's place among the options, and
# whether the camera's point of view, or nearness to the camera, leads to it.
_CELLS = 4
PEOPLE = ("Anna", "Ben", "Clara", "David", "Emma", "Felix", "Hanna", "Jonas")
_COLORS = tuple(color for color in COLORS if color != "gray")
# The distance of the camera; the size of the person.
_DISTANCE, _SIZE = 11.0, 0.85


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
    for attempt in range(ATTEMPTS):
        rng = generator(seed, episode, f"attempt-{attempt}")
        frame = _frame(rng, task, cell, drawn)
        if frame is not None and (truth := _truth(frame, rng, task, number, cell)) is not None:
            spec: EpisodeData = {"version": 1, "id": episode, "seed": seed, "split": split, "frames": [frame]}
            spec["task"] = truth.model_dump(mode="json", exclude_none=True)
            if not verify_spec(spec):
                return spec
    raise RuntimeError(f"episode {episode}, seed {seed}: none of {ATTEMPTS} attempts could be verified")


def _frame(rng: np.random.Generator, task: TaskName, cell: int, drawn: Counter[str]) -> FrameData | None:
    """Draw a frame, as JSON data; None if there is no room for all."""
    colors, person = sample(rng, _COLORS, 6), pick(rng, PEOPLE)
    kinds = [pick(rng, SHAPES) for _ in range(5)]
    # The two that a person may mean differ from all others in shape.
    if task == "director":
        kinds[2:] = [pick(rng, [shape for shape in SHAPES if shape != kinds[0]]) for _ in range(3)]
        kinds[1] = kinds[0]
    items: list[ObjectData] = [
        {"name": f"{color} {shape}", "shape": shape, "color": color, "material": pick(rng, ("rubber", "metal")),
         "size": 0.35, "rotation_deg": between(rng, 0, 360)}
        for color, shape in zip(colors, kinds, strict=False)
    ]  # fmt: skip
    screen: ObjectData = {"name": SCREEN, "shape": {"polygon": CORNERS, "height": HIGH}, "color": "gray",
                          "material": "matte", "size": 1.0, "rotation_deg": between(rng, 0, 180)}  # fmt: skip
    observer = {"name": person, "looks_at": items[-1]["name"], "color": colors[5], "size": _SIZE}
    yaw, up = math.radians(between(rng, 9, 89)), math.radians(between(rng, 36, 46))
    across, high = _DISTANCE * math.cos(up), _DISTANCE * math.sin(up)
    location = [round(value, 4) for value in (across * math.sin(yaw), -across * math.cos(yaw), 0.4 + high)]
    camera = {"location": location, "look_at": [0.0, 0.0, 0.4]}
    frame: FrameData = {"name": "scene", "objects": [screen, *items], "observers": [observer], "camera": camera}
    layout, wishes = Layout.about({}, frame), _wishes(task, cell, [item["name"] for item in items])
    # What a question is about comes last, so that nothing hides it later.
    for item in (screen, observer, items[-1], *reversed(items[:-1])):
        if not place(rng, item, layout, wishes.get(item["name"]), drawn):
            return None
    if task == "second-view":
        frame["views"] = [{"name": "image", **frame.pop("camera")}, {"name": "photo", **layout.photo()}]
    return frame


def _wishes(task: TaskName, cell: int, names: list[str]) -> dict[str, Wish]:
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


def _truth(frame: FrameData, rng: np.random.Generator, task: TaskName, number: int, cell: int) -> Truth | None:
    """Return the truth about a frame whose answer and egocentric answer are those of a cell; None if it has others."""
    names = [item["name"] for item in frame["objects"][1:]]
    target, person = names[-1], frame["observers"][0]["name"]
    asked, options = {
        "level-1": (names[:1], ["yes", "no"]),
        "level-2": (names[:1], ["left", "right"]),
        "second-view": (names[:2], ["left", "right"]),
        "director": (names[:2], names[:2]),
        "facing": ([], [*(others := shuffled(rng, names[:-1])[:3])[:cell], target, *others[cell:]]),
    }[task]
    of = target if task == "level-2" else None
    given = {"name": task, "number": number, "person": person, "asked": asked, "of": of, "options": options}
    layout, first = Layout.of(frame), options[cell if task == "facing" else cell // 2]
    found = answers(Truth.model_validate({**given, "answer": first, "egocentric": options}), layout)
    if isinstance(found, str) or found[0] != first:
        return None
    if task == "director" and layout.nearer(*asked) != cell % 2:
        return None
    return Truth.model_validate({**given, "answer": first, "egocentric": found[1]})
