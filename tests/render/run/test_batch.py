"""render-batch with the fake renderer: the run, the store and the command line, no Blender."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from diorama.render.cli.batch import main
from diorama.render.compiler import compile_episode
from diorama.render.compiler.render_key import IDENTITY_VERSION
from diorama.render.run.batch import Batch
from diorama.render.run.local_ray import local_ray
from diorama.render.run.options import RunOptions
from diorama.render.store import open_or_create
from diorama.render.store.resume import Decision, Planner
from diorama.scene_specs.errors import ConflictError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import RenderKey
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.documents import Document, SpecFile, documents
from diorama.scene_specs.reading.source import SpecSource, parse_episode
from tests.marks import slow

BATCH = str(Path(sys.executable).with_name("render-batch"))
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", autouse=True)
def one_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One Ray for all runs of this file: its start costs more than they do."""
    settings = {"DIORAMA_TEST_FOLDER": str(tmp_path_factory.mktemp("marks")), "PYTHONPATH": str(ROOT)}
    with patch.dict(os.environ, settings), local_ray():
        yield


def episode(name: str, **changes: Any) -> dict[str, Any]:
    frame = {"objects": [{"shape": "cube", "color": "red", "size": "large"}, {"shape": "sphere"}]}
    return {"version": 1, "id": name, "seed": 3, "frames": [frame], **changes}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    def writer(*episodes: dict[str, Any], name: str = "specs.jsonl") -> str:
        path = tmp_path / name
        path.write_text("".join(json.dumps(item) + "\n" for item in episodes))
        return str(path)

    return writer


def run(*arguments: str, folder: Path, renderer: str = "fake", code: int = 0) -> dict[str, Any]:
    """render-batch --json in this process; its summary, with what it printed to standard error as `stderr`."""
    common = ["--renderer", renderer, "--json", "--size", "64x48", "--out", str(folder / "out.lance")]
    done = CliRunner().invoke(main, [*arguments, *common])
    assert done.exit_code == code, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout) if done.stdout.startswith("{") else {}
    return {**summary, "stderr": done.stderr}


def stored(folder: Path) -> list[str]:
    return sorted(name for name, _ in open_or_create(str(folder / "out.lance")).ids())


def test_renders_then_skips_then_refuses_what_changed(tmp_path: Path, write: Callable[..., str]) -> None:
    specs = write(episode("a"), episode("b"))
    first = run(specs, folder=tmp_path)
    assert first["rendered"] == 2 and first["images"] == 2 and first["failed"] == []
    assert stored(tmp_path) == ["a", "b"]

    again = run(specs, folder=tmp_path)
    assert again["rendered"] == 0 and again["skipped"] == 2

    changed = episode("b")
    changed["frames"][0]["objects"][0]["color"] = "blue"
    specs = write(episode("a"), changed, episode("c"))
    refused = run(specs, folder=tmp_path, code=2)
    assert 'frames[0].objects[0].color: stored "red", now "blue"' in refused["stderr"]
    assert "--replace" in refused["stderr"] and "--keep" in refused["stderr"]
    assert stored(tmp_path) == ["a", "b"], "nothing is rendered when an id is refused"

    kept = run(specs, "--keep", folder=tmp_path)
    assert (kept["rendered"], kept["kept"], kept["skipped"]) == (1, 1, 1)
    replaced = run(specs, "--replace", folder=tmp_path)
    assert (replaced["rendered"], replaced["replaced"], replaced["skipped"]) == (1, 1, 2)
    record = open_or_create(str(tmp_path / "out.lance")).get("b")
    assert record.scene.frames[0].objects[0].color == "blue"
    assert record.provenance.attempt == 2


def test_profile_and_size_are_part_of_what_was_made(tmp_path: Path, write: Callable[..., str]) -> None:
    specs = write(episode("a"))
    run(specs, folder=tmp_path)
    other = run(specs, "--profile", "draft", folder=tmp_path, code=2)
    assert 'settings profile: stored "standard", now "draft"' in other["stderr"]


def test_a_dry_run_writes_nothing(tmp_path: Path, write: Callable[..., str]) -> None:
    """Nor does it end at a Scene that can't be compiled, here because an observer no longer looks at its target."""
    frame = {"objects": [{"name": "ball"}], "observers": [{"name": "Ann", "looks_at": "ball"}]}
    spec = parse_episode(json.dumps(episode("moved", frames=[frame])))
    scene = json.loads(compile_episode(spec, settings_for("draft", 64, 48)).to_json())
    scene["frames"][0]["objects"][0]["location"][0] += 1
    found = run(write(scene, episode("b")), "--dry-run", folder=tmp_path, code=1)
    assert found["todo"] == 2 and found["rendered"] == 0
    assert [failure["episode"] for failure in found["failed"]] == ["moved"]
    assert not (tmp_path / "out.lance").exists()


