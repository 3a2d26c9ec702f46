"""What boats are assembled from: hulls, decks, sails. The bow is towards -Z, the water line is near height 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diorama.assets.build.shapenet_mini.curves import smooth
from diorama.assets.build.shapenet_mini.forms import box, loft
from diorama.assets.build.shapenet_mini.mesh import Mesh, join

Station = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class Hull:
    """A hull from bow to stern.

    stations: (z at the keel, half width of the deck, keel height, deck height, how far the deck reaches forward of the
    keel); full: how soon the sides rise from the keel, 1 is a V, 4 nearly a box.
    """

    stations: Sequence[Station]
    full: float = 2.2
    steps: int = 3

    def curve(self) -> list[list[float]]:
        made: list[list[float]] = smooth(np.array(self.stations), self.steps).tolist()
        return made

    def point(self, station: Sequence[float], share: float, grow: float = 0) -> tuple[float, float, float]:
        """The right side at a share of the height from keel to deck."""
        z, half, keel, deck, reach = station
        width = max(half * share ** (1 / self.full), 0.012) + grow
        return (width, keel + share * (deck - keel), z - reach * share)

    def skin(self, low: float = 0.0, high: float = 1.0, grow: float = 0, levels: int = 7) -> Mesh:
        """The closed body between two shares of the height."""
        sections = []
        for station in self.curve():
            shares = [low + (high - low) * k / (levels - 1) for k in range(levels)]
            side = [self.point(station, share, grow) for share in shares]
            sections.append(side + [(-x, y, z) for x, y, z in reversed(side)])
        return loft(sections)

    def deck(
        self, inset: float = 0.05, above: float = 0.012, below: float = 0.06, start: int = 0, end: int | None = None
    ) -> Mesh:
        """A deck that follows the sheer, `inset` from the sides; `start` and `end` choose among the smooth stations."""
        sections = []
        for station in self.curve()[start:end]:
            x, y, z = self.point(station, 1)
            half = max(x - inset, 0.01)
            sections.append([(-half, y + above, z), (half, y + above, z), (half, y - below, z), (-half, y - below, z)])
        return loft(sections)

    def rail(self, height: float, width: float, lift: float = 0, inset: float = 0) -> Mesh:
        """A wall or rail along both sides and no further than the first and last stations."""
        sections = []
        for station in self.curve():
            x, y, z = self.point(station, 1)
            half = max(x - inset, 0.01)
            sections.append(
                [
                    (half + width / 2, y + lift, z),
                    (half + width / 2, y + lift + height, z),
                    (half - width / 2, y + lift + height, z),
                    (half - width / 2, y + lift, z),
                ]
            )
        return loft(sections).both()

    def shell(self, wall: float, floor: float) -> Mesh:
        """An open boat: the hull with its inside taken out down to the share `floor` of the height."""
        sections = []
        for station in self.curve():
            shares = [k / 6 for k in range(7)]
            outer = [self.point(station, share) for share in shares]
            inner = []
            for share in (1.0, 0.75, 0.5, floor):
                x, y, z = self.point(station, share)
                inner.append((max(x - wall, 0.006), y, z))
            side = outer + inner
            sections.append(side + [(-x, y, z) for x, y, z in reversed(side)])
        return loft(sections)


def sail(corners: Sequence[tuple[float, float, float]], belly: float, cells: int = 7, thick: float = 0.02) -> Mesh:
    """A sail between four corners (two may be one point's neighbors), blown out along X or Z where it is flat.

    corners: in order round the sail; belly: how far its middle is blown, along the normal of its corners.
    """
    a, b, c, d = (np.array(corner, dtype=np.float64) for corner in corners)
    normal = np.cross(c - a, d - b)
    normal /= np.sqrt((normal**2).sum())
    sections = []
    for i in range(cells + 1):
        u = i / cells
        line = []
        for k in range(cells + 1):
            v = k / cells
            flat = (1 - u) * ((1 - v) * a + v * d) + u * ((1 - v) * b + v * c)
            line.append(flat + normal * belly * 16 * u * (1 - u) * v * (1 - v))
        back = [point - normal * thick for point in reversed(line)]
        sections.append(np.array(line + back))
    return loft(sections)


def house(width: float, height: float, depth: float, at: tuple[float, float, float], bevel: float = 0.05) -> Mesh:
    """A deck house standing on `at`."""
    return box(width, height, depth, (at[0], at[1] + height / 2, at[2]), bevel, 2)


def windows(
    width: float,
    depth: float,
    at: tuple[float, float, float],
    height: float,
    counts: tuple[int, int],
    proud: float = 0.012,
) -> Mesh:
    """Panes on the four sides of a house of that size about `at`; counts: on the front and rear, on each side."""
    panes = []
    across, along = counts
    for k in range(across):
        x = width * ((k + 0.5) / across - 0.5) * 0.9
        panes.append(box(width * 0.66 / across, height, depth + 2 * proud, (at[0] + x, at[1], at[2]), 0))
    for k in range(along):
        z = depth * ((k + 0.5) / along - 0.5) * 0.9
        panes.append(box(width + 2 * proud, height, depth * 0.66 / along, (at[0], at[1], at[2] + z), 0))
    return join(*panes)
