"""Lighting: lamps that stand, hang or light a street. Where a lamp has a front it is towards -Z."""

from __future__ import annotations

import math

from diorama.assets.build.shapenet_mini.curves import smooth
from diorama.assets.build.shapenet_mini.forms import ball, box, cushion, disc, lathe, loft, ring, tube
from diorama.assets.build.shapenet_mini.mesh import around, join
from diorama.assets.build.shapenet_mini.model import Material, Model
from diorama.assets.build.shapenet_mini.palette import (
    BLACK,
    BRASS,
    CREAM,
    DARK,
    LAMP_GLOW,
    OAK,
    STEEL,
    WALNUT,
    WHITE,
    fabric,
    paint,
)


def _shade(bottom: float, top: float, low: float, high: float, wall: float = 0.008) -> list[tuple[float, float]]:
    """The closed profile of an open lamp shade from radius `bottom` at height `low` to `top` at `high`."""
    return [(bottom, low), (top, high), (top - wall, high), (bottom - wall, low)]


def desk() -> Model:
    """Two sprung arms, a joint between, a conical shade turned down to the desk."""
    model = Model("red desk lamp with a jointed arm")
    red = paint("racing_red", 214, 28, 30)
    model.add(red, lathe([(0.11, 0), (0.115, 0.012), (0.1, 0.028), (0.03, 0.036), (0.022, 0.06)], 28))
    elbow, wrist = (0, 0.36, 0.17), (0, 0.56, -0.1)
    for x in (-0.018, 0.018):
        model.add(
            STEEL, tube([(x, 0.05, 0), (x, 0.36, 0.17)], 0.008, 8), tube([(x, 0.36, 0.17), (x, 0.56, -0.1)], 0.008, 8)
        )
    model.add(BLACK, *(disc(0.024, 0.06, at, "x", 0.006, 14) for at in ((0, 0.05, 0), elbow, wrist)))
    head = join(
        lathe(
            [(0.028, 0.1), (0.034, 0.04), (0.05, 0.0), (0.105, -0.12), (0.1, -0.12), (0.045, 0.0), (0.02, 0.04)],
            28,
            hollow=True,
        ),
        lathe([(0.026, 0.03), (0.03, 0.1), (0.02, 0.115)], 16),
    )
    model.add(red, head.turned("x", 28).moved(0, 0.55, -0.13))
    model.add(LAMP_GLOW, ball(0.042, (0, -0.065, 0)).turned("x", 28).moved(0, 0.55, -0.13))
    return model


def drum_floor() -> Model:
    """A slim brass stand under a wide lime drum shade."""
    model = Model("floor lamp with a lime drum shade")
    model.add(BRASS, lathe([(0.15, 0), (0.15, 0.018), (0.03, 0.03), (0.012, 0.05), (0.012, 1.3)], 24))
    model.add(
        BRASS, ball(0.02, (0, 0.62, 0), 4), ball(0.016, (0, 1.56, 0), 4), tube([(0, 1.3, 0), (0, 1.56, 0)], 0.006, 6)
    )
    model.add(fabric("lime_shade", 176, 212, 70), lathe(_shade(0.24, 0.2, 1.2, 1.52), 36, hollow=True))
    model.add(
        BRASS,
        ring(0.238, 0.006, (0, 1.2, 0), segments=36, sides=6),
        ring(0.198, 0.006, (0, 1.52, 0), segments=36, sides=6),
    )
    model.add(LAMP_GLOW, ball(0.05, (0, 1.36, 0)))
    model.add(BRASS, around(tube([(0, 1.52, 0), (0, 1.52, 0.195)], 0.004, 6), 3))
    return model


