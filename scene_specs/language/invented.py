"""Names of invented shapes, `invented:<family>/<seed>?<axis>=<value>&...`.

A family is a plug-in: a module with `AXES` (name of an axis -> what it changes), `LARGEST` (axis -> where its shapes
are largest) and `build(axes, rng)`, which returns vertices (V, 3) and triangles (T, 3) of a closed surface.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.language.vocabulary import INVENTED_PREFIX, has_prefix

_AXIS = "[a-z][a-z_]{0,29}=(?:0(?:\\.[0-9]{1,4})?|1(?:\\.0{1,4})?)"
_FORM = re.compile(rf"{INVENTED_PREFIX}([a-z][a-z0-9-]{{0,29}})/([0-9]{{1,19}})(?:\?({_AXIS}(?:&{_AXIS})*))?")


class Invented(NamedTuple):
    """An invented shape.

    Attributes:
        family: its name.
        seed: decides all that the axes leave open.
        axes: name -> position on the axis, from 0 to 1.
    """

    family: str
    seed: int
    axes: Mapping[str, float]

    @property
    def name(self) -> str:
        """The shape as text, equal for equal shapes."""
        axes = "&".join(f"{axis}={round(value, 4):g}" for axis, value in sorted(self.axes.items()))
        return f"{INVENTED_PREFIX}{self.family}/{self.seed}" + (f"?{axes}" if axes else "")

    def complete(self) -> Invented:
        """Return the shape with a position on each axis: those that are left open are drawn from the seed.

        Raises:
            PluginError: the family is unknown or can't be imported.
        """
        label = f"{self.family}/{self.seed}"
        drawn = {
            axis: round(float(generator(self.seed, label, f"axis {axis}").random()), 4)
            for axis in plugin("families", self.family).load().AXES
        }
        return self._replace(axes={**drawn, **self.axes})


def is_invented(shape: object) -> bool:
    """Return whether a shape is the name of an invented one, valid or not."""
    return has_prefix(shape, INVENTED_PREFIX)


def parse_invented(shape: str) -> Invented | None:
    """Parse the name of an invented shape; None if it is malformed or names an axis twice."""
    match = _FORM.fullmatch(shape)
    if match is None or int(match[2]) >= 2**63:
        return None
    pairs = [pair.split("=") for pair in match[3].split("&")] if match[3] else []
    axes = {axis: float(value) for axis, value in pairs}
    return Invented(match[1], int(match[2]), axes) if len(axes) == len(pairs) else None
