"""No field of a hashed model is gone, and fields that were added leave dumps as they were."""

from __future__ import annotations

import json

from pydantic import BaseModel, Field

from tests.compatibility.fields import ROOTS, always_dumped, reachable, removed
from tests.compatibility.identities import GOLDEN

FIELDS: dict[str, list[str]] = json.loads((GOLDEN / "fields.json").read_text())
_HINT = "a class that was only renamed is renamed in golden/fields.json as well"


def test_every_golden_field_is_still_there() -> None:
    assert not removed(FIELDS, reachable(ROOTS)), _HINT


def test_fields_added_since_are_left_out_of_a_dump_at_their_defaults() -> None:
    assert not always_dumped(FIELDS, reachable(ROOTS)), "give the field Field(exclude_if=...); see fields.py"


class Inner(BaseModel):
    old: int
    loud: int = 0
    quiet: int = Field(default=0, exclude_if=lambda value: value == 0)
    needed: int


class Outer(BaseModel):
    inner: tuple[Inner, ...] | None
    extra: dict[str, Inner] = {}


def test_the_check_finds_a_field_that_is_always_dumped() -> None:
    golden = {"Outer": ["inner"], "Inner": ["old"]}
    assert always_dumped(golden, reachable([Outer])) == ["Outer.extra", "Inner.loud", "Inner.needed"]


def test_the_check_finds_a_field_that_is_gone() -> None:
    golden = {"Outer": ["inner", "outline"], "Inner": ["old"], "Core": ["heat"]}
    assert removed(golden, reachable([Outer])) == ["Core", "Outer.outline"]
