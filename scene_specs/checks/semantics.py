"""What needs more than one field to be seen as wrong: words, names, kinds of constraint, cameras, counts.

Only what is certain without a search is an issue here; `scene_specs.checks.layout_checks` does the same for places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from scene_specs.checks.layout_checks import layout_issues
from scene_specs.checks.object_checks import (
    blend_issues,
    color_word,
    duplicates,
    material_given,
    object_issues,
    random_issues,
    shape_word,
    unknown,
)
from scene_specs.checks.outline_checks import outline_issues
from scene_specs.checks.place_checks import place_issues, sight_issues
from scene_specs.language.diagnostics import PathDiagnostic, did_you_mean, preview_json
from scene_specs.language.errors import SpecError
from scene_specs.language.model_names import ORIGINAL, PAINTED, is_model
from scene_specs.language.registry import materials
from scene_specs.language.scene import Scene
from scene_specs.language.spec import (
    CameraSpec,
    ConstraintSpec,
    EpisodeSpec,
    FrameSpec,
    LightSpec,
    PointerSpec,
    object_name,
)
from scene_specs.language.stage import Stage, StageError, load_stage, stage_of, stage_paths
from scene_specs.language.strict_json import Path

_KINDS = ("relation", "min_visible_pixels", "min_distance", "axis_margin", "in_frame")
_BELONGS = {"subject": "relation", "of": "relation", "margin": "relation", "objects": "min_visible_pixels"}


def issues_of(episode: EpisodeSpec | Scene) -> list[PathDiagnostic]:
    """What is wrong with an EpisodeSpec, or a Scene, whose form is right."""
    return spec_issues(episode) if isinstance(episode, EpisodeSpec) else list(_scene_issues(episode))


def check_spec(spec: EpisodeSpec) -> None:
    """For specs made in Python. Raises SpecError with all faults."""
    issues = spec_issues(spec)
    if issues:
        raise SpecError([issue.diagnostic(episode=spec.id) for issue in issues])


def spec_issues(spec: EpisodeSpec) -> list[PathDiagnostic]:
    """All issues of a spec, in the order of its fields."""
    issues: list[PathDiagnostic] = []
    stage = None
    try:
        stage = load_stage(spec.stage)
    except StageError as error:
        known = sorted(stage_paths())
        text = (
            f"found {preview_json(spec.stage)}; allowed: {', '.join(known)}" if spec.stage not in known else str(error)
        )
        issues.append(PathDiagnostic(("stage",), text, did_you_mean(spec.stage, known)))
    if spec.canvas is not None and stage is not None and stage.pixels != "center":
        issues.append(PathDiagnostic(("canvas",), f"found a canvas; stage {stage.name!r} is not flat"))
    stage = stage if stage is None else stage_of(spec)
    names = [spec.frame_name(index) for index in range(len(spec.frames))]
    issues += duplicates(names, ("frames",), "a frame", fold=True)
    for index, frame in enumerate(spec.frames):
        issues += frame_issues(frame, stage, ("frames", index))
    return issues


def frame_issues(frame: FrameSpec, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    """The issues of one frame at path `at`. stage: None if it isn't known; checks that need it are left out."""
    for index, item in enumerate(frame.objects):
        yield from object_issues(item, stage, (*at, "objects", index))
    names = [object_name(item, index) for index, item in enumerate(frame.objects)]
    yield from duplicates(names, (*at, "objects"), "an object")
    if frame.random_objects is not None:
        yield from random_issues(frame, frame.random_objects, stage, (*at, "random_objects"))
    if frame.pointer is not None:
        yield from _pointer_issues(frame.pointer, names, stage, (*at, "pointer"))
    for index, constraint in enumerate(frame.constraints):
        yield from _constraint_issues(constraint, names, stage, (*at, "constraints", index))
    yield from _given_twice(frame.constraints, (*at, "constraints"))
    yield from _camera_issues(frame, stage, at)
    yield from _light_issues(frame.lights, stage, (*at, "lights"))
    yield from duplicates(list(frame.passes), (*at, "passes"), "a pass")
    if stage is not None:
        yield from layout_issues(frame, stage, at)
        yield from place_issues(frame, stage, at)
        yield from sight_issues(frame, stage, at)


def _pointer_issues(
    pointer: PointerSpec, names: Sequence[str], stage: Stage | None, at: Path
) -> Iterator[PathDiagnostic]:
    if pointer.target not in names:
        known = ", ".join(names) or "there is none"
        text = f"found {preview_json(pointer.target)}, no object of this frame; allowed: {known}"
        yield PathDiagnostic((*at, "target"), text, did_you_mean(pointer.target, names))
    if "pointer" in names:
        yield PathDiagnostic(at, "an object is called 'pointer' already, the name that the pointer has in annotations")
    if stage is not None and stage.pointer is None:
        yield PathDiagnostic(at, f"found a pointer; stage {stage.name!r} has none")
    yield from color_word(pointer.color, stage, at)
    yield from material_given(pointer.material, at)


