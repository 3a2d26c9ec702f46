"""What needs more than one field to be seen as wrong: words, names, kinds of constraint, cameras, counts.

Only what is certain without a search is an issue here; `scene_specs.layout_checks` does the same for places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any

from scene_specs.errors import SpecError
from scene_specs.faults import Issue, nearest, shown
from scene_specs.json_text import Path
from scene_specs.kept_places import place_issues, sight_issues
from scene_specs.layout_checks import layout_issues
from scene_specs.models import ORIGINAL, PAINTED, is_model, parse_model
from scene_specs.outline_checks import footprint_issues, outline_issues
from scene_specs.outlines import FLAT_SHAPES
from scene_specs.spec import (
    CameraSpec,
    ConstraintSpec,
    EpisodeSpec,
    FrameSpec,
    LightSpec,
    MaterialSpec,
    ObjectSpec,
    OutlineSpec,
    PointerSpec,
    RandomObjectsSpec,
    object_name,
)
from scene_specs.stage import Stage, StageError, load_stage, stage_of, stage_paths
from scene_specs.vocabulary import COLORS, SIZES
from scene_specs.words import materials, shapes

_KINDS = ("relation", "min_visible_pixels", "min_distance", "axis_margin", "in_frame")
# Blender units; flat stages count pixels.
_LARGEST = 100
_BELONGS = {"subject": "relation", "of": "relation", "margin": "relation", "objects": "min_visible_pixels"}


def issues_of(episode: Any) -> list[Issue]:
    """What is wrong with an EpisodeSpec, or a Scene, whose form is right."""
    return spec_issues(episode) if isinstance(episode, EpisodeSpec) else list(_scene_issues(episode))


def check_spec(spec: EpisodeSpec) -> None:
    """For specs made in Python. Raises SpecError with all faults."""
    issues = spec_issues(spec)
    if issues:
        raise SpecError([issue.fault(episode=spec.id) for issue in issues])


def spec_issues(spec: EpisodeSpec) -> list[Issue]:
    """All issues of a spec, in the order of its fields."""
    issues: list[Issue] = []
    stage = None
    try:
        stage = load_stage(spec.stage)
    except StageError as error:
        known = sorted(stage_paths())
        text = f"found {shown(spec.stage)}; allowed: {', '.join(known)}" if spec.stage not in known else str(error)
        issues.append(Issue(("stage",), text, nearest(spec.stage, known)))
    if spec.canvas is not None and stage is not None and stage.pixels != "center":
        issues.append(Issue(("canvas",), f"found a canvas; stage {stage.name!r} is not flat"))
    stage = stage if stage is None else stage_of(spec)
    names = [spec.frame_name(index) for index in range(len(spec.frames))]
    issues += _duplicates(names, ("frames",), "a frame", fold=True)
    for index, frame in enumerate(spec.frames):
        issues += frame_issues(frame, stage, ("frames", index))
    return issues


def frame_issues(frame: FrameSpec, stage: Stage | None, at: Path) -> Iterator[Issue]:
    """The issues of one frame at path `at`. stage: None if it isn't known; checks that need it are left out."""
    for index, item in enumerate(frame.objects):
        yield from _object_issues(item, stage, (*at, "objects", index))
    names = [object_name(item, index) for index, item in enumerate(frame.objects)]
    yield from _duplicates(names, (*at, "objects"), "an object")
    if frame.random_objects is not None:
        yield from _random_issues(frame, frame.random_objects, stage, (*at, "random_objects"))
    if frame.pointer is not None:
        yield from _pointer_issues(frame.pointer, names, stage, (*at, "pointer"))
    for index, constraint in enumerate(frame.constraints):
        yield from _constraint_issues(constraint, names, stage, (*at, "constraints", index))
    yield from _given_twice(frame.constraints, (*at, "constraints"))
    yield from _camera_issues(frame, stage, at)
    yield from _light_issues(frame.lights, stage, (*at, "lights"))
    yield from _duplicates(list(frame.passes), (*at, "passes"), "a pass")
    if stage is not None:
        yield from layout_issues(frame, stage, at)
        yield from place_issues(frame, stage, at)
        yield from sight_issues(frame, stage, at)


def _unknown(word: object, known: Sequence[str], path: Path) -> Iterator[Issue]:
    if word is not None and word not in known:
        yield Issue(path, f"found {shown(word)}; allowed: {', '.join(known)}", nearest(word, known))


