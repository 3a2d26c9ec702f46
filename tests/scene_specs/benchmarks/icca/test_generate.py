"""Contexts are as alike and as hard to name as their level says, by counting that shares no code with the generator."""

from __future__ import annotations

import json
from itertools import combinations, permutations
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.icca import generate
from diorama.scene_specs.benchmarks.icca.difficulty import summary, summary_table
from diorama.scene_specs.benchmarks.icca.image_sources import SOURCES
from diorama.scene_specs.benchmarks.icca.layout import graph_from_json, is_true_of
from diorama.scene_specs.benchmarks.icca.referring_expressions import Lexicon
from diorama.scene_specs.benchmarks.icca.truth import Truth
from diorama.scene_specs.benchmarks.icca.verify import find_contradiction, pictures_of_spec, verify_spec
from diorama.scene_specs.errors import SpecError, UsageError
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.benchmark import benchmark_of
from tests.scene_specs.benchmarks.icca.pieces import context_spec, context_specs

KINDS = [(source, vary) for source, own in SOURCES.items() for vary in own.vary] + [("tangram", "parts")]
LEVELS = ("easy", "medium", "hard")
Things = list[dict[str, str]]


def things(spec: Any) -> list[Things]:
    return [frame["truth"]["picture"]["things"] for frame in spec["frames"]]


def apart(one: Things, other: Things) -> int:
    """Values that differ, things matched so that they are fewest."""
    return min(
        sum(a[name] != b[name] for a, b in zip(one, row, strict=True) for name in a) for row in permutations(other)
    )


def alone(spec: Any) -> list[set[tuple[str, str]]]:
    """Values that only this picture has."""
    sets = [{(name, value) for thing in shown for name, value in thing.items()} for shown in things(spec)]
    return [{one for one in own if sum(one in other for other in sets) == 1} for own in sets]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("source", "vary"), KINDS)
def test_a_context_is_a_right_spec_and_proved(source: str, vary: str, level: str) -> None:
    spec = context_spec(1, level, source, vary)
    EpisodeSpec.model_validate(spec)
    assert benchmark_of(spec["task"]) == "icca"
    assert verify_spec(spec) == ""
    assert spec["task"]["options"] == ["image-0", "image-1", "image-2", "image-3"]


@pytest.mark.parametrize("source", ["clevr", "shapenet", "flat"])
def test_levels_by_counting(source: str) -> None:
    for level in LEVELS:
        for spec in context_specs(5, level, source, seed=3):
            shown = things(spec)
            counts = [apart(a, b) for a, b in combinations(shown, 2)]
            names = alone(spec)
            if level == "hard":
                assert counts == [1] * 6
                assert not any(names)
            elif level == "medium":
                assert counts == [2] * 6
            else:
                assert 2 * min(counts) >= sum(map(len, shown[0]))
                assert all(names)
            assert [*spec["task"]["similarity"]["differences"].values()] == counts


def test_nothing_is_shown_that_people_would_call_something_else() -> None:
    for level in LEVELS:
        for spec in context_specs(8, level, "clevr", seed=11):
            for thing in (one for shown in things(spec) for one in shown):
                assert (thing["color"], thing["material"]) != ("gray", "glass")
                assert thing["material"] != "glowing" or thing["color"] in ("blue", "green", "cyan", "yellow")


def test_hard_tangrams_lack_a_part_each() -> None:
    for spec in context_specs(5, "hard", "tangram"):
        parts = [{thing["part"] for thing in shown} for shown in things(spec)]
        assert all(len(one - other) == 1 for one in parts for other in parts if one is not other)
        assert not any(alone(spec))


def test_relations_differ_and_things_do_not() -> None:
    for level, counts in (("hard", {1, 2}), ("medium", {2, 3})):
        for spec in context_specs(3, level, "clevr", "relations"):
            assert {apart(a, b) for a, b in combinations(things(spec), 2)} == {0}
            assert {*spec["task"]["similarity"]["differences"].values()} <= counts
            assert spec["id"].startswith(f"icca/clevr-relations/{level}/")


def test_one_alone_is_as_among_others() -> None:
    among = list(context_specs(4, "hard", "clevr", seed=5))
    assert [spec["id"] for spec in among] == [f"icca/clevr/hard/{k:06d}" for k in range(4)]
    assert json.dumps(context_spec(2, "hard", "clevr", seed=5)) == json.dumps(among[2])
    assert list(context_specs(1, "hard", "clevr", seed=5, first=3)) == among[3:]
    assert context_spec(2, "hard", "clevr", seed=6) != among[2]


def test_descriptions_are_in_the_truth() -> None:
    spec = context_spec(0, "hard", "clevr")
    shown = [graph_from_json(frame["truth"]["picture"]) for frame in spec["frames"]]
    for k, said in enumerate(spec["task"]["descriptions"]):
        for name in ("full_brevity", "incremental"):
            description = graph_from_json(said[name]["says"])
            assert [is_true_of(description, one) for one in shown] == [j == k for j in range(4)]


