"""Checks of single objects: shapes, outlines, colors, materials and sizes, given or drawn at random."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, product
from typing import Any

from pydantic import ValidationError

from diorama.scene_specs.errors import PluginError
from diorama.scene_specs.files.strict_json import Path
from diorama.scene_specs.language.diagnostics import PathDiagnostic, did_you_mean, preview_json, unexpected
from diorama.scene_specs.language.invented import is_invented, parse_invented
from diorama.scene_specs.language.model_names import (
    MESH_SUFFIXES,
    MODEL_MATERIALS,
    ORIGINAL,
    PAINTED,
    is_model,
    parse_mesh,
    parse_model,
)
from diorama.scene_specs.language.outlines import FLAT_SHAPES, crossing, signed_area
from diorama.scene_specs.language.person import is_person, parse_person
from diorama.scene_specs.language.registry import plugins, shapes
from diorama.scene_specs.language.validation import allowed_of, annotation_at, form_diagnostics, value_hint
from diorama.scene_specs.language.vocabulary import COLORS, SHAPES, SIZES
from diorama.scene_specs.model.materials import changed_parameters, load_material
from diorama.scene_specs.model.spec import FrameSpec, MaterialSpec, ObjectSpec, OutlineSpec, RandomObjectsSpec
from diorama.scene_specs.model.stage import Stage, is_outline

# Blender units; sizes on flat stages are pixels and have no maximum.
_LARGEST = 100


def unknown(word: object, known: Sequence[str], path: Path) -> Iterator[PathDiagnostic]:
    """Report a word that is not known. None stands for a key that is left out."""
    if word is not None and word not in known:
        field = allowed_of(annotation_at(ObjectSpec, path[-1:]))
        allowed = field.text(known) if field and field.form else ", ".join(known)
        yield unexpected(path, word, allowed, did_you_mean(word, known) or value_hint(path, "float_type", word))


def beside(path: Path, other: str, allowed: str, hint: str = "leave one out") -> PathDiagnostic:
    """Return the diagnostic of a key that excludes another one, which is given too."""
    return PathDiagnostic(path, f"given beside {other}; allowed: {allowed}", hint)


def duplicates(names: Sequence[str], at: Path, what: str, fold: bool = False) -> Iterator[PathDiagnostic]:
    """Report names that occur twice.

    Args:
        at: of the list.
        what: the names are of, such as "a frame".
        fold: ignore upper and lower case, for names that become file names.
    """
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        first = seen.setdefault(name.lower() if fold else name, index)
        if first != index:
            path = (*at, index) if what == "a pass" else (*at, index, "name")
            problem = f"found {preview_json(name)}, the name of {what} before it, {at[-1]}[{first}]"
            yield PathDiagnostic(path, problem, "names are unique")


def color_word(color: object, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    """Report a color name that the stage does not know."""
    if isinstance(color, str):
        yield from unknown(color, stage.color_names() if stage is not None else tuple(COLORS), (*at, "color"))


def material_given(material: str | MaterialSpec | None, at: Path) -> Iterator[PathDiagnostic]:
    """Report an unknown material, or parameters that exclude each other."""
    match material:
        case str():
            yield from _material_word(material, (*at, "material"))
        case MaterialSpec():
            yield from _material_diagnostics(material, (*at, "material"))


def object_diagnostics(item: ObjectSpec, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    """Report problems of an object whose form is valid."""
    yield from _shape_given(item, stage, (*at, "shape"))
    yield from color_word(item.color, stage, at)
    match item.size:
        case str(word):
            yield from unknown(word, tuple(SIZES if stage is None else stage.size_names()), (*at, "size"))
        case int() | float() as scale if scale > _LARGEST and (stage is None or stage.pixels != "center"):
            yield PathDiagnostic((*at, "size"), f"found {scale:g}; allowed: at most {_LARGEST}")
        case int() | float() as scale if not round(scale, 6):
            yield PathDiagnostic((*at, "size"), f"found {scale:g}; allowed: at least 0.000001")
    yield from footprint_diagnostics(item, at)
    if not is_model(item.shape) or item.material not in MODEL_MATERIALS:
        yield from material_given(item.material, at)
    elif item.material != PAINTED and item.color is not None:
        yield beside((*at, "color"), f"material {item.material}", f"color, or {item.material}", "or painted")
    if item.normalize is not None and not is_model(item.shape):
        problem = f"given for {preview_json(item.shape)}; allowed: only for models, shapenet:... and your own"
        yield PathDiagnostic((*at, "normalize"), problem)


def _shape_given(item: ObjectSpec, stage: Stage | None, path: Path) -> Iterator[PathDiagnostic]:
    match item.plain_shape:
        case OutlineSpec() as outline:
            flat = not outline.height
            yield from outline_diagnostics(outline, path)
        case shape:
            flat = shape in FLAT_SHAPES
            yield from shape_word(shape, path)
    if stage is not None and stage.ground is not None and flat:
        yield _flat_on_ground(stage, path)


def _flat_on_ground(stage: Stage, path: Path) -> PathDiagnostic:
    problem = f"found a flat shape; stage {stage.name!r} has a ground, in which it would lie"
    return PathDiagnostic(path, problem, 'make it a prism: {"outline": ..., "height": ...}')


def outline_diagnostics(outline: OutlineSpec, at: Path) -> Iterator[PathDiagnostic]:
    """Report an outline without exactly one of polygon and outline, edges that meet, and a polygon without area."""
    if (outline.polygon is None) == (outline.outline is None):
        given = "neither polygon nor outline" if outline.polygon is None else "polygon and outline"
        yield PathDiagnostic(at, f"found {given}; allowed: exactly one of them")
    elif outline.polygon is not None:
        edges = crossing(outline.polygon)
        if edges is not None:
            first, second = (preview_json(outline.polygon[k]) for k in edges)
            problem = f"the edges from {first} and from {second} meet; allowed: edges that only share corners"
            yield PathDiagnostic((*at, "polygon"), problem, "name each corner once, in order along the border")
        elif not signed_area(outline.polygon):
            yield PathDiagnostic((*at, "polygon"), "these corners enclose no area")


def stage_diagnostics(stage: Stage) -> Iterator[PathDiagnostic]:
    """Report shapes and materials that a stage's file names and no package has."""
    shapes_found = (shape_word(word, ("stage",)) for word in stage.defaults.shapes)
    materials = (*stage.defaults.materials, *((stage.pointer.material,) if stage.pointer else ()))
    for diagnostic in chain(*shapes_found, *(_material_word(word, ("stage",)) for word in materials)):
        yield diagnostic._replace(problem=f"file of stage {stage.name!r}: {diagnostic.problem}")


