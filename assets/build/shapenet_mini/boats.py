"""Boats and ships. The bow is towards -Z."""

from __future__ import annotations

from diorama.assets.build.shapenet_mini.curves import smooth
from diorama.assets.build.shapenet_mini.forms import box, cushion, disc, loft, ring, tube
from diorama.assets.build.shapenet_mini.hulls import Hull, house, sail, windows
from diorama.assets.build.shapenet_mini.mesh import row
from diorama.assets.build.shapenet_mini.model import Model
from diorama.assets.build.shapenet_mini.palette import (
    BLACK,
    DARK,
    GLASS,
    OAK,
    PALE_GLASS,
    STEEL,
    TEAK,
    WALNUT,
    WHITE,
    fabric,
    leather,
    paint,
)
from diorama.assets.build.shapenet_mini.ships import container, liner, trawler, tug


def sloop() -> Model:
    """One mast, a mainsail and a jib."""
    model = Model("blue sailing yacht")
    blue = paint("yacht_blue", 24, 76, 178)
    hull = Hull(
        [
            (-3.2, 0.04, -0.05, 0.95, 0.5),
            (-2.2, 0.6, -0.32, 0.86, 0.3),
            (-0.6, 1.12, -0.42, 0.76, 0),
            (1.2, 1.16, -0.4, 0.74, 0),
            (3.0, 0.86, -0.1, 0.8, -0.2),
        ],
        2.0,
    )
    model.add(blue, hull.skin(0.32, 1.0))
    model.add(WHITE, hull.skin(0.0, 0.32, 0.004))
    model.add(TEAK, hull.deck())
    model.add(WHITE, house(1.3, 0.34, 2.2, (0, 0.72, 0.0), 0.12), hull.rail(0.07, 0.05))
    model.add(GLASS, windows(1.3, 2.0, (0, 0.92, 0.0), 0.12, (1, 3)))
    model.add(STEEL, tube([(0, 0.7, -0.6), (0, 7.6, -0.6)], (0.07, 0.05)), tube([(0, 1.5, -0.6), (0, 1.42, 2.4)], 0.05))
    canvas = fabric("sailcloth", 216, 213, 202)
    model.add(canvas, sail([(0, 1.55, -0.5), (0, 1.5, 2.35), (0, 4.5, 1.25), (0, 7.4, -0.5)], 0.42, 10, 0.03))
    model.add(canvas, sail([(0, 1.15, -3.4), (0.05, 1.3, -0.3), (0.04, 3.8, -0.55), (0, 6.6, -0.75)], 0.36, 10, 0.03))
    model.add(
        DARK,
        tube([(0, 1.0, -3.6), (0, 7.2, -0.64)], 0.015, 5),
        tube([(0, 7.5, -0.6), (0, 0.85, 3.1)], 0.015, 5),
        tube([(0, 7.0, -0.6), (1.1, 0.8, -0.5)], 0.015, 5).both(),
    )
    return model


def rowing() -> Model:
    """An open clinker boat with three thwarts and two oars."""
    model = Model("turquoise rowing boat with oars")
    aqua = paint("boat_turquoise", 30, 176, 168)
    hull = Hull(
        [
            (-1.75, 0.03, 0.08, 0.62, 0.18),
            (-1.2, 0.4, -0.02, 0.5, 0.1),
            (0, 0.68, -0.05, 0.42, 0),
            (1.1, 0.62, -0.02, 0.45, 0),
            (1.6, 0.46, 0.06, 0.52, -0.08),
        ],
        2.4,
    )
    model.add(aqua, hull.shell(0.03, 0.2))
    floor = Hull([(z, h * 0.72, k + 0.1, k + 0.14, r * 0.3) for z, h, k, _, r in hull.stations], 3)
    model.add(OAK, floor.skin(), hull.rail(0.04, 0.06, -0.01))
    model.add(OAK, *(box(w, 0.035, 0.24, (0, 0.34, z), 0.012) for z, w in ((-0.75, 0.98), (0.1, 1.26), (0.95, 1.18))))
    model.add(OAK, box(0.86, 0.42, 0.045, (0, 0.3, 1.63), 0.015).turned("x", 10, (0, 0.3, 1.63)))
    oar = [(0.1, 0.62, 0.3), (0.68, 0.5, 0.28), (1.55, 0.28, 0.22)]
    model.add(WALNUT, tube(oar, 0.026).both(), ring(0.05, 0.014, (0.68, 0.5, 0.28), "z", 14, 6).both())
    blade = cushion(0.62, 0.035, 0.17, (1.78, 0.22, 0.205), 4, 6).turned("z", -14, (1.78, 0.22, 0.205))
    model.add(WALNUT, blade.both())
    return model


