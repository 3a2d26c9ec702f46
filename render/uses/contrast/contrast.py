"""Pairs and chains of Scenes in which neighbors differ in one factor and all else is held.

Everything sampled for the source is written into its spec (`pin_layout`); each further Scene compiles from that spec
with one more change. Seeds of Cycles, and the share of glass that decides the number of samples, are those of all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import TypeAdapter, ValidationError

from diorama.render.annotations.annotate import extent_of
from diorama.render.compiler import compile_episode
from diorama.render.geometry.sampling_plan import glass_share
from diorama.render.uses.rerender.pin_layout import pin_layout
from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import CompileError, ContrastError, SpecError, UsageError
from diorama.scene_specs.language.json_diff import differences
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.model.scene import Change, Scene, SceneContrast, SceneFrame, Settings
from diorama.scene_specs.model.spec import EpisodeData, EpisodeId, EpisodeSpec, FrameData
from diorama.scene_specs.model.stage import load_stage, scene_stage
from diorama.scene_specs.reading.source import parse_episode
from diorama.scene_specs.tasks.benchmark import benchmark, benchmark_of, verifier_of
from diorama.scene_specs.tasks.contrast import Edit, edits
from diorama.scene_specs.tasks.questions.view import CONTACT, vertical

Answers = Literal["flip", "stay", "any"]
Direction = Literal["add", "remove", "any"]
# Edits to try per Scene.
_TRIES = 2000
# Of these changes, a chain changes the same objects in each step.
_SAME_OBJECT = ("color", "material", "shape", "size", "position")


@dataclass(frozen=True)
class ContrastOptions:
    """What differs between the Scenes of a pair or chain.

    Attributes:
        change: the factor.
        members: number of Scenes per chain, 2 for pairs.
        answers: what the benchmark's answers must do.
        direction: whether a change of `count` must add or remove an object.
        asset_roots: folders of .blend materials and meshes.
    """

    change: Change
    members: int = 2
    answers: Answers = "flip"
    asset_roots: Sequence[Path] = ()
    direction: Direction = "any"


@dataclass
class _Chain:
    """The Scenes of a pair or chain so far, and the spec of the next one.

    Attributes:
        distinct: indices of the frames in which no two objects may look alike.
    """

    scenes: list[Scene]
    data: EpisodeData
    distinct: set[int]
    steps: list[Edit] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)


def contrast_scenes(spec: EpisodeSpec | Scene, settings: Settings, options: ContrastOptions) -> list[Scene]:
    """Make the Scenes of a pair or chain; the first equals the compiled spec except for its id, `contrast` and samples.

    Raises:
        ContrastError: no edit fits; names the most frequent reasons.
        UsageError: not everything can be fixed, or a direction for something else than `count`.
        CompileError: no layout is found for the spec.
    """
    if isinstance(spec, Scene):
        raise ContrastError(f"episode {spec.id}: contrasts are made of specs; found a Scene")
    if options.direction != "any" and options.change != "count":
        raise UsageError(f"--direction is for --change count; found --change {options.change}")
    try:
        TypeAdapter(EpisodeId).validate_python(f"{spec.id}+{options.change}-{options.members - 1}")
    except ValidationError:
        raise ContrastError(f"episode {spec.id}: its id is too long to add +{options.change}-0; shorten it") from None
    # Rectangles depend on the layout, and noise on them.
    settings = settings.without_rectangles()
    source = compile_episode(spec, settings, options.asset_roots)
    pinned: Any = pin_layout(spec, source, options.asset_roots).model_dump(mode="json", exclude_none=True)
    if load_stage(spec.stage).ground is not None:
        _keep_on_ground(pinned, source)
    distinct = {
        k for k, frame in enumerate(spec.frames) if frame.random_objects is not None and frame.random_objects.distinct
    }
    chain = _Chain([source], _with_stage_rules(pinned, settings, options), distinct)
    rng = generator(spec.seed, spec.id, f"contrast {options.change}")
    name = benchmark_of(spec.task)
    make: Callable[..., Iterator[Edit]] = (benchmark(name).contrasts if name else None) or _true_edits
    with searching(options.asset_roots):
        for _ in range(1, options.members):
            candidates = (edit for edit in make(chain.data, options.change, rng) if _has_direction(edit, options))
            _add_first_edit(chain, islice(candidates, _TRIES), settings, options)
    return _finish_scenes(chain, options)


def _true_edits(data: EpisodeData, change: Change, rng: np.random.Generator) -> Iterator[Edit]:
    """Edits that leave the stored truth as it is. Refused: those that a benchmark's truth contradicts."""
    verifier = verifier_of(data.get("task"))
    for edit in edits(data, change, rng):
        try:
            wrong = bool(verifier and verifier.verify_spec(edit.data))
        except SpecError:
            wrong = True
        yield replace(edit, problem="the stored truth would be wrong" if wrong else "")


