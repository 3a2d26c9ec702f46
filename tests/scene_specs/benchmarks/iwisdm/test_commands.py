"""`render-specs iwisdm | balance | check --prove` as their user meets them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.specs import main
from diorama.scene_specs.benchmarks.iwisdm import Options
from diorama.scene_specs.benchmarks.iwisdm.autotask_config import benchmark_limits, published_form
from diorama.scene_specs.benchmarks.iwisdm.classic_tasks import TASKS


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    target = tmp_path / "low.jsonl"
    made = run("iwisdm", "--benchmark", "low", "--count", 30, "--seed", 4, "--balanced", "--out", target)
    assert made.exit_code == 0
    return target


def test_one_alone_is_as_among_others(file: Path) -> None:
    alone = run("iwisdm", "--benchmark", "low", "--first", 21, "--count", 1, "--seed", 4, "--balanced")
    assert alone.output == file.read_text().splitlines()[21] + "\n"


def test_proofs(file: Path, tmp_path: Path) -> None:
    good = run("check", "--prove", file)
    assert (good.exit_code, good.output) == (0, "30 episodes, no errors, all proved\n")
    specs = [json.loads(line) for line in file.read_text().splitlines()]
    answers = specs[3]["task"]["answers"]
    answers[-1] = "false" if answers[-1] == "true" else "true"
    specs[5]["task"]["instruction"] = "what is this?"
    specs[7]["task"]["answers"].pop()
    broken = tmp_path / "broken.jsonl"
    broken.write_text("".join(json.dumps(spec) + "\n" for spec in specs))
    bad = run("check", "--prove", broken)
    assert bad.exit_code == 2
    assert f"{broken}:4: episode {specs[3]['id']}: task: frame 5: the stored answer is '{answers[-1]}'" in bad.output
    assert f"{broken}:6: episode {specs[5]['id']}: task: the instruction can't be read" in bad.output
    assert "5 answers are stored for 6 frames" in bad.output


def test_balance(file: Path, tmp_path: Path) -> None:
    rows = json.loads(run("iwisdm", "balance", file, "--json").output)
    assert rows == [
        {"name": "low-all", "trials": 30, "kind": "true or false", "answers": {"false": 15, "true": 15}, "p": 1.0,
         "text": pytest.approx(0.5, abs=0.25), "conditions": None},
    ]  # fmt: skip
    assert "| low-all | 30 | true or false | false 15, true 15 | 1.000 |" in run("iwisdm", "balance", file).output
    other = tmp_path / "clevr.jsonl"
    run("clevr", "--count", 1, "--out", other)
    assert run("iwisdm", "balance", other).exit_code == 2
    text = file.read_text()
    other.write_text(text.replace("observe", "behold"))
    assert "expected 'observe object 1,'" in run("iwisdm", "balance", other).output


def test_answers_that_never_occur_count(tmp_path: Path) -> None:
    specs = [json.loads(line) for line in run("iwisdm", "--task", "dms", "--count", 12).output.splitlines()]
    for spec, answer in zip(specs, ["true"] * 8 + ["cars"] * 4, strict=True):
        spec["task"]["answers"][-1] = answer
    (file := tmp_path / "one-sided.jsonl").write_text("".join(json.dumps(spec) + "\n" for spec in specs))
    word, boolean = json.loads(run("iwisdm", "balance", file, "--json").output)
    assert boolean["answers"] == {"true": 8, "false": 0} and boolean["p"] < 0.01 and boolean["text"] == 1
    assert word["answers"] == dict.fromkeys(specs[0]["task"]["categories"], 0) | {"cars": 4} and word["p"] < 0.01


def test_sources(tmp_path: Path) -> None:
    config = tmp_path / "mine.json"
    config.write_text(published_form(benchmark_limits("low")).model_dump_json())
    own = run("iwisdm", "--config", config, "--count", 2, "--split", "val", "--name", "mine")
    assert [json.loads(line)["id"] for line in own.output.splitlines()] == [f"iwisdm/val/mine/00000{k}" for k in (0, 1)]
    bank = run("iwisdm", "--task", "n-back", "--set", "n=1", "--set", "length=3", "--count", 1, "--fixation", "none",
               "--background", "128,128,128")  # fmt: skip
    frames = json.loads(bank.output)["frames"]
    assert [(frame["background"], "fixation" in frame) for frame in frames] == [([128, 128, 128], False)] * 3
    chained = run("iwisdm", "--benchmark", "low", "--chain", 2, "--count", 1)
    assert json.loads(chained.output)["id"] == "iwisdm/train/low-all-x2-0/000000"


def test_every_classic_task_is_an_option() -> None:
    field = Options.model_fields["task"]
    assert {name for one in get_args(field.annotation) for name in get_args(one)} == {*TASKS}
    assert all(name in (field.description or "") for name in TASKS)


@pytest.mark.alike
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("--count 1", "give one of"),
        ("--count 1 --benchmark low --task dms", "give one of"),
        ("--count 1 --benchmark low --set n=1", "--set is for --task"),
        ("--count 1 --task dms --chain 2", "are for benchmarks"),
        ("--count 1 --task dms --properties location", "--properties is for --benchmark"),
        ("--count 1 --benchmark low --longest-delay 20000000", "expected an integer from 1 to 64"),
        ("--count 1 --task dms --set n=1", "task dms has no setting 'n'; it has: delay, property"),
        ("--count 1 --task dms --set n", "expected KEY=VALUE"),
        ("--count 1 --task dms --background red", "expected R,G,B"),
        (
            "--count 60 --benchmark single-frame",
            "found 48 tasks that differ in operators or frames; ",
        ),
        (
            "--count 9 --benchmark low --properties category --unique structure",
            "found 8 tasks that differ in operators;",
        ),
        ("--count 1 --benchmark low --name a/b", "--name: expected"),
        ("--count 1 --task dms --hold-out structures", "are for benchmarks"),
        ("--count 1 --task ax-cpt --set ay=0 --set bx=0 --set by=0", "ay, bx and by are 0"),
        ("--count 1 --first 10000000 --benchmark low --unique none", "numbered from 0 to 9999999"),
        ("--count 1 --benchmark single-frame --properties identity", "can't be asked about identity"),
        ("--count 2 --task visual-search --set property=location --set objects=4 --balanced", "no objects fulfill"),
        ("--count 1 --task 12-ax --condition-matters", "have no effect on task 12-ax"),
        ("--count 1 --task n-back --foils 0", "have no effect on task n-back"),
    ],
)
def test_what_cannot_be_had(arguments: str, problem: str, tmp_path: Path) -> None:
    refused = run("iwisdm", *arguments.split(), "--out", tmp_path / "x.jsonl")
    assert (refused.exit_code, problem in " ".join(refused.output.split())) == (2, True), refused.output
    assert not [*tmp_path.iterdir()]


def test_files_of_options_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "latin.json"
    file.write_bytes(b'{"m\xfcgs": ["#1"]}')
    for option in (("--benchmark", "low", "--stimuli", file), ("--config", file)):
        refused = run("iwisdm", "--count", 1, *option)
        assert (refused.exit_code, "byte 3: not UTF-8" in refused.output) == (2, True)


def test_far_numbers_are_as_quick_as_near_ones_where_tasks_may_be_alike() -> None:
    far = run("iwisdm", "--benchmark", "low", "--unique", "none", "--first", 9_999_998, "--count", 2)
    assert [json.loads(line)["task"]["number"] for line in far.output.splitlines()] == [9_999_998, 9_999_999]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"answers": 5}, "task.answers"),
        ({"answers": ["true", None]}, "task.answers"),
        ({"instruction": 3}, "task.instruction"),
        ({"instruction": "observe object 1," + 5000 * "("}, "nested too deeply"),
    ],
)
def test_tasks_that_are_no_trials_are_faults(file: Path, tmp_path: Path, change: dict[str, object], said: str) -> None:
    spec = json.loads(file.read_text().splitlines()[0])
    spec["task"].update(change)
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps(spec))
    for command in (("check", "--prove"), ("iwisdm", "balance")):
        found = run(*command, broken)
        assert found.exit_code == 2
        assert said in found.output


def test_an_instruction_is_answered(file: Path, tmp_path: Path) -> None:
    shown = tmp_path / "frames.json"
    shown.write_text(json.dumps([[{"category": "cars", "location": "top left"}], [], [{"category": "boats"}]]))
    text = "observe object 1, category of object 1 equals cars? delay, observe object 2, category of object 2?"
    assert run("iwisdm", "answer", text, "--frames", shown).output == "true\nboats\n"
    spec = json.loads(file.read_text().splitlines()[0])
    shown.write_text(json.dumps(spec))
    found = run("iwisdm", "answer", spec["task"]["instruction"], "--frames", shown, "--json")
    assert json.loads(found.output) == {"answers": spec["task"]["answers"]}
    refused = run("iwisdm", "answer", "observe object 2, color of object 1?", "--frames", shown)
    assert (refused.exit_code, "expected an observed object" in refused.output) == (2, True)
    shown.write_text("[[{}], 3]")
    assert run("iwisdm", "answer", text, "--frames", shown).exit_code == 2


def test_shares_that_are_no_numbers(tmp_path: Path) -> None:
    found = run("iwisdm", "--benchmark", "low", "--count", 1, "--foils", "nan", "--out", tmp_path / "x.jsonl")
    assert found.exit_code == 2 and "found nan" in found.output
    assert not (tmp_path / "x.jsonl").exists()


def test_published_configurations(tmp_path: Path) -> None:
    theirs, own = tmp_path / "low.json", tmp_path / "own.json"
    theirs.write_text(published_form(benchmark_limits("low", "category")).model_dump_json())
    own.write_text('{"properties": ["view_angle"], "roots": ["IsSame"], "frames": [2, 3], "joins": [0, 0]}')
    made = run("iwisdm", "--config", theirs, "--benchmark", "low", "--count", 20, "--unique", "none")
    named = run("iwisdm", "--benchmark", "low", "--properties", "category", "--count", 20, "--unique", "none")
    specs = [[json.loads(line) for line in one.output.splitlines()] for one in (made, named)]
    for spec, other in zip(*specs, strict=True):
        assert len(spec["frames"]) == 6 and len(re.findall(" and | or ", spec["task"]["instruction"])) == 1
        assert spec["task"]["name"] == "auto" and other["task"]["name"] == "low-category"
    free = [json.loads(line) for line in run("iwisdm", "--config", theirs, "--count", 20).output.splitlines()]
    assert len({len(spec["frames"]) for spec in free}) > 2
    assert specs[0][0]["id"].rpartition("/")[0] != free[0]["id"].rpartition("/")[0]
    for file, more, said in (
        (own, ("--benchmark", "low"), "op_dict"),
        (theirs, ("--properties", "identity"), "--properties is for --benchmark"),
    ):
        refused = run("iwisdm", "--config", file, *more, "--count", 1)
        assert refused.exit_code == 2 and said in refused.output


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (lambda data: data["op_dict"].update(Foo=data["op_dict"]["GetLoc"]), "op_dict: found operator 'Foo'"),
        (lambda data: data["op_dict"]["And"].update(sample_dist=[0.5, 0.5]), "op_dict: And: expected as many weights"),
        (lambda data: data.update(indexable_get_ops=[], compare_const_prob=1), "indexable_get_ops"),
        (
            lambda data: (
                data.update(compare_const_prob=0)
                or data["op_dict"]["IsSame"].update(downstream=["CONST"], same_children_op=True)
            ),
            "op_dict: IsSame: found a constant that is compared with no property",
        ),
    ],
)
def test_damaged_published_configurations(changed: Callable[[Any], None], said: str, tmp_path: Path) -> None:
    data = json.loads(published_form(benchmark_limits("low", "category")).model_dump_json())
    changed(data)
    (file := tmp_path / "low.json").write_text(json.dumps(data))
    found = run("iwisdm", "--config", file, "--count", 9)
    assert found.exit_code == 2 and str(file) in found.output and said in found.output


@pytest.mark.parametrize("models", [{"cars": ["-x"], "b": ["a"]}, {"cars": ["a..b"], "b": ["a"]}, {"-b": ["a"]}])
def test_models_that_no_spec_can_name(models: dict[str, list[str]], tmp_path: Path) -> None:
    (file := tmp_path / "models.json").write_text(json.dumps(models))
    found = run("iwisdm", "--benchmark", "low", "--stimuli", file, "--count", 1)
    assert found.exit_code == 2
    assert re.search(f"{file}: (category cars: expected one or more different model|found category '-b')", found.output)


def test_ids_carry_seed_and_options() -> None:
    base = ("iwisdm", "--benchmark", "low", "--count", 1)
    more: list[tuple[object, ...]] = [
        (), ("--seed", 1), ("--balanced",), ("--longest-delay", 2), ("--balanced", "--seed", 1),
        ("--background", "1,2,3"),
        ("--background", "1,2,4"), ("--properties", "category"), ("--split", "val"), ("--foils", "0.5"),
        ("--name", "mine"), ("--hold-out", "compositions"), ("--trials-per-task", 2),
    ]  # fmt: skip
    ids = [json.loads(run(*base, *one).stdout)["id"] for one in more]
    assert len({*ids}) == len(ids)
    assert ids[0] == "iwisdm/train/low-all-0/000000" and ids[10] == "iwisdm/train/mine/000000"
    assert json.loads(run(*base, "--first", 7).output)["id"] == "iwisdm/train/low-all-0/000007"
