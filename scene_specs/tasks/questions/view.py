"""`ImageView`: what questions, expressions and captions are about: the annotation of an image, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from math import nan
from statistics import NormalDist
from typing import TYPE_CHECKING

from diorama.scene_specs.language.model_names import MODEL_MATERIALS, is_model, kind_of
from diorama.scene_specs.language.outlines import POLYGON
from diorama.scene_specs.language.vocabulary import CLEVR_MATERIALS, COLORS, RELATIONS, SHAPES, SIZES, SUPPORTED
from diorama.scene_specs.tasks.questions.program import ATTRIBUTES, NOUNS

if TYPE_CHECKING:
    from diorama.scene_specs.model.record import Extent, FrameAnnotation, ObjectAnnotation
    from diorama.scene_specs.model.scene import Scene, SceneContrast

# Compares false with everything.
UNKNOWN: Extent = ((nan, nan),) * 3

CLEVR_VALUES: Mapping[str, Sequence[str]] = {
    "size": tuple(SIZES), "color": tuple(COLORS), "material": CLEVR_MATERIALS, "shape": SHAPES,
}  # fmt: skip
# Objects seen by fewer pixels are doubtful.
MIN_PIXELS = 20
# Visible fractions from which an object counts as fully visible, and up to which as partly hidden. Between the two,
# nothing is asked about its visibility.
FULL, PARTIAL = 0.95, 0.7
# Visible fraction from which the kind of a model is clear. Of a car, a reader saw a third and recognized nothing.
RECOGNIZABLE = 0.6
# Degrees from its front up to which an object faces another one, and from which it does not. Between the two, nothing
# is asked about it.
FACED, NOT_FACED = 20.0, 45.0
# Shares up to which objects are few, and from which they are many. People differ: each image has thresholds of its own,
# as MALeViC's have for sizes.
VAGUE: Mapping[str, NormalDist] = {"few": NormalDist(0.3, 0.05), "many": NormalDist(0.6, 0.05)}
# Blender units by which a supporting surface may miss the object on it; placements are rounded.
CONTACT = 0.02
_WORDS = re.compile(r"[A-Za-z][A-Za-z0-9]*([ _-][A-Za-z0-9]+)*")
# Materials of models that keep their own.
_NO_MATERIAL = (*MODEL_MATERIALS, "blend")


@dataclass(frozen=True)
class ObjectView:
    """An object of an image.

    Attributes:
        truth: annotation of the object.
        values: attribute -> value, None for those that it has not, or not clearly.
        extent: extent of its mesh; UNKNOWN in some records of before 0.2.
    """

    truth: ObjectAnnotation
    values: Mapping[str, str | None]
    extent: Extent

    @property
    def scale(self) -> float:
        """Half its length or width, Blender units; nan for a polygon, whose scale is a factor of its corners."""
        return nan if self.truth.shape == POLYGON else float(self.truth.scale)


@dataclass(frozen=True)
class ImageView:
    """An image without its pointer.

    Attributes:
        relations: relation -> for each object, bits of the objects so related to it. Where an extent is unknown, there
            is no above and below, and `on` is that of the annotation, if it has any contacts.
        extrinsics: world to camera, rows x right, y down, z forward.
        directions: see FrameAnnotation.
        threshold: Blender units by which a relation must hold.
        contacts: whether it was measured what is in, leans on, touches and carries what.
        pointer: whether there is one.
        contrast: what the Scene is a member of.
        viewpoints: index of who has a front -> side -> index of an object -> bits of those on this side of it.
        fronts: index -> unit vector on the ground.
        eyes: index of an observer -> location.
    """

    episode: str
    image: str
    split: str | None
    objects: tuple[ObjectView, ...]
    relations: Mapping[str, tuple[int, ...]]
    extrinsics: tuple[tuple[float, ...], ...]
    directions: Mapping[str, tuple[float, float, float]]
    threshold: float
    contacts: bool = False
    pointer: bool = False
    contrast: SceneContrast | None = None
    viewpoints: Mapping[int, Mapping[str, Mapping[int, int]]] = field(default_factory=dict)
    fronts: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    eyes: Mapping[int, tuple[float, float, float]] = field(default_factory=dict)

    @cached_property
    def value_bits(self) -> dict[str, dict[str, int]]:
        """Attribute -> value -> bits of the objects that have it."""
        by_attribute: dict[str, dict[str, int]] = {name: {} for name in ATTRIBUTES}
        for k, item in enumerate(self.objects):
            for name, value in item.values.items():
                if value is not None:
                    by_attribute[name][value] = by_attribute[name].get(value, 0) | 1 << k
        return by_attribute

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """few and many -> the share that is the limit in this image."""
        limits = {}
        for word, distribution in VAGUE.items():
            # Without numpy's generators: commands import this module before they run.
            digest = sha256(f"{word}:{self.episode}:{self.image}".encode()).digest()
            limits[word] = round(distribution.inv_cdf((int.from_bytes(digest[:6]) + 0.5) / 2**48), 4)
        return limits

    @cached_property
    def vocabulary(self) -> dict[str, list[str]]:
        """Attribute -> values to ask for: those of the image and, where CLEVR has one of them, CLEVR's."""
        words = {}
        for name, values in self.value_bits.items():
            usual = CLEVR_VALUES.get(name, ())
            words[name] = sorted({*values, *(usual if any(value in usual for value in values) else ())})
        return words


