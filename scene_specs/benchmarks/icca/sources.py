"""Where contexts come from: what the things of a picture can be, and how a picture is written as a spec's frame."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from scene_specs.benchmarks.icca.picture import Picture, picture_of
from scene_specs.language.model_names import SYNSETS, parse_model
from scene_specs.language.rng import generator

# A thick star that lies on the ground: from above, no side of it looks like a cube's.
_RADII, _STAR_HEIGHT = (1.3, 0.6), 1.2
_STAR = {
    "polygon": [
        [round(_RADII[k % 2] * math.sin(math.pi * k / 5), 4), round(_RADII[k % 2] * math.cos(math.pi * k / 5), 4)]
        for k in range(10)
    ],
    "height": _STAR_HEIGHT,
}
# The word of a description -> what a spec calls it, where they differ.
_SPEC_SHAPES: Mapping[str, Any] = MappingProxyType({"star": _STAR})
# As bright as it looks in its color would be dark beside lit things.
_SPEC_MATERIALS: Mapping[str, Any] = MappingProxyType({"glowing": {"name": "emission", "strength": 2.0}})
_FOLDERS: Mapping[str, str] = MappingProxyType(
    {
        "bench": "benches", "boat": "boats", "car": "cars", "chair": "chairs", "couch": "couches",
        "lamp": "lighting", "plane": "planes", "table": "tables",
    }
)  # fmt: skip
# Gray glass is black. What glows is lighter than its color: gray is white, red and purple are pink, brown is orange.
_MISREAD = frozenset(
    frozenset(pair)
    for pair in (("gray", "glass"), *((color, "glowing") for color in ("gray", "red", "purple", "brown")))
)
_MODELS = 8
_PLACES = ("top_left", "top_right", "bottom_left", "bottom_right")
_COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")
_FLAT_COLORS = ("red", "green", "blue", "yellow", "white", "black", "cyan", "magenta", "orange")
# Pixels of each thing that show at least: four fifths of what shows of it far away, if nothing is before it. Less was
# tried, and some things could not be told by the corner that was left of them.
_VISIBLE: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "large": MappingProxyType({"cube": 2400, "sphere": 1300, "cylinder": 1900, "star": 1500}),
        "small": MappingProxyType({"cube": 600, "sphere": 330, "cylinder": 430, "star": 350}),
    }
)
# Four fifths of CLEVR's distance, and less ground: what is named has to be seen.
_NEARER: Mapping[str, Any] = MappingProxyType(
    {
        "camera": {"location": [5.9849, -5.2061, 4.275], "jitter": 0.4},
        "area": {"x": [-2.3, 2.3], "y": [-2.3, 2.3]},
    }
)
AXES: tuple[tuple[str, int], ...] = (("left", 0), ("front", 1))


@dataclass(frozen=True)
class Source:
    """values: attribute -> what it can be. stage: where pictures are set. things: fewest and most a picture.

    vary: what contexts of it may differ in. frame: further keys of a spec's frame. misread: two values that no thing
    has together, because people would name what they see otherwise.
    """

    stage: str
    values: Mapping[str, tuple[str, ...]]
    things: tuple[int, int]
    vary: tuple[str, ...] = ("attributes",)
    frame: Mapping[str, Any] = field(default_factory=dict)
    misread: frozenset[frozenset[str]] = frozenset()

    def plain(self, picture: Picture) -> bool:
        """Whether everything in a picture looks like its words."""
        values = [{value for _, value in thing} for thing in picture.things]
        return not any(pair <= shown for pair in self.misread for shown in values)


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        "clevr": Source(
            "clevr",
            MappingProxyType(
                {
                    "size": ("large", "small"),
                    "color": _COLORS,
                    "material": ("rubber", "metal", "glass", "glowing"),
                    "shape": ("cube", "sphere", "cylinder", "star"),
                }
            ),
            (3, 5),
            ("attributes", "relations"),
            _NEARER,
            _MISREAD,
        ),
        "shapenet": Source("quadrants", MappingProxyType({"color": _COLORS, "category": tuple(_FOLDERS)}), (3, 4)),
        "flat": Source(
            "flat",
            MappingProxyType(
                {
                    "size": ("large", "small"),
                    "color": _FLAT_COLORS,
                    "shape": ("circle", "square", "rectangle", "triangle"),
                }
            ),
            (3, 5),
            ("attributes", "relations"),
            MappingProxyType({"background": [170, 170, 170], "antialias": True}),
        ),
    }
)


def frame_of(source: str, picture: Picture, context: str, seed: int, name: str) -> dict[str, Any]:
    """A picture as a frame of a spec; things are called thing-0, thing-1, ... in the picture's order.

    Where the picture has no relations, places are drawn anew in each, and say nothing.
    """
    maker = _quadrant_things if source == "shapenet" else _free_things
    frame: dict[str, Any] = {"name": name, **SOURCES[source].frame}
    frame["objects"] = maker(picture, context, seed, name)
    constraints = _constraints(picture)
    if source == "clevr":
        constraints += [
            {"min_visible_pixels": _VISIBLE[values["size"]][values["shape"]], "objects": [f"thing-{k}"]}
            for k, values in enumerate(map(dict, picture.things))
        ]
    if constraints:
        frame["constraints"] = constraints
    return frame


def _free_things(picture: Picture, context: str, seed: int, name: str) -> list[dict[str, Any]]:
    made = []
    for k, thing in enumerate(picture.things):
        item: dict[str, Any] = {"name": f"thing-{k}", **dict(thing)}
        item["shape"] = _SPEC_SHAPES.get(item["shape"], item["shape"])
        if "material" in item:
            item["material"] = _SPEC_MATERIALS.get(item["material"], item["material"])
        made.append(item)
    return made


def _quadrant_things(picture: Picture, context: str, seed: int, name: str) -> list[dict[str, Any]]:
    """Each in a place of its own, drawn; alike things look alike in all pictures of the context."""
    places = generator(seed, context, f"places {name}").permutation(len(_PLACES)).tolist()
    made = []
    for k, thing in enumerate(picture.things):
        values = dict(thing)
        model = int(generator(seed, context, f"model {values['category']}").integers(_MODELS)) + 1
        yaw, elevation = generator(seed, context, f"view {sorted(thing)}").random(2).tolist()
        made.append(
            {
                "name": f"thing-{k}",
                "shape": f"shapenet:{_FOLDERS[values['category']]}/#{model}",
                "color": values["color"],
                "place": _PLACES[places[k]],
                "view": {"yaw_deg": round(20 + 40 * yaw, 1), "elevation_deg": round(18 + 16 * elevation, 1)},
            }
        )
    return made


def _constraints(picture: Picture) -> list[dict[str, Any]]:
    """Neighbors in the order along each axis; the others follow, with the stage's margin between neighbors."""
    found = []
    for relation, _ in AXES:
        pairs = [(a, b) for name, a, b in picture.relations if name == relation]
        if not pairs:
            continue
        before = [sum(b == k for _, b in pairs) for k in range(len(picture.things))]
        order = sorted(range(len(picture.things)), key=lambda k: before[k])
        found += [{"relation": relation, "subject": f"thing-{a}", "of": f"thing-{b}"} for a, b in pairwise(order)]
    return found


