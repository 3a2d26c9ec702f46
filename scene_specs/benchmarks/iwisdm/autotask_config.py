"""Configurations: published files, and those of the published benchmarks (`benchmarks.json`, `published.json`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

from diorama.scene_specs.benchmarks.iwisdm.operators import GETTERS
from diorama.scene_specs.benchmarks.iwisdm.published_tasks import PUBLISHED_NAMES, PublishedConfig
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.files.foreign import parse_json
from diorama.scene_specs.language.validation import validated

# "all" of the benchmarks; only user-defined tasks ask about the view angle.
_ALL = ("location", "category", "identity")
# Published share of comparisons with a constant, for properties that can be named in words.
_CONSTANTS = {"all": 0.2, "category": 0.1, "location": 0.1}


class BenchmarkLimits(NamedTuple):
    """What a benchmark asks.

    Attributes:
        properties: properties of the questions.
        roots: operators at the root of a question.
        frames: minimum and maximum per trial.
        joins: minimum and maximum per trial.
        switch_probability: of a Switch as a question.
        constant: share of comparisons with a constant.
    """

    properties: tuple[str, ...]
    roots: tuple[str, ...]
    frames: tuple[int, int]
    joins: tuple[int, int]
    switch_probability: float
    constant: float


def read_config(text: str, file: str = "") -> PublishedConfig:
    """Return a published configuration from JSON. Raises SpecError that lists every wrong field."""
    return validated(PublishedConfig, parse_json(text, file), file)


def benchmark_limits(level: str, choice: str = "all") -> BenchmarkLimits:
    """Return the limits of a benchmark: `low`, `medium`, `high`, `single-frame`; properties `all` or one.

    Raises SpecError for identity in single frames, which has no name in words.
    """
    fields = _read_packaged_json("benchmarks.json")[level]
    properties: tuple[str, ...] = _ALL if choice == "all" else (choice,)
    constant = _CONSTANTS.get(choice, 0.0)
    if level == "single-frame":
        # A single frame can only be compared with constants.
        properties, constant = tuple(name for name in properties if name in _CONSTANTS), 1.0
        if not properties:
            raise spec_error("single frames can't be asked about identity", "allowed: all, category, location")
    getters = {getter for name, getter in GETTERS.items() if name not in properties}
    roots = tuple(name for name in fields["roots"] if name not in getters)
    frames, joins = tuple(fields["frames"]), tuple(fields["joins"])
    return BenchmarkLimits(properties, roots, frames, joins, fields["switch_probability"], constant)


def published_form(config: BenchmarkLimits) -> PublishedConfig:
    """Return the published configuration of a benchmark: `published.json`, with its operators and probabilities."""
    asked = [PUBLISHED_NAMES.get(GETTERS[name], GETTERS[name]) for name in config.properties]
    fields = _read_packaged_json("published.json")
    for name in ("IsSame", "NotSame"):
        # A constant alone leads to any property that can be compared with one.
        fields["op_dict"][name]["downstream"] = ["CONST"] if config.constant == 1 and len(asked) > 1 else asked
    fields["root_ops"] = [PUBLISHED_NAMES.get(name, name) for name in config.roots]
    fields["max_switch"] = int(config.switch_probability > 0)
    fields |= {"switch_threshold": config.switch_probability, "compare_const_prob": config.constant}
    return PublishedConfig.model_validate(fields)


def restrict_config(config: PublishedConfig, properties: Sequence[str]) -> PublishedConfig:
    """Return a published configuration that asks about these properties only. Raises SpecError without operators."""
    getters = {name: PUBLISHED_NAMES.get(getter, getter) for name, getter in GETTERS.items()}
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
