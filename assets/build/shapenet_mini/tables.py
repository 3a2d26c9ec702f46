"""Tables: a flat top on legs. The long side runs along X."""

from __future__ import annotations

from diorama.assets.build.shapenet_mini.curves import bent, ellipse, rounded
from diorama.assets.build.shapenet_mini.forms import bar, box, disc, extrude, lathe, ring, tube
from diorama.assets.build.shapenet_mini.mesh import around, row
from diorama.assets.build.shapenet_mini.model import Material, Model
from diorama.assets.build.shapenet_mini.palette import (
    BLACK,
    BRASS,
    DARK,
    OAK,
    PALE_GLASS,
    PINE,
    STEEL,
    WALNUT,
    WHITE,
    paint,
)


def farmhouse() -> Model:
    """An oak top of planks over a white apron and turned white legs."""
    model = Model("farmhouse dining table with white turned legs")
    planks = (box(1.7, 0.04, 0.168, (0, 0.74, z), 0.005) for z in (-0.34, -0.17, 0, 0.17, 0.34))
    model.add(OAK, *planks)
    model.add(WHITE, box(1.46, 0.1, 0.025, (0, 0.67, 0.33)).both("z"), box(0.025, 0.1, 0.66, (0.73, 0.67, 0)).both())
    profile = [(0.02, 0), (0.03, 0.03), (0.026, 0.08), (0.032, 0.3), (0.042, 0.46), (0.03, 0.5), (0.045, 0.54)]
    leg = lathe(profile, 14, (0.74, 0, 0.34))
    model.add(WHITE, leg.both().both("z"), box(0.09, 0.19, 0.09, (0.74, 0.63, 0.34)).both().both("z"))
    return model


def tulip() -> Model:
    """A round marble top on one flowing foot."""
    model = Model("round white pedestal table with a marble top")
    marble = paint("veined_marble", 186, 182, 196)
    foot = [(0.27, 0), (0.27, 0.012), (0.17, 0.03), (0.08, 0.09), (0.045, 0.2), (0.042, 0.4), (0.06, 0.6), (0.12, 0.7)]
    model.add(WHITE, lathe(foot, 28))
    model.add(marble, lathe([(0.49, 0.695), (0.53, 0.715), (0.54, 0.73), (0.535, 0.735)], 36))
    return model


def coffee() -> Model:
    """A low glass top in a black steel frame with a shelf of rods below."""
    model = Model("low glass coffee table in a black frame")
    model.add(PALE_GLASS, box(1.1, 0.018, 0.6, (0, 0.41, 0), 0.004))
    model.add(BLACK, box(1.16, 0.05, 0.035, (0, 0.4, 0.31)).both("z"), box(0.035, 0.05, 0.6, (0.565, 0.4, 0)).both())
    model.add(BLACK, box(0.035, 0.38, 0.035, (0.56, 0.19, 0.305)).both().both("z"))
    model.add(BLACK, box(1.1, 0.025, 0.025, (0, 0.12, 0.305)).both("z"), box(0.025, 0.025, 0.6, (0.56, 0.12, 0)).both())
    model.add(STEEL, row(tube([(-0.55, 0.12, 0), (0.55, 0.12, 0)], 0.009, 6), (-0.2, -0.1, 0, 0.1, 0.2), "z"))
    return model


def trestle() -> Model:
    """A red board on two A-shaped pine trestles."""
    model = Model("red work table on pine trestles")
    model.add(paint("signal_red", 206, 34, 34), box(1.6, 0.035, 0.75, (0, 0.735, 0), 0.01))
    for x in (-0.52, 0.52):
        model.add(PINE, box(0.07, 0.05, 0.66, (x, 0.69, 0)))
        slant = bar([(x, 0, 0.31), (x, 0.68, 0.05)], 0.05, 0.035)
        model.add(PINE, slant.both("z").moved(0.06), slant.both("z").moved(-0.06))
        model.add(PINE, box(0.17, 0.05, 0.4, (x, 0.25, 0)))
    return model


