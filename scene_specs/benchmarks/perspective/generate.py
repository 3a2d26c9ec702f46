"""Episodes of `perspective`. Each depends only on (seed, split, task, number) and is verified before it is returned."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from diorama.scene_specs.benchmarks.perspective import Options
from diorama.scene_specs.benchmarks.perspective.sight import CORNERS, HIGH, Layout, body_of, gap
from diorama.scene_specs.benchmarks.perspective.truth import SCREEN, TaskName, Truth
from diorama.scene_specs.benchmarks.perspective.verify import answers, verify_spec
from diorama.scene_specs.language.rng import generator, pick, sample, shuffled
from diorama.scene_specs.language.vocabulary import COLORS, SHAPES

ATTEMPTS = 4000
TASKS: tuple[TaskName, ...] = ("level-1", "level-2", "director", "facing")
# Any four successive episodes from a multiple of four have one of each: the answer's place among the options, and
# whether the camera's point of view, or nearness to the camera, leads to it.
_CELLS = 4
PEOPLE = ("Anna", "Ben", "Clara", "David", "Emma", "Felix", "Hanna", "Jonas")
_COLORS = tuple(color for color in COLORS if color != "gray")
# Half the side of the area, and of that of the screen; the distance of the camera; the size of the person.
_AREA, _MIDDLE, _DISTANCE, _SIZE = 2.8, 1.2, 11.0, 0.85
_TRIES = 20
# Least distance between bodies on the ground.
_APART = 0.2


def generate(options: Options) -> Iterator[dict[str, Any]]:
    """Episodes by the options of `render-specs perspective`."""
    for task in TASKS if options.task == "all" else (options.task,):
        for number in range(options.first, options.first + options.count):
            yield perspective_spec(options.seed, options.split, task, number)


def perspective_spec(seed: int, split: str, task: TaskName, number: int) -> dict[str, Any]:
    """Return episode `number` of a task in a split, as JSON data for EpisodeSpec, independently of other episodes.

    Id: `perspective/<split>/<task>/<6 digits>`.

    Raises:
        RuntimeError: no attempt gives a valid episode.
    """
    episode = f"perspective/{split}/{task}/{number:06d}"
    group = generator(seed, f"perspective/{split}/{task}", f"cells-{number // _CELLS}")
    cell = shuffled(group, range(_CELLS))[number % _CELLS]
    for attempt in range(ATTEMPTS):
        rng = generator(seed, episode, f"attempt-{attempt}")
        frame = _frame(rng, task, cell)
        if frame is not None and (truth := _truth(frame, rng, task, number, cell)) is not None:
            spec = {"version": 1, "id": episode, "seed": seed, "split": split, "frames": [frame]}
            spec["task"] = truth.model_dump(mode="json", exclude_none=True)
            if not verify_spec(spec):
                return spec
    raise RuntimeError(f"episode {episode}, seed {seed}: none of {ATTEMPTS} attempts could be verified")


def _frame(rng: np.random.Generator, task: TaskName, cell: int) -> dict[str, Any] | None:
    """Draw a frame, as JSON data; None if there is no room for all."""
    colors, person = sample(rng, _COLORS, 6), pick(rng, PEOPLE)
    kinds = [pick(rng, SHAPES) for _ in range(5)]
    # The two that a person may mean differ from all others in shape.
    if task == "director":
        kinds[2:] = [pick(rng, [shape for shape in SHAPES if shape != kinds[0]]) for _ in range(3)]
        kinds[1] = kinds[0]
    items: list[dict[str, Any]] = [
        {"name": f"{color} {shape}", "shape": shape, "color": color, "material": pick(rng, ("rubber", "metal")),
         "size": 0.35, "rotation_deg": _between(rng, 0, 360)}
        for color, shape in zip(colors, kinds, strict=False)
    ]  # fmt: skip
    screen = {"name": SCREEN, "shape": {"polygon": CORNERS, "height": HIGH}, "color": "gray", "material": "matte",
              "size": 1.0, "rotation_deg": _between(rng, 0, 180)}  # fmt: skip
    observer = {"name": person, "looks_at": items[-1]["name"], "color": colors[5], "size": _SIZE}
    yaw, up = math.radians(_between(rng, 9, 89)), math.radians(_between(rng, 36, 46))
    across, high = _DISTANCE * math.cos(up), _DISTANCE * math.sin(up)
    location = [round(value, 4) for value in (across * math.sin(yaw), -across * math.cos(yaw), 0.4 + high)]
    camera = {"location": location, "look_at": [0.0, 0.0, 0.4]}
    # What the person must see of the first two objects and of the last one, which it looks at.
    sees = {"level-1": [cell < _CELLS / 2], "level-2": [True], "director": [cell < _CELLS / 2, cell >= _CELLS / 2]}
    wanted = {item["name"]: seen for item, seen in zip(items, sees.get(task, []), strict=False)}
    wanted[items[-1]["name"]] = True
    frame = {"name": "scene", "objects": [screen, *items], "observers": [observer], "camera": camera}
    layout = Layout.about({}, frame)
    for item in (screen, observer, items[-1], *items[:-1]):
        if not _place(rng, item, layout, wanted.get(item["name"])):
            return None
    return frame


def _place(rng: np.random.Generator, item: dict[str, Any], layout: Layout, seen: bool | None) -> bool:
    """Find a free place for an item, in sight of the camera, where the person sees it or not; False without one."""
    most, others = _MIDDLE if item["name"] == SCREEN else _AREA, [*layout.bodies.values()]
    for _ in range(_TRIES):
        item["location"] = [_between(rng, -most, most), _between(rng, -most, most)]
        body = layout.bodies[item["name"]] = body_of(item)
        if (
            all(gap(body.start, body.end, other) - body.radius > _APART for other in others)
            and (item["name"] == SCREEN or layout.shown(item["name"]))
            and (seen is None or layout.sees(item["name"]) == seen)
        ):
            return True
    return False


def _truth(frame: dict[str, Any], rng: np.random.Generator, task: TaskName, number: int, cell: int) -> Truth | None:
    """Return the truth about a frame whose answer and egocentric answer are those of a cell; None if it has others."""
    names = [item["name"] for item in frame["objects"][1:]]
    target, person = names[-1], frame["observers"][0]["name"]
    asked, options = {
        "level-1": (names[:1], ["yes", "no"]),
        "level-2": (names[:1], ["left", "right"]),
        "director": (names[:2], names[:2]),
        "facing": ([], [*(others := shuffled(rng, names[:-1])[:3])[:cell], target, *others[cell:]]),
    }[task]
    of = target if task == "level-2" else None
    given = {"name": task, "number": number, "person": person, "asked": asked, "of": of, "options": options}
    layout, first = Layout.of(frame), options[cell if task == "facing" else cell // 2]
    found = answers(Truth.model_validate({**given, "answer": first, "egocentric": options}), layout)
    if isinstance(found, str) or found[0] != first:
        return None
    agrees = {"level-2": found[0] in found[1], "director": task == "director" and layout.nearer(*asked)}
    if agrees.get(task, cell % 2) != cell % 2:
        return None
    return Truth.model_validate({**given, "answer": first, "egocentric": found[1]})


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    return round(low + (high - low) * float(rng.random()), 2)
