"""Couches: upholstered seats for more than one. The sitters look towards -Z."""

from __future__ import annotations

import math

from diorama.assets.build.shapenet_mini.curves import rounded, smooth
from diorama.assets.build.shapenet_mini.forms import ball, bar, box, cushion, disc, extrude, lathe, tube, turn_part
from diorama.assets.build.shapenet_mini.mesh import Mesh, join, row
from diorama.assets.build.shapenet_mini.model import Model
from diorama.assets.build.shapenet_mini.palette import BLACK, BRASS, OAK, PINE, STEEL, WALNUT, fabric, leather


def _feet(x: float, z: float, height: float = 0.1) -> Mesh:
    return lathe([(0.022, 0), (0.035, height)], 10, (x, 0, z)).both().both("z")


def three_seater() -> Model:
    """Square arms, three seat and three back cushions."""
    model = Model("red three-seat sofa")
    red = fabric("brick_red_cloth", 188, 44, 44)
    dark = fabric("dark_red_cloth", 150, 30, 34)
    model.add(dark, box(1.9, 0.22, 0.84, (0, 0.21, 0), 0.03, 2), box(1.9, 0.62, 0.18, (0, 0.46, 0.36), 0.05, 2))
    model.add(dark, box(0.2, 0.52, 0.86, (0.98, 0.36, 0), 0.06, 2).both())
    for x in (-0.58, 0, 0.58):
        model.add(red, cushion(0.59, 0.19, 0.68, (x, 0.4, -0.07), 6))
        model.add(red, cushion(0.57, 0.46, 0.22, (x, 0.66, 0.22), 5).turned("x", 10, (x, 0.66, 0.22)))
    model.add(WALNUT, _feet(0.95, 0.34))
    return model


def chesterfield() -> Model:
    """Leather, arms as high as the back and rolled outwards, buttons."""
    model = Model("brown leather chesterfield")
    hide = leather("cognac_leather", 132, 72, 36)
    seat = leather("light_cognac_leather", 156, 90, 48)
    model.add(hide, box(1.8, 0.26, 0.8, (0, 0.24, 0), 0.03, 2))
    model.add(hide, box(1.8, 0.5, 0.2, (0, 0.42, 0.34), 0.04, 2), box(0.18, 0.5, 0.84, (0.88, 0.4, 0), 0.04, 2).both())
    roll = [(-1.0, 0.68, -0.42), (-1.0, 0.68, 0.4), (1.0, 0.68, 0.4), (1.0, 0.68, -0.42)]
    model.add(hide, tube(_corners(roll), 0.115, 14))
    for x in (-0.53, 0, 0.53):
        model.add(seat, cushion(0.54, 0.17, 0.66, (x, 0.42, -0.08), 7))
    stud = ball(0.018, cells=3)
    places = [(x * 0.19 + (0.095 if y else 0), 0.56 + 0.1 * y) for y in (0, 1) for x in range(-4, 5 - y)]
    model.add(BRASS, join(*(stud.moved(x, y - 0.0, 0.24 if y < 0.6 else 0.285) for x, y in places)))
    model.add(BRASS, row(stud, [0.12 * k for k in range(-7, 8)]).moved(0, 0.18, -0.4))
    model.add(BLACK, _feet(0.85, 0.34))
    return model