def bits_of(bits: int) -> Iterator[int]:
    """Yield indices of the set bits, from the lowest."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def view_of(
    scene: Scene, image: str, annotation: FrameAnnotation, extents: Mapping[str, Extent], threshold: float
) -> ImageView:
    """Return the view of an image from its FrameAnnotation.

    Args:
        extents: name -> extent of an object (see ObjectView).
    """
    pointer = annotation.pointer
    kept = [item for item in annotation.objects if pointer is None or item.name != pointer.name]
    objects = tuple(_object_view(item, extents.get(item.name, UNKNOWN)) for item in kept)
    index = {item.name: k for k, item in enumerate(kept)}

    def of_all(some: Iterable[str]) -> int:
        return sum(1 << index[name] for name in some)

    def bits(some: Iterable[str]) -> int:
        # A relation can name the hand, which is left out.
        return of_all(name for name in some if name in index)

    contacts = "leaning" in annotation.relations
    names = (*RELATIONS, *(("in", "leaning", "touching") if contacts else ()))
    tables = {name: annotation.relations.get(name, {}) for name in names}
    relations = {name: tuple(bits(table.get(item.name, ())) for item in kept) for name, table in tables.items()}
    if all(item.extent is not UNKNOWN for item in objects):
        relations |= vertical([item.extent for item in objects])
    elif contacts:
        relations["on"] = tuple(bits(annotation.relations["on"].get(item.name, ())) for item in kept)
    if contacts:
        falls = falling(annotation.relations)
        relations["falls"] = tuple(bits(sorted(falls[item.name])) for item in kept)
    rows = tuple(tuple(row) for row in annotation.camera.extrinsics[:3])
    return ImageView(
        scene.id, image, scene.split, objects, relations, rows, annotation.directions, threshold, contacts,
        pointer is not None, scene.contrast,
        {
            index[who]: {side: {index[of]: of_all(some) for of, some in table.items()} for side, table in sides.items()}
            for who, sides in annotation.viewpoints.items()
        },
        {index[name]: front for name, front in annotation.fronts.items()},
        {index[observer.name]: observer.eye for observer in annotation.observers},
    )  # fmt: skip


def _object_view(item: ObjectAnnotation, extent: Extent) -> ObjectView:
    fraction = item.visible_fraction
    # Of an object that the border of the image cuts, the fraction is only that of the part inside.
    unclear = is_model(item.shape) and (item.truncated or fraction < RECOGNIZABLE)
    full = fraction >= FULL and not item.truncated
    values = {
        "visibility": "full" if full else "partial" if fraction <= PARTIAL else None,
        "size": _readable_name(item.size),
        "color": _readable_name(item.color),
        "material": None if item.material in _NO_MATERIAL else _readable_name(item.material),
        **(dict.fromkeys(NOUNS) if unclear else kind_values(item.shape)),
    }
    return ObjectView(item, values, extent)


def kind_values(shape: str) -> dict[str, str | None]:
    """Return the shape of a primitive or the category of a model, however little of it is visible."""
    # Nobody has a word for an invented shape.
    kind = None if shape.startswith("invented:") else _readable_name(kind_of(shape))
    return {"shape": None, "category": kind} if is_model(shape) else {"shape": kind, "category": None}


def _readable_name(name: str | None) -> str | None:
    """Return a name that can stand in a sentence, or None."""
    return name if name is not None and _WORDS.fullmatch(name) else None


def vertical(extents: Sequence[Extent]) -> dict[str, tuple[int, ...]]:
    """above, below, on, as bits: B is above A if it begins where A ends, and one's center lies over the other's box.

    It is on A if, in addition, they touch.
    """
    above = [0] * len(extents)
    below, touching = list(above), list(above)
    for a, under in enumerate(extents):
        for b, over in enumerate(extents):
            gap = over[2][0] - under[2][1]
            if a != b and gap >= -CONTACT and (_center_within(over, under) or _center_within(under, over)):
                above[a] |= 1 << b
                below[b] |= 1 << a
                touching[a] |= (gap <= CONTACT) << b
    return {"above": tuple(above), "below": tuple(below), "on": tuple(touching)}


def falling(relations: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, set[str]]:
    """Name -> names of all objects that would fall if it were taken away: all that it carries, directly or not.

    Args:
        relations: relations of an annotation: relation -> A -> all B in this relation to it.
    """
    carried = {name: {b for how in SUPPORTED for b in relations[how][name]} for name in relations["on"]}
    for middle in carried:
        for names in carried.values():
            names |= carried[middle] if middle in names else set()
    return carried


def _center_within(extent: Extent, other: Extent) -> bool:
    return all(other[k][0] <= (extent[k][0] + extent[k][1]) / 2 <= other[k][1] for k in range(2))