def test_another_size_than_the_published_one_is_said_once(tmp_path: Path, write: Callable[..., str]) -> None:
    sizes = [[480, 320], [480, 320], [64, 48]]
    specs = write(*(episode(name, task={"image_size": size}) for name, size in zip("abc", sizes, strict=True)))
    assert run(specs, "--dry-run", folder=tmp_path)["stderr"].count("published at 480x320 are rendered at another") == 1


@pytest.mark.slow
def test_a_flat_scene_gets_the_margins_of_its_spec(tmp_path: Path, write: Callable[..., str]) -> None:
    square = {"shape": "square", "size": 20, "location": [50, 50], "rotation_deg": 0, "color": "red"}
    spec = episode("spec", stage="flat", canvas=[60, 60], frames=[{"objects": [square]}])
    scene = compile_episode(parse_episode(json.dumps({**spec, "id": "scene"})), settings_for("draft", 60, 60))
    run(write(spec, json.loads(scene.to_json())), "--profile", "draft", folder=tmp_path)
    one, two = (open_or_create(str(tmp_path / "out.lance")).get(name) for name in ("spec", "scene"))
    assert one.scene.frames[0].views == two.scene.frames[0].views
    assert one.images[0].annotation.objects[0].bbox == two.images[0].annotation.objects[0].bbox
    assert one.job.version == two.job.version == IDENTITY_VERSION
    assert two.job.spec["settings"] == two.job.settings


@pytest.mark.slow
def test_only_what_was_replaced_counts_as_replaced(tmp_path: Path, write: Callable[..., str]) -> None:
    specs = write(episode("a"), episode("raise"))
    run(specs, folder=tmp_path)
    asked = run(specs, "--replace", "--profile", "draft", "--dry-run", folder=tmp_path)
    assert (asked["replaced"], asked["would_replace"], asked["todo"]) == (0, 2, 2)
    common = ["--renderer", "fake", "--size", "64x48", "--profile", "draft", "--out", str(tmp_path / "out.lance")]
    said = CliRunner().invoke(main, [specs, *common, "--replace", "--dry-run"]).stdout
    assert "would replace 2 stored episodes" in said and "\nreplaced" not in said

    options = ("--replace", "--profile", "draft")
    done = run(specs, *options, folder=tmp_path, renderer="tests.render.run.renderers:CrashesAlways", code=1)
    assert (done["rendered"], done["replaced"], done["would_replace"]) == (1, 1, 0)
    assert [failure["episode"] for failure in done["failed"]] == ["raise"]


def test_limit_takes_the_first(tmp_path: Path, write: Callable[..., str]) -> None:
    run(write(episode("a"), episode("b"), episode("c")), "--limit", "2", folder=tmp_path)
    assert stored(tmp_path) == ["a", "b"]


def test_wrong_specs_are_all_named_and_nothing_is_rendered(tmp_path: Path, write: Callable[..., str]) -> None:
    bad = episode("bad")
    bad["frames"][0]["objects"][0]["colour"] = "red"
    worse = episode("worse", stage="clever")
    found = run(write(episode("a"), bad, worse), folder=tmp_path, code=2)
    assert "colour" in found["stderr"] and "clever" in found["stderr"]
    assert not (tmp_path / "out.lance").exists()


@pytest.mark.slow
def test_a_search_that_fails_is_that_episodes_own(tmp_path: Path, write: Callable[..., str]) -> None:
    crowded = episode("crowded")
    crowded["frames"][0] = {"objects": [{"size": "large"}] * 5, "area": {"x": [-0.9, 0.9], "y": [-0.9, 0.9]}}
    found = run(write(episode("a"), crowded, episode("b")), folder=tmp_path, code=1)
    assert [failure["episode"] for failure in found["failed"]] == ["crowded"]
    assert found["failed"][0]["kind"] == "CompileError"
    assert stored(tmp_path) == ["a", "b"]


def test_a_worker_that_dies_is_replaced(tmp_path: Path, write: Callable[..., str]) -> None:
    specs = write(*(episode(name) for name in ("a", "crash", "b", "c")))
    found = run(specs, "--workers", "2", folder=tmp_path, renderer="tests.render.run.renderers:CrashesOnce")
    assert found["replaced_workers"] == 1 and found["failed"] == []
    assert stored(tmp_path) == ["a", "b", "c", "crash"]


@pytest.mark.slow
def test_what_kills_every_worker_is_set_aside(tmp_path: Path, write: Callable[..., str]) -> None:
    specs = write(*(episode(name) for name in ("a", "crash", "hang", "raise", "b")))
    found = run(
        specs, "--workers", "2", "--retries", "1", "--timeout", "20",
        folder=tmp_path, renderer="tests.render.run.renderers:CrashesAlways", code=1,
    )  # fmt: skip
    assert sorted(failure["episode"] for failure in found["failed"]) == ["crash", "hang", "raise"]
    reasons = {failure["episode"]: failure["message"] for failure in found["failed"]}
    assert "died" in reasons["crash"] and "longer than" in reasons["hang"] and "planted" in reasons["raise"]
    assert stored(tmp_path) == ["a", "b"]


