"""Materials that several models share. Colors that distinguish a model are defined with the model."""

from __future__ import annotations

from diorama.assets.build.shapenet_mini.model import Material

OAK = Material("oak", (190, 138, 82), 0.25)
PINE = Material("pine", (222, 182, 122), 0.2)
WALNUT = Material("walnut", (94, 58, 38), 0.3)
TEAK = Material("teak", (158, 94, 48), 0.25)
# Not black: these must still show on the black ground of iWISDM's frames.
BLACK = Material("black", (58, 58, 62), 0.4)
DARK = Material("dark_grey", (84, 86, 92), 0.35)
STEEL = Material("steel", (176, 180, 186), 0.75)
BRASS = Material("brass", (198, 156, 74), 0.7)
# Nor white: under a studio's lamps (240, 240, 238) is as white as the studio's ground, and wings vanish.
WHITE = Material("white", (204, 206, 208), 0.35)
CREAM = Material("cream", (216, 202, 166), 0.2)
RUBBER = Material("rubber", (48, 48, 51), 0.15)
GLASS = Material("dark_glass", (46, 66, 86), 0.9)
PALE_GLASS = Material("pale_glass", (156, 204, 220), 0.9)
CONCRETE = Material("concrete", (178, 174, 166), 0.05)
LAMP_GLOW = Material("lamp_glow", (255, 240, 190), 0.1)
HEADLIGHT = Material("headlight", (250, 246, 222), 0.8)
TAILLIGHT = Material("taillight", (178, 20, 24), 0.6)


def paint(name: str, red: int, green: int, blue: int) -> Material:
    """Glossy paint or lacquer."""
    return Material(name, (red, green, blue), 0.6)


def fabric(name: str, red: int, green: int, blue: int) -> Material:
    """Cloth, or anything else without a gloss."""
    return Material(name, (red, green, blue), 0.08)


def leather(name: str, red: int, green: int, blue: int) -> Material:
    return Material(name, (red, green, blue), 0.45)
