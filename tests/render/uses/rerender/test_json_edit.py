"""One place of a document changed by its path."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.uses.rerender.edit import REMOVED, changed, parse_assignment, parse_path
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.language.diagnostics import path_text

DOCUMENT = {
    "id": "d",
    "camera": None,
    "frames": [
        {"name": "one", "objects": [{"name": "a", "color": "red"}, {"color": "blue"}]},
        {"name": "two", "objects": []},
    ],
    "task": {"my key": {"x.y": 1}},
}


def with_change(text: str) -> Any:
    return changed(DOCUMENT, *parse_assignment(text))[0]


@pytest.mark.parametrize(
    "path",
    [
        "frames[0].objects[0].color",
        "frames[one].objects[a].color",
        "frames.one.objects.a.color",
        "frames.0.objects.0.color",
        '["frames"][0]["objects"][a]["color"]',
    ],
)
def test_positions_names_and_quoted_keys_lead_to_one_place(path: str) -> None:
    found, place = changed(DOCUMENT, *parse_assignment(f"{path}=green"))
    assert path_text(place) == "frames[0].objects[0].color"
    assert found["frames"][0]["objects"][0]["color"] == "green"
    assert DOCUMENT["frames"][0]["objects"][0]["color"] == "red"  # type: ignore[index]


def test_an_item_without_a_name_is_called_as_the_compiler_calls_it() -> None:
    assert with_change("frames[0].objects[object-1].color=x")["frames"][0]["objects"][1] == {"color": "x"}


def test_values_are_json_or_text() -> None:
    values = ("blue", "[1, 2.5]", '"7"', "7", "null", "NaN", "a=b", "", "{not json")
    assert [parse_assignment(f"p={value}")[1] for value in values] == [
        "blue", [1, 2.5], "7", 7, None, "NaN", "a=b", "", "{not json",
    ]  # fmt: skip


def test_more_less_and_what_was_left_out() -> None:
    assert with_change('frames[1].objects[+]={"name": "b"}')["frames"][1]["objects"] == [{"name": "b"}]
    assert with_change("camera.lens=50")["camera"] == {"lens": 50}
    removed, _ = changed(DOCUMENT, parse_path("frames[0].objects[a]", "--unset")[0], REMOVED, "--unset")
    assert removed["frames"][0]["objects"] == [{"color": "blue"}]
    assert with_change('task["my key"]["x.y"]=2')["task"]["my key"]["x.y"] == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("frame[0].objects[0].color=1", "did you mean 'frames'?"),
        ("frames[one].objects[c].color=1", "there are: [0] a, [1] object-1"),
        ("frames[7].name=1", "no item 7; there are: [0] one, [1] two"),
        ("frames[0].name.x=1", 'frames[0].name is "one"; nothing is inside it'),
        ("frames[0].objects[0].color", "no value; write PATH=VALUE"),
        ("frames[0]objects=1", "no path at 'objects=1'"),
        (".frames=1", "no path at '.frames=1'"),
        ("=1", "no path"),
        ("frames[=1", "no path at '[=1'"),
        ('task["\\q"]=1', '"\\q" is not a JSON string'),
        ('task["\t"]=1', "is not a JSON string"),
    ],
)
def test_a_path_that_leads_nowhere_is_said(text: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        with_change(text)
    assert words in str(caught.value)


def test_a_name_that_is_no_text_names_nothing() -> None:
    document = {"objects": [{"name": 5}, {"name": {}}, {"name": "a"}]}
    with pytest.raises(UsageError, match=r"there are: \[0\] object-0, \[1\] object-1, \[2\] a"):
        changed(document, *parse_assignment("objects[zz].color=1"))


@given(st.text('"\\qu0d8[]=.+a\t', max_size=12), st.sampled_from(['["%s"]=1', "a[%s]=1", "%s"]))
def test_any_text_is_an_assignment_or_is_refused(inside: str, form: str) -> None:
    try:
        steps, _ = parse_assignment(form % inside)
    except UsageError:
        return
    assert steps and all(isinstance(step, int | str) for step in steps)


leaves = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=3))
keys = st.text(min_size=1, max_size=4)
documents = st.dictionaries(
    keys,
    st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3), st.dictionaries(keys, inner, min_size=1, max_size=3)
        ),
        max_leaves=8,
    ),
    min_size=1,
    max_size=3,
)


def leaf_paths(node: Any, path: tuple[int | str, ...] = ()) -> list[tuple[int | str, ...]]:
    items = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    return [found for key, inner in items for found in leaf_paths(inner, (*path, key))] or [path]


@given(documents, st.data())
def test_every_leaf_is_reached_by_the_path_that_messages_print(document: dict[str, Any], data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(leaf_paths(document)))
    text = "".join(f"[{step}]" if isinstance(step, int) else f"[{json.dumps(step)}]" for step in path)
    before = copy.deepcopy(document)
    found, place = changed(document, *parse_assignment(f'{text}={{"new": 1}}'))
    assert place == path and document == before
    node: Any = found
    for step in path:
        node = node[step]
    assert node == {"new": 1}
