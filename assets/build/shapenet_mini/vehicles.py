"""What cars are assembled from: bodies, cabins, wheels, lamps. Length runs along Z, the front towards -Z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diorama.assets.build.shapenet_mini.curves import ellipse, rounded, smooth
from diorama.assets.build.shapenet_mini.forms import bar, box, cushion, disc, lathe, loft
from diorama.assets.build.shapenet_mini.mesh import Floats, Mesh, around
from diorama.assets.build.shapenet_mini.model import Material, Model
from diorama.assets.build.shapenet_mini.palette import GLASS, HEADLIGHT, RUBBER, STEEL, TAILLIGHT


def body(stations: Sequence[tuple[float, float, float, float]], power: float = 6, tuck: float = 0.06) -> Mesh:
    """A car's body from front to rear, smooth through its stations.

    stations: (z, half width, lower edge, upper edge); power: how square a cross-section is; tuck: the share of the
    width that is lost towards the top.
    """
    along = smooth(np.array([station[:3] for station in stations]), 3)
    tops = smooth(np.array([(station[0], station[3]) for station in stations]), 3)
    sections = []
    for (z, half, low), (_, high) in zip(along.tolist(), tops.tolist(), strict=True):
        middle, height = (low + high) / 2, high - low
        loop = ellipse(2 * half, height, 28, power)
        sections.append([(x * (1 - tuck * 2 * y / height), middle + y, z) for x, y in loop])
    return loft(sections)


@dataclass(frozen=True)
class Cabin:
    """belt, roof: heights; front, rear: (z at the belt, z at the roof); half: half width (at the belt, at the roof)."""

    belt: float
    roof: float
    front: tuple[float, float]
    rear: tuple[float, float]
    half: tuple[float, float]

    def outline(self, t: float, grow: float = 0) -> Floats:
        """The outline (x, z) at the share t of the way from belt to roof, in 16 points."""
        front, rear, half = (a + (b - a) * t for a, b in (self.front, self.rear, self.half))
        front, rear, half = front - grow, rear + grow, half + grow
        return rounded([(-half, front), (half, front), (half, rear), (-half, rear)], 0.12)

    def level(self, t: float, height: float, grow: float = 0) -> list[tuple[float, float, float]]:
        return [(float(x), height, float(z)) for x, z in self.outline(t, grow)]

    def point(self, t: float, along: float) -> tuple[float, float, float]:
        """A point of the right side: t from belt to roof, along from front to rear."""
        front, rear, half = (a + (b - a) * t for a, b in (self.front, self.rear, self.half))
        return (half - 0.005, self.belt + t * (self.roof - self.belt), front + along * (rear - front))


def add_cabin(
    model: Model, paint: Material, cabin: Cabin, pillars: Sequence[float] = (0.5,), roof: Material | None = None
) -> None:
    """Windows all round, pillars at the corners and at the given shares of the length, and a roof."""
    model.add(GLASS, loft([cabin.level(0, cabin.belt - 0.06), cabin.level(0, cabin.belt), cabin.level(1, cabin.roof)]))
    top = cabin.roof
    model.add(
        roof or paint,
        loft(
            [
                cabin.level(1, top - 0.03, 0.012),
                cabin.level(1, top + 0.015, 0.01),
                cabin.level(1, top + 0.045, -0.06),
                cabin.level(1, top + 0.055, -0.16),
            ]
        ),
    )
    posts = [bar([cabin.point(0, a), cabin.point(1, a)], 0.03, 0.07).both() for a in pillars]
    corners = [
        bar([cabin.point(-0.05, a), cabin.point(1, b)], 0.05, 0.06).both() for a, b in ((0.015, 0.03), (0.985, 0.97))
    ]
    model.add(paint, *posts, *corners)


def add_wheels(
    model: Model, radius: float, axles: Sequence[float], half: float, width: float = 0.2, rim: Material = STEEL
) -> None:
    """Tyres, spoked rims and dark arches at each axle; `half` is where the body's side is."""
    w, r = width / 2, radius
    tyre = [(r * 0.62, -w), (r * 0.93, -w), (r, -w * 0.7), (r, w * 0.7), (r * 0.93, w), (r * 0.62, w)]
    # The arch is a ring that stands just proud of the body's side, the wheel further out: nothing needs to be cut.
    arch = [(r * 0.9, -0.2), (r * 1.16, -0.2), (r * 1.14, 0.008), (r * 0.9, 0.008)]
    lip = [(r * 0.54, w - 0.04), (r * 0.54, w - 0.008), (r * 0.66, w - 0.002), (r * 0.66, w - 0.04)]
    wheel = (
        (RUBBER, lathe(tyre, 26, axis="x", hollow=True)),
        (Material("rim_shadow", (70, 72, 78), 0.3), disc(r * 0.64, 2 * w - 0.08, (0, 0, 0), "x", segments=26)),
        (rim, around(box(0.03, r * 0.52, r * 0.2, (w - 0.03, r * 0.36, 0), 0.008), 5, "x")),
        (rim, disc(r * 0.19, 0.04, (w - 0.025, 0, 0), "x", 0.01, 14)),
        (rim, lathe(lip, 26, axis="x", hollow=True)),
    )
    for z in axles:
        model.add(
            Material("wheel_arch", (34, 34, 37), 0.1), lathe(arch, 26, (half, r * 1.04, z), "x", hollow=True).both()
        )
        for material, mesh in wheel:
            model.add(material, mesh.moved(half - w + 0.05, r, z).both())


def add_lamps(
    model: Model,
    front: tuple[float, float, float],
    rear: tuple[float, float, float],
    size: tuple[float, float] = (0.3, 0.13),
) -> None:
    """Head lamps and tail lamps at (x, y, z) and mirrored; size: (width, height) of the head lamps."""
    width, height = size
    model.add(HEADLIGHT, cushion(width, height, 0.12, front, 3.5, 6).both())
    model.add(TAILLIGHT, cushion(width, height, 0.1, rear, 3.5, 6).both())


def add_trim(model: Model, dark: Material, front: float, rear: float, low: float, half: float) -> None:
    """Bumpers, a grille and number plates at the two ends of a car."""
    model.add(
        dark,
        box(2 * half * 0.94, 0.13, 0.14, (0, low, front), 0.05, 2),
        box(2 * half * 0.94, 0.13, 0.14, (0, low, rear), 0.05, 2),
    )
    plate = Material("number_plate", (240, 238, 226), 0.2)
    model.add(
        plate, box(0.4, 0.09, 0.02, (0, low, front - 0.075), 0.004), box(0.4, 0.09, 0.02, (0, low, rear + 0.075), 0.004)
    )
