"""Cars for loads, for many, for the sun and for show. The front looks towards -Z."""

from __future__ import annotations

from diorama.assets.build.shapenet_mini.curves import rounded, smooth
from diorama.assets.build.shapenet_mini.forms import bar, box, cushion, disc, extrude, lathe, loft, ring, tube
from diorama.assets.build.shapenet_mini.mesh import row
from diorama.assets.build.shapenet_mini.model import Material, Model
from diorama.assets.build.shapenet_mini.palette import (
    BLACK,
    CREAM,
    DARK,
    GLASS,
    HEADLIGHT,
    RUBBER,
    STEEL,
    TAILLIGHT,
    WHITE,
    leather,
    paint,
)
from diorama.assets.build.shapenet_mini.vehicles import Cabin, add_cabin, add_lamps, add_trim, add_wheels, body


def pickup() -> Model:
    """A cab and an open bed with logs on it."""
    model = Model("blue pickup truck with an open bed")
    blue = paint("car_blue", 26, 92, 206)
    model.add(
        blue,
        body(
            [
                (-2.5, 0.84, 0.46, 0.92),
                (-2.4, 0.9, 0.38, 1.02),
                (-1.2, 0.93, 0.36, 1.1),
                (0.5, 0.94, 0.36, 1.08),
                (0.6, 0.94, 0.36, 0.76),
                (2.5, 0.93, 0.4, 0.74),
            ],
            9,
            0.02,
        ),
    )
    add_cabin(model, blue, Cabin(1.06, 1.66, (-1.15, -0.66), (0.55, 0.42), (0.87, 0.72)), (0.55,))
    model.add(
        blue,
        box(0.08, 0.42, 1.96, (0.9, 0.92, 1.54), 0.025).both(),
        box(1.84, 0.42, 0.07, (0, 0.92, 2.5), 0.025),
        box(1.84, 0.36, 0.06, (0, 0.92, 0.6), 0.02),
    )
    model.add(DARK, box(1.74, 0.03, 1.9, (0, 0.755, 1.54)))
    add_wheels(model, 0.4, (-1.55, 1.55), 0.945, 0.26)
    add_lamps(model, (0.68, 0.84, -2.46), (0.82, 0.92, 2.53), (0.28, 0.18))
    add_trim(model, STEEL, -2.53, 2.56, 0.5, 0.92)
    model.add(STEEL, *(box(0.86, 0.035, 0.05, (0, y, -2.5), 0.01) for y in (0.76, 0.84, 0.92)))
    timber = Material("logs", (176, 120, 66), 0.1)
    model.add(
        timber,
        *(
            disc(0.16, 1.7, (x, y, 1.52), "z", 0.01, 14)
            for x, y in ((-0.36, 0.94), (0, 0.94), (0.36, 0.94), (-0.18, 1.2), (0.18, 1.2))
        ),
    )
    model.add(blue, cushion(0.18, 0.17, 0.1, (1.0, 1.16, -0.85), 4, 5).both())
    return model


def van() -> Model:
    """A rounded minibus in two colors with a row of windows."""
    model = Model("turquoise and white minibus")
    aqua = paint("car_turquoise", 40, 186, 178)
    model.add(
        aqua,
        body(
            [
                (-2.12, 0.7, 0.34, 0.98),
                (-2.02, 0.82, 0.28, 1.04),
                (-1.6, 0.87, 0.26, 1.06),
                (1.7, 0.87, 0.26, 1.06),
                (2.05, 0.82, 0.3, 1.04),
                (2.15, 0.7, 0.36, 0.98),
            ],
            8,
            0.0,
        ),
    )
    add_cabin(model, WHITE, Cabin(1.05, 1.72, (-2.0, -1.62), (2.04, 1.9), (0.82, 0.74)), (0.2, 0.4, 0.6, 0.8))
    model.add(
        WHITE,
        loft(
            [
                [(x, y, z) for x, z in rounded([(-h, -f), (h, -f), (h, r), (-h, r)], 0.14)]
                for y, h, f, r in ((0.98, 0.875, 2.1, 2.12), (1.08, 0.835, 2.02, 2.06))
            ]
        ),
    )
    add_wheels(model, 0.33, (-1.3, 1.3), 0.88, rim=WHITE)
    model.add(HEADLIGHT, disc(0.13, 0.08, (0.56, 0.72, -2.1), "z", 0.03).both())
    model.add(TAILLIGHT, box(0.14, 0.24, 0.06, (0.58, 0.68, 2.15), 0.025).both())
    add_trim(model, WHITE, -2.14, 2.16, 0.42, 0.84)
    model.add(WHITE, disc(0.2, 0.05, (0, 0.78, -2.12), "z", 0.02))
    model.add(
        STEEL,
        ring(0.19, 0.018, (0, 0.78, -2.14), "z"),
        row(tube([(-0.6, 1.84, 0), (0.6, 1.84, 0)], 0.02), (-0.9, 0, 0.9, 1.5), "z"),
        tube([(0.6, 1.84, -1.1), (0.6, 1.84, 1.7)], 0.025).both(),
    )
    return model