def footprint_diagnostics(item: ObjectSpec, at: Path) -> Iterator[PathDiagnostic]:
    """Report a footprint beside a size, or of a shape without an outline."""
    if item.footprint is None:
        return
    if item.size is not None:
        yield beside((*at, "footprint"), "size", "size, or footprint")
    if not is_outline(item.plain_shape):
        allowed = f"only for {', '.join(FLAT_SHAPES)}, and for corners"
        yield PathDiagnostic((*at, "footprint"), f"given for {preview_json(item.shape)}; allowed: {allowed}")


def shape_word(shape: str | None, path: Path) -> Iterator[PathDiagnostic]:
    """Report an unknown shape, or a malformed model name."""
    if shape is None or shape in SHAPES:
        return
    mesh = parse_mesh(shape)
    if is_invented(shape):
        yield from _invented_diagnostics(shape, path)
    elif is_person(shape):
        if parse_person(shape) is None:
            form = "person:<turn>/<nod>, degrees: turn from -80 to 80, nod from -60 to 60, at most four decimals"
            yield unexpected(path, shape, form, "such as person:30/-10")
    elif mesh is not None:
        yield from asset_diagnostics(mesh.path, (".blend",) if mesh.part else MESH_SUFFIXES, path)
    elif not is_model(shape):
        for diagnostic in unknown(shape, shapes(), path):
            file = shape.lower().endswith(MESH_SUFFIXES)
            yield diagnostic._replace(hint=f'write {{"mesh": {preview_json(shape)}}}') if file else diagnostic
    elif parse_model(shape) is None:
        allowed = "shapenet:<category>/<model id> or shapenet:<category>/#<number from 1>"
        yield unexpected(path, shape, allowed, "such as shapenet:chairs/#3")


