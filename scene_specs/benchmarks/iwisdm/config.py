"""What AutoTask may build: a configuration, and the published benchmarks as data (`benchmarks.json`)."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.operators import GETTERS
from scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES

LEVELS: tuple[str, ...] = ("low", "medium", "high", "single-frame")
CHOICES: tuple[str, ...] = ("all", "category", "location", "identity")
# "all" of the benchmarks: what the view is, is asked only by tasks that a user writes.
_ALL = ("location", "category", "identity")
# Of the published configurations: a constant in place of one side, where both sides are of a property with words.
_CONSTANTS = {"all": 0.2, "category": 0.1, "location": 0.1}

Share = Annotated[float, Field(ge=0, le=1)]
Span = tuple[Annotated[int, Field(ge=0, le=64)], Annotated[int, Field(ge=0, le=64)]]


class AutoTaskConfig(BaseModel):
    """Limits and probabilities of AutoTask.

    properties: what may be asked about. roots: operators that a question may begin with. booleans: operators below And
    and Or, and of a Switch's condition. frames, joins: fewest and most of a trial; delays: most empty frames (null: as
    many as there is room for), none first or last, and `longest_delay` of them in a row.
    max_depth: of one question (Select 1, Get 2, IsSame 3, And 4). max_operators: of one question.
    switch_probability, max_switches: of questions that are a Switch, nested in branches.
    constant: of comparisons of location and category that compare with a constant; constant_properties: those.
    reuse: probability that a Select looks at a frame that another property is asked of already, where it could.
    delay: weight of an empty frame where one fits.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    properties: Annotated[tuple[str, ...], Field(min_length=1)]
    roots: Annotated[tuple[str, ...], Field(min_length=1)]
    booleans: tuple[str, ...] = ("IsSame", "NotSame", "And", "Or")
    frames: Span
    joins: Span
    max_delays: Annotated[int, Field(ge=0, le=64)] | None = None
    longest_delay: Annotated[int, Field(ge=1, le=64)] | None = 1
    max_depth: Annotated[int, Field(ge=1, le=6)] = 4
    max_operators: Annotated[int, Field(ge=1, le=64)] = 15
    switch_probability: Share = 0.0
    max_switches: Annotated[int, Field(ge=0, le=3)] = 1
    constant: Share = 0.0
    constant_properties: tuple[str, ...] = ("location", "category")
    reuse: Share = 0.25
    delay: Share = 0.5

    @model_validator(mode="after")
    def _consistent(self) -> AutoTaskConfig:
        for name in ("frames", "joins"):
            fewest, most = getattr(self, name)
            if fewest > most:
                raise ValueError(f"{name}: found fewest {fewest} above most {most}")
        unknown = [name for name in (*self.properties, *self.constant_properties) if name not in PROPERTIES]
        if unknown:
            raise ValueError(f"found property {unknown[0]!r}; allowed: {', '.join(PROPERTIES)}")
        if self.frames[0] < 1:
            raise ValueError("frames: a trial has one or more")
        return self


def read_config(text: str, file: str = "") -> AutoTaskConfig:
    """A configuration from JSON. Raises SpecError that names every wrong field."""
    try:
        return AutoTaskConfig.model_validate(json.loads(text))
    except json.JSONDecodeError as error:
        raise refused(f"no JSON: {error}", file=file) from None
    except ValidationError as error:
        found = [(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
        first = "; ".join(f"{place or 'configuration'}: {message}" for place, message in found)
        raise refused(first, file=file) from None


@lru_cache(maxsize=1)
def _levels() -> dict[str, Any]:
    text = resources.files("scene_specs.benchmarks.iwisdm").joinpath("benchmarks.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def benchmark(level: str, choice: str = "all") -> AutoTaskConfig:
    """A published benchmark: `low`, `medium`, `high`, `single-frame`; properties `all` or one.

    Raises SpecError for others, and for single frames asked about identity, which no word names.
    """
    if level not in LEVELS or choice not in CHOICES:
        raise refused(f"found benchmark {level!r} of {choice!r}; allowed: {', '.join(LEVELS)} of {', '.join(CHOICES)}")
    fields = dict(_levels()[level])
    properties: tuple[str, ...] = _ALL if choice == "all" else (choice,)
    if level == "single-frame":
        # One frame has no other to be compared with.
        properties = tuple(name for name in properties if name in _CONSTANTS)
        if not properties:
            raise refused("single frames can't be asked about identity", "allowed: all, category, location")
        return AutoTaskConfig(properties=properties, constant=1.0, **fields)
    getters = {getter for name, getter in GETTERS.items() if name not in properties}
    roots = tuple(name for name in fields.pop("roots") if name not in getters)
    return AutoTaskConfig(properties=properties, constant=_CONSTANTS.get(choice, 0.0), roots=roots, **fields)