def _constraint_issues(
    constraint: ConstraintSpec, names: Sequence[str], stage: Stage | None, at: Path
) -> Iterator[PathDiagnostic]:
    kinds = [kind for kind in _KINDS if getattr(constraint, kind) is not None]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none"
        yield PathDiagnostic(
            at, f"found {found}; allowed: exactly one of {', '.join(_KINDS)}", "one constraint each" if kinds else ""
        )
    for key, kind in _BELONGS.items():
        if getattr(constraint, key) is not None and kind not in kinds:
            yield PathDiagnostic((*at, key), f"given without {kind}; allowed: only with {kind}")
    if constraint.relation is not None:
        for key in ("subject", "of"):
            if getattr(constraint, key) is None:
                yield PathDiagnostic(
                    at, f"relation {preview_json(constraint.relation)} without {key}; allowed: subject and of"
                )
        if constraint.subject is not None and constraint.subject == constraint.of:
            problem = f"found {preview_json(constraint.of)}, which is the subject itself; allowed: another object"
            yield PathDiagnostic((*at, "of"), problem)
    named = [((*at, "subject"), constraint.subject), ((*at, "of"), constraint.of)]
    named += [((*at, "objects", index), name) for index, name in enumerate(constraint.objects or ())]
    for path, name in named:
        if name is not None and name not in names:
            allowed = (
                f"the name of an object of this frame: {', '.join(names)}" if names else "this frame names no object"
            )
            yield PathDiagnostic(path, f"found {preview_json(name)}; allowed: {allowed}", did_you_mean(name, names))
    pixels = constraint.min_visible_pixels
    if stage is not None and pixels is not None and pixels > prod(stage.size):
        most = f"at most {prod(stage.size)}, the pixels of stage {stage.name} ({stage.size[0]}x{stage.size[1]})"
        yield PathDiagnostic((*at, "min_visible_pixels"), f"found {pixels}; allowed: {most}")


def _given_twice(constraints: Sequence[ConstraintSpec], at: Path) -> Iterator[PathDiagnostic]:
    """Settings of the whole frame: two of a kind would leave open which one counts."""
    first: dict[str, int] = {}
    for index, constraint in enumerate(constraints):
        for kind in _KINDS[1:]:
            whole = kind != "min_visible_pixels" or constraint.objects is None
            if getattr(constraint, kind) is not None and whole and first.setdefault(kind, index) != index:
                problem = f"{kind} is given twice for the frame, first in constraints[{first[kind]}]"
                yield PathDiagnostic((*at, index, kind), problem, "leave one out")


def _camera_issues(frame: FrameSpec, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    if frame.camera is not None and frame.views is not None:
        yield PathDiagnostic(
            (*at, "camera"), "given beside views; allowed: camera, or views", "make it one of the views"
        )
    cameras: list[tuple[Path, CameraSpec]] = []
    if frame.camera is not None:
        cameras.append(((*at, "camera"), frame.camera))
    views = frame.views or ()
    cameras += [((*at, "views", index), view) for index, view in enumerate(views)]
    yield from duplicates([view.name for view in views], (*at, "views"), "a view", fold=True)
    for path, camera in cameras:
        orbit = [key for key in ("yaw_deg", "elevation_deg", "distance", "framing") if getattr(camera, key) is not None]
        if camera.location is not None and orbit:
            yield PathDiagnostic((*path, orbit[0]), f"given beside location; allowed: location, or {', '.join(orbit)}")
        if camera.distance is not None and camera.framing is not None:
            yield PathDiagnostic(
                (*path, "framing"), "given beside distance; allowed: distance, or framing", "leave one out"
            )
        aim = camera.look_at or (stage.camera.look_at if stage else None)
        # One that goes around what it looks at does not stand where the stage has its camera.
        orbits = bool(orbit) or (stage is not None and stage.camera.framing is not None)
        place = camera.location or (stage.camera.location if stage is not None and not orbits else None)
        if aim is not None and aim == place:
            key = "look_at" if camera.look_at is not None else "location"
            problem = f"found {preview_json(place)} for both location and look_at; allowed: two different points"
            yield PathDiagnostic((*path, key), problem)


def _light_issues(lights: Sequence[LightSpec], stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    yield from duplicates([light.name for light in lights], at, "a light")
    if stage is None:
        return
    kinds = {light.name: light.kind for light in stage.lights}
    for index, light in enumerate(lights):
        if light.name not in kinds:
            allowed = f"a light of stage {stage.name}: {', '.join(kinds)}"
            yield PathDiagnostic(
                (*at, index, "name"),
                f"found {preview_json(light.name)}; allowed: {allowed}",
                did_you_mean(light.name, kinds),
            )
        elif kinds[light.name] == "sun":
            for key in ("location", "jitter"):
                if getattr(light, key):
                    yield PathDiagnostic((*at, index, key), f"found a {key} for a sun; allowed: only for area lights")


def _scene_issues(scene: Scene) -> Iterator[PathDiagnostic]:
    """A compiled Scene given as input: names, instance ids and words."""
    yield from duplicates([frame.name for frame in scene.frames], ("frames",), "a frame", fold=True)
    for number, frame in enumerate(scene.frames):
        at: Path = ("frames", number)
        yield from duplicates([item.name for item in frame.objects], (*at, "objects"), "an object")
        yield from duplicates([view.name or "" for view in frame.views], (*at, "views"), "a view", fold=True)
        for index, item in enumerate(frame.objects):
            here = (*at, "objects", index)
            if item.index != index + 1:
                yield PathDiagnostic(
                    (*here, "index"), f"found {item.index}; allowed: {index + 1}, counted from 1 in order"
                )
            # What points has a mesh that is no word for an object; the renderer says so where it isn't there.
            if item.outline is not None:
                yield from outline_issues(item.outline, (*here, "outline"))
            elif frame.pointer is None or frame.pointer.index != item.index:
                yield from shape_word(item.shape, (*here, "shape"))
            words = (*materials(), "blend", *((ORIGINAL, PAINTED) if is_model(item.shape) else ()))
            yield from unknown(item.material.name, words, (*here, "material", "name"))
            if item.material.blend is not None:
                yield from blend_issues(item.material.blend, (*here, "material", "blend"))
