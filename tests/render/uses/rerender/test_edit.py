"""A compiled Scene changed in one place after another, whatever stands there meanwhile."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import diorama
from diorama.render.uses.rerender.edit import REMOVED, change_scene, parse_assignment
from diorama.scene_specs.errors import DioramaError, SpecError
from diorama.scene_specs.model.scene import Scene

SPEC = {
    "version": 1,
    "id": "edit/scene",
    "frames": [
        {"objects": [{"name": "a", "shape": "cube", "color": "red"}, {"name": "b"}], "pointer": {"target": "a"}}
    ],
}


@lru_cache(maxsize=1)
def scene() -> Scene:
    return diorama.compile_spec(SPEC, "draft", (96, 72))


def after(*texts: str) -> Scene:
    return change_scene(scene(), [parse_assignment(text, "--set-scene") for text in texts])


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        (["frames[0].objects[0].location=5", "frames[0].objects[0].color=blue"], "frames[0].objects[0].location"),
        (["frames[0].objects[0]={}", "frames[0].objects[0].color=blue"], "frames[0].objects[0].scale"),
        (["frames[0].objects[0]={}", "frames[0].objects[0].size=large"], "frames[0].objects[0].location"),
        (["frames[0].objects[0]=null", "frames[0].objects[0].size=0.5"], "frames[0].objects[0].location"),
        (["frames[0].objects[0].scale=[1]", "frames[0].objects[0].size=0.5"], ""),
        (["frames[0].objects[0].location=[1]", "frames[0].objects[0].location=[1,2]"], "frames[0].objects[0].location"),
        (['frames[0].objects[0]=[{"name": "c"}]', "frames[0].objects[0].c.color=blue"], "frames[0].objects[0]"),
        (['frames[0].objects[0]=[{"name": "c"}]', "frames[0].objects[0].c=1"], "frames[0].objects[0]"),
    ],
)
def test_what_an_earlier_change_broke_is_said_at_its_place(changes: list[str], path: str) -> None:
    if not path:
        assert after(*changes).frames[0].objects[0].scale == 0.5
        return
    with pytest.raises(SpecError) as caught:
        after(*changes)
    assert path in {diagnostic.path for diagnostic in caught.value.diagnostics}
    assert all(str(diagnostic).startswith("after --set-scene: ") for diagnostic in caught.value.diagnostics)


def test_an_object_of_objects_has_no_positions() -> None:
    spec = {
        "version": 1,
        "id": "seen",
        "frames": [{"objects": [{"name": "a"}], "observers": [{"name": "Ann", "looks_at": "a"}]}],
    }
    changes = [(("frames", 0, "objects"), {"a": {}, "b": {}}), (("frames", 0, "objects", "a"), REMOVED)]
    with pytest.raises(SpecError, match=r"frames\[0\]\.objects: "):
        change_scene(diorama.compile_spec(spec, "draft", (96, 72)), changes)


def test_what_stood_on_the_ground_stands_there_in_another_size() -> None:
    found = after("frames[0].objects[a].size=0.25", "frames[0].objects[a].location=[1,2]").frames[0].objects[0]
    assert (found.scale, found.location) == (0.25, (1.0, 2.0, 0.25))
    found = after("frames[0].objects[a].location=[1,2,3]", "frames[0].objects[a].size=0.25").frames[0].objects[0]
    assert (found.scale, found.location) == (0.25, (1.0, 2.0, 3.0))


fields = ["color", "size", "location", "scale", "material", "rotation_deg", "name", "index", "shape"]
places = st.one_of(
    st.sampled_from(
        [
            ("frames",),
            ("frames", 0),
            ("frames", 0, "objects"),
            ("frames", 0, "pointer"),
            ("frames", 0, "views", 0, "camera", "lens"),
        ]
    ),
    st.tuples(
        st.just("frames"), st.just(0), st.just("objects"), st.sampled_from([0, 1, "b"]), st.sampled_from([*fields, 0])
    ),
    st.tuples(st.just("frames"), st.just(0), st.just("objects"), st.sampled_from([0, 1, "b"])),
)
values: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 5, 0.5, "blue", "large", "", [], [1, 2], [1, 2, 3], [1, "a", None], {}, {"name": 5}, [{}], REMOVED]
)


@given(st.lists(st.tuples(places, values), max_size=4))
def test_any_changes_give_a_scene_or_are_refused(changes: list[tuple[tuple[int | str, ...], Any]]) -> None:
    try:
        assert isinstance(change_scene(scene(), changes), Scene)
    except DioramaError as error:
        assert str(error)
