"""`render-specs kilogram | tangrams | drawings | naming` as their user meets them."""

from __future__ import annotations

import json
from pathlib import Path

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


@pytest.mark.slow
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
