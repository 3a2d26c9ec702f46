"""CLEVR and CLEVR-CoGenT episodes (Johnson et al., CLEVR, CVPR 2017): one image of a few objects each.

Attributes are drawn here, uniformly as in the published generator, and written into the spec. The compiler draws
locations, rotations and jitter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from diorama.scene_specs.benchmarks.clevr import Options
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.language.rng import generator, pick
from diorama.scene_specs.language.vocabulary import CLEVR_MATERIALS, COLORS, SHAPES, SIZES
from diorama.scene_specs.model.spec import ConstraintSpec, Contact, EpisodeSpec, FrameSpec, ObjectSpec, OutlineSpec
from diorama.scene_specs.tasks.benchmark import Series

# CLEVR-CoGenT: condition -> shape -> allowed colors (Johnson et al. 2017, section 4.7).
_COGENT_1 = ("gray", "blue", "brown", "yellow")
_COGENT_2 = ("red", "green", "purple", "cyan")
COGENT: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "A": {"cube": _COGENT_1, "cylinder": _COGENT_2, "sphere": tuple(COLORS)},
    "B": {"cube": _COGENT_2, "cylinder": _COGENT_1, "sphere": tuple(COLORS)},
}
MAX_STACKED = 12
# Objects in one group, with what carries them.
_LARGEST = 4
_FLAT = ("cube", "cylinder")
_CONTAINERS = {"bowl": 0.9, "box": 0.8, "shelf": 0.9}
_CONTENTS = (0.2, 0.26)
_HALF_PLANK = (0.05, 0.2)
# Degrees at which a shelf shows its open side to the camera of the stage.
_FACING = 49.0


@dataclass
class _Frame:
    rng: np.random.Generator
    objects: list[ObjectSpec] = field(default_factory=list)
    constraints: list[ConstraintSpec] = field(default_factory=list)

    def add(
        self, shape: str | OutlineSpec, size: str | float | None, relation: Contact | None = None, of: str = ""
    ) -> str:
        """Add an object in a relation to another one, and return its name."""
        name = f"object-{len(self.objects)}"
        turn = round(_FACING + float(self.rng.uniform(-30, 30)), 3) if shape == "shelf" else None
        color, material = pick(self.rng, tuple(COLORS)), pick(self.rng, CLEVR_MATERIALS)
        item = ObjectSpec(name=name, shape=shape, color=color, material=material, size=size, rotation_deg=turn)
        self.objects.append(item)
        if relation is not None:
            self.constraints.append(ConstraintSpec(relation=relation, subject=name, of=of))
        return name

    def tower(self, count: int) -> None:
        """One on the other; only the last may be a sphere."""
        below = self.add(pick(self.rng, _FLAT), "large")
        for number in range(1, count):
            last = number == count - 1
            size = pick(self.rng, ("large", "small")) if number == 1 and count < _LARGEST else "small"
            below = self.add(pick(self.rng, (*_FLAT, "sphere") if last else _FLAT), size, "on", below)

    def pile(self, count: int) -> None:
        """Two small ones on one top, and others on or beside these."""
        base = self.add(pick(self.rng, _FLAT), "large")
        tops = [self.add(pick(self.rng, _FLAT), _CONTENTS[1], "on", base) for _ in range(min(count - 1, 2))]
        for _ in range(count - 3):
            self.add("sphere", _CONTENTS[0], "on", pick(self.rng, tops))

    def container(self, count: int) -> None:
        """Add a container, and what is in it."""
        shape = pick(self.rng, tuple(_CONTAINERS))
        holder = self.add(shape, _CONTAINERS[shape])
        for _ in range(min(count - 1, 1 if shape == "bowl" else 3)):
            self.add(pick(self.rng, (*_FLAT, "sphere")), pick(self.rng, _CONTENTS), "in", holder)

    def leaning(self, count: int) -> None:
        """Add a plank that leans on a cube, and small ones on or beside the cube."""
        cube = self.add("cube", "large")
        (x, y), height = _HALF_PLANK, round(float(self.rng.uniform(0.9, 1.25)), 3)
        self.add(OutlineSpec(polygon=((-x, -y), (x, -y), (x, y), (-x, y)), height=height), None, "leaning", cube)
        for relation in ("touching", "on")[: count - 2]:
            self.add(pick(self.rng, _FLAT), "small", relation, cube)  # type: ignore[arg-type]


def stacked(rng: np.random.Generator, total: int) -> FrameSpec:
    """Return a frame of objects in groups that touch."""
    frame = _Frame(rng)
    while left := total - len(frame.objects):
        count = min(left, int(rng.integers(2, _LARGEST + 1))) if left != _LARGEST + 1 else 3
        if count == 1:
            frame.add(pick(rng, (*_FLAT, "sphere")), "small")
        else:
            pick(rng, (frame.tower, frame.pile, frame.container, frame.leaning))(count)
    rules = (ConstraintSpec(min_visible_pixels=20), ConstraintSpec(axis_margin=0.1), ConstraintSpec(min_distance=0.1))
    return FrameSpec(objects=tuple(frame.objects), constraints=(*frame.constraints, *rules))


MAX_OBJECTS = 10


def generate(options: Options) -> Series:
    """Episodes by the options of `render-specs clevr`."""
    specs = (clevr_spec(options, index) for index in range(options.count))
    dumped = (spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for spec in specs)
    return Series(dumped, options.count)


def clevr_spec(options: Options, index: int) -> EpisodeSpec:
    """Return episode `index` of a split, independently of other episodes.

    Ids: `clevr/<split>/<6 digits>`, and with `cogent-a/` or `stacks/` before the split. Raises SpecError for arguments
    out of range.
    """
    (fewest, most), split, seed, cogent = options.objects, options.split, options.seed, options.cogent
    limit = MAX_STACKED if options.stacks else MAX_OBJECTS
    if not 0 <= fewest <= most <= limit:
        raise spec_error(f"found {fewest}-{most} objects; allowed: at most {limit}, fewest first, such as 3-10")
    if options.stacks and cogent:
        raise spec_error("--stacks has no conditions; allowed: --stacks, or --cogent")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,49}", split):
        raise spec_error(f"found split {split!r}; allowed: letters, digits and _ . + -, at most 50")
    name = f"cogent-{cogent.lower()}" if cogent else "stacks" if options.stacks else "clevr"
    episode = "/".join(["clevr", *([name] if name != "clevr" else []), split, f"{index:06d}"])
    total = int(generator(seed, episode, "count").integers(fewest, most + 1))
    rng = generator(seed, episode, "attributes")
    frame = (
        stacked(rng, total) if options.stacks else FrameSpec(objects=tuple(_draw(rng, cogent) for _ in range(total)))
    )
    task = {"benchmark": "clevr", "name": name, "index": index}
    return EpisodeSpec(version=1, id=episode, seed=seed, split=split, frames=(frame,), task=task)


def _draw(rng: np.random.Generator, cogent: str | None) -> ObjectSpec:
    shape = pick(rng, SHAPES)
    color = pick(rng, COGENT[cogent][shape] if cogent else tuple(COLORS))
    return ObjectSpec(shape=shape, color=color, material=pick(rng, CLEVR_MATERIALS), size=pick(rng, tuple(SIZES)))
