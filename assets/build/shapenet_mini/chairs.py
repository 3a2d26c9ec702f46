"""Chairs: seats for one with a back. The sitter looks towards -Z."""

from __future__ import annotations

import numpy as np

from diorama.assets.build.shapenet_mini.curves import bent, rounded, smooth
from diorama.assets.build.shapenet_mini.forms import bar, box, cushion, disc, extrude, lathe, loft, ring, tube
from diorama.assets.build.shapenet_mini.mesh import Mesh, around, join, row
from diorama.assets.build.shapenet_mini.model import Model
from diorama.assets.build.shapenet_mini.palette import BLACK, OAK, PINE, RUBBER, STEEL, WALNUT, fabric, leather, paint


def slat_back() -> Model:
    """Square oak legs, the rear ones rising into a back of five slats; a padded seat."""
    model = Model("oak dining chair with a slatted back")
    model.add(OAK, *(box(0.045, 0.44, 0.045, (x, 0.22, -0.2)) for x in (-0.2, 0.2)))
    rear = bar([(0.2, 0.0, 0.24), (0.2, 0.44, 0.2), (0.2, 0.95, 0.29)], 0.045, 0.045)
    model.add(OAK, rear.both())
    model.add(OAK, box(0.4, 0.06, 0.03, (0, 0.4, -0.2)), box(0.4, 0.06, 0.03, (0, 0.4, 0.2)))
    model.add(OAK, box(0.03, 0.06, 0.4, (0.2, 0.4, 0)).both(), box(0.02, 0.03, 0.4, (0.2, 0.16, 0)).both())
    model.add(OAK, box(0.4, 0.1, 0.025, (0, 0.92, 0.285), 0.01), box(0.4, 0.05, 0.025, (0, 0.54, 0.218)))
    slat = bar([(0, 0.54, 0.218), (0, 0.92, 0.285)], 0.032, 0.014)
    model.add(OAK, row(slat, (-0.14, -0.07, 0, 0.07, 0.14)))
    model.add(fabric("cream_cloth", 218, 202, 164), cushion(0.46, 0.07, 0.45, (0, 0.46, -0.01), 7))
    return model


def office() -> Model:
    """A five-star base on castors, gas column, padded seat and back, arm rests."""
    model = Model("blue office swivel chair")
    cloth = fabric("royal_blue_cloth", 36, 84, 190)
    foot = tube([(0, 0.11, 0), (0, 0.1, -0.12), (0, 0.075, -0.3)], (0.03, 0.026, 0.018))
    castor = join(disc(0.03, 0.016, (0.014, 0.03, -0.3), "x"), disc(0.03, 0.016, (-0.014, 0.03, -0.3), "x"))
    model.add(BLACK, around(foot, 5), disc(0.045, 0.07, (0, 0.11, 0)))
    model.add(RUBBER, around(castor, 5))
    model.add(STEEL, disc(0.022, 0.26, (0, 0.27, 0)))
    model.add(BLACK, disc(0.04, 0.14, (0, 0.2, 0)), box(0.26, 0.04, 0.26, (0, 0.41, 0)))
    model.add(cloth, cushion(0.5, 0.1, 0.49, (0, 0.475, -0.01), 5))
    model.add(cloth, cushion(0.46, 0.56, 0.09, (0, 0.85, 0.24), 5).turned("x", 8, (0, 0.85, 0.24)))
    model.add(BLACK, bar(bent([(0, 0.41, 0.1), (0, 0.41, 0.29), (0, 0.9, 0.31)], 0.08), 0.09, 0.02))
    arm = tube(bent([(0.12, 0.42, 0.02), (0.29, 0.42, 0.02), (0.29, 0.66, 0.02)], 0.05), 0.015)
    model.add(BLACK, arm.both(), box(0.07, 0.03, 0.27, (0.29, 0.675, 0), 0.014).both())
    return model