def _invented_diagnostics(shape: str, path: Path) -> Iterator[PathDiagnostic]:
    """Report a malformed name of an invented shape, an unknown family, and an axis that the family doesn't have."""
    invented = parse_invented(shape)
    if invented is None:
        form = "invented:<family>/<seed>?<axis>=<0 to 1, at most four digits>&..."
        yield unexpected(path, shape, form, "such as invented:blob/12?roundness=0.3")
        return
    families = plugins("families")
    if invented.family not in families:
        yield from unknown(invented.family, tuple(families), (*path, "family"))
        return
    try:
        known = tuple(families[invented.family].load().AXES)
    except PluginError as error:
        yield PathDiagnostic(path, str(error))
        return
    for axis in invented.axes:
        yield from unknown(axis, known, (*path, "axes", axis))


def _material_word(word: str, path: Path) -> Iterator[PathDiagnostic]:
    for diagnostic in unknown(word, tuple(plugins("materials")), path):
        blend = word == "blend" or word.endswith(".blend")
        yield diagnostic._replace(hint='write {"blend": "<file>", "group": "<node group>"}') if blend else diagnostic
    yield from import_diagnostics(word, path)


@lru_cache(maxsize=256)
def _import_problem(name: str) -> str:
    try:
        load_material(name)
    except PluginError as error:
        return str(error)
    return ""


def import_diagnostics(material: str, path: Path) -> Iterator[PathDiagnostic]:
    """Report a known material that can't be imported."""
    if material in plugins("materials") and (problem := _import_problem(material)):
        yield PathDiagnostic(path, problem)


def _material_diagnostics(material: MaterialSpec, at: Path) -> Iterator[PathDiagnostic]:
    if material.name is not None:
        yield from _material_word(material.name, (*at, "name"))
        for key in ("blend", "group"):
            if getattr(material, key) is not None:
                yield beside((*at, key), f"name {preview_json(material.name)}", "name, or blend and group", "")
    elif material.blend is None and material.group is None:
        yield PathDiagnostic(at, "neither name nor blend is given; allowed: name, or blend and group")
    elif material.blend is None or material.group is None:
        missing, present = ("blend", "group") if material.blend is None else ("group", "blend")
        yield PathDiagnostic(at, f"{present} is given without {missing}; allowed: both")
    yield from parameter_diagnostics(material.name or "", material.parameters, at)
    if material.blend is not None:
        yield from asset_diagnostics(material.blend, (".blend",), (*at, "blend"))


def parameter_diagnostics(name: str, given: Mapping[str, Any], at: Path) -> Iterator[PathDiagnostic]:
    """Report unknown and wrong parameters of a material; materials of .blend files and models have none."""
    if name not in plugins("materials"):
        # An unknown name is reported elsewhere, and hides what its parameters are.
        for key in given if name in ("", "blend", *MODEL_MATERIALS) else ():
            yield from unknown(key, ("name", "blend", "group"), (*at, key))
    else:
        try:
            changed_parameters(name, given)
        except ValidationError as error:
            for diagnostic in form_diagnostics(error, load_material(name).Parameters, given):
                yield diagnostic._replace(path=(*at, *diagnostic.path))
        except PluginError:
            pass  # see import_diagnostics


def asset_diagnostics(path: str, suffixes: tuple[str, ...], at: Path) -> Iterator[PathDiagnostic]:
    """Report a path outside the asset roots, or one that ends in none of the suffixes, in lower case."""
    absolute = path.startswith(("/", "~")) or path[1:2] == ":"
    if absolute or "\\" in path or "\0" in path or ".." in path.split("/"):
        allowed = "a path below an asset root, with '/', without '..'"
        yield unexpected(at, path, allowed, "name the file's folder as an asset root")
    elif not path.lower().endswith(suffixes):
        yield unexpected(at, path, f"a file that ends in {' or '.join(suffixes)}")


