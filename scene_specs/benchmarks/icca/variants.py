"""The published variants as data: what speakers are told, and what listeners see (variants.json).

A user's own variant is the same object in a file of theirs: `read_listener`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from scene_specs.benchmarks.icca.input_errors import parsed, refused

TRIALS = 24
REPETITIONS = 6
PER_REPETITION = 4
LABELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "letters": ("A", "B", "C", "D"),
        "positions": ("top left", "top right", "bottom left", "bottom right"),
    }
)
# How the four pictures are handed to a model: each for itself, or two by two in one.
FORMS: tuple[str, ...] = ("separate", "collage")


@dataclass(frozen=True)
class SpeakerVariant:
    """says: the instruction, ours in words, the published one in what it asks."""

    name: str
    instruction: str
    says: str


@dataclass(frozen=True)
class ListenerVariant:
    """history: earlier trials are in the prompt. images_once: pictures are shown in trial 0 only. shuffle: their order
    is drawn anew in each trial, and labels with it. mask: black pictures are shown. misleading_trials: pictures are
    shown there, in an order in which none has its own label.
    """

    name: str
    history: bool
    images_once: bool
    shuffle: bool
    mask: bool
    misleading_trials: tuple[int, ...]

    def __post_init__(self) -> None:
        trials = self.misleading_trials
        if sorted({*trials}) != list(trials) or not all(0 <= trial < TRIALS for trial in trials):
            raise refused(
                f"misleading_trials: found {list(trials)}; expected numbers from 0 to {TRIALS - 1}, ascending"
            )
        if self.shuffle and self.images_once:
            raise refused("shuffle with images_once: the listener could not know the new order; expected one of them")
        if self.images_once and not self.history:
            raise refused("images_once without history: the pictures would be gone after trial 0")

    def shows(self, trial: int) -> bool:
        """Whether the pictures are shown in this trial, counted from 0."""
        return not self.images_once or trial == 0 or trial in self.misleading_trials

    def images(self, trial: int, form: str = "separate") -> int:
        """How many images the prompt of a trial holds: four a showing, or one collage."""
        first = 0 if self.history else trial
        showings = sum(self.shows(one) for one in range(first, trial + 1))
        return showings * (1 if form == "collage" else PER_REPETITION)

    def most_images(self, form: str = "separate") -> int:
        """The most images that any prompt of a game holds."""
        return max(self.images(trial, form) for trial in range(TRIALS))


def check_images(variant: ListenerVariant, form: str, most: int | None) -> None:
    """Raises SpecError where a variant's prompts would hold more images than a model takes."""
    needed = variant.most_images(form)
    if most is not None and needed > most:
        hint = "take a variant with fewer, or collages"
        raise refused(f"listener variant {variant.name}: its prompts hold up to {needed} images; allowed: {most}", hint)


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, dict[str, Any]]]:
    text = (resources.files("scene_specs.benchmarks.icca") / "variants.json").read_text("utf-8")
    table: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return table


def speaker_variants() -> tuple[SpeakerVariant, ...]:
    """S1 to S4."""
    return tuple(SpeakerVariant(name, **row) for name, row in _table()["speaker"].items())


def listener_variants() -> tuple[ListenerVariant, ...]:
    """L1 to L7."""
    return tuple(_listener(name, row) for name, row in _table()["listener"].items())


def speaker_variant(name: str) -> SpeakerVariant:
    """One by name. Raises SpecError."""
    found = {one.name: one for one in speaker_variants()}
    if name not in found:
        raise refused(f"found speaker variant {name!r}; allowed: {', '.join(found)}")
    return found[name]


def listener_variant(name: str) -> ListenerVariant:
    """One by name. Raises SpecError."""
    found = {one.name: one for one in listener_variants()}
    if name not in found:
        raise refused(f"found listener variant {name!r}; allowed: {', '.join(found)}")
    return found[name]


def read_listener(text: str, name: str, file: str = "") -> ListenerVariant:
    """One of a user's own, as a row of the table in JSON. Raises SpecError."""
    try:
        row = parsed(text)
    except ValueError as error:
        raise refused(f"no JSON: {error}", file=file) from None
    kinds = {"history": bool, "images_once": bool, "shuffle": bool, "mask": bool, "misleading_trials": list}
    if not isinstance(row, dict) or {*row} != {*kinds} or not all(type(row[key]) is kinds[key] for key in kinds):
        raise refused(f"expected an object with {', '.join(f'{key} ({kind.__name__})' for key, kind in kinds.items())}",
                      file=file)  # fmt: skip
    if not all(type(trial) is int for trial in row["misleading_trials"]):
        raise refused("expected numbers of trials", path="misleading_trials", file=file)
    return _listener(name, row)


def _listener(name: str, row: Mapping[str, Any]) -> ListenerVariant:
    return ListenerVariant(name, **{**row, "misleading_trials": tuple(row["misleading_trials"])})
