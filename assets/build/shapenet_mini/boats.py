"""Boats and ships. The bow is towards -Z."""

from __future__ import annotations

from assets.build.shapenet_mini.curves import smooth
from assets.build.shapenet_mini.forms import box, cushion, disc, lathe, loft, ring, tube
from assets.build.shapenet_mini.hulls import Hull, house, sail, windows
from assets.build.shapenet_mini.mesh import row
from assets.build.shapenet_mini.model import Material, Model
from assets.build.shapenet_mini.palette import (
    BLACK,
    CREAM,
    DARK,
    GLASS,
    OAK,
    PALE_GLASS,
    RUBBER,
    STEEL,
    TEAK,
    WALNUT,
    WHITE,
    fabric,
    paint,
)

ANTIFOULING = paint("antifouling_red", 150, 44, 38)


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
    model.add(WHITE, hull.skin(0.0, 0.34, 0.004))
    model.add(TEAK, hull.deck())
    model.add(WHITE, house(1.3, 0.34, 2.2, (0, 0.72, 0.0), 0.12), hull.rail(0.07, 0.05))
    model.add(GLASS, windows(1.3, 2.0, (0, 0.92, 0.0), 0.12, (1, 3)))
    model.add(STEEL, tube([(0, 0.7, -0.6), (0, 7.6, -0.6)], (0.07, 0.05)), tube([(0, 1.5, -0.6), (0, 1.42, 2.4)], 0.05))
    canvas = fabric("sailcloth", 246, 244, 236)
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
    model.add(yellow, hull.skin(0.58, 1.0, 0.012))
    model.add(WHITE, hull.deck(0.08, 0.02, 0.1))
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
    red = leather_red()
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


def leather_red() -> Material:
    return Material("boat_red_leather", (196, 30, 34), 0.4)


def trawler() -> Model:
    """A high bow, a wheelhouse forward, a mast with a boom and a gantry for the net aft."""
    model = Model("red fishing trawler")
    red = paint("trawler_red", 202, 36, 32)
    hull = Hull(
        [
            (-4.0, 0.08, -0.2, 2.0, 0.9),
            (-2.8, 1.1, -0.6, 1.62, 0.5),
            (-0.8, 1.5, -0.7, 1.2, 0),
            (1.6, 1.5, -0.7, 1.08, 0),
            (3.8, 1.3, -0.5, 1.2, -0.1),
        ],
        2.8,
    )
    model.add(red, hull.skin(0.36, 1.0))
    model.add(DARK, hull.skin(0.0, 0.38, 0.01))
    model.add(WHITE, hull.rail(0.28, 0.09, -0.02))
    model.add(TEAK, hull.deck(0.06, 0.0))
    model.add(WHITE, house(1.9, 1.5, 1.9, (0, 1.1, -1.3), 0.08), house(1.5, 0.8, 1.2, (0, 2.55, -1.2), 0.08))
    model.add(GLASS, windows(1.5, 1.2, (0, 3.02, -1.2), 0.34, (3, 2)), windows(1.9, 1.9, (0, 2.1, -1.3), 0.3, (2, 3)))
    model.add(red, box(1.8, 0.08, 1.5, (0, 3.38, -1.2), 0.03))
    yellow = paint("crane_yellow", 244, 190, 40)
    model.add(
        yellow,
        tube([(0, 3.4, -1.0), (0, 5.2, -1.0)], 0.07),
        tube([(0, 2.6, -0.3), (0, 4.3, 2.0)], 0.06),
        tube([(0, 5.1, -1.0), (0, 4.3, 2.0)], 0.02, 5),
    )
    model.add(yellow, tube([(1.15, 1.1, 3.0), (1.0, 3.1, 3.1), (-1.0, 3.1, 3.1), (-1.15, 1.1, 3.0)], 0.1))
    model.add(fabric("net_green", 40, 148, 108), disc(0.5, 1.6, (0, 1.72, 2.1), "x", 0.06))
    model.add(
        DARK, disc(0.62, 0.08, (0.84, 1.72, 2.1), "x").both(), tube([(0.84, 1.1, 2.1), (0.84, 1.72, 2.1)], 0.08).both()
    )
    model.add(paint("lifebuoy_orange", 246, 120, 30), ring(0.26, 0.08, (0.98, 1.75, -0.7), "x").both())
    return model


