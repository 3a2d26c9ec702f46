"""Names of people who look somewhere, `person:<turn>/<nod>`: the direction of the gaze from the body, in degrees.

turn: to the person's own left, from -80 to 80. nod: upwards, from -60 to 60. Both have at most four decimals.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from diorama.scene_specs.language.vocabulary import has_prefix

PERSON_PREFIX = "person:"
_NUMBER = r"(-?(?:0|[1-9][0-9]?)(?:\.[0-9]{1,4})?)"
_FORM = re.compile(f"{PERSON_PREFIX}{_NUMBER}/{_NUMBER}")
MOST_TURN, MOST_NOD = 80.0, 60.0


class Gaze(NamedTuple):
    """The direction of a gaze from the body.

    Attributes:
        turn_deg: to the person's own left.
        nod_deg: upwards.
    """

    turn_deg: float
    nod_deg: float

    @property
    def possible(self) -> bool:
        """Whether head and eyes turn that far."""
        return abs(self.turn_deg) <= MOST_TURN and abs(self.nod_deg) <= MOST_NOD

    @property
    def shape(self) -> str:
        """The name of a person with this gaze, equal for equal gazes."""
        turn, nod = (f"{round(value, 4) + 0.0:.4f}".rstrip("0").rstrip(".") for value in self)
        return f"{PERSON_PREFIX}{turn}/{nod}"


def is_person(shape: object) -> bool:
    """Return whether a shape is the name of a person, valid or not."""
    return has_prefix(shape, PERSON_PREFIX)


def parse_person(shape: str) -> Gaze | None:
    """Parse the name of a person; None if it is malformed or the gaze is impossible."""
    match = _FORM.fullmatch(shape)
    gaze = None if match is None else Gaze(float(match[1]), float(match[2]))
    return gaze if gaze is not None and gaze.possible else None