def _duplicates(names: Sequence[str], at: Path, what: str, fold: bool = False) -> Iterator[Issue]:
    """Names given twice. fold: also those that differ by upper and lower case only, for what becomes a file."""
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        first = seen.setdefault(name.lower() if fold else name, index)
        if first != index:
            path = (*at, index) if what == "a pass" else (*at, index, "name")
            yield Issue(
                path, f"found {shown(name)}, the name of {what} before it, {at[-1]}[{first}]", "names are unique"
            )


def _pointer_issues(pointer: PointerSpec, names: Sequence[str], stage: Stage | None, at: Path) -> Iterator[Issue]:
    if pointer.target not in names:
        text = f"found {shown(pointer.target)}, no object of this frame; allowed: {', '.join(names) or 'there is none'}"
        yield Issue((*at, "target"), text, nearest(pointer.target, names))
    if "pointer" in names:
        yield Issue(at, "an object is called 'pointer' already, the name that the pointer has in annotations")
    if stage is not None and stage.pointer is None:
        yield Issue(at, f"found a pointer; stage {stage.name!r} has none")
    yield from _color_word(pointer.color, stage, at)
    yield from _material_given(pointer.material, at)


def _color_word(color: object, stage: Stage | None, at: Path) -> Iterator[Issue]:
    if isinstance(color, str):
        yield from _unknown(color, stage.color_names() if stage is not None else tuple(COLORS), (*at, "color"))


def _material_given(material: str | MaterialSpec | None, at: Path) -> Iterator[Issue]:
    if isinstance(material, str):
        yield from _material_word(material, (*at, "material"))
    elif material is not None:
        yield from _material_issues(material, (*at, "material"))


def _object_issues(item: ObjectSpec, stage: Stage | None, at: Path) -> Iterator[Issue]:
    yield from _shape_given(item, stage, (*at, "shape"))
    yield from _color_word(item.color, stage, at)
    if isinstance(item.size, str):
        yield from _unknown(item.size, tuple(SIZES if stage is None else stage.size_names()), (*at, "size"))
    elif item.size is not None and item.size > _LARGEST and (stage is None or stage.pixels != "center"):
        yield Issue((*at, "size"), f"found {item.size:g}; allowed: at most {_LARGEST}")
    yield from footprint_issues(item, at)
    if not is_model(item.shape) or item.material not in (ORIGINAL, PAINTED):
        yield from _material_given(item.material, at)
    elif item.material == ORIGINAL and item.color is not None:
        yield Issue((*at, "color"), "given beside material original; allowed: color, or original", "or painted")
    if item.normalize is not None and not is_model(item.shape):
        yield Issue((*at, "normalize"), f"given for {shown(item.shape)}; allowed: only for models, shapenet:...")


def _shape_given(item: ObjectSpec, stage: Stage | None, path: Path) -> Iterator[Issue]:
    if isinstance(item.shape, OutlineSpec):
        yield from outline_issues(item.shape, path)
    else:
        yield from _shape_word(item.shape, path)
    flat = isinstance(item.shape, OutlineSpec) and not item.shape.height
    if stage is not None and stage.ground is not None and (flat or item.shape in FLAT_SHAPES):
        problem = f"found a flat shape; stage {stage.name!r} has a ground, in which it would lie"
        yield Issue(path, problem, 'make it a prism: {"outline": ..., "height": ...}')


def _shape_word(shape: str | None, path: Path) -> Iterator[Issue]:
    if shape is None or not is_model(shape):
        yield from _unknown(shape, shapes(), path)
    elif parse_model(shape) is None:
        allowed = "shapenet:<category>/<model id> or shapenet:<category>/#<number from 1>"
        yield Issue(path, f"found {shown(shape)}; allowed: {allowed}", "such as shapenet:chairs/#3")


def _material_word(word: str, path: Path) -> Iterator[Issue]:
    for issue in _unknown(word, materials(), path):
        blend = word == "blend" or word.endswith(".blend")
        yield issue._replace(hint='write {"blend": "<file>", "group": "<node group>"}') if blend else issue


def _material_issues(material: MaterialSpec, at: Path) -> Iterator[Issue]:
    if material.name is not None:
        yield from _material_word(material.name, (*at, "name"))
        for key in ("blend", "group"):
            if getattr(material, key) is not None:
                yield Issue((*at, key), f"given beside name {shown(material.name)}; allowed: name, or blend and group")
    elif material.blend is None and material.group is None:
        yield Issue(at, "neither name nor blend is given; allowed: name, or blend and group")
    elif material.blend is None or material.group is None:
        missing, there = ("blend", "group") if material.blend is None else ("group", "blend")
        yield Issue(at, f"{there} is given without {missing}; allowed: both")
    if material.strength is not None and material.name != "emission":
        found = material.name or "a .blend file"
        yield Issue((*at, "strength"), f"found a strength for {shown(found)}; allowed: only for emission")
    if material.blend is not None:
        yield from _blend_issues(material.blend, (*at, "blend"))