def _keep_on_ground(data: EpisodeData, source: Scene) -> None:
    """Give the objects that stand on the ground two coordinates, with which they stay there when their size changes."""
    for frame, compiled in zip(data["frames"], source.frames, strict=True):
        scales = {item.name: item.scale for item in compiled.objects}
        for item in frame["objects"]:
            if (item.get("location") or ())[2:] == [scales[item["name"]]]:
                del item["location"][2]


def _with_stage_rules(data: EpisodeData, settings: Settings, options: ContrastOptions) -> EpisodeData:
    """Return the pinned spec with the rules of its stage as constraints, where it fulfills them.

    The compiler applies the rules of a stage to the locations that it samples, but not to specified ones.
    """
    placement = load_stage(data["stage"]).placement
    for rule in ("min_distance", "min_visible_pixels", "in_frame"):
        if not (value := getattr(placement, rule)):
            continue
        added = {rule: value}
        frames: list[FrameData] = [{**f, "constraints": [*f.get("constraints", ()), added]} for f in data["frames"]]
        try:
            compile_episode(parse_episode(json.dumps({**data, "frames": frames})), settings, options.asset_roots)
        except (CompileError, SpecError):
            continue
        data = {**data, "frames": frames}
    return data


def _add_first_edit(chain: _Chain, candidates: Iterator[Edit], settings: Settings, options: ContrastOptions) -> None:
    """Add the first edit that fits. Raises ContrastError."""
    for edit in candidates:
        try:
            if not (problem := edit.problem or _why_unfit(chain, edit, options)):
                scene = compile_episode(parse_episode(json.dumps(edit.data)), settings, options.asset_roots)
                if not (problem := _changed_elsewhere(chain.scenes, scene, edit) or _wrong_frame(chain, scene, edit)):
                    chain.scenes.append(scene)
                    chain.steps.append(edit)
                    chain.data = edit.data
                    return
        except (CompileError, SpecError) as error:
            problem = (error if isinstance(error, CompileError) else error.diagnostics[0]).problem.partition(":")[0]
        chain.problems[problem] += 1
    reasons = "; ".join(f"{text} ({count})" for text, count in chain.problems.most_common(3))
    reasons = reasons or f"nothing in it has a {options.change} to change"
    raise ContrastError(f"episode {chain.scenes[0].id}: no contrast of its {options.change}: {reasons}")


def _has_direction(edit: Edit, options: ContrastOptions) -> bool:
    return options.direction == "any" or (edit.after > edit.before) == (options.direction == "add")


def _why_unfit(chain: _Chain, edit: Edit, options: ContrastOptions) -> str:
    """Why an edit is none of this chain; "" if it is."""
    same = options.change not in _SAME_OBJECT or all(step.objects == edit.objects for step in chain.steps)
    if not same or any(step.frame != edit.frame for step in chain.steps):
        return "another object"
    answers = _answers(edit.data), _answers(chain.data)
    if answers[0] is None or options.answers == "any" or (answers[0] != answers[1]) == (options.answers == "flip"):
        return ""
    return "the answer stays" if options.answers == "flip" else "the answer flips"


def _answers(data: EpisodeData) -> Any:
    task = data.get("task") or {}
    return task.get("answer", task.get("answers"))


def _changed_elsewhere(before: Sequence[Scene], after: Scene, edit: Edit) -> str:
    """Return what else differs between a Scene and the last one; "" if nothing does, and none is the same."""
    for number, frames in enumerate(zip(before[-1].frames, after.frames, strict=True)):
        names = edit.objects if number == edit.frame else ()
        old, new = (_frame_without(frame, names) for frame in frames)
        if (difference := next(differences(old, new), None)) is not None:
            return f"more than one thing would change ({difference[0]})"
    return "the result is not new" if any(after.frames == other.frames for other in before) else ""


