"""Benches: long hard seats, most of them of slats. The sitters look towards -Z."""

from __future__ import annotations

import math

from diorama.assets.build.shapenet_mini.curves import arc, rounded, smooth
from diorama.assets.build.shapenet_mini.forms import bar, box, disc, extrude, lathe, loft, tube, turn_part
from diorama.assets.build.shapenet_mini.mesh import Mesh, row
from diorama.assets.build.shapenet_mini.model import Material, Model
from diorama.assets.build.shapenet_mini.palette import (
    BLACK,
    CONCRETE,
    DARK,
    STEEL,
    WALNUT,
    WHITE,
    fabric,
    paint,
)


def park() -> Model:
    """Green slats between scrolled cast-iron ends."""
    model = Model("park bench of green slats and cast iron")
    green = paint("park_green", 34, 118, 66)
    for k in range(6):
        z = -0.24 + 0.085 * k
        model.add(green, box(1.7, 0.028, 0.066, (0, 0.445 - 0.012 * math.sin(math.pi * k / 5), z), 0.008))
    for k in range(5):
        slat = box(1.7, 0.066, 0.026, (0, 0.53 + 0.088 * k, 0.245 + 0.03 * k), 0.008)
        model.add(green, slat.turned("x", 17, (0, 0.53 + 0.088 * k, 0.245 + 0.03 * k)))
    for x in (-0.72, 0.72):
        foot = smooth([(x, 0, -0.32), (x, 0.06, -0.27), (x, 0.26, -0.24), (x, 0.42, -0.25)])
        heel = smooth([(x, 0, 0.36), (x, 0.2, 0.22), (x, 0.42, 0.2), (x, 0.62, 0.285), (x, 0.94, 0.4)])
        rest = smooth([(x, 0.44, -0.24), (x, 0.58, -0.3), (x, 0.67, -0.24), (x, 0.66, -0.05), (x, 0.65, 0.26)])
        model.add(
            BLACK, *(bar(path, 0.045, 0.035) for path in (foot, heel, rest)), box(0.055, 0.035, 0.5, (x, 0.41, -0.02))
        )
        model.add(BLACK, bar(smooth([(x, 0.1, -0.25), (x, 0.24, 0), (x, 0.1, 0.25)]), 0.03, 0.025))
    return model


def stone() -> Model:
    """A gray slab on two scrolled blocks, with a slab for a back, arched at its top."""
    model = Model("grey stone bench with an arched back")
    granite = Material("granite", (150, 152, 158), 0.1)
    dark = Material("dark_granite", (112, 114, 122), 0.1)
    model.add(granite, box(1.6, 0.08, 0.5, (0, 0.43, 0), 0.02), box(1.5, 0.04, 0.42, (0, 0.375, 0), 0.01))
    block = [(-0.2, 0), (0.2, 0), (0.2, 0.06), (0.12, 0.12), (0.1, 0.2), (0.17, 0.3), (0.17, 0.37)]
    outline = block + [(-z, y) for z, y in reversed(block[2:])]
    model.add(dark, extrude(outline, 0.16, "x", (0.52, 0, 0), 0.012).both())
    foot = (0, 0.46, 0.2)
    arch = [
        (-0.78, 0.46),
        (0.78, 0.46),
        (0.78, 0.68),
        *((0.7 * x, 0.72 + 0.16 * y) for x, y in arc(1, 0, 180, 13)),
        (-0.78, 0.68),
    ]
    model.add(granite, extrude(arch, 0.09, "z", (0, 0, 0.2), 0.015).turned("x", 8, foot))
    panel = [(0.8 * x, 0.09 + 0.85 * y) for x, y in arch]
    model.add(dark, extrude(panel, 0.11, "z", (0, 0, 0.2), 0.01).turned("x", 8, foot))
    return model


