"""Cars. The front looks towards -Z."""

from __future__ import annotations

from diorama.assets.build.shapenet_mini.cars_special import convertible, pickup, van, vintage
from diorama.assets.build.shapenet_mini.curves import smooth
from diorama.assets.build.shapenet_mini.forms import bar, box, cushion, disc, ring, tube
from diorama.assets.build.shapenet_mini.mesh import row
from diorama.assets.build.shapenet_mini.model import Material, Model
from diorama.assets.build.shapenet_mini.palette import (
    BLACK,
    DARK,
    HEADLIGHT,
    RUBBER,
    STEEL,
    TAILLIGHT,
    WHITE,
    paint,
)
from diorama.assets.build.shapenet_mini.vehicles import Cabin, add_cabin, add_lamps, add_trim, add_wheels, body


def sedan() -> Model:
    """Three boxes: bonnet, cabin, boot."""
    model = Model("red saloon car")
    red = paint("car_red", 204, 22, 30)
    model.add(
        red,
        body(
            [
                (-2.25, 0.74, 0.32, 0.66),
                (-2.1, 0.83, 0.25, 0.78),
                (-1.0, 0.88, 0.22, 0.94),
                (0, 0.9, 0.22, 0.98),
                (1.2, 0.88, 0.22, 0.98),
                (2.1, 0.84, 0.26, 0.96),
                (2.28, 0.76, 0.34, 0.86),
            ]
        ),
    )
    add_cabin(model, red, Cabin(0.93, 1.38, (-1.05, -0.38), (1.5, 0.86), (0.8, 0.6)), (0.42, 0.72))
    add_wheels(model, 0.33, (-1.4, 1.38), 0.89)
    add_lamps(model, (0.6, 0.66, -2.19), (0.56, 0.7, 2.3))
    add_trim(model, DARK, -2.22, 2.26, 0.4, 0.82)
    model.add(BLACK, box(0.62, 0.13, 0.06, (0, 0.64, -2.24), 0.03))
    model.add(STEEL, box(0.02, 0.02, 0.14, (0.9, 0.8, -0.1)).both(), box(0.02, 0.02, 0.14, (0.9, 0.8, 0.85)).both())
    model.add(red, cushion(0.16, 0.12, 0.1, (0.93, 0.97, -0.72), 3, 5).both())
    return model


def beetle() -> Model:
    """A small round car: domed roof that runs down to the tail, bulging wings, big eyes."""
    model = Model("small round yellow car")
    yellow = paint("car_yellow", 250, 202, 18)
    model.add(
        yellow,
        body(
            [
                (-1.95, 0.4, 0.36, 0.56),
                (-1.8, 0.56, 0.28, 0.76),
                (-0.95, 0.74, 0.24, 0.96),
                (0.2, 0.78, 0.24, 1.0),
                (1.2, 0.72, 0.26, 0.98),
                (1.75, 0.56, 0.3, 0.76),
                (1.92, 0.4, 0.36, 0.58),
            ],
            3.5,
            0.06,
        ),
    )
    cabin = Cabin(0.94, 1.44, (-0.8, -0.25), (1.5, 0.62), (0.72, 0.5))
    add_cabin(model, yellow, cabin, (0.5,))
    model.add(WHITE, cushion(0.98, 0.2, 1.0, (0, 1.46, 0.19), 3, 8))
    for z in (-1.2, 1.2):
        model.add(yellow, cushion(0.34, 0.62, 1.06, (0.7, 0.5, z), 2.6, 8).both())
    add_wheels(model, 0.32, (-1.2, 1.2), 0.83, 0.18, WHITE)
    model.add(WHITE, box(0.2, 0.06, 1.4, (0.78, 0.3, 0), 0.02).both())
    model.add(HEADLIGHT, cushion(0.24, 0.24, 0.2, (0.66, 0.68, -1.6), 2, 6).both())
    model.add(TAILLIGHT, cushion(0.14, 0.22, 0.14, (0.68, 0.62, 1.66), 2, 6).both())
    add_trim(model, STEEL, -1.98, 1.98, 0.4, 0.66)
    model.add(WHITE, bar(smooth([(0, 0.6, -1.93), (0, 0.78, -1.78), (0, 0.985, -0.9)]), 0.22, 0.02))
    return model


