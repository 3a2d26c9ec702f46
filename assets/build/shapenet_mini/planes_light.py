"""Small planes, and those that do without a runway. The nose is towards -Z."""

from __future__ import annotations

from diorama.assets.build.shapenet_mini.aircraft import add_wheels, fin, fuselage, ports, propeller, wing
from diorama.assets.build.shapenet_mini.forms import box, cushion, disc, lathe, ring, tube
from diorama.assets.build.shapenet_mini.model import Material, Model
from diorama.assets.build.shapenet_mini.palette import BLACK, DARK, GLASS, STEEL, WHITE, paint


def biplane() -> Model:
    """Two wings with struts and wires, an open cockpit, fixed wheels."""
    model = Model("red biplane")
    red = paint("plane_red", 208, 26, 32)
    model.add(
        red,
        fuselage(
            [
                (-2.2, 0.36, 0.38, 0),
                (-1.9, 0.42, 0.44, 0),
                (-0.8, 0.44, 0.5, 0),
                (0.6, 0.36, 0.42, 0.04),
                (2.8, 0.1, 0.16, 0.14),
            ],
            16,
        ),
    )
    model.add(
        red, wing([(0, 1.15, -1.7, 1.15, 0.14), (3.3, 1.2, -1.7, 1.1, 0.12), (3.6, 1.2, -1.45, 0.7, 0.06)]).both()
    )
    model.add(
        red, wing([(0, -0.35, -1.4, 1.1, 0.14), (3.1, -0.2, -1.4, 1.05, 0.12), (3.4, -0.2, -1.2, 0.7, 0.06)]).both()
    )
    for x, z in ((2.4, -1.4), (2.4, -0.8)):
        model.add(WHITE, tube([(x, -0.25, z + 0.2), (x, 1.15, z)], 0.035, 6).both())
    for z in (-1.4, -0.8):
        model.add(WHITE, tube([(0.3, 0.35, z), (0.6, 1.15, z)], 0.03, 6).both())
    model.add(WHITE, fin([(0.1, 1.95, 1.0, 0.07), (0.8, 2.3, 0.75, 0.05), (0.95, 2.5, 0.4, 0.03)]))
    model.add(red, wing([(0.05, 0.18, 2.0, 0.9, 0.07), (1.15, 0.18, 2.15, 0.7, 0.05)]).both())
    model.add(WHITE, wing([(2.6, 1.2, -1.71, 1.14, 0.15), (3.0, 1.205, -1.71, 1.12, 0.14)]).both())
    model.add(DARK, disc(0.34, 0.1, (0, 0, -2.24), "z"), cushion(0.5, 0.16, 0.6, (0, 0.42, 0.1), 3, 6))
    model.add(GLASS, box(0.44, 0.24, 0.03, (0, 0.54, -0.28), 0.01).turned("x", 25, (0, 0.54, -0.28)))
    model.add(Material("leather_cap", (130, 84, 46), 0.3), cushion(0.26, 0.3, 0.28, (0, 0.62, 0.1), 2, 6))
    propeller(model, 0.95, (0, 0, -2.32), 2)
    model.add(
        STEEL,
        tube([(0.25, -0.35, -1.3), (0.6, -0.95, -1.2)], 0.035, 6).both(),
        tube([(-0.6, -0.95, -1.2), (0.6, -0.95, -1.2)], 0.03, 6),
    )
    model.add(BLACK, ring(0.25, 0.08, (0.66, -0.95, -1.2), "x", 18, 8).both())
    model.add(WHITE, disc(0.2, 0.06, (0.66, -0.95, -1.2), "x").both())
    return model


def trainer() -> Model:
    """A high-wing light aircraft with wing struts and a tricycle undercarriage."""
    model = Model("yellow light aircraft with a high wing")
    yellow = paint("plane_yellow", 252, 208, 24)
    model.add(
        yellow,
        fuselage(
            [
                (-2.4, 0.24, 0.22, -0.08),
                (-2.1, 0.42, 0.36, -0.06),
                (-1.2, 0.54, 0.5, 0),
                (-0.4, 0.58, 0.66, 0.1),
                (0.8, 0.48, 0.52, 0.12),
                (3.2, 0.1, 0.16, 0.24),
            ],
            16,
        ),
    )
    model.add(
        yellow, wing([(0, 0.78, -1.1, 1.4, 0.2), (2.2, 0.82, -1.1, 1.4, 0.18), (4.6, 0.94, -0.9, 1.0, 0.1)]).both()
    )
    model.add(BLACK, wing([(3.9, 0.905, -0.965, 1.14, 0.15), (4.2, 0.92, -0.94, 1.09, 0.14)]).both())
    model.add(yellow, wing([(0.05, 0.3, 2.5, 0.9, 0.09), (1.5, 0.3, 2.7, 0.65, 0.06)]).both())
    model.add(BLACK, fin([(0.3, 2.3, 1.2, 0.1), (1.5, 3.0, 0.6, 0.06)]))
    model.add(
        GLASS,
        box(0.96, 0.36, 0.5, (0, 0.42, -1.0), 0.1, 2).turned("x", -24, (0, 0.42, -1.0)),
        box(1.16, 0.34, 0.5, (0, 0.42, -0.45), 0.06),
        box(1.1, 0.3, 0.5, (0, 0.42, 0.2), 0.06),
    )
    model.add(WHITE, tube([(0.5, -0.3, -0.5), (2.3, 0.76, -0.55)], 0.04, 6).both())
    propeller(model, 0.85, (0, -0.08, -2.5), 2, WHITE)
    add_wheels(model, [(0.2, 0.55, (0, -0.4, -1.9))])
    model.add(WHITE, tube([(0.4, -0.4, 0.1), (0.95, -0.95, 0.15)], 0.05, 6).both())
    model.add(BLACK, disc(0.22, 0.16, (0.98, -0.95, 0.15), "x", 0.05, 18).both())
    return model