@pytest.mark.alike
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("source", "vary"), KINDS)
def test_the_words_of_descriptions_name_one_picture(source: str, vary: str, level: str) -> None:
    for spec in context_specs(4, level, source, vary, seed=8):
        shown = [graph_from_json(frame["truth"]["picture"]) for frame in spec["frames"]]
        lexicon = Lexicon(shown)
        for k, said in enumerate(spec["task"]["descriptions"]):
            for name in ("full_brevity", "incremental"):
                heard = lexicon.parse(said[name]["text"])
                assert [is_true_of(heard, one) for one in shown] == [j == k for j in range(4)], said[name]["text"]


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda spec: spec["frames"][0]["objects"][0].update(color="gray", material="metal", shape="star",
                                                            size="small"), "not those of truth.picture"),
        (lambda spec: spec["frames"][0]["objects"][0].update(color="pink"), "found color 'pink'"),
        (lambda spec: spec["frames"][0]["truth"].pop("picture"), 'key "picture" is missing'),
    ],
)  # fmt: skip
def test_objects_that_are_not_the_truth(spoil: Any, problem: str) -> None:
    spec = context_spec(0, "hard", "clevr")
    spoil(spec)
    with pytest.raises(SpecError, match=problem):
        verify_spec(spec)


@pytest.mark.parametrize(("source", "vary"), [kind for kind in KINDS if kind[0] != "tangram"])
def test_the_outlines_of_a_hard_context_are_in_the_same_places(source: str, vary: str) -> None:
    for spec in context_specs(4, "hard", source, vary):
        keys = ("place",) if source == "shapenet" else ("location", "rotation_deg", "size", "shape")
        outlines = [sorted(repr([item[key] for key in keys]) for item in frame["objects"]) for frame in spec["frames"]]
        assert all(one == outlines[0] for one in outlines)
        assert all(frame.get("camera") == spec["frames"][0].get("camera") for frame in spec["frames"])


def test_wrong_truth_is_found() -> None:
    spec = context_spec(0, "hard", "clevr")
    shown = pictures_of_spec(spec, Truth.of_spec(spec))
    said = spec["task"]["descriptions"]
    said[0], said[1] = said[1], said[0]
    assert "is not true of it" in find_contradiction(Truth.of_spec(spec), shown)
    longer = (
        one for one in context_specs(9, "hard", "clevr") if one["task"]["descriptions"][2]["incremental"]["length"] > 3
    )
    spec = next(longer)
    named = spec["task"]["descriptions"][2]
    named["full_brevity"] = named["incremental"]
    assert "is not the shortest" in verify_spec(spec)
    spec["task"]["similarity"]["differences"]["0-1"] = 99
    assert "stored is" in verify_spec(spec)
    spec = context_spec(0, "hard", "clevr")
    spec["task"]["descriptions"][1]["full_brevity"]["text"] = "an elephant"
    assert "'an elephant' is not what it stands for" in find_contradiction(Truth.of_spec(spec), shown)
    spec = context_spec(0, "hard", "clevr")
    spec["task"]["descriptions"][1]["single"] = ["color=red"]
    assert "stored is ['color=red']" in find_contradiction(Truth.of_spec(spec), shown)
    named = context_spec(4, "medium", "flat", "relations")
    named["task"]["name"] = "hard"
    assert verify_spec(named).startswith("it is not hard")
    with pytest.raises(
        SpecError, match=r'(?s)task\.name: required.*task\.descriptions\[3\]\.single: required key "single"'
    ):
        Truth.of_spec({"task": {"benchmark": "icca", "descriptions": [{}] * 4}})


def test_summary() -> None:
    rows = summary(context_specs(3, "hard", "clevr"))
    assert rows[0]["differences"] == {"1": 18}
    assert (rows[0]["images"], rows[0]["named_by_one_value"]) == (12, 0)
    assert "| clevr | attributes | hard | 3 |" in summary_table(rows)
    for spoil in ({"descriptions": [1, 2]}, {"similarity": None}, {"similarity": {"values": "x", "differences": {}}}):
        spec = context_spec(0, "hard", "clevr")
        spec["task"].update(spoil)
        with pytest.raises(SpecError, match=r"icca/clevr/hard/000000: task\.(descr|simil)"):
            summary([spec])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((10**6, "hard", "clevr"), "numbered from 0 to 999999"),
        ((0, "hard", "shapenet", "relations"), "can't differ in 'relations'"),
        ((0, "hard", "tangram", "attributes"), "can't differ in 'attributes'"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        context_spec(*arguments)


@pytest.mark.parametrize(("source", "vary", "level"), [("clevr", "relations", "medium"), ("tangram", "parts", "easy")])
def test_a_context_that_is_not_found(monkeypatch: pytest.MonkeyPatch, source: str, vary: str, level: str) -> None:
    monkeypatch.setattr(generate, "_ATTEMPTS", 0)
    monkeypatch.setattr(generate, "_TANGRAM_ATTEMPTS", 0)
    with pytest.raises(SpecError, match=rf"{level}/000003: not found in 0 attempts .choose another --seed or --first"):
        context_spec(3, level, source, vary)