def vase_table() -> Model:
    """A round blue ceramic body with a pleated cone shade."""
    model = Model("table lamp on a blue ceramic vase")
    blue = Material("cobalt_glaze", (30, 66, 178), 0.85)
    body = smooth([(0.06, 0.02), (0.115, 0.08), (0.135, 0.16), (0.105, 0.25), (0.04, 0.31), (0.03, 0.35)], 3)
    model.add(blue, lathe([(0.07, 0.012), *((float(r), float(h)) for r, h in body), (0.036, 0.36)], 28))
    model.add(
        BRASS, disc(0.08, 0.02, (0, 0.01, 0), bevel=0.006, segments=24), disc(0.014, 0.1, (0, 0.4, 0), segments=10)
    )
    sections = []
    for low, radius in ((0.38, 0.205), (0.62, 0.11), (0.62, 0.102), (0.38, 0.197)):
        loop = []
        for k in range(48):
            reach, turn = radius * (1 + 0.022 * (-1) ** k), 2 * math.pi * k / 48
            loop.append((reach * math.sin(turn), low, reach * math.cos(turn)))
        sections.append(loop)
    model.add(fabric("pleated_linen", 222, 210, 180), loft(sections, loop=True))
    model.add(LAMP_GLOW, ball(0.042, (0, 0.48, 0)))
    return model


def pendant() -> Model:
    """A wide enameled factory shade on a cord from a ceiling rose, its bulb below the rim."""
    model = Model("turquoise factory pendant lamp")
    model.add(
        STEEL, lathe([(0.075, 0.6), (0.065, 0.625), (0.03, 0.635)], 20), tube([(0, 0.3, 0), (0, 0.62, 0)], 0.008, 6)
    )
    rim = [(0.3, 0.0), (0.295, 0.02), (0.23, 0.06), (0.12, 0.12), (0.075, 0.17), (0.06, 0.24)]
    enamel = paint("turquoise_enamel", 40, 196, 190)
    model.add(enamel, lathe([*rim, *_inside(rim, 0.004)], 36, hollow=True))
    model.add(WHITE, lathe([*_inside(rim, 0.005)[::-1], *_inside(rim, 0.01)], 36, hollow=True))
    model.add(STEEL, lathe([(0.064, 0.235), (0.06, 0.27), (0.03, 0.3), (0.012, 0.32)], 18))
    model.add(LAMP_GLOW, ball(0.075, (0, -0.005, 0)), lathe([(0.06, 0.02), (0.035, 0.1), (0.035, 0.2)], 14))
    return model


def _inside(profile: list[tuple[float, float]], by: float) -> list[tuple[float, float]]:
    """The inner side of a shade whose outer side runs from its rim upwards: from the top back to the rim."""
    return [(radius - by, height - (by if k else 0)) for k, (radius, height) in enumerate(profile)][::-1]


def chandelier() -> Model:
    """Six curved brass arms with candle lights, hung from a chain."""
    model = Model("brass chandelier with six candles")
    column = [
        (0.0, 0.02),
        (0.03, 0.05),
        (0.05, 0.1),
        (0.025, 0.16),
        (0.02, 0.24),
        (0.055, 0.3),
        (0.03, 0.36),
        (0.02, 0.5),
        (0.035, 0.54),
    ]
    model.add(BRASS, lathe(column, 18), lathe([(0.06, 0.9), (0.05, 0.92)], 18))
    for k in range(7):
        link = ring(0.02, 0.006, segments=12, sides=6, axis="x").scaled(1, 1.5, 1).turned("y", 90 * (k % 2))
        model.add(BRASS, link.moved(0, 0.565 + 0.05 * k))
    arm = smooth([(0, 0.3, 0.03), (0, 0.16, 0.12), (0, 0.1, 0.24), (0, 0.16, 0.34), (0, 0.26, 0.35)])
    model.add(
        BRASS,
        around(tube(arm, 0.011, 8), 6),
        around(lathe([(0.02, 0.255), (0.055, 0.275), (0.055, 0.282)], 14, (0, 0, 0.35)), 6),
    )
    curl = smooth([(0, 0.34, 0.02), (0, 0.42, 0.1), (0, 0.36, 0.17), (0, 0.3, 0.13)])
    model.add(BRASS, around(tube(curl, 0.008, 6), 6, start=30))
    model.add(CREAM, around(disc(0.016, 0.11, (0, 0.335, 0.35), bevel=0.003, segments=10), 6))
    flame = [(0.008, 0.39), (0.022, 0.415), (0.016, 0.445), (0.002, 0.475)]
    model.add(LAMP_GLOW, around(lathe(flame, 10, (0, 0, 0.35)), 6))
    return model