def rocking() -> Model:
    """A painted rocking chair: bent runners, turned spindles, a high curved back."""
    model = Model("green rocking chair")
    green = paint("leaf_green", 44, 128, 62)
    runner = smooth([(0.23, 0.13, -0.5), (0.23, 0.035, -0.25), (0.23, 0.015, 0), (0.23, 0.05, 0.3), (0.23, 0.15, 0.58)])
    model.add(green, bar(runner, 0.035, 0.035).both())
    post = tube(smooth([(0.22, 0.03, 0.22), (0.22, 0.43, 0.2), (0.23, 0.8, 0.29), (0.235, 1.1, 0.4)]), 0.02)
    front = tube([(0.22, 0.03, -0.2), (0.22, 0.42, -0.2), (0.23, 0.66, -0.2)], (0.018, 0.022, 0.016))
    model.add(green, post.both(), front.both())
    model.add(PINE, box(0.5, 0.035, 0.48, (0, 0.43, 0), 0.015).turned("x", 3, (0, 0.43, 0)))
    rest = smooth([(0.235, 0.66, -0.25), (0.25, 0.67, -0.05), (0.23, 0.68, 0.25)])
    model.add(PINE, bar(rest, 0.06, 0.025).both())
    for y, z in ((0.6, 0.245), (0.76, 0.28), (0.92, 0.335), (1.06, 0.385)):
        slat = smooth([(-0.22, y, z), (0, y, z + 0.045), (0.22, y, z)])
        model.add(green, bar(slat, 0.018, 0.085))
    model.add(
        green,
        tube([(-0.22, 0.2, -0.2), (0.22, 0.2, -0.2)], 0.012),
        tube([(-0.22, 0.2, 0.21), (0.22, 0.2, 0.21)], 0.012),
    )
    return model


def bar_chair() -> Model:
    """A tall bar chair on a trumpet foot, with a foot ring and a low wrapped back."""
    model = Model("red bar chair on a chrome foot")
    red = leather("scarlet_leather", 200, 26, 34)
    model.add(STEEL, lathe([(0.23, 0), (0.23, 0.012), (0.14, 0.03), (0.05, 0.07), (0.032, 0.16), (0.03, 0.72)]))
    model.add(STEEL, ring(0.15, 0.012, (0, 0.33, -0.04)), tube([(0, 0.33, 0.11), (0, 0.33, 0)], 0.011))
    model.add(red, lathe([(0.1, 0.7), (0.19, 0.73), (0.21, 0.77), (0.2, 0.81), (0.16, 0.825)], 24))
    sections = []
    for k in range(13):
        turn = -105 + 210 * k / 12
        rise = 0.3 - 0.14 * abs(turn / 105) ** 2
        wall = [
            (0, 0.76, 0.2),
            (0, 0.76, 0.235),
            (0, 0.77 + rise, 0.27),
            (0, 0.785 + rise, 0.25),
            (0, 0.77 + rise, 0.23),
        ]
        sections.append(Mesh(np.array(wall), ()).turned("y", turn).vertices)
    model.add(red, loft(sections))
    return model


def shell() -> Model:
    """A molded plastic shell on four splayed dowel legs."""
    model = Model("yellow shell chair on dowel legs")
    yellow = paint("sun_yellow", 246, 196, 20)
    profile = smooth(
        [(-0.24, 0.415), (-0.2, 0.44), (-0.05, 0.42), (0.1, 0.425), (0.2, 0.5), (0.25, 0.66), (0.29, 0.84)], 3
    )
    sections = []
    for k, (z, y) in enumerate(profile):
        t = k / (len(profile) - 1)
        half = 0.2 + 0.06 * (1 - (2 * t - 0.9) ** 2) - 0.07 * max(0, t - 0.75) / 0.25
        curl = 0.05 + 0.06 * (1 - (2 * t - 1) ** 2)
        across = [-1, -0.85, -0.5, 0, 0.5, 0.85, 1]
        lift = [(half * u, y + curl * u**4 * (1 - t), z - curl * 1.3 * u**4 * t) for u in across]
        under = [(x, y_ - 0.016, z_ + 0.016) for x, y_, z_ in reversed(lift)]
        sections.append(lift + under)
    model.add(yellow, loft(sections))
    leg = tube([(0.1, 0.41, -0.08), (0.22, 0, -0.23)], (0.02, 0.013))
    back = tube([(0.1, 0.41, 0.08), (0.22, 0, 0.24)], (0.02, 0.013))
    model.add(OAK, leg.both(), back.both())
    model.add(
        BLACK,
        tube([(-0.16, 0.2, -0.155), (0.16, 0.2, 0.16)], 0.007),
        tube([(0.16, 0.2, -0.155), (-0.16, 0.2, 0.16)], 0.007),
    )
    model.add(BLACK, box(0.26, 0.02, 0.2, (0, 0.402, 0)))
    return model