def speedboat() -> Model:
    """A planing hull, a raked screen, seats and an outboard motor."""
    model = Model("yellow speedboat with an outboard motor")
    yellow = paint("boat_yellow", 250, 206, 20)
    hull = Hull(
        [
            (-2.4, 0.05, 0.2, 0.82, 0.7),
            (-1.5, 0.72, -0.08, 0.8, 0.35),
            (-0.2, 1.0, -0.2, 0.74, 0),
            (1.3, 1.02, -0.2, 0.7, 0),
            (2.2, 0.98, -0.18, 0.68, 0),
        ],
        1.7,
    )
    model.add(WHITE, hull.skin(0.0, 0.6))
    model.add(yellow, hull.skin(0.6, 1.0, 0.012))
    model.add(WHITE, hull.deck(0.08, 0.02, 0.0))
    model.add(yellow, cushion(1.3, 0.4, 1.9, (0, 0.8, -1.2), 3, 8))
    model.add(DARK, box(1.5, 0.03, 2.2, (0, 0.74, 0.8), 0.01))
    screen = smooth(
        [(-0.8, 0.82, 0.42), (-0.66, 0.84, -0.2), (0, 0.86, -0.42), (0.66, 0.84, -0.2), (0.8, 0.82, 0.42)], 3
    )
    model.add(
        PALE_GLASS,
        loft(
            [
                [(x, y, z), (x * 0.86, y + 0.42, z + 0.22), (x * 0.86, y + 0.42, z + 0.25), (x, y, z + 0.03)]
                for x, y, z in screen.tolist()
            ]
        ),
    )
    model.add(STEEL, tube([(x * 0.86, y + 0.43, z + 0.235) for x, y, z in screen.tolist()], 0.022, 6))
    red = leather("boat_red_leather", 196, 30, 34)
    for x in (-0.4, 0.4):
        model.add(red, cushion(0.6, 0.16, 0.5, (x, 0.84, 0.5), 6), cushion(0.6, 0.5, 0.14, (x, 1.06, 0.76), 6))
    model.add(red, cushion(1.5, 0.18, 0.5, (0, 0.84, 1.45), 8), cushion(1.5, 0.36, 0.14, (0, 1.0, 1.72), 8))
    model.add(
        BLACK,
        cushion(0.46, 0.62, 0.62, (0, 1.0, 2.5), 4, 6),
        box(0.16, 0.9, 0.2, (0, 0.3, 2.5), 0.05, 2),
        disc(0.2, 0.06, (0, -0.1, 2.66), "z"),
    )
    return model


def galleon() -> Model:
    """Three masts of square sails, a high stern and a bowsprit."""
    model = Model("wooden galleon with cream sails")
    hull = Hull(
        [
            (-3.6, 0.1, -0.2, 1.5, 0.5),
            (-2.6, 0.8, -0.6, 1.2, 0.2),
            (-0.6, 1.1, -0.7, 0.95, 0),
            (1.6, 1.1, -0.7, 1.05, 0),
            (3.2, 0.9, -0.4, 1.4, -0.2),
        ],
        2.6,
    )
    model.add(WALNUT, hull.skin(0.0, 0.62))
    model.add(TEAK, hull.skin(0.62, 1.0, 0.02))
    gold = paint("gilding", 226, 178, 60)
    model.add(gold, hull.rail(0.07, 0.08), hull.rail(0.05, 0.09, -0.34, -0.015))
    model.add(OAK, hull.deck(0.05))
    stern = [
        [(-h, y0, z), (h, y0, z), (h * 0.86, y1, z + s), (-h * 0.86, y1, z + s)]
        for h, y0, y1, z, s in ((1.05, 0.6, 1.75, 1.5, 0), (1.0, 0.7, 2.3, 3.5, 0.25))
    ]
    model.add(TEAK, loft(stern), box(1.5, 0.5, 0.9, (0, 1.4, -2.75), 0.06))
    model.add(gold, box(1.8, 0.08, 0.1, (0, 2.3, 3.68), 0.03), box(1.9, 0.08, 0.1, (0, 1.5, 3.62), 0.03))
    model.add(GLASS, row(box(0.26, 0.4, 0.1, (0, 1.9, 3.62), 0.03), (-0.6, -0.2, 0.2, 0.6)))
    canvas = fabric("cream_sails", 244, 226, 180)
    for z, height, wide in ((-2.2, 5.4, 1.5), (0.1, 6.4, 1.8), (2.2, 5.2, 1.3)):
        model.add(WALNUT, tube([(0, 0.8, z), (0, height, z)], (0.1, 0.05)))
        for low, high, w in ((1.9, 3.7, wide), (3.85, height - 0.5, wide * 0.75)):
            model.add(WALNUT, tube([(-w - 0.12, high + 0.03, z - 0.08), (w + 0.12, high + 0.03, z - 0.08)], 0.05, 6))
            model.add(
                canvas,
                sail(
                    [(-w, low, z - 0.1), (w, low, z - 0.1), (w * 0.92, high, z - 0.1), (-w * 0.92, high, z - 0.1)],
                    -0.42,
                    8,
                    0.03,
                ),
            )
        model.add(
            paint("pennant", 204, 34, 40),
            loft(
                [
                    [(0, height, z), (0, height - 0.3, z), (0.02, height - 0.3, z), (0.02, height, z)],
                    [
                        (0, height - 0.1, z + 0.9),
                        (0, height - 0.2, z + 0.9),
                        (0.02, height - 0.2, z + 0.9),
                        (0.02, height - 0.1, z + 0.9),
                    ],
                ]
            ),
        )
    model.add(WALNUT, tube([(0, 1.4, -3.4), (0, 2.3, -5.2)], (0.09, 0.05)))
    model.add(canvas, sail([(0, 2.3, -5.1), (0.02, 1.9, -2.9), (0.02, 3.2, -2.6), (0, 4.6, -2.3)], 0.22, 8, 0.03))
    return model


MODELS = (sloop, rowing, speedboat, trawler, container, tug, galleon, liner)
