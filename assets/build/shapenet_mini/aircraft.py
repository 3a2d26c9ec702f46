"""What planes are assembled from: fuselages, wings, engines, propellers, wheels. The nose is towards -Z."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from diorama.assets.build.shapenet_mini.curves import smooth
from diorama.assets.build.shapenet_mini.forms import box, disc, lathe, loft, tube
from diorama.assets.build.shapenet_mini.mesh import Mesh, Point, around, join
from diorama.assets.build.shapenet_mini.model import Material, Model
from diorama.assets.build.shapenet_mini.palette import BLACK, RUBBER, STEEL

# Upper half of a symmetric aerofoil: (share of the chord, share of the thickness).
AEROFOIL = ((0.0, 0.0), (0.02, 0.24), (0.08, 0.42), (0.2, 0.5), (0.4, 0.48), (0.65, 0.32), (0.85, 0.14), (1.0, 0.02))


def fuselage(stations: Sequence[tuple[float, float, float, float]], sides: int = 20, steps: int = 3) -> Mesh:
    """A body of elliptical sections, smooth through its stations (z, half width, half height, middle height)."""
    sections = []
    for z, half, high, middle in smooth(np.array(stations), steps).tolist():
        turns = [2 * math.pi * k / sides for k in range(sides)]
        sections.append([(max(half, 0.005) * math.sin(t), middle + max(high, 0.005) * math.cos(t), z) for t in turns])
    return loft(sections)


def wing(sections: Sequence[tuple[float, float, float, float, float]]) -> Mesh:
    """A right wing from root to tip: (x, height, z of the leading edge, chord, thickness)."""
    made = []
    for x, y, z, chord, thick in sections:
        upper = [(x, y + t * thick, z + s * chord) for s, t in AEROFOIL]
        lower = [(x, y - t * thick, z + s * chord) for s, t in AEROFOIL[:0:-1]]
        made.append(upper + lower)
    return loft(made)


def fin(sections: Sequence[tuple[float, float, float, float]], x: float = 0) -> Mesh:
    """An upright fin from root to tip: (height, z of the leading edge, chord, thickness)."""
    flat = wing([(y, 0, z, chord, thick) for y, z, chord, thick in sections])
    return flat.turned("z", 90).moved(x)


def nacelle(radius: float, length: float, at: Point) -> tuple[Mesh, Mesh]:
    """A jet engine about `at`: its cowling, and what is dark in its intake with the nozzle behind."""
    h = length / 2
    shell = [
        (radius * 0.86, -h),
        (radius, -h * 0.85),
        (radius * 1.02, -h * 0.2),
        (radius * 0.8, h),
        (radius * 0.7, h),
        (radius * 0.8, -h * 0.7),
    ]
    core = [(radius * 0.84, -h * 0.8), (radius * 0.84, -h * 0.7), (radius * 0.6, h * 0.9), (radius * 0.4, h * 1.3)]
    return lathe(shell, 20, at, "z", hollow=True), lathe(core, 20, at, "z")


def propeller(
    model: Model, radius: float, at: Point, blades: int = 3, spinner: Material = STEEL, tips: Material | None = None
) -> None:
    """A propeller with its spinner, the hub at `at`."""
    blade = box(radius * 0.16, radius * 0.94, 0.03, (0, radius * 0.5, 0), 0.012).turned("y", 28)
    place = {"x": at[0], "y": at[1], "z": at[2]}
    model.add(BLACK, around(blade, blades, "z").moved(**place))
    if tips:
        tip = box(radius * 0.165, radius * 0.16, 0.034, (0, radius * 0.9, 0), 0.012).turned("y", 28)
        model.add(tips, around(tip, blades, "z").moved(**place))
    r = radius * 0.17
    model.add(spinner, lathe([(r * 0.1, -2.2 * r), (r * 0.6, -1.6 * r), (r, -0.4 * r), (r, r)], 14, at, "z"))


def wheel(radius: float, leg: float, at: Point, width: float = 0.12) -> tuple[Mesh, Mesh]:
    """A wheel under `at` with a leg of that length: (leg and hub, tyre)."""
    x, y, z = at
    hub = join(
        tube([(x, y, z), (x, y - leg, z)], radius * 0.22, 6), disc(radius * 0.5, width * 1.1, (x, y - leg, z), "x")
    )
    return hub, disc(radius, width, (x, y - leg, z), "x", radius * 0.2, 16)


def add_wheels(model: Model, wheels: Sequence[tuple[float, float, Point]], both: bool = True) -> None:
    """Wheels (radius, leg, where the leg starts), each mirrored unless it is centered or `both` is false."""
    for radius, leg, at in wheels:
        hub, tyre = wheel(radius, leg, at, radius * 0.7)
        twice = both and at[0] != 0
        model.add(STEEL, hub.both() if twice else hub)
        model.add(RUBBER, tyre.both() if twice else tyre)


def ports(count: int, start: float, end: float, half: float, height: float, size: float = 0.09) -> Mesh:
    """A row of cabin windows on both sides of a fuselage whose half width there is `half`."""
    panes = []
    for k in range(count):
        z = start + (end - start) * k / (count - 1)
        panes.append(box(2 * half + 0.02, size * 1.3, size, (0, height, z), 0))
    return join(*panes)
