"""What every benchmark promises: right specs that depend on their seed and number alone, and a true verification."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.source import SpecSource
from diorama.scene_specs.tasks.answer_rule import answer_of
from diorama.scene_specs.tasks.benchmark import Benchmark, Command, Report, benchmark, option
from diorama.scene_specs.tasks.items import items_of
from tests import factories
from tests.compatibility.commands import run, run_json
from tests.contracts.members import EPISODES, members
from tests.scene_specs.benchmarks.verdict import verdict

# Leaves of `task` that are the stored truth, and a wrong value of the same form.
WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "acme": lambda task: task.update(answer=task["answer"] + 1),
    "icca": lambda task: task["descriptions"].reverse(),
    "iwisdm": lambda task: task["answers"].append((task["answers"].pop() == "true" and "false") or "true"),
    "kilogram": lambda task: task.update(answer=next(one for one in task["options"] if one != task["answer"])),
    "malevic": lambda task: task.update(answer=next(one for one in task["options"] if one != task["answer"])),
    "mewl": lambda task: task.update(answer=next(one for one in task["options"] if one != task["answer"])),
    "novel": lambda task: task.update(answer=next(one for one in task["options"] if one != task["answer"])),
    "perspective": lambda task: task.update(answer=next(one for one in task["options"] if one != task["answer"])),
}
# What a benchmark's specs say, even where it is the default.
STAGES = {
    "clevr": {"clevr"}, "icca": {"clevr", "flat", "quadrants", "tangram"}, "iwisdm": {"quadrants"},
    "kilogram": {"clevr", "tangram"}, "malevic": {"flat", "table"}, "mewl": {"mewl"}, "novel": {"mewl"},
    "perspective": {"mewl"}, "views": {"studio"},
}  # fmt: skip
# The option for the number of episodes, where it is not `count`; games of kilogram follow from the drawings.
LIMITS = {"icca": "contexts", "kilogram": None, "views": "limit"}
ALL = pytest.mark.parametrize("name", members("benchmarks"))
VERIFIED = pytest.mark.parametrize("name", [name for name in members("benchmarks") if name in WRONG])


def made(found: Benchmark, given: dict[str, Any]) -> list[Any]:
    """The first episodes of some options."""
    specs = found.function(found.options.run)(found.options(**given))
    return list(islice(specs, 3))


def check_seed(found: Benchmark, given: dict[str, Any]) -> None:
    first = made(found, {**given, "seed": 5})
    assert json.dumps(made(found, {**given, "seed": 5})) == json.dumps(first), "one seed, two sets"
    assert made(found, {**given, "seed": 6}) != first, "the seed changes nothing"


def check_parts(found: Benchmark, given: dict[str, Any]) -> None:
    """Any part of a set can be generated alone."""
    number = LIMITS.get(found.name, "count")
    if number is not None:
        part = {number: 1, **({"first": 1} if "first" in found.options.model_fields else {})}
        start = part.get("first", 0)
        assert made(found, {**given, **part}) == made(found, given)[start : start + 1]


def check_specs(found: Benchmark, given: dict[str, Any]) -> None:
    specs = made(found, given)
    diagnostics, count = SpecSource.of(specs).check()
    assert (diagnostics, count) == ([], len(specs))
    assert len({spec["id"] for spec in specs}) == len(specs) > 1
    assert json.loads(json.dumps(specs)) == specs, "not JSON data"
    stages = STAGES.get(found.name)
    assert stages is None or {spec.get("stage") for spec in specs} <= stages


def check_options(found: Benchmark, given: dict[str, Any]) -> None:
    options = found.options(**given)
    assert found.options.model_validate_json(options.model_dump_json()) == options
    for field in found.options.model_fields.values():
        assert field.description or (field.json_schema_extra or {}).get("argument")  # type: ignore[union-attr]


def check_verification(found: Benchmark, given: dict[str, Any]) -> None:
    verifier = found.verifier
    assert verifier is not None
    for spec in made(found, given):
        assert verifier.verify_spec(spec) == ""
        wrong = copy.deepcopy(spec)
        WRONG[found.name](wrong["task"])
        assert wrong != spec
        assert verdict(verifier.verify_spec, wrong) != "", spec["id"]


def check_records(found: Benchmark, given: dict[str, Any]) -> None:
    verifier = found.verifier
    assert verifier is not None
    spec = made(found, given)[0]
    # In smaller images, an object can be too small to be seen.
    record = make_record(
        FakeRenderer(), EpisodeSpec.model_validate(spec), factories.make_job(spec), settings_for("draft", 160, 120)
    )
    assert verifier.verify_record(record) == ""
    task = copy.deepcopy(record.scene.task or {})
    WRONG[found.name](task)
    wrong = record.model_copy(update={"scene": record.scene.model_copy(update={"task": task})})
    assert verdict(verifier.verify_record, wrong) != ""


def check_items(found: Benchmark, given: dict[str, Any]) -> None:
    """Items have unique ids and distinct options, and no text gives the answer away."""
    assert found.items is not None
    for spec in made(found, given):
        record = make_record(
            FakeRenderer(), EpisodeSpec.model_validate(spec), factories.make_job(spec), settings_for("draft", 64, 48)
        )
        items = list(items_of(record))
        assert [item.number for item in items] == [*range(len(items))] and items
        assert list(items_of(record)) == items
        for item in items:
            assert item.answer in item.options and len({*item.options}) == len(item.options) > 1
            assert any(part.image for part in item.parts) and all(bool(p.text) != bool(p.image) for p in item.parts)
            assert not any("{" in part.text for part in item.parts), "a field of the prompt is left"
            assert answer_of(item.label, item.options, item.lettered) == item.answer
        json.dumps([dict(item.groups) for item in items])


CHECKS = (check_seed, check_parts, check_specs, check_options)


def test_every_benchmark_has_a_row() -> None:
    assert set(members("benchmarks")) == set(EPISODES)
    with_verifier = {name for name in members("benchmarks") if benchmark(name).verifier is not None}
    assert with_verifier == set(WRONG) == {name for name in members("benchmarks") if benchmark(name).items is not None}


@ALL
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_benchmark_keeps_its_contract(name: str, check: Callable[[Benchmark, dict[str, Any]], None]) -> None:
    check(benchmark(name), EPISODES[name])


@VERIFIED
def test_items_can_be_asked_and_answered(name: str) -> None:
    check_items(benchmark(name), EPISODES[name])


@VERIFIED
@pytest.mark.parametrize("check", [check_verification, check_records], ids=lambda check: check.__name__)
def test_a_verification_finds_wrong_answers(name: str, check: Callable[[Benchmark, dict[str, Any]], None]) -> None:
    check(benchmark(name), EPISODES[name])


def arguments(options: Command, given: dict[str, Any]) -> Iterator[str]:
    """The options as a user writes them."""
    for key, value in given.items():
        extra: Any = type(options).model_fields[key].json_schema_extra or {}
        if extra.get("argument"):
            yield from value
        else:
            text = "-".join(map(str, value)) if isinstance(value, tuple) else str(value)
            yield f"{extra.get('name', '--' + key.replace('_', '-'))}={text}"


@ALL
def test_the_command_and_python_give_the_same(name: str, tmp_path: Path) -> None:
    given = EPISODES[name]
    file = tmp_path / "specs.jsonl"
    run("render-specs", name, *arguments(benchmark(name).options(**given), given), "--out", file)
    written = [json.loads(line) for line in islice(file.read_text().splitlines(), 3)]
    assert written == list(islice(diorama.generate(name, **given), 3))
    for command in benchmark(name).commands.values():
        if issubclass(command, Report):
            words = ("render-specs", name, command.__name__.lower(), file)
            assert run_json(*words) is not None and run(*words).strip()


def broken(**changes: Any) -> Benchmark:
    """A benchmark that keeps its contract, but for the changes."""
    calls: list[int] = []

    class Options(Command):
        count: int = option(2, "Number of episodes.")
        seed: int = option(0, "Seed.")

    def generate(options: Any) -> Iterator[dict[str, Any]]:
        calls.append(1)
        for number in range(options.count):
            yield {
                "version": 1, "id": f"acme/{changes.get('id', number)}", "seed": options.seed * changes.get("seed", 1),
                "frames": [{"objects": [{"color": changes.get("color", "red")}]}],
                "task": {"benchmark": "acme", "answer": len(calls) if "calls" in changes else 1},
                **({"split": f"of-{options.count}"} if "total" in changes else {}),
            }  # fmt: skip

    def verify_spec(data: Any) -> str:
        return str(changes.get("verdict", "wrong" * (data["task"]["answer"] != 1)))

    module = SimpleNamespace(
        Options=changes.get("Options", Options), generate=generate, verify_spec=verify_spec,
        verify_record=lambda record: verify_spec({"task": record.scene.task}),
    )  # fmt: skip
    return Benchmark("acme", module)


class _Undescribed(Command):
    count: int = 2


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"calls": True}, check_seed),
        ({"seed": 0}, check_seed),
        ({"total": True}, check_parts),
        ({"id": "same"}, check_specs),
        ({"color": "reddish"}, check_specs),
        ({"verdict": ""}, check_verification),
        ({"verdict": "always wrong"}, check_verification),
        ({"verdict": ""}, check_records),
        ({"Options": _Undescribed}, check_options),
    ],
)
def test_a_broken_benchmark_is_caught(
    changes: dict[str, Any], check: Callable[[Benchmark, dict[str, Any]], None]
) -> None:
    check(broken(), {"count": 2})
    with pytest.raises((AssertionError, SpecError)):
        check(broken(**changes), {"count": 2})