def random_diagnostics(
    frame: FrameSpec, more: RandomObjectsSpec, stage: Stage | None, at: Path
) -> Iterator[PathDiagnostic]:
    """Report problems of objects that are drawn at random."""
    colors, sizes = (tuple(COLORS), tuple(SIZES)) if stage is None else (stage.color_names(), tuple(stage.size_names()))
    known = {"shapes": shapes(), "colors": colors, "materials": tuple(plugins("materials")), "sizes": sizes}
    lists = {key: getattr(more, key) for key in known}
    for key, words in known.items():
        for index, word in enumerate(lists[key] or ()):
            path = (*at, key, index)
            checked = {"shapes": shape_word, "materials": _material_word}.get(key)
            yield from checked(word, path) if checked else unknown(word, words, path)
    for index, (shape, color) in enumerate(more.combinations or ()):
        yield from shape_word(shape, (*at, "combinations", index, 0))
        yield from unknown(color, known["colors"], (*at, "combinations", index, 1))
    if more.combinations is not None:
        for key in ("shapes", "colors"):
            if lists[key] is not None:
                yield beside((*at, key), "combinations", f"{key}, or combinations")
    fewest, most = more.bounds
    if fewest > most:
        yield unexpected((*at, "count"), [fewest, most], "[fewest, most]", f"write [{most}, {fewest}]")
    # The compiler names drawn objects `object-<index>`, like objects without a name.
    first = len(frame.objects)
    drawn = {f"object-{first + k}" for k in range(most)}
    for field in ("objects", "observers"):
        for index, item in enumerate(getattr(frame, field)):
            if item.name in drawn:
                problem = f"found {preview_json(item.name)}, the name of an object that random_objects draws"
                yield PathDiagnostic((*at[:-1], field, index, "name"), problem, "names are unique")
    if more.distinct and stage is not None:
        yield from _too_many_distinct(frame.objects, more, fewest, stage, at)
    if stage is not None and stage.ground is not None:
        flat = (path for path, shape in random_shapes(more) if shape in FLAT_SHAPES)
        yield from (_flat_on_ground(stage, (*at, *path)) for path in flat)


def random_shapes(more: RandomObjectsSpec) -> Iterator[tuple[Path, str]]:
    """Yield the location in `random_objects` and the name of each shape that may be drawn."""
    yield from ((("combinations", k, 0), shape) for k, (shape, _) in enumerate(more.combinations or ()))
    yield from ((("shapes", k), shape) for k, shape in enumerate(more.shapes or ()))


def _too_many_distinct(
    listed: Sequence[ObjectSpec], more: RandomObjectsSpec, fewest: int, stage: Stage, at: Path
) -> Iterator[PathDiagnostic]:
    base, sizes = stage.defaults, stage.size_names()

    def look(shape: object, color: object, material: object, size: Any) -> tuple[object, ...]:
        if isinstance(material, MaterialSpec) and material.name and not material.parameters:
            material = material.name
        if is_model(shape) and material is None:
            material = ORIGINAL if color is None else PAINTED
        return shape, color, material, sizes.get(size, size)

    pairs = more.combinations or product(more.shapes or base.shapes, more.colors or base.colors)
    looks: set[tuple[object, ...]] = set()
    for (shape, color), material, size in product(pairs, more.materials or base.materials, more.sizes or base.sizes):
        # Models keep what the spec does not list.
        own = is_model(shape) and not more.materials
        plain = own and not more.colors and not more.combinations
        looks.add(look(shape, None if plain else color, None if own else material, size))
    looks -= {look(item.shape, item.color, item.material, item.size) for item in listed}
    if fewest > len(looks):
        besides = " besides those of the listed objects" if listed else ""
        problem = f"found {fewest} distinct objects; allowed: at most {len(looks)}, what the lists combine to{besides}"
        yield PathDiagnostic((*at, "count"), problem, "widen the lists, or leave out distinct")