def convertible() -> Model:
    """No roof: two rows of cream seats behind a raked windscreen, tail fins."""
    model = Model("pink convertible with tail fins")
    pink = paint("car_pink", 244, 116, 168)
    model.add(
        pink,
        body(
            [
                (-2.5, 0.8, 0.34, 0.74),
                (-2.38, 0.88, 0.28, 0.84),
                (-1.0, 0.92, 0.26, 0.92),
                (0, 0.93, 0.26, 0.9),
                (1.3, 0.92, 0.26, 0.9),
                (2.4, 0.86, 0.3, 0.84),
                (2.6, 0.8, 0.36, 0.78),
            ],
            6,
            0.03,
        ),
    )
    add_wheels(model, 0.34, (-1.55, 1.55), 0.935, rim=WHITE)
    model.add(Material("interior", (120, 44, 60), 0.1), box(1.42, 0.04, 1.9, (0, 0.9, 0.15), 0.015))
    seat = leather("cream_leather", 220, 204, 170)
    for z in (-0.25, 0.75):
        model.add(
            seat,
            cushion(1.3, 0.16, 0.5, (0, 0.95, z), 7),
            cushion(1.32, 0.44, 0.16, (0, 1.1, z + 0.28), 6).turned("x", 12, (0, 1.1, z + 0.28)),
        )
    screen = [(-0.74, 0.9, -0.95), (0.74, 0.9, -0.95), (0.6, 1.32, -0.6), (-0.6, 1.32, -0.6)]
    model.add(GLASS, loft([screen, [(x, y + 0.012, z + 0.02) for x, y, z in screen]]))
    model.add(STEEL, tube([screen[0], screen[3], screen[2], screen[1]], 0.024))
    model.add(
        STEEL,
        ring(0.16, 0.016, (-0.34, 1.1, -0.52), "z").turned("x", -25, (0, 1.1, -0.52)),
        tube([(-0.34, 1.1, -0.52), (-0.34, 0.9, -0.7)], 0.02),
    )
    fin = [(0.6, 0.8), (2.62, 0.76), (2.72, 1.14), (2.4, 1.08), (1.2, 0.94)]
    model.add(pink, extrude(fin, 0.09, "x", (0.82, 0, 0), 0.03).both())
    model.add(TAILLIGHT, disc(0.06, 0.16, (0.82, 0.92, 2.62), "z", 0.03, 12).both())
    model.add(HEADLIGHT, *(disc(0.1, 0.08, (x, 0.66, -2.49), "z", 0.03).both() for x in (0.5, 0.72)))
    add_trim(model, STEEL, -2.54, 2.66, 0.42, 0.86)
    model.add(STEEL, box(0.8, 0.12, 0.06, (0, 0.6, -2.5), 0.03), box(0.02, 0.035, 3.6, (0.925, 0.66, 0), 0.01).both())
    return model


def vintage() -> Model:
    """A car of the thirties: long bonnet, separate wings, running boards, big round lamps."""
    model = Model("vintage car, violet with cream wings")
    violet = paint("car_violet", 108, 44, 150)
    model.add(
        violet,
        body(
            [
                (-1.8, 0.3, 0.42, 1.08),
                (-1.7, 0.34, 0.4, 1.14),
                (-0.5, 0.5, 0.4, 1.18),
                (-0.3, 0.64, 0.4, 1.18),
                (1.2, 0.66, 0.4, 1.18),
                (1.75, 0.58, 0.44, 1.1),
                (1.95, 0.4, 0.5, 0.94),
            ],
            5,
            0.04,
        ),
    )
    add_cabin(model, violet, Cabin(1.15, 1.7, (-0.5, -0.4), (1.45, 1.2), (0.6, 0.54)), (0.5,), CREAM)
    for z in (-1.3, 1.25):
        wing = [
            (0.42 + dy, z + dz)
            for dz, dy in (
                (-0.52, -0.1),
                (-0.5, 0.12),
                (-0.34, 0.36),
                (0, 0.46),
                (0.34, 0.36),
                (0.52, 0.08),
                (0.6, -0.06),
            )
        ]
        path = smooth([(0.68, y, zz) for y, zz in wing], 3)
        model.add(CREAM, bar(path, 0.3, 0.05).both())
    model.add(CREAM, box(0.28, 0.05, 1.6, (0.7, 0.35, 0), 0.02).both())
    add_wheels(model, 0.38, (-1.3, 1.25), 0.76, 0.17, CREAM)
    model.add(
        STEEL,
        box(0.5, 0.6, 0.08, (0, 0.8, -1.84), 0.06, 2),
        lathe([(0.16, -0.1), (0.15, 0), (0.1, 0.1), (0.03, 0.16)], 20, (0.5, 0.98, -1.6), "z").both(),
    )
    model.add(BLACK, row(box(0.02, 0.5, 0.03, (0, 0.8, -1.88), 0.006), (-0.16, -0.08, 0, 0.08, 0.16)))
    model.add(HEADLIGHT, disc(0.14, 0.03, (0.5, 0.98, -1.71), "z", 0.012).both())
    model.add(
        STEEL,
        tube(smooth([(-0.8, 0.4, -2.0), (0, 0.42, -2.06), (0.8, 0.4, -2.0)]), 0.04),
        tube([(-0.75, 0.44, 2.05), (0.75, 0.44, 2.05)], 0.04),
        tube([(0.5, 0.98, -1.6), (0.3, 0.8, -1.6)], 0.03).both(),
    )
    model.add(RUBBER, ring(0.28, 0.09, (0, 0.86, 2.0), "z").turned("x", 14, (0, 0.86, 2.0)))
    model.add(CREAM, disc(0.2, 0.1, (0, 0.86, 2.0), "z", 0.03).turned("x", 14, (0, 0.86, 2.0)))
    model.add(TAILLIGHT, disc(0.06, 0.06, (0.62, 0.66, 1.85), "z", 0.02, 12).both())
    return model