def cantilever() -> Model:
    """One bent steel tube without rear legs; seat and back of black leather."""
    model = Model("cantilever chair of steel tube and black leather")
    half = [
        (0, 0.02, 0.26),
        (0.24, 0.02, 0.26),
        (0.24, 0.02, -0.26),
        (0.24, 0.45, -0.26),
        (0.24, 0.43, 0.2),
        (0.24, 0.92, 0.3),
    ]
    path = [*half[:0:-1], *((-x, y, z) for x, y, z in half[1:])]
    model.add(STEEL, tube(bent(path, 0.08, 4), 0.016, 10))
    black = leather("black_leather", 62, 58, 62)
    model.add(black, cushion(0.5, 0.06, 0.44, (0, 0.455, -0.03), 7).turned("x", 2.5, (0, 0.455, 0)))
    model.add(black, cushion(0.5, 0.34, 0.05, (0, 0.76, 0.255), 7).turned("x", 11, (0, 0.76, 0.255)))
    arm = tube(bent([(0.25, 0.74, 0.26), (0.25, 0.66, -0.18), (0.25, 0.45, -0.24)], 0.06), 0.014)
    model.add(STEEL, arm.both())
    model.add(black, box(0.045, 0.025, 0.3, (0.25, 0.71, 0.02), 0.01).turned("x", -10, (0.25, 0.71, 0.02)).both())
    return model


def director() -> Model:
    """A folding director's chair: crossed wooden legs, canvas seat and back."""
    model = Model("folding director's chair in orange canvas")
    canvas = fabric("orange_canvas", 236, 112, 22)
    for z in (-0.21, 0.21):
        model.add(OAK, bar([(-0.25, 0.04, z - 0.014), (0.25, 0.44, z - 0.014)], 0.028, 0.045))
        model.add(OAK, bar([(0.25, 0.04, z + 0.014), (-0.25, 0.44, z + 0.014)], 0.028, 0.045))
    model.add(OAK, box(0.035, 0.04, 0.52, (0.26, 0.03, 0)).both(), box(0.035, 0.035, 0.5, (0.26, 0.45, 0)).both())
    model.add(OAK, box(0.032, 0.22, 0.04, (0.26, 0.55, -0.2)).both(), box(0.032, 0.5, 0.04, (0.26, 0.69, 0.2)).both())
    model.add(OAK, box(0.06, 0.025, 0.5, (0.26, 0.665, -0.01), 0.01).both())
    sag = smooth([(-0.25, 0.47, 0), (-0.1, 0.44, 0), (0.1, 0.44, 0), (0.25, 0.47, 0)])
    model.add(canvas, bar(sag, 0.42, 0.014))
    back = smooth([(-0.28, 0.83, 0.19), (0, 0.83, 0.235), (0.28, 0.83, 0.19)])
    model.add(canvas, bar(back, 0.016, 0.2))
    return model


def windsor() -> Model:
    """A Windsor chair: saddle seat, turned splayed legs, a hoop filled with spindles."""
    model = Model("violet Windsor chair")
    violet = paint("violet", 118, 62, 168)
    leg = tube(
        [(0.13, 0.43, -0.12), (0.16, 0.3, -0.155), (0.18, 0.18, -0.18), (0.21, 0, -0.21)], (0.016, 0.023, 0.018, 0.012)
    )
    model.add(violet, leg.both(), leg.mirrored("z").both())
    model.add(
        violet,
        tube([(0.185, 0.17, -0.18), (0.185, 0.17, 0.18)], 0.011).both(),
        tube([(-0.18, 0.17, 0), (0.18, 0.17, 0)], 0.011),
    )
    seat = rounded([(-0.2, -0.22), (0.2, -0.22), (0.24, 0.02), (0.16, 0.22), (-0.16, 0.22), (-0.24, 0.02)], 0.1)
    model.add(WALNUT, extrude(seat, 0.045, "y", (0, 0.445, 0), 0.014))
    hoop = smooth(
        [
            (-0.19, 0.46, 0.16),
            (-0.23, 0.7, 0.23),
            (-0.15, 0.95, 0.3),
            (0, 1.02, 0.32),
            (0.15, 0.95, 0.3),
            (0.23, 0.7, 0.23),
            (0.19, 0.46, 0.16),
        ]
    )
    model.add(violet, tube(hoop, 0.015))
    for k, (x, top) in enumerate(
        ((-0.18, 0.86), (-0.12, 0.96), (-0.06, 1.0), (0, 1.01), (0.06, 1.0), (0.12, 0.96), (0.18, 0.86))
    ):
        lean = 0.18 - 0.004 * abs(k - 3)
        model.add(violet, tube([(x * 0.72, 0.46, lean), (x, top, 0.16 + (top - 0.46) * 0.28)], 0.008, 6))
    return model


MODELS = (slat_back, office, rocking, bar_chair, shell, cantilever, director, windsor)