def flying_boat() -> Model:
    """A flying boat: a boat's belly, the wing on a pylon with two engines, floats at its tips."""
    model = Model("orange flying boat with two propellers")
    orange = paint("plane_orange", 248, 116, 18)
    model.add(
        orange,
        fuselage(
            [
                (-3.6, 0.06, 0.1, 0.05),
                (-3.2, 0.4, 0.42, 0),
                (-2, 0.6, 0.62, 0),
                (0, 0.6, 0.62, 0),
                (1.6, 0.42, 0.44, 0.14),
                (3.8, 0.12, 0.2, 0.44),
            ]
        ),
    )
    model.add(
        WHITE,
        fuselage(
            [
                (-3.5, 0.05, 0.05, -0.2),
                (-2.8, 0.42, 0.22, -0.36),
                (-1, 0.58, 0.28, -0.42),
                (0.6, 0.56, 0.26, -0.4),
                (0.9, 0.4, 0.1, -0.34),
            ]
        ),
    )
    model.add(orange, box(0.4, 0.8, 1.1, (0, 0.9, -0.5), 0.1, 2))
    model.add(
        WHITE, wing([(0, 1.3, -1.3, 1.6, 0.26), (2.2, 1.3, -1.3, 1.55, 0.24), (5.2, 1.36, -0.9, 0.9, 0.1)]).both()
    )
    model.add(orange, wing([(4.5, 1.345, -1.01, 1.08, 0.15), (5.25, 1.365, -0.91, 0.9, 0.11)]).both())
    model.add(
        orange,
        lathe([(0.24, -0.9), (0.34, -0.75), (0.36, 0.0), (0.2, 0.9), (0.05, 1.3)], 18, (1.5, 1.36, -1.3), "z").both(),
    )
    for x in (-1.5, 1.5):
        propeller(model, 0.85, (x, 1.36, -2.28), 3, STEEL, paint("tip_yellow", 250, 214, 50))
    float_body = fuselage(
        [(-0.9, 0.03, 0.05, 0), (-0.5, 0.16, 0.18, -0.04), (0.2, 0.16, 0.18, -0.04), (0.9, 0.04, 0.05, 0.04)], 12
    )
    model.add(
        WHITE,
        float_body.moved(4.2, 0.3, -0.5).both(),
        tube([(4.2, 0.4, -0.7), (4.2, 1.3, -0.6)], 0.05, 6).both(),
        tube([(4.2, 0.4, -0.2), (4.2, 1.3, -0.3)], 0.05, 6).both(),
    )
    model.add(orange, fin([(0.4, 2.4, 1.6, 0.16), (2.0, 3.2, 0.9, 0.1)]))
    model.add(WHITE, wing([(0, 1.3, 3.0, 1.0, 0.12), (2.0, 1.34, 3.2, 0.7, 0.08)]).both())
    model.add(GLASS, cushion(0.84, 0.34, 0.7, (0, 0.46, -2.5), 3, 6), ports(4, -1.4, 1.0, 0.6, 0.16, 0.2))
    return model


def glider() -> Model:
    """A sailplane: a slender body, very long thin wings, a T tail."""
    model = Model("magenta and white sailplane")
    magenta = paint("glider_magenta", 222, 40, 140)
    model.add(
        WHITE,
        fuselage(
            [
                (-2.4, 0.03, 0.04, -0.06),
                (-1.8, 0.27, 0.34, 0),
                (-1.0, 0.34, 0.44, 0.04),
                (0.2, 0.22, 0.28, 0.08),
                (1.2, 0.11, 0.13, 0.12),
                (3.4, 0.08, 0.1, 0.2),
            ],
            16,
        ),
    )
    model.add(WHITE, wing([(0, 0.3, -0.7, 1.25, 0.16), (2.2, 0.38, -0.6, 1.1, 0.13)]).both())
    model.add(
        magenta,
        wing(
            [
                (2.2, 0.38, -0.6, 1.1, 0.13),
                (4.4, 0.5, -0.42, 0.8, 0.09),
                (5.2, 0.62, -0.2, 0.5, 0.05),
                (5.4, 0.9, -0.05, 0.2, 0.03),
            ]
        ).both(),
    )
    model.add(
        magenta,
        fin([(0.15, 2.7, 0.85, 0.09), (1.3, 3.0, 0.62, 0.07)]),
        wing([(0, 1.32, 2.95, 0.6, 0.07), (1.35, 1.34, 3.1, 0.36, 0.04)]).both(),
    )
    model.add(
        GLASS,
        fuselage(
            [(-2.0, 0.05, 0.05, 0.16), (-1.6, 0.22, 0.24, 0.24), (-1.0, 0.27, 0.3, 0.28), (-0.4, 0.12, 0.1, 0.36)], 14
        ),
    )
    model.add(magenta, fuselage([(-2.45, 0.02, 0.03, -0.06), (-2.2, 0.15, 0.18, -0.03), (-2.05, 0.2, 0.23, -0.02)], 16))
    model.add(BLACK, disc(0.18, 0.12, (0, -0.38, -0.6), "x", 0.04, 16), disc(0.06, 0.06, (0, 0.06, 3.2), "x", 0.02, 12))
    return model.scaled(x=0.85)