def _blend_issues(path: str, at: Path) -> Iterator[Issue]:
    absolute = path.startswith(("/", "~")) or path[1:2] == ":"
    if absolute or "\\" in path or "\0" in path or ".." in path.split("/"):
        problem = f"found {shown(path)}; allowed: a path below an asset root, with '/', without '..'"
        yield Issue(at, problem, "name the file's folder as an asset root")
    elif not path.endswith(".blend"):
        yield Issue(at, f"found {shown(path)}; allowed: a file that ends in .blend")


def _random_issues(frame: FrameSpec, more: RandomObjectsSpec, stage: Stage | None, at: Path) -> Iterator[Issue]:
    colors, sizes = (tuple(COLORS), tuple(SIZES)) if stage is None else (stage.color_names(), tuple(stage.size_names()))
    known = {"shapes": shapes(), "colors": colors, "materials": materials(), "sizes": sizes}
    lists = {key: getattr(more, key) for key in known}
    for key, words in known.items():
        for index, word in enumerate(lists[key] or ()):
            place = (*at, key, index)
            yield from _shape_word(word, place) if key == "shapes" else _unknown(word, words, place)
    for index, (shape, color) in enumerate(more.combinations or ()):
        yield from _shape_word(shape, (*at, "combinations", index, 0))
        yield from _unknown(color, known["colors"], (*at, "combinations", index, 1))
    if more.combinations is not None:
        for key in ("shapes", "colors"):
            if lists[key] is not None:
                yield Issue((*at, key), f"given beside combinations; allowed: {key}, or combinations", "leave one out")
    fewest, most = more.count if isinstance(more.count, tuple) else (more.count, more.count)
    if fewest > most:
        yield Issue(
            (*at, "count"), f"found {shown([fewest, most])}; allowed: [fewest, most]", f"write [{most}, {fewest}]"
        )
    # The compiler calls what it draws `object-<index>`, as it does what has no name.
    first = len(frame.objects)
    drawn = {f"object-{first + k}" for k in range(most)}
    for index, item in enumerate(frame.objects):
        if item.name in drawn:
            problem = f"found {shown(item.name)}, the name of an object that random_objects draws"
            yield Issue((*at[:-1], "objects", index, "name"), problem, "names are unique")
    if more.distinct and stage is not None:
        yield from _too_many_distinct(more, fewest, stage, at)


def _too_many_distinct(more: RandomObjectsSpec, fewest: int, stage: Stage, at: Path) -> Iterator[Issue]:
    base = stage.defaults
    pairs: Iterable[object] = dict.fromkeys(more.combinations or ())
    looks = len(list(pairs)) or prod(
        len({*words}) for words in (more.shapes or base.shapes, more.colors or base.colors)
    )
    looks *= prod(len({*words}) for words in (more.materials or base.materials, more.sizes or base.sizes))
    if fewest > looks:
        problem = f"found {fewest} distinct objects; allowed: at most {looks}, as many as the lists combine to"
        yield Issue((*at, "count"), problem, "widen the lists, or leave out distinct")


def _constraint_issues(
    constraint: ConstraintSpec, names: Sequence[str], stage: Stage | None, at: Path
) -> Iterator[Issue]:
    kinds = [kind for kind in _KINDS if getattr(constraint, kind) is not None]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none"
        yield Issue(
            at, f"found {found}; allowed: exactly one of {', '.join(_KINDS)}", "one constraint each" if kinds else ""
        )
    for key, kind in _BELONGS.items():
        if getattr(constraint, key) is not None and kind not in kinds:
            yield Issue((*at, key), f"given without {kind}; allowed: only with {kind}")
    if constraint.relation is not None:
        for key in ("subject", "of"):
            if getattr(constraint, key) is None:
                yield Issue(at, f"relation {shown(constraint.relation)} without {key}; allowed: subject and of")
        if constraint.subject is not None and constraint.subject == constraint.of:
            problem = f"found {shown(constraint.of)}, which is the subject itself; allowed: another object"
            yield Issue((*at, "of"), problem)
    named = [((*at, "subject"), constraint.subject), ((*at, "of"), constraint.of)]
    named += [((*at, "objects", index), name) for index, name in enumerate(constraint.objects or ())]
    for path, name in named:
        if name is not None and name not in names:
            allowed = (
                f"the name of an object of this frame: {', '.join(names)}" if names else "this frame names no object"
            )
            yield Issue(path, f"found {shown(name)}; allowed: {allowed}", nearest(name, names))
    pixels = constraint.min_visible_pixels
    if stage is not None and pixels is not None and pixels > prod(stage.size):
        most = f"at most {prod(stage.size)}, the pixels of stage {stage.name} ({stage.size[0]}x{stage.size[1]})"
        yield Issue((*at, "min_visible_pixels"), f"found {pixels}; allowed: {most}")


