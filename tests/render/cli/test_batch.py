"""Numbers that `render-batch` cannot obey are refused with exit code 2, before anything is rendered."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from diorama.render.cli.batch import main
from diorama.render.store import open_store
from diorama.render.store.lance.lance_store import LanceStore

FAR = "9" * 400


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--timeout", "nan"), "'--timeout': found nan"),
        (("--timeout", "inf"), "'--timeout': found inf"),
        (("--store-wait", "nan"), "'--store-wait': found nan"),
        (("--until", "soon"), "'--until': found 'soon'"),
        (("--until", FAR), "found '999"),
        (("--until", "2001-01-01T00:00"), "2001-01-01T00:00 is over"),
        (("--part", "3/2"), "'--part': found 3/2; expected I/N with I from 1 to N"),
        (("--part", "0/2"), "found 0/2"),
        (("--part", "array"), "found no array; expected a job array"),
        (("--limit", "99999999999999999999"), "'--limit': found 99999999999999999999"),
        (("--worker-memory", FAR), "not an amount of memory"),
        (("--worker-memory", "0"), "not an amount of memory"),
        (("--worker-memory", "0.0GB"), "not an amount of memory"),
        (("--workers-per-gpu", "9" * 5000), "from 1 to 64"),
        (("--device", "cpu", "--workers-per-gpu", "4"), "--workers-per-gpu 4 is for GPUs"),
        (("--workers", "2", "--workers-per-gpu", "1"), "--workers-per-gpu 1 is for GPUs"),
        (("--device", "cuda", "--workers", "4"), "--workers 4 is for CPU workers"),
        (("--gpus", "1", "--threads", "2"), "--threads 2 is for CPU workers"),
    ],
)
def test_what_cannot_be_obeyed_is_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    specs = tmp_path / "specs.json"
    specs.write_text(json.dumps({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]}))
    done = CliRunner().invoke(main, [str(specs), "--renderer", "fake", "--out", str(tmp_path / "s.lance"), *options])
    assert done.exit_code == 2, done.output
    assert words in done.stderr
    assert not (tmp_path / "s.lance").exists()


@pytest.mark.parametrize(
    ("task", "first", "last", "count", "expected"),
    [
        ("2", "1", "4", "4", (2, 4)),
        ("7", "7", "7", "1", "a task of 1 from 7 to 7"),  # one task of an array, run again
        ("7", "1", "7", "2", "a task of 2 from 1 to 7"),
        ("0", "0", "3", "4", "a task of 4 from 0 to 3"),
    ],
)
def test_a_task_of_an_array_has_its_part(
    monkeypatch: pytest.MonkeyPatch, task: str, first: str, last: str, count: str, expected: tuple[int, int] | str
) -> None:
    for name, value in {"ID": task, "MIN": first, "MAX": last, "COUNT": count}.items():
        monkeypatch.setenv(f"SLURM_ARRAY_TASK_{name}", value)
    context, option = click.Context(main), next(each for each in main.params if each.name == "part")
    if isinstance(expected, tuple):
        assert option.process_value(context, "array") == expected
    else:
        with pytest.raises(click.BadParameter, match=expected):
            option.process_value(context, "array")


def test_nothing_to_render_names_no_store(tmp_path: Path) -> None:
    specs, store = tmp_path / "specs.json", tmp_path / "s.lance"
    specs.write_text(json.dumps({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]}))
    for options in (["--part", "2/2"], ["--limit", "0"], ["--part", "2/2", "--dry-run"]):
        done = CliRunner().invoke(main, [str(specs), "--renderer", "fake", "--out", str(store), *options])
        assert done.exit_code == 0 and not store.exists()
        assert done.stdout.splitlines()[-1] == "nothing to render: --part or --limit leaves no episode"
    done = CliRunner().invoke(main, [str(specs), "--renderer", "fake", "--out", str(store), "--dry-run"])
    assert "" not in done.stdout.splitlines()


def test_a_store_whose_name_is_not_unicode_is_refused(tmp_path: Path) -> None:
    specs = tmp_path / "specs.json"
    specs.write_text(json.dumps({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]}))
    done = CliRunner().invoke(main, [str(specs), "--renderer", "fake", "--out", str(tmp_path / "caf\udce9.lance")])
    assert done.exit_code == 2 and "caf\\udce9.lance': is not valid UTF-8" in done.stderr


def test_a_store_that_can_not_be_written_is_refused_before_the_first_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs, store = tmp_path / "specs.json", LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    specs.write_text(json.dumps({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]}))
    (tmp_path / "s.lance/_transactions").rename(tmp_path / "elsewhere")
    (tmp_path / "s.lance/_transactions").touch()
    monkeypatch.setattr("diorama.render.run.batch.RenderLoop", lambda *_: pytest.fail("it begins to render"))
    done = CliRunner().invoke(main, [str(specs), "--renderer", "fake", "--out", store.url])
    assert done.exit_code == 4 and "can't be written" in done.stderr, done.output


def test_a_look_for_all_specs(tmp_path: Path) -> None:
    specs, scenes = tmp_path / "specs.json", tmp_path / "scenes.jsonl"
    thing = {"shape": "cube", "color": "red", "material": "rubber"}
    specs.write_text(json.dumps({"version": 1, "id": "a", "frames": [{"objects": [thing]}]}))
    given = ["--renderer", "fake", "--size", "64x48", "--out", str(tmp_path / "s.lance")]
    for name, words in (("mud", 'found "mud"'), ("woood", "did you mean 'wood'?")):
        done = CliRunner().invoke(main, [str(specs), *given, "--look", name, "--dry-run"])
        assert done.exit_code == 2 and words in done.output, done.output
    done = CliRunner().invoke(main, [str(specs), *given, "--look", "wood"])
    assert done.exit_code == 0, done.output
    store = open_store(str(tmp_path / "s.lance"))
    (record,) = store.get_many(["a"])
    assert record.scene.look is not None and record.scene.look.name == "wood"
    scenes.write_text(record.scene.to_json() + "\n")
    done = CliRunner().invoke(main, [str(scenes), *given, "--look", "tiles"])
    assert done.exit_code == 2 and "render-specs looks" in done.output
