"""`render-specs kilogram | tangrams | drawings | naming` as their user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.specs import main
from diorama.scene_specs.benchmarks.kilogram.svg import read_svg
from tests.scene_specs.benchmarks.kilogram.drawings import BROKEN
from tests.scene_specs.benchmarks.kilogram.published import make_published


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


def specs(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_games_of_our_own_tangrams(tmp_path: Path) -> None:
    out = tmp_path / "k.jsonl"
    assert run("kilogram", "--contexts", 1, "--out", out).exit_code == 0
    made = specs(out)
    assert len(made) % 4 == 0
    assert len({str(spec["id"]) for spec in made}) == len(made) > 100
    assert run("check", out).exit_code == 0
    one = run("kilogram", "--contexts", 1, "--condition", "part+color", "--out", tmp_path / "one.jsonl")
    assert one.exit_code == 0
    assert specs(tmp_path / "one.jsonl") == [spec for spec in made if "/part+color/" in str(spec["id"])]
    assert "without a game" in one.stderr


@pytest.mark.parametrize(
    "options", [("--world", "3d"), ("--size", 384, "--border", 3, "--sharp"), ("--condition", "aug")]
)
def test_pictures(tmp_path: Path, options: tuple[object, ...]) -> None:
    out = tmp_path / "k.jsonl"
    assert run("kilogram", "--pictures", "--split", "heldout", "--out", out, *options).exit_code == 0
    assert run("check", out).exit_code == 0


def test_files_of_the_users_own(tmp_path: Path) -> None:
    drawings, file, splits = make_published(tmp_path)
    given = ("--svg", drawings, "--annotations", file, "--splits", splits, "--contexts", 2)
    found = run("kilogram", *given, "--split", "train", "--out", tmp_path / "k.jsonl")
    assert found.exit_code == 0
    assert "page9-9" in found.stderr
    assert {str(spec["id"]).split("/")[3].split("-")[0] for spec in specs(tmp_path / "k.jsonl")} == {"page1"}
    assert run("check", tmp_path / "k.jsonl").exit_code == 0
    strict = run("kilogram", *given, "--strict", "--out", tmp_path / "none.jsonl")
    assert strict.exit_code == 2
    assert not (tmp_path / "none.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--svg", "."), "needs --annotations"),
        (("--annotations", __file__), "give --svg"),
        (("--margin", 110), "--margin"),
        (("--split", "test"), "Invalid value"),
        (("--pictures", "--contexts", 3, "--context-size", 5), "leave out --contexts, --context-size"),
        (("--pictures", "--unconstrained", "--targets", "all"), "leave out --targets, --unconstrained"),
        (("--unconstrained", "--distinct", "normalized"), "leave out --distinct"),
        (("--world", "3d", "--size", 64, "--sharp"), "leave out --size, --sharp"),
        (("--published-border", "--border", 2), "leave out --border"),
        (("--strict",), "leave out --strict"),
    ],
)
def test_wrong_options(tmp_path: Path, options: tuple[object, ...], said: str) -> None:
    found = run("kilogram", *options, "--out", tmp_path / "k.jsonl")
    assert found.exit_code == 2
    assert said in found.stderr
    assert not (tmp_path / "k.jsonl").exists()


def test_random_tangrams_are_drawings_without_fault(tmp_path: Path) -> None:
    assert run("kilogram", "tangrams", "--count", 12, "--seed", 3, "--out", tmp_path / "one").exit_code == 0
    assert run("kilogram", "tangrams", "--count", 12, "--seed", 3, "--out", tmp_path / "two").exit_code == 0
    one, two = (sorted((tmp_path / name).iterdir()) for name in ("one", "two"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    assert len({read_svg(path).polygons for path in one}) == 12
    assert run("kilogram", "drawings", tmp_path / "one", "--strict").output == "12 drawings read, 12 without errors\n"
    other = run("kilogram", "tangrams", "--count", 2, "--seed", 3, "--symmetric", 1, "--out", tmp_path / "one")
    assert other.exit_code == 2
    assert "exists with other contents" in other.stderr
    assert [path.read_bytes() for path in sorted((tmp_path / "one").iterdir())] == [path.read_bytes() for path in two]
    few = run("kilogram", "tangrams", "--count", 5, "--alike", 0, "--out", tmp_path / "few")
    assert few.exit_code == 2
    assert "raise --alike" in few.stderr


def test_drawings_that_are_wrong(tmp_path: Path) -> None:
    drawings, file, splits = make_published(tmp_path, 6)
    (drawings / "page1-2.svg").write_bytes(BROKEN["paths"][0])
    (drawings / "page1-3.svg").write_bytes(BROKEN["entities"][0])
    found = run("kilogram", "drawings", drawings)
    assert found.exit_code == 0
    assert "page1-2.svg: found <path>" in found.output
    assert "page1-3.svg: found a document type" in found.output
    assert "4 drawings read, 4 without errors" in found.output
    assert run("kilogram", "drawings", drawings, "--strict").exit_code == 2
    listed = json.loads(
        run("kilogram", "drawings", drawings, "--annotations", file, "--splits", splits, "--json").stdout
    )
    assert len(listed["drawings"]) == 4
    assert "page1-2" in {diagnostic["tangram"] for diagnostic in listed["faults"]}
    assert any("page9-9" in diagnostic["problem"] for diagnostic in listed["faults"])


def test_naming(tmp_path: Path) -> None:
    _, file, _ = make_published(tmp_path, 5)
    data = json.loads(run("kilogram", "naming", file, "--json").stdout)
    assert [row["count"] for row in data["tangrams"]] == [4] * 5
    assert 1 <= data["mean"]["psa"] <= 7
    table = run("kilogram", "naming").output.splitlines()
    assert table[0] == "| tangram | descriptions | SND | PND | PSA |"
    assert table[-1].startswith("| mean |")
    (tmp_path / "none.json").write_text("{}")
    assert run("kilogram", "naming", tmp_path / "none.json").exit_code == 2


def test_naming_of_single_and_unusable_descriptions(tmp_path: Path) -> None:
    _, file, _ = make_published(tmp_path, 80, each=1)
    found = run("kilogram", "naming", file, "--json")
    assert json.loads(found.stdout) == {"tangrams": [], "mean": {"snd": None, "pnd": None, "psa": None}}
    assert run("kilogram", "naming", file).output.splitlines()[-1] == "| mean | 0 | - | - | - |"
    data = json.loads(file.read_text())
    for one in list(data.values())[1:]:
        one["annotations"][0]["whole"] = "bird"
    file.write_text(json.dumps(data))
    assert run("kilogram", "naming", file).stderr.count("annotations[0]") == 20
    assert "79 warnings in all" in run("kilogram", "naming", file).stderr


def test_of_a_tangram_in_two_files_the_first_is_taken(tmp_path: Path) -> None:
    _, file, _ = make_published(tmp_path, 3)
    data = json.loads(file.read_text())
    name = next(iter(data))
    other = tmp_path / "other.json"
    other.write_text(json.dumps({name: {"annotations": data[name]["annotations"][:2]}}))
    both = run("kilogram", "naming", file, other, "--json")
    assert both.stdout == run("kilogram", "naming", file, "--json").stdout
    assert f"tangram {name} is also in an earlier file" in both.stderr


@pytest.mark.parametrize("option", ["--border", "--margin"])
def test_what_is_no_number_is_refused_before_a_file_is_written(tmp_path: Path, option: str) -> None:
    result = run("kilogram", option, "nan", "--out", tmp_path / "x.jsonl")
    assert result.exit_code == 2
    assert "found nan" in result.stderr
    assert not (tmp_path / "x.jsonl").exists()


def _scored(folder: Path, answers: dict[str, str]) -> list[dict[str, Any]]:
    (folder / "answers.json").write_text(json.dumps(answers))
    found = run("kilogram", "accuracy", folder / "k.jsonl", "--predictions", folder / "answers.json", "--json")
    rows: list[dict[str, Any]] = json.loads(found.stdout)
    return rows


@pytest.mark.parametrize("condition", ["whole+black", "aug"])
def test_accuracy_is_a_mean_over_examples(tmp_path: Path, condition: str) -> None:
    given = ("--condition", condition, "--contexts", 2, "--context-size", 3)
    made = run("kilogram", *given, "--out", tmp_path / "k.jsonl")
    assert made.exit_code == 0
    tasks: dict[str, Any] = {str(spec["id"]): spec["task"] for spec in specs(tmp_path / "k.jsonl")}
    right = {name: task["answer"] for name, task in tasks.items()}
    rows = _scored(tmp_path, right)
    assert {row["accuracy"] for row in rows} == {1.0}
    assert rows[0]["by"] == "all"
    for by in ("example", "parts", *["shown parts"] * (condition == "aug")):
        chosen = [row for row in rows if row["by"] == by]
        assert sum(row["games"] for row in chosen) == len(tasks)
        assert sum(row["examples"] for row in chosen) == rows[0]["examples"]
    # Wrong in the second game of each example of three parts.
    wrong = {name: task["number"] == 1 and task["part_count"] == 3 for name, task in tasks.items()}
    other = {name: next(one for one in tasks[name]["options"] if one != right[name]) for name in tasks}
    rows = _scored(tmp_path, {name: other[name] if wrong[name] else right[name] for name in tasks})
    by_parts = {row["group"]: row["accuracy"] for row in rows if row["by"] == "parts"}
    assert by_parts.pop("3") < 1
    assert {*by_parts.values()} == {1.0}
    means = [row["accuracy"] for row in rows if row["by"] == "example"]
    assert rows[0]["accuracy"] == pytest.approx(sum(means) / len(means))


def test_accuracy_is_by_kind_of_game_too(tmp_path: Path) -> None:
    given = ("kilogram", "--condition", "whole+black", "--contexts", 1)
    for name, options in (("k", ()), ("random", ("--unconstrained", "--context-size", 3))):
        assert run(*given, *options, "--out", tmp_path / f"{name}.jsonl").exit_code == 0
    made = [*specs(tmp_path / "k.jsonl"), *specs(tmp_path / "random.jsonl")]
    (tmp_path / "k.jsonl").write_text("".join(f"{json.dumps(spec)}\n" for spec in made))
    tasks: dict[str, Any] = {str(spec["id"]): spec["task"] for spec in made}
    rows = _scored(tmp_path, {name: task["answer"] for name, task in tasks.items()})
    games = {row["condition"]: row["games"] for row in rows if row["by"] == "all"}
    many = sum("unconstrained" in task for task in tasks.values())
    assert games == {"whole+black": len(made) - many, "whole+black/random/of3": many}
    tasks[str(made[-1]["id"])]["name"] = 5
    (tmp_path / "k.jsonl").write_text("".join(f"{json.dumps(spec)}\n" for spec in made))
    refused = run("kilogram", "accuracy", tmp_path / "k.jsonl", "--predictions", tmp_path / "answers.json")
    assert refused.exit_code == 2
    assert "task.name: found 5; allowed: " in refused.stderr


@pytest.mark.parametrize("text", ["[]", "{}", "{", "null"])
def test_predictions_that_lack_a_game_are_refused(tmp_path: Path, text: str) -> None:
    assert run("kilogram", "--condition", "whole+black", "--contexts", 1, "--out", tmp_path / "k.jsonl").exit_code == 0
    (tmp_path / "answers.json").write_text(text)
    refused = run("kilogram", "accuracy", tmp_path / "k.jsonl", "--predictions", tmp_path / "answers.json")
    assert refused.exit_code == 2
    assert "answers.json" in refused.stderr


def test_pictures_have_no_accuracy(tmp_path: Path) -> None:
    assert run("kilogram", "--pictures", "--split", "heldout", "--out", tmp_path / "k.jsonl").exit_code == 0
    (tmp_path / "answers.json").write_text("{}")
    refused = run("kilogram", "accuracy", tmp_path / "k.jsonl", "--predictions", tmp_path / "answers.json")
    assert refused.exit_code == 2
    assert "not a reference game" in refused.stderr
