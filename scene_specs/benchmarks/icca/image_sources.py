"""Sources of images: the attributes their objects can have, how an image becomes a frame of a spec, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from scene_specs.benchmarks.icca.scene_graph import SceneGraph, graph_of
from scene_specs.language.model_names import SYNSETS, parse_model
from scene_specs.language.rng import generator

# A thick star that lies flat on the ground, so that none of its sides looks like a cube from above.
_RADII, _STAR_HEIGHT = (1.3, 0.6), 1.2
_STAR = {
    "polygon": [
        [round(_RADII[k % 2] * math.sin(math.pi * k / 5), 4), round(_RADII[k % 2] * math.cos(math.pi * k / 5), 4)]
        for k in range(10)
    ],
    "height": _STAR_HEIGHT,
}
# Word of a description -> value in a spec, where they differ. A weaker emission would look dark beside lit objects.
_SPEC_VALUES: Mapping[str, Any] = {"star": _STAR, "glowing": {"name": "emission", "strength": 2.0}}
_FOLDERS: Mapping[str, str] = {
    "bench": "benches", "boat": "boats", "car": "cars", "chair": "chairs", "couch": "couches", "lamp": "lighting",
    "plane": "planes", "table": "tables",
}  # fmt: skip
# Gray glass looks black. Glowing objects look lighter than their color: gray looks white, red and purple pink, brown
# orange.
_MISREAD = frozenset(
    frozenset(pair)
    for pair in (("gray", "glass"), *((color, "glowing") for color in ("gray", "red", "purple", "brown")))
)
_MODELS = 8
_PLACES = ("top_left", "top_right", "bottom_left", "bottom_right")
_COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")
_FLAT_COLORS = ("red", "green", "blue", "yellow", "white", "black", "cyan", "magenta", "orange")
# Minimum visible pixels of each object: four fifths of its pixels when it stands far away and unoccluded. With less,
# some objects could not be recognized by their visible corner.
_VISIBLE: Mapping[str, Mapping[str, int]] = {
    "large": {"cube": 2400, "sphere": 1300, "cylinder": 1900, "star": 1500},
    "small": {"cube": 600, "sphere": 330, "cylinder": 430, "star": 350},
}
# Four fifths of CLEVR's distance and a smaller area, so that every named object is clearly visible.
_NEARER: Mapping[str, Any] = {
    "camera": {"location": [5.9849, -5.2061, 4.275], "jitter": 0.4},
    "area": {"x": [-2.3, 2.3], "y": [-2.3, 2.3]},
}
# Relations that describe an order: along the x axis of the image, and in depth.
AXES: tuple[str, ...] = ("left", "front")


@dataclass(frozen=True)
class Source:
    """values: attribute -> possible values. stage: stage of the spec. object_count: minimum and maximum per image.

    vary: what contexts may differ in. frame: further keys of a spec's frame. misread: pairs of values that no object
    combines, because people would describe it differently.
    """

    stage: str
    values: Mapping[str, tuple[str, ...]]
    object_count: tuple[int, int]
    vary: tuple[str, ...] = ("attributes",)
    frame: Mapping[str, Any] = field(default_factory=dict)
    misread: frozenset[frozenset[str]] = frozenset()

    def looks_as_described(self, graph: SceneGraph) -> bool:
        """Whether no object of an image combines values that people misread."""
        values = [{value for _, value in item} for item in graph.objects]
        return not any(pair <= shown for pair in self.misread for shown in values)


_CLEVR_VALUES = {
    "size": ("large", "small"),
    "color": _COLORS,
    "material": ("rubber", "metal", "glass", "glowing"),
    "shape": ("cube", "sphere", "cylinder", "star"),
}
_FLAT_VALUES = {
    "size": ("large", "small"),
    "color": _FLAT_COLORS,
    "shape": ("circle", "square", "rectangle", "triangle"),
}
_FLAT_FRAME = {"background": [170, 170, 170], "antialias": True}
_BOTH = ("attributes", "relations")
SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "clevr": Source("clevr", _CLEVR_VALUES, (3, 5), _BOTH, _NEARER, _MISREAD),
        "shapenet": Source("quadrants", {"color": _COLORS, "category": tuple(_FOLDERS)}, (3, 4)),
        "flat": Source("flat", _FLAT_VALUES, (3, 5), _BOTH, _FLAT_FRAME),
    }
)


def frame_spec(source: str, graph: SceneGraph, context: str, seed: int, name: str) -> dict[str, Any]:
    """An image as a frame of a spec. Objects are named thing-0, thing-1, ... in the graph's order.

    Without relations, the objects' places are drawn independently for each image and carry no information.
    """
    frame: dict[str, Any] = {"name": name, **SOURCES[source].frame}
    if source == "shapenet":
        frame["objects"] = _quadrant_objects(graph, context, seed, name)
    else:
        values = ({key: _SPEC_VALUES.get(word, word) for key, word in item} for item in graph.objects)
        frame["objects"] = [{"name": f"thing-{k}", **item} for k, item in enumerate(values)]
    constraints = _constraints(graph)
    if source == "clevr":
        constraints += [
            {"min_visible_pixels": _VISIBLE[values["size"]][values["shape"]], "objects": [f"thing-{k}"]}
            for k, values in enumerate(map(dict, graph.objects))
        ]
    if constraints:
        frame["constraints"] = constraints
    return frame


def _quadrant_objects(graph: SceneGraph, context: str, seed: int, name: str) -> list[dict[str, Any]]:
    """Each object in its own drawn place; equal objects look the same in all images of the context."""
    places = generator(seed, context, f"places {name}").permutation(len(_PLACES)).tolist()
    objects = []
    for k, attributes in enumerate(graph.objects):
        values = dict(attributes)
        model = int(generator(seed, context, f"model {values['category']}").integers(_MODELS)) + 1
        yaw, elevation = generator(seed, context, f"view {sorted(attributes)}").random(2).tolist()
        objects.append(
            {
                "name": f"thing-{k}",
                "shape": f"shapenet:{_FOLDERS[values['category']]}/#{model}",
                "color": values["color"],
                "place": _PLACES[places[k]],
                "view": {"yaw_deg": round(20 + 40 * yaw, 1), "elevation_deg": round(18 + 16 * elevation, 1)},
            }
        )
    return objects


def _constraints(graph: SceneGraph) -> list[dict[str, Any]]:
    """Relations between neighbors along each axis. The stage's margin between neighbors implies the others."""
    found = []
    for relation in AXES:
        related = [(a, b) for name, a, b in graph.relations if name == relation]
        if not related:
            continue
        before = [sum(b == k for _, b in related) for k in range(len(graph.objects))]
        order = sorted(range(len(graph.objects)), key=lambda k: before[k])
        found += [{"relation": relation, "subject": f"thing-{a}", "of": f"thing-{b}"} for a, b in pairwise(order)]
    return found


