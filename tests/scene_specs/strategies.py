"""Hypothesis strategies: JSON values, and specs that use the whole language."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from diorama import scene_specs

EXAMPLES = sorted((Path(scene_specs.__file__).parent / "examples").glob("*.json"))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63) + 1, 2**63 - 1) | st.floats(allow_nan=False) | TEXT
JSON = st.recursive(
    SCALARS.filter(lambda v: v not in (float("inf"), float("-inf"))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Paths of a value and of everything in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in items for found in places(item, (*path, key)))]


def set_at(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """A copy of a value with another one at a path."""
    if not path:
        return new
    result = copy.deepcopy(value)
    holder = result
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = new
    return result


@st.composite
def damaged_specs(draw: st.DrawFn) -> Any:
    """An example with one to three values replaced by any JSON."""
    value = json.loads(draw(st.sampled_from(EXAMPLES)).read_text())
    for _ in range(draw(st.integers(1, 3))):
        value = set_at(
            value, draw(st.sampled_from(places(value))), draw(JSON | st.sampled_from(["a", "red", 0.5, [], {}]))
        )
    return value