def _given_twice(constraints: Sequence[ConstraintSpec], at: Path) -> Iterator[Issue]:
    """Settings of the whole frame: two of a kind would leave open which one counts."""
    first: dict[str, int] = {}
    for index, constraint in enumerate(constraints):
        for kind in _KINDS[1:]:
            whole = kind != "min_visible_pixels" or constraint.objects is None
            if getattr(constraint, kind) is not None and whole and first.setdefault(kind, index) != index:
                problem = f"{kind} is given twice for the frame, first in constraints[{first[kind]}]"
                yield Issue((*at, index, kind), problem, "leave one out")


def _camera_issues(frame: FrameSpec, stage: Stage | None, at: Path) -> Iterator[Issue]:
    if frame.camera is not None and frame.views is not None:
        yield Issue((*at, "camera"), "given beside views; allowed: camera, or views", "make it one of the views")
    cameras: list[tuple[Path, CameraSpec]] = []
    if frame.camera is not None:
        cameras.append(((*at, "camera"), frame.camera))
    views = frame.views or ()
    cameras += [((*at, "views", index), view) for index, view in enumerate(views)]
    yield from _duplicates([view.name for view in views], (*at, "views"), "a view", fold=True)
    for path, camera in cameras:
        orbit = [key for key in ("yaw_deg", "elevation_deg", "distance", "framing") if getattr(camera, key) is not None]
        if camera.location is not None and orbit:
            yield Issue((*path, orbit[0]), f"given beside location; allowed: location, or {', '.join(orbit)}")
        if camera.distance is not None and camera.framing is not None:
            yield Issue((*path, "framing"), "given beside distance; allowed: distance, or framing", "leave one out")
        aim = camera.look_at or (stage.camera.look_at if stage else None)
        place = camera.location or (stage.camera.location if stage else None)
        if aim is not None and aim == place:
            key = "look_at" if camera.look_at is not None else "location"
            problem = f"found {shown(place)} for both location and look_at; allowed: two different points"
            yield Issue((*path, key), problem)


def _light_issues(lights: Sequence[LightSpec], stage: Stage | None, at: Path) -> Iterator[Issue]:
    yield from _duplicates([light.name for light in lights], at, "a light")
    if stage is None:
        return
    kinds = {light.name: light.kind for light in stage.lights}
    for index, light in enumerate(lights):
        if light.name not in kinds:
            allowed = f"a light of stage {stage.name}: {', '.join(kinds)}"
            yield Issue(
                (*at, index, "name"), f"found {shown(light.name)}; allowed: {allowed}", nearest(light.name, kinds)
            )
        elif kinds[light.name] == "sun":
            for key in ("location", "jitter"):
                if getattr(light, key):
                    yield Issue((*at, index, key), f"found a {key} for a sun; allowed: only for area lights")


def _scene_issues(scene: Any) -> Iterator[Issue]:
    """A compiled Scene given as input: names, instance ids and words."""
    yield from _duplicates([frame.name for frame in scene.frames], ("frames",), "a frame", fold=True)
    for number, frame in enumerate(scene.frames):
        at: Path = ("frames", number)
        yield from _duplicates([item.name for item in frame.objects], (*at, "objects"), "an object")
        yield from _duplicates([view.name or "" for view in frame.views], (*at, "views"), "a view", fold=True)
        for index, item in enumerate(frame.objects):
            here = (*at, "objects", index)
            if item.index != index + 1:
                yield Issue((*here, "index"), f"found {item.index}; allowed: {index + 1}, counted from 1 in order")
            # What points has a mesh that is no word for an object; the renderer says so where it isn't there.
            if item.outline is not None:
                yield from outline_issues(item.outline, (*here, "outline"))
            elif frame.pointer is None or frame.pointer.index != item.index:
                yield from _shape_word(item.shape, (*here, "shape"))
            words = (*materials(), "blend", *((ORIGINAL, PAINTED) if is_model(item.shape) else ()))
            yield from _unknown(item.material.name, words, (*here, "material", "name"))
            if item.material.blend is not None:
                yield from _blend_issues(item.material.blend, (*here, "material", "blend"))
