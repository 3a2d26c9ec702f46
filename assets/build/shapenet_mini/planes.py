"""Planes. The nose is towards -Z."""

from __future__ import annotations

from diorama.assets.build.shapenet_mini.aircraft import add_wheels, fin, fuselage, nacelle, ports, propeller, wing
from diorama.assets.build.shapenet_mini.forms import box, cushion, disc, lathe
from diorama.assets.build.shapenet_mini.mesh import join
from diorama.assets.build.shapenet_mini.model import Model
from diorama.assets.build.shapenet_mini.palette import BLACK, DARK, GLASS, WHITE, paint
from diorama.assets.build.shapenet_mini.planes_light import biplane, flying_boat, glider, trainer


def airliner() -> Model:
    """A twin-jet: swept wings with winglets, engines below them."""
    model = Model("white airliner with a blue tail")
    blue = paint("airline_blue", 22, 74, 190)
    model.add(
        WHITE,
        fuselage(
            [
                (-5.6, 0.02, 0.02, -0.12),
                (-5.3, 0.3, 0.28, -0.08),
                (-4.5, 0.56, 0.57, 0),
                (-3, 0.62, 0.64, 0),
                (2, 0.62, 0.64, 0),
                (4, 0.42, 0.44, 0.16),
                (5.6, 0.08, 0.12, 0.36),
            ]
        ),
    )
    model.add(
        blue,
        fuselage([(-4.6, 0.4, 0.3, -0.31), (-3, 0.56, 0.3, -0.365), (2, 0.56, 0.3, -0.365), (3.6, 0.42, 0.24, -0.14)]),
    )
    model.add(
        WHITE, wing([(0.3, -0.3, -1.5, 2.4, 0.32), (2.0, -0.16, -0.2, 1.3, 0.18), (5.2, 0.12, 1.6, 0.6, 0.09)]).both()
    )
    model.add(
        blue, wing([(5.15, 0.1, 1.6, 0.62, 0.08), (5.3, 0.3, 1.75, 0.5, 0.07), (5.42, 0.75, 2.1, 0.3, 0.05)]).both()
    )
    model.add(blue, fin([(0.3, 3.2, 2.0, 0.2), (2.3, 5.1, 0.8, 0.1)]))
    model.add(WHITE, wing([(0.1, 0.4, 4.1, 1.3, 0.14), (2.1, 0.5, 5.2, 0.6, 0.07)]).both())
    shell, core = nacelle(0.36, 1.3, (1.85, -0.58, -0.5))
    model.add(blue, shell.both())
    model.add(DARK, core.both())
    model.add(WHITE, box(0.1, 0.3, 0.9, (1.85, -0.3, -0.1), 0.04).both())
    model.add(GLASS, ports(22, -3.8, 3.0, 0.6, 0.14), cushion(0.7, 0.2, 0.3, (0, 0.2, -4.9), 3, 6))
    add_wheels(model, [(0.17, 0.75, (0, -0.4, -4.0)), (0.22, 0.75, (0.7, -0.4, 0.5))])
    return model


def fighter() -> Model:
    """A jet fighter: delta wings, two tail fins, a bubble canopy, missiles."""
    model = Model("grey jet fighter with twin tails")
    grey = paint("fighter_grey", 138, 150, 164)
    dark = paint("fighter_dark_grey", 92, 102, 116)
    model.add(
        grey,
        fuselage(
            [
                (-5.0, 0.02, 0.02, -0.05),
                (-4.2, 0.26, 0.24, 0),
                (-3.0, 0.42, 0.42, 0.05),
                (-1.5, 0.62, 0.46, 0),
                (1.5, 0.8, 0.42, 0),
                (3.4, 0.7, 0.36, 0),
            ]
        ),
    )
    model.add(dark, box(0.5, 0.6, 3.4, (0.72, -0.12, -0.1), 0.1, 2).both())
    model.add(
        grey, wing([(0.5, 0.02, -2.2, 4.6, 0.2), (1.1, 0.02, -0.9, 3.3, 0.16), (3.4, 0.0, 1.5, 1.0, 0.06)]).both()
    )
    model.add(grey, wing([(0.6, 0, 2.6, 1.5, 0.12), (2.0, -0.02, 3.6, 0.8, 0.05)]).both())
    model.add(dark, fin([(0.2, 1.9, 1.7, 0.12), (1.8, 3.0, 0.8, 0.06)]).turned("z", -14).moved(0.62).both())
    model.add(
        GLASS,
        fuselage(
            [(-3.6, 0.08, 0.06, 0.3), (-3.0, 0.27, 0.32, 0.36), (-2.2, 0.3, 0.36, 0.38), (-1.2, 0.12, 0.12, 0.42)], 14
        ),
    )
    model.add(BLACK, lathe([(0.34, 0), (0.36, 0.2), (0.28, 0.6)], 18, (0.38, 0, 3.3), "z").both())
    model.add(paint("afterburner", 240, 120, 50), disc(0.2, 0.06, (0.38, 0, 3.9), "z").both())
    missile = join(
        lathe([(0.01, -0.9), (0.08, -0.6), (0.08, 0.8)], 10, axis="z"),
        box(0.34, 0.02, 0.24, (0, 0, 0.65), 0.006),
        box(0.02, 0.34, 0.24, (0, 0, 0.65), 0.006),
    )
    model.add(WHITE, missile.moved(2.2, -0.2, 1.0).both(), missile.moved(3.45, 0, 1.7).both())
    model.add(paint("roundel_red", 210, 40, 48), disc(0.3, 0.05, (2.0, 0.07, 1.35)).both())
    return model