def strap() -> Model:
    """Red steel straps bent into seat and back, as in railway stations."""
    model = Model("red steel strap bench")
    red = paint("vermilion", 214, 40, 30)
    bow = smooth(
        [
            (0, 0.37, -0.3),
            (0, 0.435, -0.27),
            (0, 0.44, -0.1),
            (0, 0.42, 0.1),
            (0, 0.47, 0.2),
            (0, 0.66, 0.26),
            (0, 0.84, 0.33),
            (0, 0.86, 0.38),
        ],
        3,
    )
    model.add(red, row(bar(bow, 0.034, 0.012), [-0.81 + 0.0705 * k for k in range(24)]))
    for y, z in ((0.37, -0.3), (0.405, 0.1), (0.86, 0.385)):
        model.add(red, tube([(-0.86, y, z), (0.86, y, z)], 0.017))
    for x in (-0.86, 0.86):
        leg = smooth([(x, 0.0, -0.3), (x, 0.3, -0.26), (x, 0.58, -0.24), (x, 0.64, -0.1), (x, 0.62, 0.26)])
        rear = smooth([(x, 0.0, 0.32), (x, 0.4, 0.18), (x, 0.62, 0.26), (x, 0.86, 0.385)])
        model.add(DARK, tube(leg, 0.022), tube(rear, 0.024))
    return model


def garden() -> Model:
    """A white garden bench: an arched back of upright slats, flat arm rests."""
    model = Model("white garden bench with an arched back")
    model.add(WHITE, row(box(1.5, 0.025, 0.075, (0, 0.43, 0)), (-0.22, -0.13, -0.04, 0.05, 0.14), "z"))
    model.add(WHITE, box(1.5, 0.07, 0.03, (0, 0.38, -0.25)), box(1.5, 0.07, 0.03, (0, 0.38, 0.2)))
    model.add(WHITE, box(0.06, 0.64, 0.06, (0.76, 0.32, -0.25)).both(), box(0.06, 0.8, 0.06, (0.76, 0.4, 0.22)).both())
    model.add(
        WHITE, box(0.09, 0.03, 0.55, (0.76, 0.65, -0.03), 0.01).both(), box(0.04, 0.05, 0.42, (0.76, 0.16, 0)).both()
    )
    arch = smooth(
        [
            (-0.76, 0.8, 0.22),
            (-0.5, 0.88, 0.24),
            (-0.25, 1.02, 0.26),
            (0, 1.08, 0.27),
            (0.25, 1.02, 0.26),
            (0.5, 0.88, 0.24),
            (0.76, 0.8, 0.22),
        ]
    )
    model.add(WHITE, bar(arch, 0.035, 0.07), box(1.5, 0.06, 0.03, (0, 0.53, 0.22)))
    for k in range(13):
        x = -0.66 + 0.11 * k
        top = 0.8 + 0.27 * math.cos(math.pi * x / 1.6) ** 2
        model.add(WHITE, bar([(x, 0.53, 0.22), (x, top, 0.225 + 0.04 * (top - 0.8) / 0.27)], 0.05, 0.018))
    model.add(fabric("sky_cushion", 92, 172, 226), box(1.42, 0.05, 0.4, (0, 0.465, -0.04), 0.02, 2))
    return model


def log() -> Model:
    """Half a tree trunk, its cut side up, on two stumps; a thinner half of another as its back."""
    model = Model("bench of two halves of a log")
    bark = Material("bark", (88, 56, 34), 0.05)
    cut = Material("cut_wood", (214, 164, 100), 0.15)
    stump = lathe([(0.17, 0), (0.14, 0.1), (0.15, 0.32)], 14, (0.55, 0, 0))
    model.add(bark, _half_log(0.26, 0.22, 1.8).moved(y=0.45), stump.both())
    model.add(cut, box(1.76, 0.03, 0.46, (0, 0.457, 0), 0.012), _half_log(0.2, 0.16, 1.84).moved(y=0.445))
    at = (0, 0.8, 0.36)
    model.add(bark, _half_log(0.15, 0.11, 1.7).turned("x", -78).moved(*at))
    model.add(bark, tube([(0.5, 0.3, 0.2), (0.5, 0.84, 0.4)], (0.06, 0.045)).both())
    model.add(cut, box(1.66, 0.26, 0.03, (0, 0.8, 0.352), 0.01).turned("x", 12, at))
    model.add(cut, _half_log(0.11, 0.08, 1.74).turned("x", -78).moved(0, 0.8, 0.366))
    return model


