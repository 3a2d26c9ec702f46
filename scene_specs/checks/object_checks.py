"""What is wrong with single objects: shapes, colors, materials and sizes, given or to be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from scene_specs.checks.outline_checks import footprint_issues, outline_issues
from scene_specs.language.diagnostics import PathDiagnostic, did_you_mean, preview_json
from scene_specs.language.model_names import ORIGINAL, PAINTED, is_model, parse_model
from scene_specs.language.outlines import FLAT_SHAPES
from scene_specs.language.registry import materials, shapes
from scene_specs.language.spec import FrameSpec, MaterialSpec, ObjectSpec, OutlineSpec, RandomObjectsSpec
from scene_specs.language.stage import Stage
from scene_specs.language.strict_json import Path
from scene_specs.language.vocabulary import COLORS, SIZES

# Blender units; flat stages count pixels.
_LARGEST = 100


def unknown(word: object, known: Sequence[str], path: Path) -> Iterator[PathDiagnostic]:
    """A word that is not among those known; None is no word."""
    if word is not None and word not in known:
        yield PathDiagnostic(
            path, f"found {preview_json(word)}; allowed: {', '.join(known)}", did_you_mean(word, known)
        )


def duplicates(names: Sequence[str], at: Path, what: str, fold: bool = False) -> Iterator[PathDiagnostic]:
    """Names given twice. fold: also those that differ by upper and lower case only, for what becomes a file."""
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        first = seen.setdefault(name.lower() if fold else name, index)
        if first != index:
            path = (*at, index) if what == "a pass" else (*at, index, "name")
            yield PathDiagnostic(
                path, f"found {preview_json(name)}, the name of {what} before it, {at[-1]}[{first}]", "names are unique"
            )


def color_word(color: object, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    """A color that the stage has no name for."""
    if isinstance(color, str):
        yield from unknown(color, stage.color_names() if stage is not None else tuple(COLORS), (*at, "color"))


def material_given(material: str | MaterialSpec | None, at: Path) -> Iterator[PathDiagnostic]:
    """A material that is not known, or whose parts don't go together."""
    if isinstance(material, str):
        yield from _material_word(material, (*at, "material"))
    elif material is not None:
        yield from _material_issues(material, (*at, "material"))


