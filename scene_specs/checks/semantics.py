"""Checks of a spec or Scene that need more than one field: names, constraints, cameras, lights, places, counts.

They report only what is certain without a layout search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from diorama.scene_specs.checks.layout_checks import contact_diagnostics, layout_diagnostics
from diorama.scene_specs.checks.object_checks import (
    asset_diagnostics,
    beside,
    color_word,
    duplicates,
    import_diagnostics,
    material_given,
    object_diagnostics,
    outline_diagnostics,
    parameter_diagnostics,
    random_diagnostics,
    shape_word,
    stage_diagnostics,
    unknown,
)
from diorama.scene_specs.checks.observer_checks import (
    observer_diagnostics,
    observer_index_diagnostics,
    viewpoint_diagnostics,
)
from diorama.scene_specs.errors import SpecError, counted
from diorama.scene_specs.files.strict_json import Path
from diorama.scene_specs.language.diagnostics import PathDiagnostic, did_you_mean, nearest, preview_json, unexpected
from diorama.scene_specs.language.model_names import MODEL_MATERIALS, is_model
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.language.vocabulary import name_or_none
from diorama.scene_specs.model.look import PLAIN, Look, LookError, load_look, look_names
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import (
    CameraSpec,
    ConstraintSpec,
    EpisodeSpec,
    FrameSpec,
    LightSpec,
    MaterialSpec,
    PointerSpec,
    object_name,
)
from diorama.scene_specs.model.stage import ORBIT, Stage, StageError, load_stage, orbits, stage_of

# An export may have a folder per id, with such files in it. Ids of older specs are read as they are.
_FILE_PART = re.compile(r"/[^/]*\.(png|json|npz)(/|$)")
_KINDS = ("relation", "min_visible_pixels", "min_distance", "axis_margin", "in_frame")
_BELONGS = dict.fromkeys(("subject", "of", "seen_from", "margin"), "relation") | {"objects": "min_visible_pixels"}


def diagnostics_with_plugins(episode: EpisodeSpec | Scene) -> list[PathDiagnostic]:
    """Return the problems of an EpisodeSpec or a Scene whose form is valid, in the order of its fields."""
    return [*(_scene_diagnostics(episode) if isinstance(episode, Scene) else _spec_diagnostics(episode))]


def look_diagnostics(spec: EpisodeSpec, stage: Stage | None) -> Iterator[PathDiagnostic]:
    """Report what is wrong with the look of an episode; colors and materials that are drawn are not known here."""
    if spec.look is None:
        return
    chosen = spec.chosen_look()
    at: Path = ("look",) if spec.look == chosen.name else ("look", "name")
    diagnostics = list(unknown(chosen.name, look_names(), at))
    yield from diagnostics
    if diagnostics or chosen.name == PLAIN:
        return
    if stage is not None and stage.ground is None:
        problem = f"found {chosen.name!r}; stage {stage.name!r} has no ground, so it has no look but {PLAIN}"
        yield PathDiagnostic(at, problem)
    try:
        look = load_look(chosen.name)
    except LookError as error:
        yield PathDiagnostic(at, str(error))
        return
    variants = max(len(look.variants), 1)
    if chosen.variant is not None and chosen.variant >= variants:
        yield unexpected(("look", "variant"), chosen.variant, f"0 to {variants - 1}")
    yield from _word_diagnostics(spec, look, chosen.name)


def _word_diagnostics(spec: EpisodeSpec, look: Look, name: str) -> Iterator[PathDiagnostic]:
    for number, frame in enumerate(spec.frames):
        for index, item in enumerate(frame.objects):
            color = name_or_none(item.color)
            match item.material:
                case MaterialSpec(name=str(material)) | str(material) if not look.keeps_word(color, material):
                    problem = f"found {color or 'a drawn color'} {material}, whose color does not hold in look {name!r}"
                    problem += "; use another color, material or look"
                    yield PathDiagnostic(("frames", number, "objects", index, "material"), problem)
        drawn = (frame.random_objects and frame.random_objects.materials) or ()
        if drawn and {*drawn} <= {*look.without}:
            problem = f"found {', '.join(drawn)}, whose colors do not hold in look {name!r}; add another material"
            yield PathDiagnostic(("frames", number, "random_objects", "materials"), problem)


def check_spec(spec: EpisodeSpec) -> None:
    """Check a spec made in Python.

    Raises:
        SpecError: the spec is wrong; has every diagnostic.
    """
    diagnostics = diagnostics_with_plugins(spec)
    if diagnostics:
        raise SpecError([diagnostic.in_file(episode=spec.id) for diagnostic in diagnostics])


def _spec_diagnostics(spec: EpisodeSpec) -> Iterator[PathDiagnostic]:
    stage = None
    try:
        stage = load_stage(spec.stage)
    except StageError as error:
        known = sorted(plugins("stages"))
        if spec.stage in known:
            yield PathDiagnostic(("stage",), str(error))
        else:
            yield unexpected(("stage",), spec.stage, ", ".join(known), did_you_mean(spec.stage, known))
        meant = nearest(spec.stage, known)
        if meant not in ("", spec.stage):
            spec, stage = spec.model_copy(update={"stage": meant}), load_stage(meant)
    if stage is not None:
        yield from stage_diagnostics(stage)
        if spec.canvas is not None and (stage.pixels != "center" or stage.places):
            reason = "is not flat" if stage.pixels != "center" else "has places at fixed locations"
            yield PathDiagnostic(("canvas",), f"found a canvas; stage {stage.name!r} {reason}")
        stage = stage_of(spec)
    if _FILE_PART.search(spec.id):
        allowed = (
            "an id whose parts after the first / don't end in .png, .json or .npz: exports have such files in folders"
        )
        yield unexpected(("id",), spec.id, allowed)
    yield from look_diagnostics(spec, stage)
    yield from task_diagnostics(spec.task)
    names = [spec.frame_name(index) for index in range(len(spec.frames))]
    yield from duplicates(names, ("frames",), "a frame", fold=True)
    for index, frame in enumerate(spec.frames):
        yield from _frame_diagnostics(frame, stage, ("frames", index))


def task_diagnostics(task: Mapping[str, Any] | None) -> Iterator[PathDiagnostic]:
    """Report an answer that is not among the options of a task."""
    match task:
        case {"options": [_, *_] as options, "answer": answer} if answer is not None and answer not in options:
            among = f"one of the {len(options)} options, {', '.join(preview_json(option) for option in options[:8])}"
            words = [option for option in options if isinstance(option, str)]
            yield unexpected(("task", "answer"), answer, among, did_you_mean(answer, words))


def _frame_diagnostics(frame: FrameSpec, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    """Report problems of the frame at path `at`. stage: None if it is unknown, which skips the checks that need it."""
    for index, item in enumerate(frame.objects):
        yield from object_diagnostics(item, stage, (*at, "objects", index))
    names = [object_name(item, index) for index, item in enumerate(frame.objects)]
    yield from duplicates(names, (*at, "objects"), "an object")
    if frame.observers:
        yield from observer_diagnostics(frame, names, stage, (*at, "observers"))
        names += [person.name for person in frame.observers]
    if frame.random_objects is not None:
        yield from random_diagnostics(frame, frame.random_objects, stage, (*at, "random_objects"))
    if frame.pointer is not None:
        yield from _pointer_diagnostics(frame.pointer, names, stage, (*at, "pointer"))
    for index, constraint in enumerate(frame.constraints):
        yield from _constraint_diagnostics(constraint, names, stage, (*at, "constraints", index))
    yield from contact_diagnostics(frame, stage, at)
    yield from viewpoint_diagnostics(frame, at)
    yield from _repeated_settings(frame.constraints, (*at, "constraints"))
    yield from _camera_diagnostics(frame, stage, at)
    yield from _light_diagnostics(frame.lights, stage, (*at, "lights"))
    yield from duplicates(list(frame.passes), (*at, "passes"), "a pass")
    if stage is not None:
        yield from layout_diagnostics(frame, stage, at)
        yield from _place_diagnostics(frame, stage, at)
        yield from _sight_diagnostics(frame, stage, at)


def _pointer_diagnostics(
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


def _constraint_diagnostics(
    constraint: ConstraintSpec, names: Sequence[str], stage: Stage | None, at: Path
) -> Iterator[PathDiagnostic]:
    kinds = [kind for kind in _KINDS if getattr(constraint, kind) is not None]
    if len(kinds) != 1:
        given = " and ".join(kinds) or "none"
        allowed = f"exactly one of {', '.join(_KINDS)}"
        yield PathDiagnostic(at, f"found {given}; allowed: {allowed}", "one constraint each" if kinds else "")
    for key, kind in _BELONGS.items():
        if getattr(constraint, key) is not None and kind not in kinds:
            yield PathDiagnostic((*at, key), f"given without {kind}; allowed: only with {kind}")
    if constraint.relation is not None:
        for key in ("subject", "of"):
            if getattr(constraint, key) is None:
                relation = preview_json(constraint.relation)
                yield PathDiagnostic(at, f"relation {relation} without {key}; allowed: subject and of")
        if constraint.subject is not None and constraint.subject == constraint.of:
            problem = f"found {preview_json(constraint.of)}, which is the subject itself; allowed: another object"
            yield PathDiagnostic((*at, "of"), problem)
    named = [((*at, key), getattr(constraint, key)) for key in ("subject", "of", "other")]
    named += [((*at, "objects", index), name) for index, name in enumerate(constraint.objects or ())]
    for path, name in named:
        if name is not None and name not in names:
            objects = f"the name of an object of this frame: {', '.join(names)}"
            yield unexpected(path, name, objects if names else "this frame names no object", did_you_mean(name, names))
    pixels = constraint.min_visible_pixels
    if stage is not None and pixels is not None and pixels > prod(stage.size):
        most = f"at most {prod(stage.size)}, the pixels of stage {stage.name} ({stage.size[0]}x{stage.size[1]})"
        yield unexpected((*at, "min_visible_pixels"), pixels, most)


def _repeated_settings(constraints: Sequence[ConstraintSpec], at: Path) -> Iterator[PathDiagnostic]:
    """Report settings of the frame that are given twice."""
    first: dict[str, int] = {}
    for index, constraint in enumerate(constraints):
        for kind in _KINDS[1:]:
            of_frame = kind != "min_visible_pixels" or constraint.objects is None
            if getattr(constraint, kind) is not None and of_frame and first.setdefault(kind, index) != index:
                problem = f"{kind} is given twice for the frame, first in constraints[{first[kind]}]"
                yield PathDiagnostic((*at, index, kind), problem, "leave one out")


def _camera_diagnostics(frame: FrameSpec, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    if frame.camera is not None and frame.views is not None:
        yield beside((*at, "camera"), "views", "camera, or views", "make it one of the views")
    cameras: list[tuple[Path, CameraSpec]] = []
    if frame.camera is not None:
        cameras.append(((*at, "camera"), frame.camera))
    views = frame.views or ()
    cameras += [((*at, "views", index), view) for index, view in enumerate(views)]
    yield from duplicates([view.name for view in views], (*at, "views"), "a view", fold=True)
    for path, camera in cameras:
        orbit = [key for key in ORBIT if getattr(camera, key) is not None]
        if camera.location is not None and orbit:
            yield beside((*path, orbit[0]), "location", f"location, or {', '.join(orbit)}", "")
        if camera.distance is not None and camera.framing is not None:
            yield beside((*path, "framing"), "distance", "distance, or framing")
        yield from _intrinsics_diagnostics(camera, stage, path)
        if camera.right is not None and not any(camera.right):
            yield PathDiagnostic((*path, "right"), "found [0, 0]; allowed: a direction, such as [1, 0]")
        aim = camera.look_at or (stage.camera.look_at if stage else None)
        # An orbiting camera does not stand at the location of the stage's camera.
        fixed = stage.camera.location if stage is not None and not orbits(camera, stage) else None
        location = camera.location or fixed
        if aim is not None and aim == location:
            key = "look_at" if camera.look_at is not None else "location"
            problem = f"found {preview_json(location)} for both location and look_at; allowed: two different points"
            yield PathDiagnostic((*path, key), problem)


def _intrinsics_diagnostics(camera: CameraSpec, stage: Stage | None, path: Path) -> Iterator[PathDiagnostic]:
    matrix = camera.intrinsics
    if matrix is None:
        return
    if given := [key for key in ("lens", "sensor_width") if getattr(camera, key) is not None]:
        yield beside((*path, given[0]), "intrinsics", f"intrinsics, or {', '.join(given)}")
    if matrix.fx != matrix.fy:
        problem = f"found {matrix.fy:g}, and {matrix.fx:g} for fx; allowed: two equal numbers, since pixels are square"
        yield PathDiagnostic((*path, "intrinsics", "fy"), problem, "scale the images to square pixels")
    if stage is not None and stage.camera.ortho_scale is not None:
        problem = f"the camera of the stage {stage.name!r} is orthographic and has no focal length"
        yield PathDiagnostic((*path, "intrinsics"), problem, "leave it out")


def _light_diagnostics(lights: Sequence[LightSpec], stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    yield from duplicates([light.name for light in lights], at, "a light")
    if stage is None:
        return
    kinds = {light.name: light.kind for light in stage.lights}
    for index, light in enumerate(lights):
        if light.name not in kinds:
            allowed = f"a light of stage {stage.name}: {', '.join(kinds) or 'none'}"
            yield unexpected((*at, index, "name"), light.name, allowed, did_you_mean(light.name, kinds))
        elif kinds[light.name] == "sun":
            for key in ("location", "jitter"):
                if getattr(light, key):
                    yield PathDiagnostic((*at, index, key), f"found a {key} for a sun; allowed: only for area lights")


def _place_diagnostics(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Report places that are unknown, given twice or beside a location, and more objects than places."""
    places = stage.places or {}
    taken: dict[str, int] = {}
    without = 0
    for index, item in enumerate(frame.objects):
        path = (*at, "objects", index, "place")
        if item.place is None:
            without += item.location is None
            continue
        if item.place not in places:
            allowed = ", ".join(places) or f"none, stage {stage.name} has no places"
            yield unexpected(path, item.place, allowed, did_you_mean(item.place, places))
        elif item.location is not None:
            yield beside(path, "location", "place, or location")
        elif taken.setdefault(item.place, index) != index:
            text = f"found {preview_json(item.place)}, the place of objects[{taken[item.place]}]"
            yield PathDiagnostic(path, text, "two objects can't share a place")
    if frame.random_objects is not None:
        without += frame.random_objects.bounds[0]
    if stage.places is not None and without > len(places) - len(taken):
        free = counted(len(places) - len(taken), "free place")
        problem = f"{counted(without, 'object')} without place or location, {free} of stage {stage.name}"
        yield PathDiagnostic((*at, "objects"), problem, f"places: {', '.join(places)}")