def attributes_of(source: str, item: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of an object of a spec, or of a rendered object's annotation.

    Raises ValueError for values that the source does not have.
    """
    found = {}
    for name, known in SOURCES[source].values.items():
        value = _category(item["shape"]) if name == "category" else _word(item.get(name))
        if value not in known:
            raise ValueError(f"object {item['name']!r}: found {name} {value!r}; expected one of {', '.join(known)}")
        found[name] = value
    return found


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        value = "polygon" if "polygon" in value else value.get("name")
    return {"polygon": "star", "emission": "glowing"}.get(str(value), str(value))


def _category(shape: object) -> str:
    """The source's word for a model's folder; the folder itself if there is none."""
    name = parse_model(shape) if isinstance(shape, str) else None
    folder = name.category if name else str(shape)
    return next((word for word, own in _FOLDERS.items() if folder in (own, SYNSETS.get(own))), folder)


def graph_of_annotations(
    source: str, objects: Sequence[Mapping[str, Any]], relations: Mapping[str, Mapping[str, Sequence[str]]] | None
) -> SceneGraph:
    """The scene graph of a rendered image.

    objects: with name, shape, color, material, size, in index order. relations: measured relations, relation -> name ->
    names of the objects that stand so of it; None leaves them out. Raises ValueError for values that the source does
    not have.
    """
    number = {item["name"]: k for k, item in enumerate(objects)}
    related = [
        (name, number[subject], number[of])
        for name in AXES
        for of, subjects in (relations or {}).get(name, {}).items()
        for subject in subjects
    ]
    return graph_of([attributes_of(source, item) for item in objects], related)