def container() -> Model:
    """A long hull with coloured boxes in rows and the bridge at the stern."""
    model = Model("green container ship")
    green = paint("ship_green", 22, 110, 76)
    hull = Hull(
        [
            (-7.2, 0.06, -0.2, 1.35, 0.7),
            (-6.0, 0.85, -0.7, 1.1, 0.3),
            (-4.2, 1.25, -0.8, 0.95, 0),
            (3.8, 1.25, -0.8, 0.95, 0),
            (6.6, 1.05, -0.4, 1.0, -0.2),
        ],
        6,
    )
    model.add(green, hull.skin(0.42, 1.0))
    model.add(ANTIFOULING, hull.skin(0.0, 0.44, 0.01))
    model.add(DARK, hull.deck(0.06))
    colors = [
        paint("box_red", 200, 48, 40),
        paint("box_blue", 44, 92, 176),
        paint("box_orange", 240, 140, 36),
        paint("box_white", 226, 226, 220),
        paint("box_violet", 126, 76, 156),
        paint("box_yellow", 246, 204, 64),
    ]
    for i in range(5):
        z = -4.7 + 1.62 * i
        for j, x in enumerate((-0.81, -0.27, 0.27, 0.81)):
            tall = 3 - (i + j) % 2 - (i == 0)
            for k in range(tall):
                model.add(
                    colors[(2 * i + 3 * j + 5 * k + i * k) % 6], box(0.5, 0.5, 1.5, (x, 1.22 + 0.52 * k, z), 0.02)
                )
    model.add(WHITE, house(2.2, 2.2, 1.0, (0, 0.95, 4.6), 0.05), house(2.7, 0.45, 0.8, (0, 3.1, 4.5), 0.05))
    model.add(
        GLASS,
        windows(2.7, 0.8, (0, 3.36, 4.5), 0.18, (8, 2)),
        windows(2.2, 1.0, (0, 2.6, 4.6), 0.14, (6, 2)),
        windows(2.2, 1.0, (0, 2.1, 4.6), 0.14, (6, 2)),
    )
    model.add(paint("funnel_orange", 240, 120, 28), house(0.7, 1.5, 0.7, (0, 2.4, 5.5), 0.1))
    model.add(BLACK, house(0.72, 0.25, 0.72, (0, 3.6, 5.5), 0.08))
    model.add(WHITE, tube([(0, 1.3, -6.6), (0, 2.8, -6.6)], 0.06), tube([(0, 3.5, 4.5), (0, 4.4, 4.5)], 0.06))
    return model.scaled(z=0.72)