def test_gpus_that_are_not_there_stop_the_run(tmp_path: Path, write: Callable[..., str]) -> None:
    found = run(write(episode("a")), "--gpus", "8", folder=tmp_path, code=3)
    assert "--gpus 8" in found["stderr"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, *slow(signal.SIGINT, signal.SIGTERM)])
def test_stopped_half_way_and_run_again_gives_each_once(
    tmp_path: Path, write: Callable[..., str], number: signal.Signals
) -> None:
    names = [f"e{k:02d}" for k in range(40)]
    specs = write(*(episode(name) for name in names))
    go_on = Path(os.environ["DIORAMA_TEST_FOLDER"]) / "go-on"
    go_on.unlink(missing_ok=True)
    options = ["--renderer", "tests.render.run.renderers:Pauses", "--workers", "1", "--size", "64x48"]
    command = [BATCH, specs, *options, "--out", "out.lance"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 200
    while not (tmp_path / "out.lance").exists() or not stored(tmp_path):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(number)
    go_on.touch()
    code = process.wait(timeout=240)
    before = stored(tmp_path)
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    assert 0 < len(before) < len(names) and len(set(before)) == len(before)
    found = run(specs, folder=tmp_path, renderer="tests.render.run.renderers:Pauses")
    assert stored(tmp_path) == names
    assert found["skipped"] == len(before)


@pytest.mark.slow
def test_specs_are_read_twice_and_a_job_is_hashed_once(
    tmp_path: Path, write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = write(episode("a"), episode("b"))
    run(specs, folder=tmp_path)
    reads: list[str] = []
    hashes: list[str] = []
    right, right_hash = documents, RenderKey.hash

    def read(file: SpecFile, wanted: Callable[[], bool]) -> Iterator[Document]:
        reads.append(file.name)
        return right(file, wanted)

    def hashed(key: RenderKey) -> str:
        if "_hash" not in key.__dict__:
            hashes.append(key.spec["id"])
        return right_hash(key)

    monkeypatch.setattr("diorama.scene_specs.reading.source.documents", read)
    monkeypatch.setattr(RenderKey, "hash", hashed)
    specs = write(episode("a"), episode("b"), episode("c"))
    found = run(specs, folder=tmp_path)
    assert (found["rendered"], found["skipped"]) == (1, 2)
    assert reads == [specs, specs] and hashes == ["a", "b"], "a worker hashes what it renders"


def test_wrong_specs_are_named_before_broken_assets_and_conflicts(tmp_path: Path, write: Callable[..., str]) -> None:
    run(write(episode("a"), episode("b")), folder=tmp_path)
    material = {"blend": "gone.blend", "group": "Gone"}
    broken = episode("c", frames=[{"objects": [{"material": material}]}])
    bad = episode("d", stage="clever")
    profile = ("--profile", "draft")
    found = run(write(episode("a"), broken, bad), *profile, folder=tmp_path, code=2)
    assert "clever" in found["stderr"] and "gone.blend" not in found["stderr"] and "--keep" not in found["stderr"]
    found = run(write(episode("a"), broken), *profile, folder=tmp_path, code=2)
    assert "episode c: asset 'gone.blend'" in found["stderr"] and "--keep" not in found["stderr"]
    found = run(write(episode("a"), episode("b")), *profile, folder=tmp_path, code=2)
    assert "episode a is stored already" in found["stderr"] and "episode b is stored already" in found["stderr"]


@pytest.mark.slow
def test_planning_holds_few_episodes(
    tmp_path: Path, write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def alive() -> int:
        gc.collect()
        return sum(type(item) is EpisodeSpec for item in gc.get_objects())

    specs = write(*(episode(f"e{number}") for number in range(20)))
    run(specs, folder=tmp_path)
    before, held, right = alive(), [], Planner.conflict

    def conflict(decisions: Sequence[Decision], count: int) -> ConflictError:
        held.append(alive() - before)
        return right(decisions, count)

    monkeypatch.setattr(Planner, "conflict", conflict)
    batch = Batch(SpecSource([specs]), str(tmp_path / "out.lance"), RunOptions(profile="draft", size=(64, 48)))
    with pytest.raises(ConflictError, match="and 15 more"):
        batch.plan()
    assert 5 <= held[0] <= 7


@pytest.mark.slow
def test_parts_make_the_whole_and_a_limit_counts_before_them(tmp_path: Path, write: Callable[..., str]) -> None:
    specs = write(*map(episode, "abcdefg"))
    done = [run(specs, "--part", part, "--limit", "5", folder=tmp_path) for part in ("1/3", "2/3", "3/3")]
    assert [summary["rendered"] for summary in done] == [2, 2, 1]
    assert stored(tmp_path) == [*"abcde"]
    assert run(specs, "--part", "7/9", folder=tmp_path)["rendered"] == 1
    assert run(specs, "--part", "9/9", folder=tmp_path)["todo"] == 0
