"""Sources of images: the attributes their objects can have, how an image becomes a frame of a spec, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, cast

import numpy as np
from pydantic import ConfigDict, TypeAdapter

from diorama.scene_specs.benchmarks.icca.layout import Ground, Point, SceneGraph, draw_places, graph_of
from diorama.scene_specs.language.model_names import SYNSETS, parse_model
from diorama.scene_specs.language.rng import generator, shuffled
from diorama.scene_specs.model.spec import FrameData, ObjectData

_MODELS = 8
_PLACES = ("top_left", "top_right", "bottom_left", "bottom_right")
# x, y and rotation in degrees, or the name of a place.
Place = Point | str


@dataclass(frozen=True)
class Source:
    """A row of `sources.json`.

    Attributes:
        values: attribute -> possible values.
        object_count: minimum and maximum per image.
        vary: what contexts may differ in.
        frame: further keys of a spec's frame; the area of solids is smaller than CLEVR's, so that every named object is
            clearly visible.
        ground: where objects stand, and where the camera does, at four fifths of CLEVR's distance; outlines of `flat`
            are apart and complete. None for named places.
        misread: pairs of values that no object combines, because people would describe it differently: gray glass looks
            black, and glowing objects look lighter than their color: gray looks white, red and purple pink, brown
            orange.
        spec_values: word of a description -> value in a spec, where they differ; the star lies flat on the ground, so
            that none of its sides looks like a cube from above, and a weaker emission would look dark beside lit
            objects.
        folders: category -> folder of its models.
        visible_pixels: size -> shape -> minimum visible pixels: three fifths of the object's pixels when it stands far
            away and unoccluded. With less, some objects could not be recognized by their visible corner.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    stage: str
    values: dict[str, tuple[str, ...]]
    object_count: tuple[int, int]
    vary: tuple[str, ...]
    frame: dict[str, Any] = field(default_factory=dict)
    ground: Ground | None = None
    misread: tuple[frozenset[str], ...] = ()
    spec_values: dict[str, Any] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    visible_pixels: dict[str, dict[str, int]] = field(default_factory=dict)

    def looks_as_described(self, graph: SceneGraph) -> bool:
        """Whether no object of an image combines values that people misread."""
        values = [{value for _, value in item} for item in graph.objects]
        return not any(pair <= shown for pair in self.misread for shown in values)


SOURCES: Mapping[str, Source] = TypeAdapter(dict[str, Source]).validate_json(
    (resources.files("diorama.scene_specs.benchmarks.icca") / "sources.json").read_text("utf-8")
)


def frame_spec(
    source: str, graph: SceneGraph, places: Sequence[Place], camera: Point, context: str, seed: int, name: str
) -> FrameData:
    """Return an image as a frame of a spec. Objects are named thing-0, thing-1, ... in the graph's order.

    Args:
        places: of the objects; see `draw_layout`.
        camera: its location, of a source with one.
    """
    frame = cast(FrameData, {"name": name, **SOURCES[source].frame})
    if source == "shapenet":
        return {**frame, "objects": _model_objects(graph, places, context, seed)}
    spec_values = SOURCES[source].spec_values
    if camera:
        frame["camera"] = {"location": [*camera], "jitter": 0.0}
    frame["objects"] = [
        {
            "name": f"thing-{k}",
            **cast(ObjectData, {key: spec_values.get(word, word) for key, word in item}),
            "location": [*place[:2]],
            "rotation_deg": place[2],
        }
        for k, (item, place) in enumerate(zip(graph.objects, places, strict=True))
    ]
    if visible := SOURCES[source].visible_pixels:
        frame["constraints"] = [
            {"min_visible_pixels": visible[values["size"]][values["shape"]], "objects": [f"thing-{k}"]}
            for k, values in enumerate(map(dict, graph.objects))
        ]
    return frame