def object_issues(item: ObjectSpec, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    """The issues of an object whose form is right."""
    yield from _shape_given(item, stage, (*at, "shape"))
    yield from color_word(item.color, stage, at)
    if isinstance(item.size, str):
        yield from unknown(item.size, tuple(SIZES if stage is None else stage.size_names()), (*at, "size"))
    elif item.size is not None and item.size > _LARGEST and (stage is None or stage.pixels != "center"):
        yield PathDiagnostic((*at, "size"), f"found {item.size:g}; allowed: at most {_LARGEST}")
    yield from footprint_issues(item, at)
    if not is_model(item.shape) or item.material not in (ORIGINAL, PAINTED):
        yield from material_given(item.material, at)
    elif item.material == ORIGINAL and item.color is not None:
        yield PathDiagnostic(
            (*at, "color"), "given beside material original; allowed: color, or original", "or painted"
        )
    if item.normalize is not None and not is_model(item.shape):
        yield PathDiagnostic(
            (*at, "normalize"), f"given for {preview_json(item.shape)}; allowed: only for models, shapenet:..."
        )


def _shape_given(item: ObjectSpec, stage: Stage | None, path: Path) -> Iterator[PathDiagnostic]:
    if isinstance(item.shape, OutlineSpec):
        yield from outline_issues(item.shape, path)
    else:
        yield from shape_word(item.shape, path)
    flat = isinstance(item.shape, OutlineSpec) and not item.shape.height
    if stage is not None and stage.ground is not None and (flat or item.shape in FLAT_SHAPES):
        problem = f"found a flat shape; stage {stage.name!r} has a ground, in which it would lie"
        yield PathDiagnostic(path, problem, 'make it a prism: {"outline": ..., "height": ...}')


def shape_word(shape: str | None, path: Path) -> Iterator[PathDiagnostic]:
    """A shape that is not known, or a model that is not named as one."""
    if shape is None or not is_model(shape):
        yield from unknown(shape, shapes(), path)
    elif parse_model(shape) is None:
        allowed = "shapenet:<category>/<model id> or shapenet:<category>/#<number from 1>"
        yield PathDiagnostic(path, f"found {preview_json(shape)}; allowed: {allowed}", "such as shapenet:chairs/#3")


def _material_word(word: str, path: Path) -> Iterator[PathDiagnostic]:
    for issue in unknown(word, materials(), path):
        blend = word == "blend" or word.endswith(".blend")
        yield issue._replace(hint='write {"blend": "<file>", "group": "<node group>"}') if blend else issue


def _material_issues(material: MaterialSpec, at: Path) -> Iterator[PathDiagnostic]:
    if material.name is not None:
        yield from _material_word(material.name, (*at, "name"))
        for key in ("blend", "group"):
            if getattr(material, key) is not None:
                yield PathDiagnostic(
                    (*at, key), f"given beside name {preview_json(material.name)}; allowed: name, or blend and group"
                )
    elif material.blend is None and material.group is None:
        yield PathDiagnostic(at, "neither name nor blend is given; allowed: name, or blend and group")
    elif material.blend is None or material.group is None:
        missing, there = ("blend", "group") if material.blend is None else ("group", "blend")
        yield PathDiagnostic(at, f"{there} is given without {missing}; allowed: both")
    if material.strength is not None and material.name != "emission":
        found = material.name or "a .blend file"
        yield PathDiagnostic(
            (*at, "strength"), f"found a strength for {preview_json(found)}; allowed: only for emission"
        )
    if material.blend is not None:
        yield from blend_issues(material.blend, (*at, "blend"))


def blend_issues(path: str, at: Path) -> Iterator[PathDiagnostic]:
    """A .blend file outside the asset roots, or named otherwise."""
    absolute = path.startswith(("/", "~")) or path[1:2] == ":"
    if absolute or "\\" in path or "\0" in path or ".." in path.split("/"):
        problem = f"found {preview_json(path)}; allowed: a path below an asset root, with '/', without '..'"
        yield PathDiagnostic(at, problem, "name the file's folder as an asset root")
    elif not path.endswith(".blend"):
        yield PathDiagnostic(at, f"found {preview_json(path)}; allowed: a file that ends in .blend")


def random_issues(frame: FrameSpec, more: RandomObjectsSpec, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    """The issues of objects to be drawn."""
    colors, sizes = (tuple(COLORS), tuple(SIZES)) if stage is None else (stage.color_names(), tuple(stage.size_names()))
    known = {"shapes": shapes(), "colors": colors, "materials": materials(), "sizes": sizes}
    lists = {key: getattr(more, key) for key in known}
    for key, words in known.items():
        for index, word in enumerate(lists[key] or ()):
            place = (*at, key, index)
            yield from shape_word(word, place) if key == "shapes" else unknown(word, words, place)
    for index, (shape, color) in enumerate(more.combinations or ()):
        yield from shape_word(shape, (*at, "combinations", index, 0))
        yield from unknown(color, known["colors"], (*at, "combinations", index, 1))
    if more.combinations is not None:
        for key in ("shapes", "colors"):
            if lists[key] is not None:
                yield PathDiagnostic(
                    (*at, key), f"given beside combinations; allowed: {key}, or combinations", "leave one out"
                )
    fewest, most = more.count if isinstance(more.count, tuple) else (more.count, more.count)
    if fewest > most:
        yield PathDiagnostic(
            (*at, "count"),
            f"found {preview_json([fewest, most])}; allowed: [fewest, most]",
            f"write [{most}, {fewest}]",
        )
    # The compiler calls what it draws `object-<index>`, as it does what has no name.
    first = len(frame.objects)
    drawn = {f"object-{first + k}" for k in range(most)}
    for index, item in enumerate(frame.objects):
        if item.name in drawn:
            problem = f"found {preview_json(item.name)}, the name of an object that random_objects draws"
            yield PathDiagnostic((*at[:-1], "objects", index, "name"), problem, "names are unique")
    if more.distinct and stage is not None:
        yield from _too_many_distinct(more, fewest, stage, at)


def _too_many_distinct(more: RandomObjectsSpec, fewest: int, stage: Stage, at: Path) -> Iterator[PathDiagnostic]:
    base = stage.defaults
    pairs: Iterable[object] = dict.fromkeys(more.combinations or ())
    looks = len(list(pairs)) or prod(
        len({*words}) for words in (more.shapes or base.shapes, more.colors or base.colors)
    )
    looks *= prod(len({*words}) for words in (more.materials or base.materials, more.sizes or base.sizes))
    if fewest > looks:
        problem = f"found {fewest} distinct objects; allowed: at most {looks}, as many as the lists combine to"
        yield PathDiagnostic((*at, "count"), problem, "widen the lists, or leave out distinct")