def _half_log(radius: float, deep: float, length: float) -> Mesh:
    """The lower half of a knotty trunk along X, its flat side up at height 0."""
    rings = []
    for k in range(9):
        swell = 1 + 0.05 * math.sin(2.3 * k)
        turns = [math.radians(t) for t in range(-90, 91, 15)]
        x = length * (k / 8 - 0.5)
        rings.append([(x, -deep * swell * math.cos(t), radius * swell * math.sin(t)) for t in turns])
    return loft(rings)


def pew() -> Model:
    """A church pew: solid shaped ends, a panelled back, a book rest and a long cushion."""
    model = Model("walnut church pew with a violet cushion")
    panel = Material("panel_walnut", (120, 74, 44), 0.35)
    end = [
        (-0.3, 0),
        (0.36, 0),
        (0.36, 0.1),
        (0.34, 0.5),
        (0.42, 1.0),
        (0.3, 1.04),
        (0.2, 0.7),
        (0.1, 0.64),
        (-0.22, 0.64),
        (-0.3, 0.56),
    ]
    model.add(WALNUT, extrude(rounded(end, 0.06), 0.055, "x", (0.93, 0, 0), 0.012).both())
    model.add(WALNUT, box(1.84, 0.035, 0.46, (0, 0.42, -0.02)), box(1.84, 0.12, 0.025, (0, 0.35, -0.22)))
    lean = (0, 0.7, 0.27)
    model.add(WALNUT, box(1.84, 0.6, 0.025, lean).turned("x", 11, lean), box(1.86, 0.05, 0.12, (0, 1.0, 0.32), 0.015))
    for k in range(5):
        model.add(panel, box(0.29, 0.4, 0.03, (-0.7 + 0.35 * k, 0.72, 0.268), 0.01).turned("x", 11, lean))
    model.add(fabric("violet_cushion", 122, 52, 150), box(1.8, 0.05, 0.4, (0, 0.46, -0.03), 0.022, 2))
    return model


def timber() -> Model:
    """A backless bench of yellow pine beams laid across two concrete blocks."""
    model = Model("backless bench of pine beams on concrete")
    block = [(-0.27, 0), (0.27, 0), (0.27, 0.36), (-0.27, 0.36)]
    model.add(CONCRETE, extrude(rounded(block, 0.03), 0.3, "x", (0.72, 0, 0), 0.015).both())
    model.add(
        Material("oiled_pine", (236, 186, 96), 0.25),
        row(box(2.0, 0.08, 0.085, (0, 0.4, 0), 0.012), (-0.22, -0.11, 0, 0.11, 0.22), "z"),
    )
    model.add(
        STEEL,
        *(
            disc(0.02, 0.01, (x, 0.442, z), "y", 0.004, 10)
            for x in (-0.72, 0.72)
            for z in (-0.22, -0.11, 0, 0.11, 0.22)
        ),
    )
    return model


def crescent() -> Model:
    """A curved bench with a back: blue boards bent along an arc on steel brackets."""
    model = Model("curved blue bench on steel brackets")
    blue = paint("cobalt", 32, 92, 206)
    at = (0.0, 0.0, -1.6)
    for radius in (1.32, 1.43, 1.54, 1.65):
        model.add(
            blue,
            turn_part([(radius, 0.43), (radius + 0.09, 0.43), (radius + 0.09, 0.46), (radius, 0.46)], -42, 42, 18, at),
        )
    for k, y in enumerate((0.56, 0.68, 0.8)):
        inner = 1.77 + 0.04 * k
        model.add(
            blue,
            turn_part(
                [(inner, y), (inner + 0.03, y), (inner + 0.055, y + 0.085), (inner + 0.025, y + 0.085)], -42, 42, 18, at
            ),
        )
    side = [
        (1.34, 0),
        (1.4, 0),
        (1.42, 0.38),
        (1.72, 0.38),
        (1.76, 0),
        (1.82, 0),
        (1.82, 0.5),
        (1.93, 0.9),
        (1.89, 0.9),
        (1.78, 0.46),
        (1.34, 0.43),
    ]
    for turn in (-36, -12, 12, 36):
        model.add(DARK, extrude(side, 0.04, "x").turned("y", turn).moved(*at))
    return model


MODELS = (park, stone, strap, garden, log, pew, timber, crescent)
