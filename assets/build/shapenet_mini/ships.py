"""Working boats and ships. The bow is towards -Z."""

from __future__ import annotations

from diorama.assets.build.shapenet_mini.forms import box, cushion, disc, lathe, ring, tube
from diorama.assets.build.shapenet_mini.hulls import Hull, house, windows
from diorama.assets.build.shapenet_mini.model import Model
from diorama.assets.build.shapenet_mini.palette import (
    BLACK,
    CREAM,
    DARK,
    GLASS,
    RUBBER,
    STEEL,
    TEAK,
    WHITE,
    fabric,
    paint,
)

ANTIFOULING = paint("antifouling_red", 150, 44, 38)


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
    model.add(DARK, hull.skin(0.0, 0.36, 0.01))
    model.add(WHITE, hull.rail(0.28, 0.09, -0.02))
    model.add(TEAK, hull.deck(0.06))
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
    """A long hull with colored boxes in rows and the bridge at the stern."""
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
    model.add(ANTIFOULING, hull.skin(0.0, 0.42, 0.01))
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
    model.add(TEAK, hull.deck(0.06))
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
    model.add(ANTIFOULING, hull.skin(0.0, 0.4, 0.008))
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