def _wrong_frame(chain: _Chain, after: Scene, edit: Edit) -> str:
    """Return what nobody would place or draw so: objects in the air, two that look alike; "" if there is nothing."""
    old, new = (scene.frames[edit.frame] for scene in (chain.scenes[-1], after))
    if scene_stage(after).ground is not None:
        left = {item.name for item in new.objects}
        # The compiler has verified what is stated.
        left -= {claim.subject for claim in new.contacts}
        if any(upper in left for upper, _ in _supports(old) - _supports(new)):
            return "an object would not stand any more on what it stands on"
    looks = [(item.shape, item.outline, item.color_linear, item.material, item.scale) for item in new.objects]
    if edit.frame in chain.distinct and any(look in looks[:k] for k, look in enumerate(looks)):
        return "two objects would look alike"
    return ""


def _supports(frame: SceneFrame) -> set[tuple[str, str]]:
    """Names of each object and of what it stands on; "" is the ground."""
    extents = {item.name: extent_of(item) for item in frame.objects}
    names = list(extents)
    above = vertical(list(extents.values()))["on"]
    pairs = {(names[b], names[a]) for a, bits in enumerate(above) for b in range(len(names)) if bits >> b & 1}
    return pairs | {(name, "") for name, (_, _, z) in extents.items() if abs(z[0]) <= CONTACT}


def _frame_without(frame: SceneFrame, names: Sequence[str]) -> dict[str, Any]:
    """All of a frame but these objects, what they touch, and its seed; the others without their numbers."""
    left_out = {"truth", "objects", "contacts", "seed", "observers"} | ({"pointer"} if names else set())
    rest = frame.model_dump(mode="json", exclude=left_out)
    rest["contacts"] = [
        contact.label() for contact in frame.contacts if not {contact.subject, contact.of, contact.other} & {*names}
    ]
    items = (item.model_dump(mode="json", exclude={"index"}) for item in frame.objects if item.name not in names)
    return {**rest, "objects": list(items), "observers": [observer.looks_at for observer in frame.observers]}


def _finish_scenes(chain: _Chain, options: ContrastOptions) -> list[Scene]:
    """Return the Scenes with their ids, equal shares of glass, and what they are members of."""
    source, first = chain.scenes[0], chain.steps[0]
    answers = [_answers({"task": scene.task}) for scene in chain.scenes]
    flips = {answer != next_answer for answer, next_answer in pairwise(answers)}
    about = {
        "pair": f"{source.id}+{options.change}",
        "source": source.id,
        "change": options.change,
        "members": len(chain.scenes),
        "frame": source.frames[first.frame].name,
        "objects": tuple(dict.fromkeys(name for step in chain.steps for name in step.objects)),
        "values": (first.before, *(step.after for step in chain.steps)),
        "answers": None if answers[0] is None or len(flips) > 1 else "flip" if flips == {True} else "stay",
    }
    held = [_seeded(frames, source.settings) for frames in zip(*(scene.frames for scene in chain.scenes), strict=True)]
    return [
        scene.model_copy(
            update={
                "id": f"{about['pair']}-{k}",
                "frames": tuple(frames[k] for frames in held),
                "contrast": SceneContrast.model_validate({**about, "member": k}),
            }
        )
        for k, scene in enumerate(chain.scenes)
    ]


def _seeded(frames: Sequence[SceneFrame], settings: Settings) -> list[SceneFrame]:
    """Return a frame of all Scenes with equal seeds, as flat stages' depend on the content, and shares of glass."""
    shares = [[glass_share(frame, view, settings) for view in frame.views] for frame in frames]
    most = [max(some) if max(some) > min(some) else None for some in zip(*shares, strict=True)]
    held = []
    for frame in frames:
        views = (view.model_copy(update={"glass": share}) for view, share in zip(frame.views, most, strict=True))
        held.append(frame.model_copy(update={"seed": frames[0].seed, "views": tuple(views)}))
    return held
