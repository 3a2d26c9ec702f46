"""Configurations of AutoTask, and those of the published benchmarks (`benchmarks.json`, `published.json`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from diorama.scene_specs.benchmarks.iwisdm.operators import GETTERS
from diorama.scene_specs.benchmarks.iwisdm.published_tasks import OPERATORS, PublishedConfig
from diorama.scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.files.foreign import parse_json
from diorama.scene_specs.language.validation import validated

# "all" of the benchmarks; only user-defined tasks ask about the view angle.
_ALL = ("location", "category", "identity")
# Published share of comparisons with a constant, for properties that can be named in words.
_CONSTANTS = {"all": 0.2, "category": 0.1, "location": 0.1}

Share = Annotated[float, Field(ge=0, le=1)]
_Number = Annotated[int, Field(ge=0, le=64)]
_Frames = Annotated[int, Field(ge=1, le=64)]


class AutoTaskConfig(BaseModel):
    """Limits and probabilities of AutoTask.

    Attributes:
        properties: properties of the questions.
        roots: operators at the root of a question.
        booleans: operators below And and Or, and of a Switch's condition.
        frames: minimum and maximum per trial.
        joins: minimum and maximum per trial.
        max_delays: most empty frames (null: as many as there is room for), none first or last, and at most
            `longest_delay` of them in a row.
        max_depth: of one question (Select 1, Get 2, IsSame 3, And 4).
        max_operators: of one question.
        switch_probability: of a Switch as a question.
        max_switches: of Switches nested in branches.
        constant: share of comparisons with a constant, among those of constant_properties.
        reuse: probability that a Select looks at a frame that is used for another property, where possible.
        delay: weight of an empty frame where one fits.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    properties: Annotated[tuple[str, ...], Field(min_length=1)]
    roots: Annotated[tuple[str, ...], Field(min_length=1)]
    booleans: tuple[str, ...] = ("IsSame", "NotSame", "And", "Or")
    frames: tuple[_Frames, _Frames]
    joins: tuple[_Number, _Number]
    max_delays: _Number | None = None
    longest_delay: _Frames | None = 1
    max_depth: Annotated[int, Field(ge=1, le=6)] = 4
    max_operators: Annotated[int, Field(ge=1, le=64)] = 15
    switch_probability: Share = 0.0
    max_switches: Annotated[int, Field(ge=0, le=3)] = 1
    constant: Share = 0.0
    constant_properties: tuple[str, ...] = ("location", "category")
    reuse: Share = 0.25
    delay: Share = 0.5

    @model_validator(mode="after")
    def _check_consistent(self) -> AutoTaskConfig:
        for name in ("frames", "joins"):
            fewest, most = getattr(self, name)
            if fewest > most:
                raise ValueError(f"{name}: found minimum {fewest} above maximum {most}")
        unknown = [name for name in (*self.properties, *self.constant_properties) if name not in PROPERTIES]
        if unknown:
            raise ValueError(f"found property {unknown[0]!r}; allowed: {', '.join(PROPERTIES)}")
        return self


def read_config(text: str, file: str = "") -> AutoTaskConfig | PublishedConfig:
    """A configuration from JSON, also a published one. Raises SpecError that lists every wrong field."""
    data = parse_json(text, file)
    published = isinstance(data, dict) and "op_dict" in data
    return validated(PublishedConfig, data, file) if published else validated(AutoTaskConfig, data, file)


def benchmark_config(level: str, choice: str = "all") -> AutoTaskConfig:
    """A benchmark whose structures are weighed alike: `low`, `medium`, `high`, `single-frame`; properties `all` or one.

    Raises SpecError for identity in single frames, which has no name in words.
    """
    fields = _read_packaged_json("benchmarks.json")[level]
    properties: tuple[str, ...] = _ALL if choice == "all" else (choice,)
    if level == "single-frame":
        # A single frame can only be compared with constants.
        properties = tuple(name for name in properties if name in _CONSTANTS)
        if not properties:
            raise spec_error("single frames can't be asked about identity", "allowed: all, category, location")
        return AutoTaskConfig(properties=properties, constant=1.0, **fields)
    getters = {getter for name, getter in GETTERS.items() if name not in properties}
    roots = tuple(name for name in fields.pop("roots") if name not in getters)
    return AutoTaskConfig(properties=properties, constant=_CONSTANTS.get(choice, 0.0), roots=roots, **fields)


def published_form(config: AutoTaskConfig) -> PublishedConfig:
    """The published configuration of a benchmark: `published.json`, with its operators and probabilities."""
    names = {own: published for published, own in OPERATORS.items()}
    asked = [names.get(GETTERS[name], GETTERS[name]) for name in config.properties]
    fields = _read_packaged_json("published.json")
    for name in ("IsSame", "NotSame"):
        # A constant alone leads to any property that can be compared with one.
        fields["op_dict"][name]["downstream"] = ["CONST"] if config.constant == 1 and len(asked) > 1 else asked
    fields["root_ops"] = [names.get(name, name) for name in config.roots]
    fields["max_switch"] = config.max_switches if config.switch_probability else 0
    fields |= {"switch_threshold": config.switch_probability, "compare_const_prob": config.constant}
    return PublishedConfig.model_validate(fields)


def restrict_config(config: PublishedConfig, properties: Sequence[str]) -> PublishedConfig:
    """A published configuration that asks about these properties only. Raises SpecError if it lacks their operators."""
    published = {own: name for name, own in OPERATORS.items()}
    getters = {name: published.get(getter, getter) for name, getter in GETTERS.items()}
    asked = [getters[name] for name in properties]
    data = config.model_dump(mode="json")
    for name in sorted({"IsSame", "NotSame"} & data["op_dict"].keys()):
        data["op_dict"][name] |= {"downstream": asked, "sample_dist": []}
    data["root_ops"] = [name for name in data["root_ops"] if name in asked or name not in getters.values()]
    return validated(PublishedConfig, data)


def _read_packaged_json(name: str) -> Any:
    return json.loads(
        resources.files("diorama.scene_specs.benchmarks.iwisdm").joinpath(name).read_text(encoding="utf-8")
    )