def street() -> Model:
    """A fluted iron post with a four-sided lantern."""
    model = Model("green street lantern")
    green = paint("lantern_green", 18, 92, 74)
    post = [
        (0.2, 0),
        (0.2, 0.1),
        (0.15, 0.14),
        (0.13, 0.5),
        (0.08, 0.58),
        (0.06, 0.7),
        (0.045, 1.7),
        (0.07, 1.74),
        (0.04, 1.8),
        (0.04, 2.0),
    ]
    model.add(
        green,
        lathe(post, 16),
        tube([(-0.26, 1.78, 0), (0.26, 1.78, 0)], 0.02, 8),
        ball(0.032, (0.27, 1.78, 0), 4).both(),
    )
    model.add(LAMP_GLOW, loft([_square(0.1, 2.08), _square(0.2, 2.52)]))
    bars = tube([(0.105, 2.07, 0.105), (0.206, 2.53, 0.206)], 0.016, 6)
    model.add(green, around(bars, 4), loft([_square(0.12, 2.0), _square(0.125, 2.08)]))
    model.add(
        green,
        loft([_square(0.26, 2.51), _square(0.26, 2.55), _square(0.1, 2.7), _square(0.1, 2.76), _square(0.04, 2.8)]),
    )
    model.add(green, ball(0.04, (0, 2.83, 0), 4))
    return model


def _square(half: float, height: float) -> list[tuple[float, float, float]]:
    return [(half, height, half), (half, height, -half), (-half, height, -half), (-half, height, half)]


def arc_floor() -> Model:
    """A long chrome bow from a marble block to a hanging dome."""
    model = Model("arc floor lamp with a dome")
    model.add(WHITE, box(0.36, 0.14, 0.42, (0, 0.07, 0.5), 0.012))
    bow = smooth(
        [(0, 0.15, 0.55), (0, 0.9, 0.52), (0, 1.5, 0.3), (0, 1.78, -0.1), (0, 1.72, -0.52), (0, 1.56, -0.68)], 5
    )
    model.add(STEEL, tube(bow, 0.026, 10))
    violet = paint("violet_enamel", 132, 62, 190)
    dome = [(0.32, 1.16), (0.31, 1.27), (0.25, 1.4), (0.15, 1.5), (0.04, 1.54)]
    inner = [(r - 0.009, h - (0.008 if k else 0)) for k, (r, h) in enumerate(dome)]
    model.add(violet, lathe([*dome, *reversed(inner)], 32, (0, 0, -0.68), hollow=True))
    model.add(STEEL, lathe([(0.045, 1.535), (0.045, 1.56), (0.02, 1.59)], 16, (0, 0, -0.68)))
    model.add(LAMP_GLOW, ball(0.1, (0, 1.3, -0.68)))
    return model


def tripod() -> Model:
    """Three wooden legs under an orange drum."""
    model = Model("tripod lamp with an orange shade")
    leg = tube([(0, 1.02, 0.03), (0, 0, 0.36)], (0.018, 0.016), 10)
    model.add(OAK, around(leg, 3), around(tube([(0, 0.42, 0.225), (0.195, 0.42, -0.1125)], 0.009, 6), 3))
    model.add(DARK, disc(0.06, 0.06, (0, 1.03, 0), bevel=0.01), disc(0.012, 0.2, (0, 1.12, 0), segments=10))
    orange = fabric("orange_shade", 244, 128, 30)
    model.add(orange, lathe(_shade(0.27, 0.21, 1.08, 1.42), 36, hollow=True))
    model.add(WALNUT, ring(0.267, 0.007, (0, 1.08, 0), segments=36, sides=6))
    model.add(LAMP_GLOW, cushion(0.1, 0.14, 0.1, (0, 1.25, 0), 2))
    return model


MODELS = (desk, drum_floor, vase_table, pendant, chandelier, street, arc_floor, tripod)