def said_thing(source: str, item: Mapping[str, Any]) -> dict[str, str]:
    """A thing from an object of a spec, or from an annotation of a rendered one. Raises ValueError for one that is
    none of the source's.
    """
    found = {}
    for name, known in SOURCES[source].values.items():
        value = _category(item["shape"]) if name == "category" else _word(name, item.get(name))
        if value not in known:
            raise ValueError(f"object {item['name']!r}: found {name} {value!r}; expected one of {', '.join(known)}")
        found[name] = value
    return found


def _word(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        value = "polygon" if "polygon" in value else value.get("name")
    return {("shape", "polygon"): "star", ("material", "emission"): "glowing"}.get((name, str(value)), str(value))


def _category(shape: object) -> str:
    """Our word for the folder of a model; the name itself where there is none."""
    name = parse_model(shape) if isinstance(shape, str) else None
    folder = name.category if name else str(shape)
    return next((word for word, own in _FOLDERS.items() if folder in (own, SYNSETS.get(own))), folder)


def seen_picture(
    source: str, objects: Sequence[Mapping[str, Any]], relations: Mapping[str, Mapping[str, Sequence[str]]] | None
) -> Picture:
    """A picture from the annotations of a rendered image.

    objects: with name, shape, color, material, size, in index order. relations: relation -> name -> names that stand
    so of it, as measured; None leaves them out. Raises ValueError for what the source can't show.
    """
    things = [said_thing(source, one) for one in objects]
    number = {one["name"]: k for k, one in enumerate(objects)}
    stands = [
        (name, number[subject], number[of])
        for name, _ in AXES
        for of, subjects in (relations or {}).get(name, {}).items()
        for subject in subjects
    ]
    return picture_of(things, stands)