def draw_layout(
    source: Source, images: Sequence[Sequence[Mapping[str, str]]], lines: Sequence[Sequence[int]],
    swaps: Sequence[Sequence[int]] | None, rng: np.random.Generator,
) -> tuple[Point, list[list[Place]]] | None:  # fmt: skip
    """Return the camera's location, and the places of the objects of each image: those of the context, assigned anew.

    Args:
        images: attributes of objects.
        lines: see `draw_places`.
        swaps: the place of each object in each image; None draws them, among the places of objects of this size and, if
            images have the same shapes, of this shape: solids of different height would stand elsewhere in the image.
            If sizes differ between images, all places have room for large objects. None if there are no such places.
    """
    kinds = [[(item.get("size", ""), item.get("shape", "")) for item in objects] for objects in images]
    if any(image_kinds != kinds[0] for image_kinds in kinds):
        kinds = [[(size, "") for size, _ in image_kinds] for image_kinds in kinds]
    if any(image_kinds != kinds[0] for image_kinds in kinds):
        kinds = [[("large", "")] * len(image_kinds) for image_kinds in kinds]
    sizes = [size for size, _ in kinds[0]]
    camera: Point = ()
    places: list[Place] = [_PLACES[k] for k in rng.permutation(len(_PLACES))[: len(sizes)]]
    if (ground := source.ground) is not None:
        camera = tuple(round(x + ground.jitter * float(rng.uniform(-1, 1)), 4) for x in ground.camera)
        drawn = draw_places(ground, camera, sizes, lines, rng)
        if drawn is None:
            return None
        places = [(*point, round(float(rng.uniform(0, 360)), 1)) for point in drawn.tolist()]
    if swaps is None:
        swaps = [_shuffled_among_equals(kinds[0], rng) for _ in images]
    return camera, [[places[k] for k in order] for order in swaps]


def _shuffled_among_equals(kinds: Sequence[tuple[str, str]], rng: np.random.Generator) -> list[int]:
    """Return a permutation of the indices that keeps the kind at each."""
    permutation = [0] * len(kinds)
    for kind in dict.fromkeys(kinds):
        own = [k for k, candidate in enumerate(kinds) if candidate == kind]
        for k, other in zip(own, shuffled(rng, own), strict=True):
            permutation[k] = other
    return permutation


def _model_objects(graph: SceneGraph, places: Sequence[Place], context: str, seed: int) -> list[ObjectData]:
    """Each object in its own place; equal objects look the same in all images of the context."""
    objects, folders = list[ObjectData](), SOURCES["shapenet"].folders
    for k, (attributes, place) in enumerate(zip(graph.objects, places, strict=True)):
        values = dict(attributes)
        model = int(generator(seed, context, f"model {values['category']}").integers(_MODELS)) + 1
        yaw, elevation = generator(seed, context, f"view {sorted(attributes)}").random(2).tolist()
        objects.append(
            {
                "name": f"thing-{k}",
                "shape": f"shapenet:{folders[values['category']]}/#{model}",
                "color": values["color"],
                "place": str(place),
                "view": {"yaw_deg": round(20 + 40 * yaw, 1), "elevation_deg": round(18 + 16 * elevation, 1)},
            }
        )
    return objects


def attributes_of(source: str, item: Mapping[str, Any]) -> dict[str, str]:
    """Return the attributes of an object of a spec, or of a rendered object's annotation.

    Raises ValueError for values that the source does not have.
    """
    attributes = {}
    for name, known in SOURCES[source].values.items():
        value = _category_word(item["shape"]) if name == "category" else _word(item.get(name))
        if value not in known:
            raise ValueError(f"object {item['name']!r}: found {name} {value!r}; expected one of {', '.join(known)}")
        attributes[name] = value
    return attributes


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        value = "polygon" if "polygon" in value else value.get("name")
    return {"polygon": "star", "emission": "glowing"}.get(str(value), str(value))


def _category_word(shape: object) -> str:
    """Return the source's word for a model's folder; the folder itself if there is none."""
    name = parse_model(str(shape))
    folder = name.category if name else str(shape)
    return next(
        (word for word, own in SOURCES["shapenet"].folders.items() if folder in (own, SYNSETS.get(own))), folder
    )


def graph_of_annotations(
    source: str, objects: Sequence[Mapping[str, Any]], relations: Mapping[str, Mapping[str, Sequence[str]]] | None
) -> SceneGraph:
    """Return the scene graph of a rendered image.

    Args:
        objects: with name, shape, color, material, size, in index order.
        relations: measured relations, relation -> name -> names of the objects that stand so of it; None leaves them
            out.

    Raises:
        ValueError: for values that the source does not have.
    """
    number = {item["name"]: k for k, item in enumerate(objects)}
    related = [
        (name, number[subject], number[of])
        for name in ("left", "front")
        for of, subjects in (relations or {}).get(name, {}).items()
        for subject in subjects
    ]
    return graph_of([attributes_of(source, item) for item in objects], related)
