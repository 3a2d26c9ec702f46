"""Layout of contexts: the four images have their objects in the same places, so places alone identify no image.

A place has one size of object in all images, and each image assigns its objects to the places of their size anew.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, Strict, ValidationError, model_validator

Point = tuple[float, ...]
_TRIES = 400


class Ground(NamedTuple):
    """Where objects stand.

    Attributes:
        area: smallest and largest coordinate.
        camera: x and y of the camera, which looks at the origin; () for a flat image.
        radius: of each size.
        shadow: how far behind an object of a size another one is hidden.
        margin: smallest difference that counts as a relation; all differences are 0 or twice as large.
        digits: of coordinates.
        jitter: of the camera, drawn once per context.
    """

    area: tuple[float, float]
    camera: Point
    radius: Mapping[str, float]
    shadow: Mapping[str, float]
    margin: float
    digits: int
    jitter: float = 0.0

    def axes(self, camera: Point) -> NDArray[np.float64]:
        """Return unit vectors to the right and to the front, (2, 2)."""
        if not camera:
            return np.array([[1.0, 0.0], [0.0, 1.0]])
        x, y = np.array(camera[:2]) / math.hypot(*camera[:2])
        return np.array([[-y, x], [x, y]])


def draw_places(
    ground: Ground, camera: Point, sizes: Sequence[str], lines: Sequence[Sequence[int]], rng: np.random.Generator
) -> NDArray[np.float64] | None:
    """Places of objects as (count, 2) coordinates on the ground; None if none were found.

    Args:
        lines: places that have the same coordinate along one drawn axis, to the right or to the front.
    """
    axes = ground.axes(camera)
    points = rng.uniform(*ground.area, (_TRIES, len(sizes), 2)) @ axes.T
    for line in lines:
        axis = int(rng.integers(2))
        points[:, line, axis] = points[:, line[:1], axis]
    world = points @ axes
    fits = ((world >= ground.area[0]) & (world <= ground.area[1])).all(axis=(1, 2))
    for a, b in combinations(range(len(sizes)), 2):
        away = np.abs(points[:, a] - points[:, b])
        touching = ground.radius[sizes[a]] + ground.radius[sizes[b]]
        behind = np.where(points[:, a, 1] > points[:, b, 1], ground.shadow[sizes[a]], ground.shadow[sizes[b]])
        fits &= np.hypot(*away.T) >= 1.15 * touching
        fits &= (away[:, 0] >= 1.2 * touching) | (away[:, 1] >= behind)
        fits &= ((away >= 2 * ground.margin) | (away < 1e-9)).all(axis=1)
    fitting = np.flatnonzero(fits)
    return world[fitting[0]].round(ground.digits) if len(fitting) else None


def relations_at(ground: Ground, camera: Point, places: NDArray[np.float64]) -> tuple[tuple[str, int, int], ...]:
    """(left or front, object, of object) for objects in these places, sorted."""
    right, front = (places @ ground.axes(camera).T).T
    relations = [
        (name, a, b)
        for name, along in (("left", right), ("front", -front))
        for a in range(len(places))
        for b in range(len(places))
        if along[b] - along[a] > ground.margin
    ]
    return tuple(sorted(relations))


def telling_layouts(images: Sequence[Sequence[Point]]) -> list[str]:
    """For each image, what identifies it by its layout alone: a number of objects, quadrants, gaps, or rows; else "".

    Args:
        images: the coordinates of the objects of each; the first two count. They are compared with the range of all
            images.
    """
    points = np.array([point[:2] for image in images for point in image], dtype=np.float64)
    low, extent = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-9)
    facts = [_layout_facts((np.array([point[:2] for point in image]) - low) / extent) for image in images]
    return [next((name for name in own if sum(other[name] == own[name] for other in facts) == 1), "") for own in facts]


def _layout_facts(points: NDArray[np.float64]) -> dict[str, object]:
    """Return what a layout shows. points: coordinates from 0 to 1, (count, 2)."""
    gaps = np.diff(np.sort(points, axis=0), axis=0)
    return {
        "number of objects": len(points),
        "quadrants": sorted((points > 0.5).tolist()),
        "widest gaps": gaps.argmax(axis=0).tolist() if len(gaps) else [],
        "rows and columns": (gaps > 0.15).sum(axis=0).tolist(),
    }


# Graphs hold "left" and "front" only; each opposite is the same relation with its objects swapped.
STORED: Mapping[str, tuple[str, bool]] = {
    "left": ("left", False), "right": ("left", True), "front": ("front", False), "behind": ("front", True),
}  # fmt: skip
# Five objects map to five in 120 ways; no source makes more than seven.
MAX_OBJECTS = 7


class Atom(NamedTuple):
    """One value of one object, or (value "") one relation of an object to another.

    Attributes:
        owner: object indices.
        other: object indices.
    """

    name: str
    value: str
    owner: int
    other: int = -1


@dataclass(frozen=True)
class SceneGraph:
    """Objects, attributes and relations of an image.

    Attributes:
        objects: attributes of each, (name, value), in a fixed order.
        relations: (left or front, object, of object).
    """

    objects: tuple[tuple[tuple[str, str], ...], ...]
    relations: tuple[tuple[str, int, int], ...] = ()

    def atoms(self) -> tuple[Atom, ...]:
        """All statements about the image: attributes object by object, then relations."""
        attributes = [Atom(name, value, k) for k, item in enumerate(self.objects) for name, value in item]
        return (*attributes, *(Atom(name, "", owner, other) for name, owner, other in self.relations))

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        data: dict[str, Any] = {"things": [dict(item) for item in self.objects]}
        if self.relations:
            data["relations"] = [list(relation) for relation in self.relations]
        return data


def graph_of(objects: Sequence[Mapping[str, str]], relations: Sequence[Sequence[Any]] = ()) -> SceneGraph:
    """Return a graph of attributes and (relation, object, of object), any of the four relations, which it sorts."""
    stored = set()
    for name, owner, other in relations:
        base, swapped = STORED[name]
        stored.add((base, other, owner) if swapped else (base, owner, other))
    return SceneGraph(tuple(tuple(item.items()) for item in objects), tuple(sorted(stored)))


class GraphData(BaseModel, strict=True, frozen=True, extra="forbid"):
    """SceneGraph.data, as a model."""

    things: Annotated[list[dict[str, str]], Field(max_length=MAX_OBJECTS)]
    relations: list[Annotated[tuple[Literal["left", "right", "front", "behind"], int, int], Strict(False)]] = []

    @model_validator(mode="after")
    def _of_its_things(self) -> GraphData:
        if not all(0 <= k < len(self.things) for _, *pair in self.relations for k in pair):
            raise ValueError(f"relations: expected pairs of the {len(self.things)} things, counted from 0")
        return self

    def graph(self) -> SceneGraph:
        """Return the data as a scene graph."""
        return graph_of(self.things, self.relations)


def graph_from_json(data: object) -> SceneGraph:
    """Return the inverse of SceneGraph.data. Raises ValueError for other JSON data."""
    try:
        return GraphData.model_validate(data).graph()
    except ValidationError:
        things = f"things, at most {MAX_OBJECTS}, each an object of strings"
        raise ValueError(f"expected {things}, and a list of relations, each [relation, thing, of thing]") from None


def others_of(graphs: Sequence[SceneGraph], k: int) -> list[SceneGraph]:
    """All graphs except number k."""
    return [graph for j, graph in enumerate(graphs) if j != k]


@lru_cache(maxsize=4096)
def readings(description: SceneGraph, image: SceneGraph) -> tuple[int, ...]:
    """Bit sets over description.atoms(): which atoms hold under each mapping of its objects to objects of the image.

    Bit k is atom k. Only maximal sets are kept, so the result is never empty. Where the image has fewer objects, some
    objects of the description map to none.
    """
    atoms = description.atoms()
    values = [dict(item) for item in image.objects]
    image_relations = {*image.relations}
    targets: list[int | None] = [*range(len(image.objects))]
    targets += [None] * max(0, len(description.objects) - len(image.objects))
    all_readings = set()
    for mapped in permutations(targets, len(description.objects)):
        bits = 0
        for k, atom in enumerate(atoms):
            at = mapped[atom.owner]
            if at is None:
                continue
            holds = (
                values[at].get(atom.name) == atom.value
                if atom.other < 0
                else (atom.name, at, mapped[atom.other]) in image_relations
            )
            bits |= holds << k
        all_readings.add(bits)
    kept: list[int] = []
    for bits in sorted(all_readings, key=lambda reading: (-reading.bit_count(), reading)):
        if not any(bits | other == other for other in kept):
            kept.append(bits)
    return tuple(kept)


def is_true_of(description: SceneGraph, image: SceneGraph) -> bool:
    """Whether a description is true of an image."""
    return agreement(description, image) == len(description.atoms())


def agreement(description: SceneGraph, image: SceneGraph) -> int:
    """Return the largest number of a description's attributes and relations that hold under one mapping."""
    return readings(description, image)[0].bit_count()


def count_differences(first: SceneGraph, second: SceneGraph) -> int:
    """Return the number of attributes and relations of the first that differ in the second, under the best mapping.

    Symmetric for graphs of the same number of attributes and relations.
    """
    return len(first.atoms()) - agreement(first, second)


def subgraph(graph: SceneGraph, chosen: int) -> SceneGraph:
    """Return the description that consists of the atoms of these bits, and of the objects that they are about."""
    atoms = [atom for k, atom in enumerate(graph.atoms()) if chosen >> k & 1]
    used = sorted({k for atom in atoms for k in (atom.owner, atom.other) if k >= 0})
    objects = [tuple((name, value) for name, value in graph.objects[k] if Atom(name, value, k) in atoms) for k in used]
    relations = [(atom.name, used.index(atom.owner), used.index(atom.other)) for atom in atoms if atom.other >= 0]
    return SceneGraph(tuple(objects), tuple(relations))
