from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import diorama
from diorama.render.cli.specs import main


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("questions") / "specs.jsonl"
    made = diorama.generate("clevr", count=3, seed=4, split="val", objects=(5, 6))
    path.write_text("".join(json.dumps(spec) + "\n" for spec in made))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["questions", *map(str, arguments)])


def lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


SMALL = ("--size", "160x120")


def test_questions_about_specs(specs: Path, tmp_path: Path) -> None:
    out = tmp_path / "questions.jsonl"
    report = run(specs, *SMALL, "--per-image", 4, "--out", out)
    assert report.exit_code == 0, report.output
    made = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(made) == 12
    assert [line["question_id"] for line in made] == [0, 1, 2, 3] * 3
    assert "most frequent" in report.output and "12 questions of" in report.output
    assert made != lines(run(specs, *SMALL, "--per-image", 4, "--seed", 1))


def test_only_some_families(specs: Path) -> None:
    made = lines(run(specs, *SMALL, "--family", "count", "--family", "exist"))
    assert {line["family"] for line in made} == {"count", "exist"}


def test_clevr_files(specs: Path) -> None:
    asked = json.loads(run(specs, *SMALL, "--format", "clevr").stdout)
    assert asked["info"]["split"] == "val"
    assert {one["image_filename"] for one in asked["questions"]} == {f"CLEVR_val_{k:06d}.png" for k in range(3)}
    assert [one["question_index"] for one in asked["questions"]] == list(range(len(asked["questions"])))
    assert [scene["image_index"] for scene in lines(run(specs, *SMALL, "--kind", "scenes"))] == [0, 1, 2]


def test_families_of_ones_own_in_clevr_files(specs: Path, tmp_path: Path) -> None:
    pattern = {"program": ["count", "set:S"], "words": ["Count the {S.many}?"]}
    (tmp_path / "new.json").write_text(json.dumps({"families": {"new": [pattern]}}))
    options = ("--grammar", tmp_path / "new.json", "--family", "new", "--format", "clevr")
    asked = json.loads(run(specs, *SMALL, *options).stdout)["questions"]
    assert {one["question_family_index"] for one in asked} == {13}


def test_scene_graphs_are_numbered_by_split(specs: Path, tmp_path: Path) -> None:
    made = [json.loads(line) for line in specs.read_text().splitlines()]
    texts = [json.dumps({**spec, "split": split}) for spec, split in zip(made, ("val", "test", "val"), strict=True)]
    (tmp_path / "mixed.jsonl").write_text("\n".join(texts))
    found = lines(run(tmp_path / "mixed.jsonl", *SMALL, "--kind", "scenes"))
    assert [(one["split"], one["image_index"]) for one in found] == [("val", 0), ("test", 0), ("val", 1)]


def test_scene_graphs_have_no_number_if_clevr_s_export_leaves_them_out(specs: Path, tmp_path: Path) -> None:
    made = [json.loads(line) for line in specs.read_text().splitlines()]
    made[1]["frames"][0]["objects"][0]["size"] = 0.5
    (tmp_path / "sizes.jsonl").write_text("\n".join(map(json.dumps, made)))
    found = lines(run(tmp_path / "sizes.jsonl", *SMALL, "--kind", "scenes"))
    assert [one["image_index"] for one in found] == [0, None, 1]
    assert [one["image_filename"] for one in found] == ["CLEVR_val_000000.png", None, "CLEVR_val_000001.png"]


def test_expressions_and_captions(specs: Path) -> None:
    assert {line["episode"] for line in lines(run(specs, *SMALL, "--kind", "expressions"))} == {
        f"clevr/val/{k:06d}" for k in range(3)
    }
    assert len(lines(run(specs, *SMALL, "--kind", "captions"))) == 3


