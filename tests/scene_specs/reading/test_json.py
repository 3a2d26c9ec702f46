"""Both JSON readers: the fast one agrees with Python's, the slow one with the fast one and with the lines."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.files.strict_json import MAX_DEPTH, NotStrictJson, decode
from diorama.scene_specs.reading.located_json import scan
from tests.scene_specs.strategies import JSON, places


@given(JSON, st.sampled_from([None, 0, 1, 4]), st.booleans())
def test_both_readers_agree_with_python(value: object, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert decode(text) == (value, len(text))
    slow = scan(text)
    assert (slow.value, slow.diagnostics, slow.end) == (value, [], len(text))


@given(JSON)
def test_scan_knows_the_line_of_every_place(value: object) -> None:
    text = json.dumps(value, indent=1)
    lines = text.split("\n")
    slow = scan(text, line=1)
    assert set(slow.lines) == set(places(value))
    for path, line in slow.lines.items():
        if path and isinstance(path[-1], str):
            assert lines[line - 1].strip().startswith(json.dumps(path[-1]) + ":")


@given(st.text(max_size=40) | st.text('{}[]":,0123eE+-. \n\\nulltrueNaN', max_size=40))
def test_any_text_is_read_or_has_a_fault(text: str) -> None:
    try:
        value, _ = decode(text.strip(" \t\n\r"))
        good = not isinstance(value, float) or math.isfinite(value)
        assert good
    except NotStrictJson:
        slow = scan(text)
        assert slow.diagnostics
        assert all(1 <= place.line <= text.count("\n") + 1 for place in slow.diagnostics)


@pytest.mark.parametrize("inner", ["1", "[]", '{"a": 1}'])
@pytest.mark.parametrize("depth", range(MAX_DEPTH - 2, MAX_DEPTH + 3))
def test_depth_is_bounded_alike(depth: int, inner: str) -> None:
    text = "[" * depth + inner + "]" * depth
    deep = depth + (inner != "1") > MAX_DEPTH
    assert bool(scan(text).diagnostics) == deep
    if deep:
        with pytest.raises(NotStrictJson):
            decode(text)
    else:
        decode(text)


def test_faults_that_reading_survives_are_all_found() -> None:
    slow = scan('{"a": NaN,\n"b": 1e999,\n"a": 1,\n"c": [Infinity]}')
    assert [(place.line, place.path) for place in slow.diagnostics] == [
        (1, ("a",)),
        (2, ("b",)),
        (3, ("a",)),
        (4, ("c", 0)),
    ]
    assert not slow.stopped


def test_a_repeated_object_is_one_diagnostic() -> None:
    slow = scan('{"a": {"b": 1},\n"a": {"b": 2}}')
    assert [(found.path, found.line) for found in slow.diagnostics] == [(("a",), 2)]
    assert slow.value == {"a": {"b": 1}}