def tug() -> Model:
    """Short and stout: a big funnel, a round wheelhouse, tyres along the side."""
    model = Model("orange tugboat with tyres along its sides")
    black = paint("tug_hull", 54, 58, 70)
    orange = paint("tug_orange", 246, 122, 20)
    hull = Hull(
        [
            (-2.6, 0.2, -0.3, 1.3, 0.35),
            (-2.0, 0.95, -0.55, 1.05, 0.15),
            (-0.6, 1.22, -0.6, 0.8, 0),
            (1.4, 1.2, -0.6, 0.74, 0),
            (2.4, 0.85, -0.3, 0.82, -0.1),
        ],
        3,
    )
    model.add(black, hull.skin())
    model.add(orange, hull.rail(0.22, 0.12, -0.05))
    model.add(TEAK, hull.deck(0.06, 0.0))
    model.add(
        orange,
        house(1.5, 0.8, 2.4, (0, 0.75, -0.2), 0.12),
        lathe([(0.66, 1.5), (0.66, 2.4), (0.74, 2.42), (0.74, 2.5), (0.5, 2.6)], 20, (0, 0, -0.75)),
    )
    model.add(
        GLASS, lathe([(0.675, 1.9), (0.675, 2.26)], 20, (0, 0, -0.75)), windows(1.5, 2.4, (0, 1.22, -0.2), 0.26, (2, 5))
    )
    model.add(WHITE, lathe([(0.36, 1.5), (0.34, 2.9)], 20, (0, 0, 0.45)), house(1.3, 0.06, 2.0, (0, 1.53, -0.1), 0.02))
    model.add(paint("funnel_band", 28, 104, 186), lathe([(0.355, 2.2), (0.35, 2.55)], 20, (0, 0, 0.45)))
    model.add(BLACK, lathe([(0.35, 2.85), (0.37, 3.05), (0.3, 3.1)], 20, (0, 0, 0.45)))
    tyre = ring(0.2, 0.08, axis="x", segments=16, sides=6)
    model.add(
        RUBBER,
        *(tyre.moved(x, 0.55, z).both() for x, z in ((1.2, -1.2), (1.3, -0.4), (1.31, 0.4), (1.28, 1.2))),
        ring(0.3, 0.1, (0, 0.9, -2.9), "z"),
    )
    model.add(
        STEEL,
        disc(0.16, 0.5, (0, 1.0, 1.6), bevel=0.04),
        tube([(-0.45, 0.95, 1.6), (0.45, 0.95, 1.6)], 0.07),
        tube([(0, 2.6, -0.75), (0, 3.7, -0.75)], 0.04),
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
    model.add(TEAK, hull.skin(0.6, 1.0, 0.02))
    gold = paint("gilding", 226, 178, 60)
    model.add(gold, hull.rail(0.07, 0.08), hull.rail(0.05, 0.09, -0.34, -0.015))
    model.add(OAK, hull.deck(0.05, 0.0))
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


def liner() -> Model:
    """A liner: a long dark hull, white decks in tiers, three funnels."""
    model = Model("ocean liner with three purple funnels")
    navy = paint("liner_navy", 44, 54, 104)
    hull = Hull(
        [
            (-7.4, 0.06, -0.2, 1.15, 0.7),
            (-5.8, 0.7, -0.7, 0.95, 0.3),
            (-3.4, 1.05, -0.8, 0.82, 0),
            (3.6, 1.05, -0.8, 0.82, 0),
            (6.4, 0.8, -0.2, 0.95, -0.4),
            (7.0, 0.3, 0.2, 1.0, -0.4),
        ],
        4,
    )
    model.add(navy, hull.skin(0.4, 1.0))
    model.add(ANTIFOULING, hull.skin(0.0, 0.42, 0.008))
    model.add(WHITE, hull.rail(0.1, 0.05))
    model.add(TEAK, hull.deck(0.05))
    for length, wide, low in ((9.6, 1.8, 0.8), (8.0, 1.6, 1.25), (6.4, 1.35, 1.7)):
        model.add(WHITE, house(wide, 0.44, length, (0, low, 0.1), 0.05))
        model.add(GLASS, windows(wide, length, (0, low + 0.24, 0.1), 0.14, (5, int(length * 2.4))))
    model.add(WHITE, house(1.7, 0.4, 0.6, (0, 2.1, -2.6), 0.05))
    model.add(GLASS, windows(1.7, 0.6, (0, 2.32, -2.6), 0.16, (6, 1)))
    purple = paint("funnel_purple", 140, 58, 172)
    for z in (-1.3, 0.5, 2.3):
        funnel = lathe([(0.42, 2.0), (0.4, 3.3)], 20).scaled(0.85, 1, 1.2).turned("x", 8, (0, 2, 0)).moved(z=z)
        top = (
            lathe([(0.41, 3.2), (0.4, 3.5), (0.34, 3.52)], 20).scaled(0.87, 1, 1.2).turned("x", 8, (0, 2, 0)).moved(z=z)
        )
        model.add(purple, funnel)
        model.add(BLACK, top)
    boat = cushion(0.3, 0.26, 0.9, (0.86, 1.6, 0), 3, 6)
    model.add(paint("lifeboat_orange", 246, 130, 40), *(boat.moved(z=z).both() for z in (-2.2, -0.8, 0.6, 2.0, 3.4)))
    model.add(CREAM, tube([(0, 0.9, -4.9), (0, 4.0, -4.6)], 0.05), tube([(0, 0.9, 5.4), (0, 3.6, 5.6)], 0.05))
    model.add(DARK, tube([(0, 3.9, -4.6), (0, 2.5, -2.6)], 0.015, 5), tube([(0, 1.15, -7.8), (0, 3.9, -4.6)], 0.015, 5))
    return model.scaled(z=0.72)


MODELS = (sloop, rowing, speedboat, trawler, container, tug, galleon, liner)
