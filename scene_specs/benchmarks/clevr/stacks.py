"""Frames of `render-specs clevr --stacks`: towers, things side by side on one top, containers, and planks that lean."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from diorama.scene_specs.language.rng import pick
from diorama.scene_specs.language.spec import ConstraintSpec, Contact, FrameSpec, ObjectSpec, OutlineSpec
from diorama.scene_specs.language.vocabulary import CLEVR_MATERIALS, COLORS

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
        """A container, and what is in it."""
        shape = pick(self.rng, tuple(_CONTAINERS))
        holder = self.add(shape, _CONTAINERS[shape])
        for _ in range(min(count - 1, 1 if shape == "bowl" else 3)):
            self.add(pick(self.rng, (*_FLAT, "sphere")), pick(self.rng, _CONTENTS), "in", holder)

    def leaning(self, count: int) -> None:
        """A plank that leans on a cube, and small ones on or beside the cube."""
        cube = self.add("cube", "large")
        (x, y), height = _HALF_PLANK, round(float(self.rng.uniform(0.9, 1.25)), 3)
        plank = OutlineSpec(polygon=((-x, -y), (x, -y), (x, y), (-x, y)), height=height)
        self.add(plank, None, "leaning", cube)
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
