"""What the compiler decided, written into the spec: nothing moves but what is changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings

from diorama.render.compiler import compile_episode
from diorama.render.uses.rerender.edit import change_scene
from diorama.render.uses.rerender.pin_layout import pin_layout
from diorama.scene_specs.errors import CompileError, SpecError, UsageError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.source import parse_episode
from tests.render.compiler.strategies import episodes

DRAFT = settings_for("draft", 320, 240)
EXAMPLES = sorted((Path(__file__).parents[4] / "scene_specs/examples").glob("*.json"))


@settings(max_examples=25)
@given(episodes)
def test_a_settled_spec_gives_the_scene_it_was_settled_by(spec: EpisodeSpec) -> None:
    try:
        scene = compile_episode(spec, DRAFT)
    except (CompileError, SpecError):
        assume(False)
    settled = pin_layout(spec, scene)
    assert compile_episode(settled, DRAFT) == scene
    assert all(item.location is not None for frame in settled.frames for item in frame.objects)


@pytest.mark.alike
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_can_be_settled(path: Path) -> None:
    spec = parse_episode(path.read_text())
    scene = compile_episode(spec, DRAFT)
    assert compile_episode(pin_layout(spec, scene), DRAFT) == scene


PRAGMATIC: dict[str, Any] = {
    "version": 1,
    "id": "settle/hand",
    "frames": [
        {
            "objects": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
            "pointer": {"target": "b"},
            "constraints": [{"relation": "left", "subject": "a", "of": "c"}, {"axis_margin": 0.4}],
        }
    ],
}


def test_a_layout_rule_read_more_strictly_when_given_is_left_out_and_relations_stay() -> None:
    for seed in range(12):
        spec = EpisodeSpec.model_validate({**PRAGMATIC, "seed": seed})
        settled = pin_layout(spec, compile_episode(spec, DRAFT))
        assert any(constraint.relation == "left" for constraint in settled.frames[0].constraints)


def test_a_scene_that_the_spec_does_not_give_is_refused_with_what_would_move() -> None:
    spec = EpisodeSpec.model_validate(PRAGMATIC)
    scene = compile_episode(spec, DRAFT)
    odd = change_scene(scene, [(("frames", 0, "seed"), 5)])
    with pytest.raises(UsageError, match=r"frames\[0\].seed 5 would become .* use --set-scene"):
        pin_layout(spec, odd)


def scene_of(**item: Any) -> Scene:
    spec = {"version": 1, "id": "s", "frames": [{"objects": [{"name": "a", "shape": "cube", **item}]}]}
    return compile_episode(EpisodeSpec.model_validate(spec), DRAFT)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("color", "cyan"),
        ("color", [1, 200, 3]),
        ("size", "large"),
        ("size", 0.5),
        ("material", "metal"),
        ("rotation_deg", 9.0),
    ],
)
def test_words_of_a_spec_change_a_scene_as_the_spec_would(field: str, value: Any) -> None:
    place = {"location": [1.0, 0.5], "rotation_deg": 20.0, "size": "small", "color": "red", "material": "rubber"}
    found = change_scene(scene_of(**place), [(("frames", "frame-0", "objects", "a", field), value)])
    assert found.frames == scene_of(**{**place, field: value}).frames


def flat_scene(color: str) -> Scene:
    item = {"name": "a", "shape": "square", "size": 100.0, "color": color, "location": [500, 500], "rotation_deg": 0}
    spec = {"version": 1, "id": "s", "stage": "flat", "frames": [{"objects": [item]}]}
    return compile_episode(EpisodeSpec.model_validate(spec), DRAFT)


def test_words_mean_what_they_mean_on_the_scenes_own_stage() -> None:
    place = ("frames", 0, "objects", 0, "color")
    assert change_scene(flat_scene("red"), [(place, "white")]).frames == flat_scene("white").frames
    assert change_scene(flat_scene("red"), [(place, "green")]).frames == flat_scene("green").frames
    with pytest.raises(UsageError, match="unknown color 'coral'"):
        change_scene(flat_scene("red"), [(place, "coral")])


def test_a_scene_is_moved_on_the_ground_by_two_numbers() -> None:
    scene = scene_of(location=[1, 1, 2.5])
    found = change_scene(scene, [(("frames", 0, "objects", 0, "location"), [0.5, -0.5])])
    assert found.frames[0].objects[0].location == (0.5, -0.5, 2.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((("frames", 0, "objects", 0, "color"), "bleu"), "unknown color 'bleu'"),
        ((("frames", 0, "objects", 0, "size"), "big"), "unknown size 'big'"),
        ((("frames", 0, "objects", 0, "location"), "there"), "frames[0].objects[0].location"),
        ((("frames", 0, "objects", 0, "colour"), "red"), "did you mean 'color'?"),
    ],
)
def test_what_a_scene_cannot_be_is_said(change: tuple[Any, Any], words: str) -> None:
    with pytest.raises((UsageError, SpecError)) as caught:
        change_scene(scene_of(), [change])
    assert words in str(caught.value)


def test_a_changed_scene_reads_back_as_it_is() -> None:
    found = change_scene(scene_of(), [(("frames", 0, "objects", 0, "color"), "cyan")])
    assert parse_episode(json.dumps(found.model_dump(mode="json"))) == found
