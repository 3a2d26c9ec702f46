"""Truth as models: they hold all that a spec stores, and name every key that they don't know."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import diorama
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.tasks.benchmark import benchmark
from diorama.scene_specs.tasks.truth import TaskTruth

OPTIONS: dict[str, Any] = {
    "icca": {"contexts": 1},
    "iwisdm": {"benchmark": "low", "count": 1},
    "kilogram": {"condition": "aug"},
    "malevic": {"name": "pos", "split": "test", "count": 1},
    "mewl": {"task": "bootstrap", "split": "val", "count": 1},
    "novel": {"task": "generalization", "count": 1},
    "perspective": {"task": "level-1", "count": 1},
}


def spec_of(name: str) -> Any:
    return next(iter(diorama.generate(name, **OPTIONS[name])))


@pytest.mark.parametrize("name", OPTIONS)
def test_a_model_holds_all_that_is_stored_and_names_what_it_does_not_know(name: str) -> None:
    spec = spec_of(name)
    module = import_module(f"diorama.scene_specs.benchmarks.{name}.{'concepts' if name == 'novel' else 'truth'}")
    model: type[TaskTruth] = module.Truth
    assert model.of_spec(spec).model_dump(mode="json", exclude_unset=True) == spec["task"]
    verifier = benchmark(name).verifier
    assert verifier is not None
    assert verifier.verify_spec(spec) == ""
    spec["task"]["numbr"] = spec["task"].pop("number")
    with pytest.raises(SpecError) as caught:
        verifier.verify_spec(spec)
    found = [one for one in caught.value.diagnostics if one.path == "task.numbr"]
    assert [(one.episode, one.hint) for one in found] == [(spec["id"], "did you mean 'number'?")]
    assert found[0].problem.startswith('unknown key "numbr"; allowed: benchmark, name, ')


def test_an_episode_of_another_benchmark_is_one_message() -> None:
    verifier = benchmark("mewl").verifier
    assert verifier is not None
    with pytest.raises(SpecError, match=r'^spec: episode \S+: task\.benchmark: found "icca"; allowed: "mewl"$'):
        verifier.verify_spec(spec_of("icca"))


def changed(name: str, *path: int | str, value: Any) -> str:
    """The messages about a spec whose task has another value somewhere."""
    spec = spec_of(name)
    place = spec["task"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    module = import_module(f"diorama.scene_specs.benchmarks.{name}.truth")
    with pytest.raises(SpecError) as caught:
        module.Truth.of_spec(spec)
    return str(caught.value)


def test_what_is_allowed_is_not_what_a_spec_allows_in_a_field_of_this_name() -> None:
    assert "objects[0].color: found [240, 191, 29]; allowed: a string" in changed(
        "malevic", "objects", 0, "color", value=[240, 191, 29]
    )


@pytest.mark.parametrize("name", ["icca", "iwisdm", "kilogram", "mewl", "perspective"])
@pytest.mark.parametrize("value", [True, "2"])
def test_a_number_is_an_integer(name: str, value: Any) -> None:
    assert "task.number: found" in changed(name, "number", value=value)


def test_a_node_has_only_what_its_kind_has() -> None:
    node: Any = {"name": "Select", "frame": 0, "property": "category", "value": "cars", "child": []}
    assert "Select: found" in changed("iwisdm", "questions", 0, "operator", value=node)


def test_a_question_has_an_answer() -> None:
    assert "answer: missing" in changed("malevic", "answer", value="")


def test_an_unknown_key_beside_a_model_that_contains_itself_is_a_message() -> None:
    assert 'task.zzz: unknown key "zzz"; allowed: benchmark, name' in changed("iwisdm", "zzz", value=1)