def transport() -> Model:
    """A four-propeller transport: high straight wing, fat body with a raised tail."""
    model = Model("green four-propeller transport plane")
    green = paint("army_green", 74, 112, 62)
    dark = paint("army_dark_green", 48, 78, 46)
    model.add(
        green,
        fuselage(
            [
                (-4.4, 0.04, 0.06, -0.2),
                (-4.0, 0.5, 0.5, -0.14),
                (-3.0, 0.8, 0.84, 0),
                (1.4, 0.8, 0.84, 0),
                (3.2, 0.5, 0.52, 0.36),
                (5.0, 0.1, 0.16, 0.76),
            ]
        ),
    )
    model.add(
        dark, wing([(0, 0.74, -1.3, 1.8, 0.3), (2.4, 0.74, -1.3, 1.7, 0.26), (5.8, 0.86, -0.9, 0.9, 0.12)]).both()
    )
    for x in (1.75, 3.5):
        model.add(
            green,
            lathe([(0.18, -1.0), (0.28, -0.85), (0.3, 0.0), (0.16, 0.8), (0.05, 1.0)], 16, (x, 0.66, -1.4), "z").both(),
        )
        for side in (-x, x):
            propeller(model, 0.75, (side, 0.66, -2.48), 4, dark, paint("prop_tip_red", 214, 50, 46))
    model.add(
        dark,
        fin([(0.7, 3.2, 1.9, 0.2), (2.7, 4.3, 1.0, 0.12)]),
        wing([(0.05, 0.84, 3.7, 1.3, 0.14), (2.4, 0.88, 4.2, 0.8, 0.08)]).both(),
    )
    model.add(dark, cushion(0.6, 0.6, 2.4, (0.75, -0.58, 0), 3, 8).both())
    model.add(GLASS, cushion(1.1, 0.34, 0.5, (0, 0.36, -3.5), 3.5, 6))
    model.add(BLACK, cushion(0.5, 0.5, 0.5, (0, -0.18, -4.2), 2, 6))
    add_wheels(model, [(0.22, 0.4, (0, -0.7, -3.0)), (0.26, 0.3, (0.75, -0.8, -0.35)), (0.26, 0.3, (0.75, -0.8, 0.4))])
    model.add(WHITE, disc(0.34, 0.08, (4.3, 0.9, -0.25)).both(), box(0.06, 0.5, 0.5, (0, 2.0, 4.75), 0.01))
    return model


def business_jet() -> Model:
    """A business jet: low swept wing, engines at the tail, T tail."""
    model = Model("teal business jet with a T tail")
    teal = paint("jet_teal", 16, 158, 160)
    model.add(
        teal,
        fuselage(
            [
                (-4.2, 0.02, 0.02, -0.1),
                (-3.8, 0.22, 0.2, -0.06),
                (-3.0, 0.46, 0.48, 0),
                (-1.8, 0.52, 0.54, 0),
                (1.4, 0.52, 0.54, 0),
                (3.0, 0.3, 0.32, 0.12),
                (4.2, 0.06, 0.08, 0.24),
            ]
        ),
    )
    model.add(
        WHITE,
        fuselage(
            [(-3.2, 0.3, 0.2, -0.3), (-1.8, 0.46, 0.24, -0.33), (1.4, 0.46, 0.24, -0.33), (2.8, 0.3, 0.16, -0.08)]
        ),
    )
    model.add(
        WHITE, wing([(0.2, -0.32, -0.7, 2.0, 0.24), (1.6, -0.24, 0.4, 1.2, 0.14), (3.9, -0.06, 1.7, 0.55, 0.07)]).both()
    )
    model.add(
        teal, wing([(3.86, -0.07, 1.7, 0.56, 0.06), (4.0, 0.2, 1.9, 0.4, 0.05), (4.06, 0.55, 2.2, 0.26, 0.03)]).both()
    )
    shell, core = nacelle(0.31, 1.4, (0.85, 0.3, 2.0))
    model.add(WHITE, shell.both(), box(0.4, 0.1, 0.7, (0.5, 0.26, 2.0), 0.04).both())
    model.add(DARK, core.both())
    model.add(
        teal,
        fin([(0.3, 2.5, 1.7, 0.16), (1.9, 3.8, 1.0, 0.1)]),
        wing([(0, 1.92, 3.7, 1.0, 0.1), (1.7, 1.98, 4.3, 0.5, 0.06)]).both(),
    )
    model.add(GLASS, ports(6, -1.6, 1.2, 0.51, 0.12, 0.2), cushion(0.66, 0.26, 0.5, (0, 0.26, -3.1), 3, 6))
    add_wheels(model, [(0.15, 0.5, (0, -0.35, -2.9)), (0.18, 0.5, (0.7, -0.35, 0.6))])
    return model


MODELS = (airliner, biplane, fighter, trainer, flying_boat, transport, glider, business_jet)