def suv() -> Model:
    """Tall and square, roof rails, a spare wheel on the tailgate."""
    model = Model("dark green off-road car with a spare wheel")
    green = paint("car_green", 28, 98, 52)
    model.add(
        green,
        body(
            [
                (-2.05, 0.82, 0.42, 0.98),
                (-1.95, 0.88, 0.36, 1.06),
                (-0.9, 0.91, 0.34, 1.12),
                (1.0, 0.92, 0.34, 1.14),
                (2.0, 0.9, 0.38, 1.14),
                (2.05, 0.86, 0.42, 1.12),
            ],
            10,
            0.02,
        ),
    )
    add_cabin(model, green, Cabin(1.12, 1.76, (-0.85, -0.52), (2.0, 1.94), (0.86, 0.76)), (0.34, 0.7))
    add_wheels(model, 0.42, (-1.3, 1.3), 0.93, 0.26)
    model.add(HEADLIGHT, disc(0.12, 0.06, (0.62, 0.86, -2.06), "z", 0.02).both())
    model.add(TAILLIGHT, box(0.1, 0.26, 0.05, (0.76, 0.94, 2.06), 0.02).both())
    add_trim(model, DARK, -2.1, 2.1, 0.5, 0.92)
    model.add(BLACK, row(box(0.05, 0.26, 0.05, (0, 0.86, -2.06), 0.015), (-0.36, -0.24, -0.12, 0, 0.12, 0.24, 0.36)))
    model.add(DARK, box(0.14, 0.06, 1.6, (0.96, 0.42, 0), 0.02).both())
    model.add(
        STEEL,
        tube(smooth([(0.64, 1.8, -0.4), (0.64, 1.88, -0.3), (0.64, 1.88, 1.7), (0.64, 1.8, 1.8)]), 0.025).both(),
        row(tube([(-0.64, 1.88, 0), (0.64, 1.88, 0)], 0.018), (0.1, 0.7, 1.3), "z"),
    )
    model.add(RUBBER, ring(0.27, 0.1, (0, 1.06, 2.18), "z"))
    model.add(STEEL, disc(0.2, 0.12, (0, 1.06, 2.18), "z", 0.03))
    return model


def sports() -> Model:
    """Low and wide, a wedge with a wing at the back."""
    model = Model("orange sports car with a rear wing")
    orange = paint("car_orange", 250, 112, 10)
    model.add(
        orange,
        body(
            [
                (-2.2, 0.72, 0.24, 0.4),
                (-2.05, 0.88, 0.16, 0.52),
                (-1.1, 0.95, 0.14, 0.74),
                (0.2, 0.95, 0.14, 0.84),
                (1.2, 0.97, 0.15, 0.92),
                (2.0, 0.93, 0.22, 0.88),
                (2.15, 0.86, 0.3, 0.82),
            ],
            4.5,
            0.1,
        ),
    )
    add_cabin(model, orange, Cabin(0.76, 1.08, (-1.0, -0.1), (1.5, 0.55), (0.8, 0.56)), (0.55,))
    add_wheels(model, 0.33, (-1.35, 1.3), 0.985, 0.28, Material("dark_rim", (120, 122, 130), 0.7))
    model.add(HEADLIGHT, cushion(0.34, 0.05, 0.3, (0.62, 0.51, -1.9), 4, 6).both())
    model.add(TAILLIGHT, box(1.5, 0.06, 0.05, (0, 0.74, 2.13), 0.02))
    model.add(
        BLACK,
        box(1.66, 0.04, 0.34, (0, 1.16, 2.0), 0.015),
        box(0.04, 0.34, 0.2, (0.5, 1.0, 1.98), 0.01).both(),
        box(1.5, 0.16, 0.1, (0, 0.3, 2.14), 0.04),
    )
    model.add(
        BLACK, box(1.3, 0.1, 0.08, (0, 0.28, -2.18), 0.03), box(0.03, 0.16, 0.5, (0.965, 0.52, 0.62), 0.012).both()
    )
    model.add(
        BLACK,
        row(box(0.9, 0.02, 0.07, (0, 0, 0), 0.008), (0,)).turned("x", 14).moved(0, 0.955, 1.2),
        box(0.9, 0.02, 0.07, (0, 0.925, 1.4), 0.008).turned("x", 12, (0, 0.925, 1.4)),
    )
    model.add(STEEL, disc(0.06, 0.1, (0.22, 0.3, 2.18), "z", 0.01, 14).both())
    return model


MODELS = (sedan, beetle, suv, pickup, sports, van, convertible, vintage)
