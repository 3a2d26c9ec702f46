"""A fresh sibling of a set has as many episodes of each kind, none of them shown before."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import diorama
from diorama.render.cli.specs import main
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.reading.source import read_checked
from diorama.scene_specs.tasks.benchmark import Asked, benchmark
from diorama.scene_specs.tasks.siblings import balanced, cell_of, siblings


def _spec(number: int, objects: int, answer: object = None) -> Any:
    frame = {"name": "a", "objects": [{"shape": "cube", "size": number + 1}] * objects}
    return {"id": f"x/{number}", "frames": [frame], "split": "test", "task": {"name": "t", "answer": answer}}


def _make(seed: int) -> Iterator[Any]:
    """Ten episodes with one to three objects, half of them with the answer yes."""
    for k in range(10):
        yield _spec(seed % 40 + k, 1 + k % 3, ("yes", "no")[k % 2])


def test_cells_are_as_full_and_nothing_is_shown_again() -> None:
    given = [*_make(0), *_make(5)]
    found = list(siblings(given, _make, 1))
    assert Counter(map(cell_of, found)) == Counter(map(cell_of, given))
    shown = [json.dumps(spec["frames"]) for spec in found]
    assert len({*shown}) == len(shown)
    assert not {*shown} & {json.dumps(spec["frames"]) for spec in given}
    assert len({spec["id"] for spec in found}) == len(found)
    assert list(siblings(given, _make, 1)) == found != list(siblings(given, _make, 2))


def test_an_answer_is_of_the_cell_only_if_it_is_yes_or_no() -> None:
    assert [cell_of(_spec(0, 1, answer)).answer for answer in (True, "no", "doble", None, 3)] == [
        "true",
        "no",
        "",
        "",
        "",
    ]
    assert cell_of({"frames": [], "task": {"answers": ["null", "false"]}}).answer == "false"


def test_cells_that_no_option_fills_are_named() -> None:
    with pytest.raises(UsageError, match="found 0 of 1 t test yes with 1 frame of up to 4 objects; 0 of 1 t test with"):
        list(siblings([_spec(99, 4, "yes"), _spec(98, 1, "doble")], _make, 1))


def test_what_was_read_from_a_file_is_not_made_again(tmp_path: Path) -> None:
    """Reading fills in defaults and turns whole numbers into floats; generated specs have neither."""
    made = [*diorama.generate("clevr", count=3), *diorama.generate("malevic", count=2, name="pos1")]
    (path := tmp_path / "specs.jsonl").write_text("".join(json.dumps(spec) + "\n" for spec in made))
    given = [item.data() for item in read_checked([str(path)])]
    with pytest.raises(UsageError, match="found 0 of"):
        list(siblings(given, lambda _: made, 1))


def test_other_benchmarks_and_resolved_scenes_are_refused_at_once(tmp_path: Path) -> None:
    specs, scenes = tmp_path / "specs.jsonl", tmp_path / "scenes.jsonl"
    assert CliRunner().invoke(main, ["clevr", "--count", "1", "--out", str(specs)]).exit_code == 0
    assert CliRunner().invoke(main, ["resolve", str(specs), "--out", str(scenes)]).exit_code == 0
    for name, file, said in (
        ("mewl", specs, "found an episode of clevr; expected one of mewl"),
        ("clevr", scenes, "found a resolved scene"),
    ):
        out = tmp_path / "out.jsonl"
        done = CliRunner().invoke(main, [name, "--count", "1", "--like", str(file), "--out", str(out)])
        assert (done.exit_code, out.exists()) == (2, False)
        assert said in done.output


@pytest.mark.parametrize(
    "options", [("clevr", "--count", "6", "--objects", "3-5"), ("malevic", "--set", "pos1", "--count", "6")]
)
def test_the_command_makes_a_sibling(tmp_path: Path, options: tuple[str, ...]) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert CliRunner().invoke(main, [*options, "--out", str(first)]).exit_code == 0
    made = CliRunner().invoke(main, [*options, "--seed", "7", "--like", str(first), "--out", str(second)])
    assert made.exit_code == 0, made.output
    one, other = ([json.loads(line) for line in path.read_text().splitlines()] for path in (first, second))
    assert Counter(map(cell_of, one)) == Counter(map(cell_of, other))
    # CLEVR's scenes have no answers to prove.
    assert CliRunner().invoke(main, ["check", "--prove", str(second)]).exit_code == (options[0] == "clevr")


def _asked(spec: Any) -> Asked:
    return Asked(f"{len(spec['frames'][0]['objects'])} objects", spec["task"]["answer"], ("yes", "no"))


def test_answers_of_a_group_are_equally_frequent_and_groups_as_large_as_before() -> None:
    def make(seed: int) -> Iterator[Any]:
        for k in range(20):
            yield _spec(seed % 1000 + k, 1 + k % 3, "no" if k % 5 == 4 else "yes")

    found = list(balanced(_asked, make, 1))
    assert Counter(_asked(spec).group for spec in found) == Counter(_asked(spec).group for spec in make(1))
    counts = Counter((_asked(spec).group, _asked(spec).answer) for spec in found)
    assert all(abs(counts[group, "yes"] - counts[group, "no"]) <= 1 for group, _ in counts)
    assert len({json.dumps(spec["frames"]) for spec in found}) == len({spec["id"] for spec in found}) == 20
    # What the seed gives stays, and only what replaces the rest has another id.
    own = {spec["id"] for spec in make(1)}
    kept = [spec for spec in found if spec["id"] in own]
    assert kept and all(spec in list(make(1)) for spec in kept)
    assert all(spec["id"].startswith("balanced.1.") for spec in found if spec not in kept)
    assert list(balanced(_asked, make, 1)) == found


def test_an_answer_that_never_comes_is_named() -> None:
    with pytest.raises(UsageError, match="--balanced-answers: in 21 rounds, found 0 of 2 1 objects with the answer no"):
        list(balanced(_asked, lambda seed: [_spec(seed % 1000 + k, 1, "yes") for k in range(4)], 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("malevic", "--set", "pos1", "--split", "test", "--count", "90"),
        ("mewl", "--task", "color", "--split", "test", "--count", "9", "--balanced-options"),
        ("iwisdm", "--benchmark", "single-frame", "--count", "12"),
    ],
)
def test_the_command_balances_answers(tmp_path: Path, options: tuple[str, ...]) -> None:
    own, even = tmp_path / "own.jsonl", tmp_path / "even.jsonl"
    assert CliRunner().invoke(main, [*options, "--out", str(own)]).exit_code == 0
    made = CliRunner().invoke(main, [*options, "--balanced-answers", "--out", str(even)])
    assert made.exit_code == 0, made.output
    assert "| set |" not in made.output, "a report on specs of which some are not kept"
    asked = benchmark(options[0]).asked
    assert asked is not None
    one, other = ([asked(json.loads(line)) for line in path.read_text().splitlines()] for path in (own, even))
    assert Counter(item.group for item in one) == Counter(item.group for item in other)
    for item in other:
        counts = [other.count(item._replace(answer=answer)) for answer in item.answers]
        alike = [sum(it.answers == item.answers and it.answer == answer for it in other) for answer in item.answers]
        assert max(counts) - min(counts) <= 1 and max(alike) - min(alike) <= 1
    assert CliRunner().invoke(main, ["check", "--prove", str(even)]).exit_code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("clevr", "--count", "1"), "clevr does not say what its episodes ask"),
        (("mewl", "--count", "1", "--like", "nowhere.jsonl"), "not both"),
    ],
)
def test_what_cannot_be_balanced_is_refused(options: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(main, [*options, "--balanced-answers"])
    assert done.exit_code == 2
    assert said in done.output