def _corners(path: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """A path whose right angles are cut once, so that a thick tube turns without folding."""
    made = [path[0]]
    for before, point, after in zip(path, path[1:], path[2:], strict=False):
        for other in (before, after):
            away = [o - p for o, p in zip(other, point, strict=True)]
            length = math.sqrt(sum(a * a for a in away))
            made.append((point[0] + away[0] / length * 0.12, point[1], point[2] + away[2] / length * 0.12))
    return [*made, path[-1]]


def sectional() -> Model:
    """A corner sofa: a long part and a chaise at its right."""
    model = Model("teal corner sofa with a chaise")
    teal = fabric("teal_cloth", 28, 134, 140)
    deep = fabric("deep_teal_cloth", 18, 96, 104)
    model.add(deep, box(2.5, 0.24, 0.9, (0, 0.2, 0.3), 0.03, 2), box(0.92, 0.24, 0.8, (0.79, 0.2, -0.5), 0.03, 2))
    model.add(deep, box(2.5, 0.58, 0.2, (0, 0.44, 0.68), 0.05, 2), box(0.2, 0.42, 0.94, (-1.2, 0.3, 0.3), 0.05, 2))
    model.add(deep, box(0.2, 0.58, 0.9, (1.2, 0.44, 0.32), 0.05, 2))
    for x in (-0.72, 0.02):
        model.add(teal, cushion(0.74, 0.19, 0.72, (x, 0.4, 0.22), 7))
        model.add(teal, cushion(0.7, 0.42, 0.2, (x, 0.64, 0.52), 5).turned("x", 10, (x, 0.64, 0.52)))
    model.add(teal, cushion(0.74, 0.19, 1.45, (0.74, 0.4, -0.15), 9))
    model.add(teal, cushion(0.66, 0.42, 0.2, (0.74, 0.64, 0.52), 5).turned("x", 10, (0.74, 0.64, 0.52)))
    model.add(
        fabric("apricot_pillow", 246, 160, 92),
        cushion(0.4, 0.4, 0.14, (-0.92, 0.64, 0.36), 4).turned("x", 18, (-0.92, 0.64, 0.36)),
    )
    model.add(
        STEEL,
        *(
            box(0.05, 0.09, 0.05, (x, 0.045, z))
            for x, z in ((-1.2, -0.08), (-1.2, 0.7), (1.2, 0.7), (1.18, -0.84), (0.4, -0.84))
        ),
    )
    return model


def mid_century() -> Model:
    """A two-seater: two mustard cushions a side in an open wooden frame with splayed legs."""
    model = Model("mustard two-seater in a wooden frame")
    mustard = fabric("mustard_cloth", 222, 164, 30)
    model.add(WALNUT, box(1.3, 0.06, 0.05, (0, 0.3, -0.36)), box(1.3, 0.06, 0.05, (0, 0.3, 0.33)))
    for x in (-0.66, 0.66):
        lean = 0.05 if x > 0 else -0.05
        model.add(WALNUT, bar([(x + lean, 0, -0.4), (x, 0.56, -0.34)], 0.04, 0.05))
        model.add(WALNUT, bar([(x + lean, 0, 0.44), (x, 0.56, 0.34)], 0.04, 0.05))
        model.add(WALNUT, bar(smooth([(x, 0.55, -0.42), (x, 0.575, -0.1), (x, 0.56, 0.4)]), 0.08, 0.03))
        model.add(WALNUT, box(0.04, 0.05, 0.72, (x, 0.3, -0.01)))
    model.add(WALNUT, bar([(-0.66, 0.78, 0.45), (0.66, 0.78, 0.45)], 0.03, 0.06))
    model.add(
        WALNUT,
        bar([(0.6, 0.3, 0.32), (0.6, 0.8, 0.45)], 0.04, 0.03).both(),
        bar([(0, 0.3, 0.32), (0, 0.8, 0.45)], 0.04, 0.03),
    )
    for x in (-0.315, 0.315):
        model.add(mustard, cushion(0.62, 0.15, 0.72, (x, 0.4, -0.04), 8))
        model.add(mustard, cushion(0.62, 0.5, 0.15, (x, 0.68, 0.32), 8).turned("x", 14, (x, 0.68, 0.32)))
        buttons = (
            disc(0.018, 0.02, (x + u, 0.69 + v, 0.235 + 0.24 * v), "z", 0.006, 10)
            for u in (-0.14, 0.14)
            for v in (-0.1, 0.1)
        )
        model.add(fabric("dark_button", 150, 104, 12), *buttons)
    return model


def chaise_longue() -> Model:
    """A reclining couch: one scrolled end, a back that sinks along the side."""
    model = Model("purple chaise longue")
    purple = fabric("purple_velvet", 112, 44, 148)
    gold = leather("gilt_wood", 206, 164, 70)
    end = smooth(
        [
            (0.42, 0.32),
            (0.62, 0.36),
            (0.74, 0.6),
            (0.86, 0.84),
            (0.98, 0.86),
            (1.0, 0.76),
            (0.93, 0.7),
            (0.86, 0.5),
            (0.8, 0.28),
            (0.6, 0.24),
            (0.42, 0.24),
        ],
        3,
        True,
    )
    model.add(purple, extrude(end, 0.66, "z", (0, 0, 0), 0.03))
    model.add(
        purple, cushion(1.62, 0.2, 0.68, (-0.15, 0.37, 0), 9, 10), box(1.64, 0.1, 0.64, (-0.15, 0.28, 0), 0.03, 2)
    )
    back = [(0.76, 0.3), (0.82, 0.82), (0.6, 0.86), (0.3, 0.78), (0.0, 0.62), (-0.3, 0.52), (-0.44, 0.46), (-0.46, 0.3)]
    model.add(purple, extrude(rounded(back, 0.12), 0.12, "z", (0, 0, 0.3), 0.045))
    model.add(gold, box(1.66, 0.04, 0.68, (-0.15, 0.22, 0), 0.012))
    leg = lathe([(0.016, 0), (0.02, 0.03), (0.034, 0.12), (0.024, 0.15), (0.04, 0.21)], 12)
    model.add(gold, *(leg.moved(x, 0, z) for x in (-0.86, 0.62) for z in (-0.27, 0.27)))
    model.add(gold, disc(0.05, 0.69, (0.925, 0.79, 0), "z", 0.01, 16))
    model.add(fabric("gold_pillow", 232, 188, 84), tube([(0.52, 0.54, -0.24), (0.52, 0.54, 0.2)], 0.1, 14))
    return model


def futon() -> Model:
    """A folding bed as a couch: a thick navy mattress in a slatted pine frame."""
    model = Model("navy futon in a pine frame")
    navy = fabric("navy_cloth", 34, 50, 112)
    mattress = [(-0.44, 0.36), (0.2, 0.3), (0.36, 0.84), (0.5, 0.82), (0.38, 0.2), (0.3, 0.16), (-0.45, 0.22)]
    model.add(navy, extrude(rounded(mattress, 0.055, 3), 1.84, "x", (0, 0, 0), 0.05))
    for x in (-1.0, 1.0):
        model.add(PINE, box(0.06, 0.56, 0.07, (x, 0.28, -0.4)), box(0.06, 0.56, 0.07, (x, 0.28, 0.42)))
        model.add(PINE, box(0.1, 0.035, 0.98, (x, 0.575, 0), 0.012), box(0.04, 0.06, 0.8, (x, 0.14, 0)))
        model.add(PINE, row(box(0.025, 0.4, 0.045, (x, 0.36, 0)), (-0.24, -0.08, 0.08, 0.24), "z"))
    model.add(PINE, box(1.96, 0.09, 0.04, (0, 0.15, -0.4)), box(1.96, 0.06, 0.04, (0, 0.13, 0.3)))
    model.add(PINE, row(bar([(0, 0.16, 0.38), (0, 0.8, 0.53)], 0.06, 0.025), [-0.9 + 0.2 * k for k in range(10)]))
    model.add(PINE, bar([(-0.96, 0.82, 0.54), (0.96, 0.82, 0.54)], 0.03, 0.07))
    stripe = fabric("white_piping", 206, 207, 212)
    model.add(stripe, cushion(0.46, 0.4, 0.13, (-0.66, 0.56, 0.14), 4).turned("x", 18, (-0.66, 0.56, 0.14)))
    model.add(stripe, cushion(0.46, 0.4, 0.13, (0.66, 0.56, 0.14), 4).turned("x", 18, (0.66, 0.56, 0.14)))
    return model


def curved() -> Model:
    """A crescent: seat and back follow an arc."""
    model = Model("pink crescent sofa")
    pink = fabric("rose_boucle", 238, 146, 164)
    deep = fabric("deep_rose_boucle", 214, 108, 134)
    at = (0.0, 0.0, -1.5)
    seat = rounded([(1.02, 0.12), (1.78, 0.12), (1.78, 0.42), (1.02, 0.42)], 0.09)
    back = rounded([(1.66, 0.12), (1.94, 0.12), (1.97, 0.74), (1.76, 0.74)], 0.1)
    model.add(pink, turn_part(seat, -50, 50, 22, at))
    model.add(deep, turn_part(back, -53, 53, 22, at))
    for turn in (-34, 0, 34):
        model.add(pink, cushion(0.56, 0.36, 0.18, (0, 0.58, 1.64), 4).turned("y", turn).moved(*at))
    model.add(OAK, turn_part([(1.1, 0), (1.8, 0), (1.8, 0.13), (1.1, 0.13)], -48, 48, 22, at))
    return model


def camelback() -> Model:
    """A humped back, rolled arms and slim legs."""
    model = Model("green camelback sofa")
    green = fabric("moss_green_cloth", 96, 138, 58)
    hump = [
        (-0.96, 0.2),
        (0.96, 0.2),
        (0.98, 0.72),
        (0.7, 0.76),
        (0.4, 0.9),
        (0, 0.98),
        (-0.4, 0.9),
        (-0.7, 0.76),
        (-0.98, 0.72),
    ]
    model.add(green, extrude(rounded(hump, 0.16, 4), 0.18, "z", (0, 0, 0.34), 0.06))
    model.add(green, box(1.8, 0.2, 0.8, (0, 0.27, 0), 0.03, 2), cushion(1.72, 0.17, 0.7, (0, 0.43, -0.06), 10, 10))
    arm = box(0.12, 0.46, 0.8, (0.93, 0.4, -0.02), 0.04, 2)
    model.add(green, arm.both(), tube([(0.98, 0.62, -0.43), (0.98, 0.62, 0.36)], 0.1, 14).both())
    model.add(WALNUT, disc(0.06, 0.02, (0.98, 0.62, -0.435), "z", 0.008, 16).both())
    model.add(
        WALNUT,
        *(bar([(x, 0.18, z), (x * 1.02, 0, z * 1.06)], 0.04, 0.04) for x in (-0.88, 0, 0.88) for z in (-0.35, 0.36)),
    )
    cream = fabric("ivory_pillow", 218, 209, 182)
    for x in (-0.68, 0.68):
        model.add(cream, cushion(0.42, 0.4, 0.15, (x, 0.66, 0.16), 4).turned("x", 16, (x, 0.66, 0.16)))
    return model


MODELS = (three_seater, chesterfield, sectional, mid_century, chaise_longue, futon, curved, camelback)
