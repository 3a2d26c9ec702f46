from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import lance
import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.store import main
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.model.record import EpisodeRecord
from tests.render.store.rendered import rendered


@pytest.fixture
def store(tmp_path: Path) -> str:
    made = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made.put([rendered("demo/0"), rendered("demo/1", seed=4, split="val")])
    return made.url


def call(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.output
    return result


def test_create(tmp_path: Path) -> None:
    url = str(tmp_path / "new.lance")
    call("create", url)
    assert LanceStore.open(url).count() == 0
    assert "there is a store already" in call("create", url, code=4).output


def test_ls(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = call("ls", store).output.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["demo/0", "demo/1"]
    assert "demo/colour\tval\t2 images\t64x48" in lines[1]
    monkeypatch.setenv("DIORAMA_STORE", store)
    (found,) = call("ls", "--json", "--where", "split = 'val'").output.splitlines()
    assert json.loads(found)["episode_id"] == "demo/1"
    assert call("ls", "--limit", "1").output.count("\n") == 1
    assert "No field named nix" in call("ls", "--where", "nix = 1", code=2).output


def test_show(store: str) -> None:
    text = call("show", store).output
    assert "episodes:   2" in text
    facts = json.loads(call("show", store, "--json").output)
    assert (facts["images"], facts["split"]) == (4, {"train": 1, "val": 1})
    assert "images:     f0 2 objects" in call("show", store, "demo/0").output
    whole = json.loads(call("show", store, "demo/0", "--json").output)
    assert whole["truth"]["images"][0]["objects"][1]["name"] == "b"
    assert "demo/9 is not in the store" in call("show", store, "demo/9", code=4).output


def test_get_as_it_is_and_as_it_was(store: str, tmp_path: Path) -> None:
    LanceStore.open(store).replace([rendered("demo/0", seed=8)])
    call("get", store, "demo/0", "--out", str(tmp_path / "now"))
    call("get", store, "demo/0", "--out", str(tmp_path / "then"), "--at", "2")
    assert (tmp_path / "now/demo/0/f0.png").read_bytes() == rendered("demo/0", seed=8).images[0].png
    assert (tmp_path / "then/demo/0/f0.png").read_bytes() == rendered("demo/0").images[0].png
    assert not (tmp_path / "now/demo/1").exists()
    assert "demo/9" in call("get", store, "demo/9", "--out", str(tmp_path / "now"), code=4).output


def test_verify_and_repair(store: str, tmp_path: Path) -> None:
    assert "2 episodes, none damaged" in call("verify", store).output
    lance.dataset(store).update({"sha256": "'00'"}, where="episode_id = 'demo/1'")
    result = call("verify", store, code=4)
    assert "episode demo/1: its images don't match their SHA-256" in result.output
    assert "1 of 2 rows are damaged" in result.output
    report = json.loads(call("verify", store, "--json", code=4).stdout)
    assert report["damaged"] == [{"episode": "demo/1", "problems": ["its images don't match their SHA-256"]}]
    assert "give --specs-out" in call("verify", store, "--repair", code=2).output
    specs = tmp_path / "again.jsonl"
    mended = call("verify", store, "--repair", "--specs-out", str(specs), code=4).output
    assert f"render-batch {specs} --out {store} --profile draft --size 64x48" in mended
    assert json.loads(specs.read_text())["id"] == "demo/1"
    assert "1 episode, none damaged" in call("verify", store).output
    call("verify", store, "--repair", "--at", "2", code=2)


def with_answer(episode: str, answer: str) -> EpisodeRecord:
    record = rendered(episode)
    task = {**(record.scene.task or {}), "answer": answer}
    return record.model_copy(update={"scene": record.scene.model_copy(update={"task": task})})


def test_a_wrong_answer_is_invalid_and_never_repaired_away(store: str, tmp_path: Path) -> None:
    LanceStore.open(store).replace([with_answer("demo/0", "toma")])
    reason = "answer 'toma' is not among the 2 options"
    result = call("verify", store, code=2)
    assert "2 episodes, none damaged, 1 invalid" in result.output
    assert f"episode demo/0: task: {reason} (correct its spec" in result.output
    report = json.loads(call("verify", store, "--json", code=2).stdout)
    assert (report["damaged"], report["invalid"]) == ([], [{"episode": "demo/0", "problems": [reason]}])
    specs = str(tmp_path / "again.jsonl")
    assert "deleted" not in call("verify", store, "--repair", "--specs-out", specs, code=2).output
    lance.dataset(store).update({"sha256": "'00'"}, where="episode_id = 'demo/1'")
    result = call("verify", store, "--repair", "--specs-out", specs, code=4)
    assert "deleted 1 row" in result.output
    assert f"{reason} (invalid, not damaged; kept)" in result.output
    assert [key for key, _ in LanceStore.open(store).ids()] == ["demo/0"]


@pytest.mark.parametrize(("name", "said"), [("", "is a folder; name a file"), ("file/x.jsonl", "can't be written")])
def test_specs_that_cant_be_written_are_told_before_looking(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    def too_late(*_: object) -> None:
        raise AssertionError("looked through")

    monkeypatch.setattr("diorama.render.store.lance.verify.verify", too_late)
    (tmp_path / "file").touch()
    assert said in call("verify", store, "--specs-out", str(tmp_path / name), code=2).output


def test_specs_are_written_whole_or_not_and_before_rows_are_taken_out(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lance.dataset(store).update({"sha256": "'00'"}, where="episode_id = 'demo/1'")
    specs = tmp_path / "missing" / "again.jsonl"
    specs.parent.mkdir()
    specs.write_text("of an earlier run\n")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert "No space left" in call("verify", store, "--repair", "--specs-out", str(specs), code=2).output
    assert [path.read_text() for path in specs.parent.iterdir()] == ["of an earlier run\n"]
    assert LanceStore.open(store).count() == 2
    shutil.rmtree(specs.parent)
    call("verify", store, "--repair", "--specs-out", str(specs), code=4)
    assert json.loads(specs.read_text())["id"] == "demo/1"


def test_a_damaged_row_without_a_readable_spec_is_named(store: str, tmp_path: Path) -> None:
    lance.dataset(store).update({"spec": "'{'"}, where="episode_id = 'demo/1'")
    lance.dataset(store).update({"sha256": "'00'"}, where="episode_id = 'demo/0'")
    specs = tmp_path / "again.jsonl"
    said = call("verify", store, "--repair", "--specs-out", str(specs), code=4).output
    assert f"{specs} lacks these episodes, whose specs can't be read either: demo/1\n" in said
    assert [json.loads(line)["id"] for line in specs.read_text().splitlines()] == ["demo/0"]


@pytest.mark.parametrize("number", ["99999999999999999999999", "9" * 5000, "18446744073709551616"])
def test_a_version_of_more_digits_than_there_are_is_not_there(store: str, number: str) -> None:
    assert "has no version and no tag" in call("ls", store, "--at", number, code=4).output
    if len(number) < 100:
        assert "tagging 'far' failed" in call("tag", store, "far", "--version", number, code=4).output


def test_tag_and_history(store: str) -> None:
    assert "no tags" in call("tag", store).output
    assert "v1 is version 2" in call("tag", store, "v1").output
    LanceStore.open(store).replace([rendered("demo/0", seed=8)])
    assert json.loads(call("tag", store, "--json").output) == {"v1": 2}
    lines = call("history", store, "demo/0").output.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["version 2", "version 3"]
    assert len(json.loads(call("history", store, "--json").output)) == 3
    assert "ls" in main.commands
    assert call("ls", store, "--at", "v1").output.count("\n") == 2
    call("tag", store, "v1", "--delete")
    assert "no remaining version has episode x" in call("history", store, "x").output


def test_copy_and_delete(store: str, tmp_path: Path) -> None:
    target = str(tmp_path / "t.lance")
    assert "copied 1" in call("copy", store, target, "--split", "val").output
    assert "copied 1, replaced 0, kept 0, skipped 1 already there" in call("copy", store, target).output
    LanceStore.open(target).replace([rendered("demo/0", seed=8)])
    refused = call("copy", store, target, code=2).output
    assert "demo/0" in refused
    assert "--differing" in refused
    assert "replaced 1" in call("copy", store, target, "--differing", "replace").output
    assert (
        "demo/00 is not in the store; did you mean 'demo/0'?"
        in call("delete", target, "demo/0", "demo/00", code=4).output
    )
    assert "deleted 1 episode" in call("delete", target, "demo/0").output
    assert "copied 0" in call("copy", store, target, "--id", "demo/1").output


def test_a_copy_of_unknown_episodes_makes_no_store(store: str, tmp_path: Path) -> None:
    target, empty = tmp_path / "t.lance", str(tmp_path / "empty.lance")
    refused = call("copy", store, str(target), "--id", "demo/0", "--id", "demo/00", code=2).output
    assert "demo/00 is not in the store; did you mean 'demo/0'?" in refused
    refused = call("copy", store, str(target), "--benchmark", "mwel", code=2).output
    assert "no episode has the benchmark 'mwel'" in refused
    assert not target.exists()
    LanceStore.create(empty)
    assert "copied 0" in call("copy", empty, str(target), "--benchmark", "mewl").output
    call("copy", empty, store, str(target), "--id", "demo/0")


def test_parts_are_joined_if_they_are_complete(store: str, tmp_path: Path) -> None:
    part, target, specs = str(tmp_path / "part.lance"), tmp_path / "t.lance", tmp_path / "specs.jsonl"
    LanceStore.create(part).put([rendered("demo/2")])
    frame = {"objects": [{"shape": "cube"}]}
    names = ["demo/0", "demo/1", "demo/2", "demo/3"]
    specs.write_text("\n".join(json.dumps({"version": 1, "id": name, "frames": [frame]}) for name in names))
    join = ["copy", store, part, str(target), "--complete", str(specs)]
    assert "1 episode missing from all of the stores; nothing was copied:\n  demo/3\n" in call(*join, code=1).output
    assert not target.exists()
    LanceStore.open(part).put([rendered("demo/3")])
    assert "copied 4, replaced 0, kept 0, skipped 0 already there" in call(*join).output
    assert "copied 0, replaced 0, kept 0, skipped 4 already there" in call(*join).output


def test_compact(store: str) -> None:
    LanceStore.open(store).put([rendered("demo/2")])
    assert "2 files compacted to 1" in call("compact", store).output
    assert "0.0 MB freed" in call("compact", store, "--drop-older-than", "7").output
    assert (
        "found 0.5; expected a number from 1 to 36,500"
        in call("compact", store, "--drop-older-than", "0.5", code=2).output
    )


def test_repair_and_migrate_of_a_sound_store(store: str) -> None:
    assert "is complete" in call("repair", store).output
    assert "schema version 3, now 3" in call("migrate", store).output


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from diorama.render.cli.store import main\n"
        "main(['verify', '--help'], standalone_mode=False)\n"
        "print('HEAVY', sorted({'lance', 'pyarrow', 'numpy', 'pydantic', 'bpy', 'ray'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--specs-out" in done.stdout
    assert done.stdout.splitlines()[-1] == "HEAVY []"
