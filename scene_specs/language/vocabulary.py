"""Names of shapes, colors, sizes, materials and relations in CLEVR, and their values.

Values are those of the published CLEVR and MEWL generators. Their code divides 8-bit colors by 255 and passes them to
Blender as *linear* colors, so palette names mean that. A triple in a spec is an sRGB color, which is linearized.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SHAPES: tuple[str, ...] = ("cube", "sphere", "cylinder")

COLORS: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {
        "gray": (87, 87, 87),
        "red": (173, 35, 35),
        "blue": (42, 75, 215),
        "green": (29, 105, 20),
        "brown": (129, 74, 25),
        "purple": (129, 38, 192),
        "cyan": (41, 208, 208),
        "yellow": (255, 238, 51),
    }
)

# Half the edge of the 2 x 2 x 2 mesh after scaling, in Blender units.
SIZES: Mapping[str, float] = MappingProxyType({"large": 0.7, "small": 0.35})

# Materials of random objects; those that a spec can name are plug-ins.
CLEVR_MATERIALS: tuple[str, ...] = ("rubber", "metal")
MEWL_MATERIALS: tuple[str, ...] = ("rubber", "metal", "glass")

RELATIONS: tuple[str, ...] = ("left", "right", "front", "behind")
OPPOSITE: Mapping[str, str] = MappingProxyType({"left": "right", "right": "left", "front": "behind", "behind": "front"})

# Relations of objects that touch, or of their distance. `on`, `in` and `leaning` need a support.
SUPPORTED: tuple[str, ...] = ("on", "in", "leaning")
CONTACTS: tuple[str, ...] = (*SUPPORTED, "under", "touching", "near", "far", "between")
# Names of invented shapes begin with it.
INVENTED_PREFIX = "invented:"
# Shapes with a space inside.
CONTAINERS: tuple[str, ...] = ("bowl", "box", "shelf")
# Blender units: distances of outlines up to which objects are near and from which they are far, and how far what is
# between two others may be from the line between them.
NEAR, FAR, BETWEEN = 0.5, 2.5, 0.35
# Blender units by which the center of mass is at least over the polygon that supports it.
SUPPORT_MARGIN = 0.05


def linear_of_name(name: str) -> tuple[float, float, float]:
    """Return linear RGB in [0, 1] of a palette name, as the published renderer uses it."""
    r, g, b = COLORS[name]
    return (r / 255, g / 255, b / 255)


def linear_of_srgb(triple: tuple[int, int, int]) -> tuple[float, float, float]:
    """Return linear RGB in [0, 1] of an 8-bit sRGB triple (IEC 61966-2-1)."""

    def linear(byte: int) -> float:
        value = byte / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    r, g, b = triple
    return (linear(r), linear(g), linear(b))


def has_prefix(word: object, *prefixes: str) -> bool:
    """Return whether a value is a text that begins with one of the prefixes."""
    return isinstance(word, str) and word.startswith(prefixes)


def name_or_none(value: object) -> str | None:
    """Return a value of a spec that is a name; None for one of another form, such as a number."""
    return value if isinstance(value, str) else None