def _sight_diagnostics(frame: FrameSpec, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    """Report views on a stage with a ground, and backgrounds and fixation crosses on a stage without them."""
    for index, item in enumerate(frame.objects):
        path = (*at, "objects", index, "view")
        if item.view is not None and item.rotation_deg is not None:
            yield beside(path, "rotation_deg", "view, or rotation_deg")
        if item.view is not None and stage.ground is not None:
            problem = f"found a view; stage {stage.name!r} has a ground, on which a tilted object cannot stand"
            yield PathDiagnostic(path, problem, "give rotation_deg, or place the camera")
    if frame.background is not None and stage.background is None:
        yield PathDiagnostic((*at, "background"), f"found a background; stage {stage.name!r} has none")
    if frame.fixation is not None and stage.fixation is None:
        yield PathDiagnostic((*at, "fixation"), f"found a fixation cross; stage {stage.name!r} has none")
    if frame.antialias is not None and stage.pixels != "center":
        problem = f"found antialias; stage {stage.name!r} is not flat, and always antialiased"
        yield PathDiagnostic((*at, "antialias"), problem)


def _scene_diagnostics(scene: Scene) -> Iterator[PathDiagnostic]:
    """Report problems of a Scene given as input: names, instance ids and unknown words."""
    yield from task_diagnostics(scene.task)
    yield from duplicates([frame.name for frame in scene.frames], ("frames",), "a frame", fold=True)
    for number, frame in enumerate(scene.frames):
        at: Path = ("frames", number)
        yield from duplicates([item.name for item in frame.objects], (*at, "objects"), "an object")
        yield from duplicates([view.name or "" for view in frame.views], (*at, "views"), "a view", fold=True)
        yield from observer_index_diagnostics(frame, (*at, "observers"))
        for index, item in enumerate(frame.objects):
            here = (*at, "objects", index)
            if item.index != index + 1:
                yield unexpected((*here, "index"), item.index, f"{index + 1}, counted from 1 in order")
            # Meshes of pointers are not shapes of the vocabulary; the renderer reports one that does not exist.
            if item.outline is not None:
                yield from outline_diagnostics(item.outline, (*here, "outline"))
            elif frame.pointer is None or frame.pointer.index != item.index:
                yield from shape_word(item.shape, (*here, "shape"))
            words = (*plugins("materials"), "blend", *(MODEL_MATERIALS if is_model(item.shape) else ()))
            yield from unknown(item.material.name, words, (*here, "material", "name"))
            yield from import_diagnostics(item.material.name, (*here, "material", "name"))
            yield from parameter_diagnostics(item.material.name, item.material.parameters, (*here, "material"))
            if item.material.blend is not None:
                yield from asset_diagnostics(item.material.blend, (".blend",), (*here, "material", "blend"))