def desk() -> Model:
    """A walnut writing desk: a pedestal of drawers on each side, a drawer between."""
    model = Model("walnut writing desk with drawers")
    front = Material("drawer_walnut", (122, 78, 50), 0.35)
    model.add(WALNUT, box(1.4, 0.035, 0.68, (0, 0.755, 0), 0.012))
    model.add(paint("bottle_green_leather", 30, 84, 62), box(1.1, 0.006, 0.44, (0, 0.774, 0), 0.002))
    model.add(WALNUT, box(0.38, 0.66, 0.6, (0.47, 0.41, 0)).both(), box(0.58, 0.11, 0.56, (0, 0.685, 0)))
    model.add(WALNUT, box(0.41, 0.07, 0.63, (0.47, 0.045, 0), 0.02).both(), box(0.56, 0.45, 0.02, (0, 0.5, 0.25)))
    for y, height in ((0.66, 0.12), (0.49, 0.18), (0.25, 0.26)):
        model.add(front, box(0.33, height, 0.025, (0.47, y, -0.305), 0.01).both())
        model.add(BRASS, disc(0.018, 0.03, (0.47, y, -0.325), "z", 0.006, 10).both())
    model.add(front, box(0.5, 0.08, 0.02, (0, 0.685, -0.285), 0.008))
    model.add(BRASS, box(0.12, 0.015, 0.02, (0, 0.685, -0.305), 0.005))
    return model


def tripod() -> Model:
    """A small round tray on three bowed legs."""
    model = Model("small yellow tray table on three legs")
    yellow = paint("lemon_yellow", 250, 214, 36)
    tray = [(0.26, 0.53), (0.29, 0.585), (0.282, 0.588), (0.255, 0.545)]
    model.add(yellow, lathe(tray, 32))
    leg = tube(bent([(0, 0.53, 0.1), (0, 0.3, 0.06), (0, 0, 0.27)], 0.2, 5), 0.016)
    model.add(BLACK, around(leg, 3), ring(0.066, 0.01, (0, 0.31, 0)))
    return model


def table_tennis() -> Model:
    """A blue table-tennis table with white lines and its net."""
    model = Model("blue table-tennis table with a net")
    blue = paint("court_blue", 28, 74, 164)
    model.add(blue, box(1.362, 0.03, 1.52, (0.686, 0.745, 0), 0.005).both())
    model.add(
        WHITE, box(2.74, 0.004, 0.025, (0, 0.761, 0.745), 0.001).both("z"), box(2.74, 0.004, 0.02, (0, 0.761, 0), 0.001)
    )
    model.add(WHITE, box(0.025, 0.004, 1.47, (1.35, 0.761, 0), 0.001).both())
    net = Material("net", (70, 74, 84), 0.1)
    model.add(net, box(0.012, 0.15, 1.72, (0, 0.84, 0), 0.003))
    model.add(WHITE, box(0.018, 0.022, 1.72, (0, 0.92, 0), 0.004))
    model.add(DARK, box(0.03, 0.2, 0.03, (0, 0.83, 0.87)).both("z"), box(0.05, 0.04, 0.14, (0, 0.73, 0.82)).both("z"))
    model.add(DARK, box(2.6, 0.06, 0.03, (0, 0.7, 0.68)).both("z"))
    hoop = bent([(0, 0.72, 0.6), (0, 0.03, 0.6), (0, 0.03, -0.6), (0, 0.72, -0.6)], 0.1)
    model.add(STEEL, row(tube(hoop, 0.025), (-1.05, -0.22, 0.22, 1.05)))
    return model


def oval() -> Model:
    """An oval teal top on two pillars with spreading feet."""
    model = Model("oval teal conference table on two pillars")
    teal = paint("teal", 22, 142, 138)
    model.add(teal, extrude(ellipse(2.1, 1.05, 48, 2.6), 0.045, "y", (0, 0.74, 0), 0.014))
    model.add(DARK, extrude(ellipse(1.6, 0.7, 36, 2.6), 0.03, "y", (0, 0.705, 0)))
    model.add(DARK, disc(0.075, 0.68, (0.5, 0.36, 0)).both())
    foot = rounded([(-0.06, -0.38), (0.06, -0.38), (0.1, 0), (0.06, 0.38), (-0.06, 0.38), (-0.1, 0)], 0.05)
    model.add(DARK, extrude(foot, 0.05, "y", (0.5, 0.03, 0), 0.015).both())
    return model


MODELS = (farmhouse, tulip, coffee, trestle, desk, tripod, table_tennis, oval)