def test_pairs_get_the_same_questions_half_of_which_flip(specs: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    changes = ("--change", "color", "--change", "relation")
    CliRunner().invoke(main, ["contrast", str(specs), *changes, "--size", "160x120", "--out", str(pairs)])
    questions = defaultdict(list)
    for line in lines(run(pairs, *SMALL, "--family", "count", "--family", "query_color", "--family", "exist")):
        questions[line["pair"], line["question_id"]].append(line)
    balance: Counter[tuple[str, str]] = Counter()
    for (pair, _), members in questions.items():
        assert [one["episode"] for one in members] == [f"{pair}-0", f"{pair}-1"]
        assert len({one["question"] for one in members}) == 1
        first, second = members
        assert first["flips"] == second["flips"] == (first["answer"] != second["answer"])
        balance[pair.rpartition("+")[2], first["family"]] += 1 if first["flips"] else -1
    assert any(one["flips"] for one, _ in questions.values())
    assert not all(one["flips"] for one, _ in questions.values())
    assert {*balance.values()} <= {0, 1}


def test_members_of_a_pair_are_found_wherever_they_are(specs: Path, tmp_path: Path) -> None:
    pairs, apart = tmp_path / "pairs.jsonl", tmp_path / "apart.jsonl"
    CliRunner().invoke(main, ["contrast", str(specs), "--change", "color", "--size", "160x120", "--out", str(pairs)])
    made = pairs.read_text().splitlines(keepends=True)
    assert len(made) == 6
    apart.write_text("".join(made[1::2] + made[::2]))
    asked = lines(run(pairs, *SMALL))
    assert asked and lines(run(apart, *SMALL)) == asked


def test_ids_that_only_look_like_those_of_a_pair(specs: Path, tmp_path: Path) -> None:
    made = [json.loads(line) | {"id": f"my/shape+color-{k}"} for k, line in enumerate(specs.read_text().splitlines())]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, made)))
    asked = lines(run(tmp_path / "own.jsonl", *SMALL, "--per-image", 2))
    assert len(asked) == 6 and not any("pair" in one for one in asked)


@pytest.mark.slow
def test_a_store_gives_the_questions_of_its_specs(specs: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "some.lance")
    read = [json.loads(line) for line in specs.read_text().splitlines()]
    diorama.render_to_store(read, store, renderer="fake", size=(160, 120), workers=1)
    assert lines(run(store)) == lines(run(specs, *SMALL))
    # As in an export, a split that the store lacks is named.
    assert run(store, "--split", "test").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--family", "counts"), "unknown family 'counts'; allowed: exist, count"),
        (("--format", "clevr", "--kind", "captions"), "--format clevr is for questions"),
        (("--format", "clevr", "--split", "test"), "found no images"),
        (("--kind", "captions", "--family", "count"), "--family has no effect on --kind captions"),
        (("--kind", "expressions", "--per-image", "10"), "--per-image has no effect on --kind expressions"),
        (("--kind", "scenes", "--seed", "0"), "--seed has no effect on --kind scenes"),
        (("--grammar", "list.json"), "list.json"),
        (("--grammar", "slot.json"), "a question can't begin with the slot X"),
    ],
)
def test_wrong_options(specs: Path, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    slot = [{"program": ["query_color", "object:X"], "words": ["{X} is what color?"]}]
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "slot.json").write_text(json.dumps({"families": {"late": slot}}))
    found = run(specs, *SMALL, *(tmp_path / part if part.endswith(".json") else part for part in arguments))
    assert found.exit_code == 2
    assert message in found.output


def test_a_store_among_specs(specs: Path, tmp_path: Path) -> None:
    (tmp_path / "x.lance/_versions").mkdir(parents=True)
    found = run(specs, tmp_path / "x.lance")
    assert (found.exit_code, "one store, or specs" in found.output) == (2, True)
    found = run(tmp_path / "x.lance", *SMALL)
    assert (found.exit_code, "--size is for specs" in found.output) == (2, True)


def test_meshes_of_an_asset_root(tmp_path: Path) -> None:
    (tmp_path / "ramp.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", encoding="utf-8"
    )
    spec = {"version": 1, "id": "x", "frames": [{"objects": [{"shape": {"mesh": "ramp.obj"}, "size": "large"}]}]}
    (tmp_path / "x.json").write_text(json.dumps(spec), encoding="utf-8")
    found = lines(run(tmp_path / "x.json", *SMALL, "--kind", "captions", "--asset-root", tmp_path))
    assert found[0]["short"] == "A ramp."
