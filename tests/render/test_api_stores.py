"""Stores from Python: filling one as `render-batch` does, exporting it as `render-export` does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diorama
from diorama.render.run.local_ray import local_ray
from diorama.render.store import create_store
from diorama.render.store.lance.lance_store import LanceStore
from tests.render.store.rendered import rendered

SMALL: dict[str, Any] = {"renderer": "fake", "size": (32, 24), "device": "cpu"}


@pytest.fixture(scope="module", autouse=True)
def one_ray() -> Iterator[None]:
    with local_ray():
        yield


def episodes(*names: str, seed: int = 3) -> list[dict[str, Any]]:
    return [{"version": 1, "id": name, "seed": seed, "frames": [{"objects": [{"shape": "cube"}]}]} for name in names]


@pytest.mark.slow
def test_specs_of_a_generator_are_rendered_and_only_once(tmp_path: Path) -> None:
    store = tmp_path / "out.lance"
    calls: list[tuple[int, int]] = []
    specs = (spec for spec in episodes("a", "b", "c"))
    summary = diorama.render_to_store(
        specs, store, workers=1, progress=lambda done, total: calls.append((done, total)), **SMALL
    )
    assert (summary.todo, summary.rendered, summary.skipped, summary.failed, summary.exit_code) == (3, 3, 0, [], 0)
    assert calls == [(1, 3), (2, 3), (3, 3)]
    assert summary.seconds > 0 and str(summary).startswith("rendered 3 episodes (3 images)")
    again = diorama.render_to_store(episodes("c", "d"), store, **SMALL)
    assert (again.todo, again.rendered, again.skipped) == (1, 1, 1)
    opened = diorama.open_store(store)
    assert sorted(name for name, _ in opened.ids()) == ["a", "b", "c", "d"]
    number: Any = 3
    with pytest.raises(diorama.UsageError, match="found 3; allowed: an id"):
        opened.get(number)


def test_samples_opens_the_store_in_a_folder(tmp_path: Path) -> None:
    LanceStore.create(str(tmp_path / "samples.lance"), fsync=False).put([rendered("a")])
    assert [name for name, _ in diorama.samples(tmp_path).ids()] == ["a"]
    with pytest.raises(diorama.StoreError, match="make samples"):
        diorama.samples(tmp_path / "other")


@pytest.mark.parametrize(
    ("specs", "store", "message"),
    [(5, "a.lance", "specs: found 5"), (None, "a.lance", "specs: found None"), ("a.json", None, "store: found None")],
)
def test_specs_and_stores_of_a_wrong_type_are_refused(specs: Any, store: Any, message: str) -> None:
    with pytest.raises(diorama.UsageError, match=message):
        diorama.render_to_store(specs, store, **SMALL)


def test_files_models_and_single_specs_are_specs_too(tmp_path: Path) -> None:
    (spec,) = episodes("a")
    model = diorama.EpisodeSpec.model_validate({**spec, "id": "b"})
    scene = diorama.compile_spec({**spec, "id": "c"}, size=(32, 24))
    given: Any
    count: int
    file = tmp_path / "d.jsonl"
    file.write_text(model.model_copy(update={"id": "d"}).model_dump_json(exclude_defaults=True))
    for given, count in ((spec, 1), ([model, scene], 2), (file, 1), ([str(file)], 1)):
        summary = diorama.render_to_store(given, tmp_path / "out.lance", dry_run=True, **SMALL)
        assert (summary.todo, summary.rendered) == (count, 0)
    assert not (tmp_path / "out.lance").exists()


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (episodes("a", "A"), r"specs:2: episode A: id: .*specs:1"),
        ([*episodes("a"), {"version": 1, "id": "b", "frames": [{"objects": 3}]}], r"specs:2: episode b: frames\[0\]"),
        ([{"version": np.int64(1)}], "specs:1: not a spec: .*int64"),
        ([{"version": 1, "id": "a", "frames": [], "seed": float("nan")}], "specs:1.*NaN"),
        ([*episodes("a"), "b.json"], "specs:2.*b.json"),
        ([], "specs: no specs given"),
        ("missing.jsonl", "missing.jsonl: no such file"),
    ],
)
def test_wrong_specs_are_named_by_their_number(tmp_path: Path, specs: Any, message: str) -> None:
    with pytest.raises(diorama.SpecError, match=message):
        diorama.render_to_store(specs, tmp_path / "out.lance", **SMALL)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers: found 0"),
        ({"limit": -1}, "limit: found -1"),
        ({"devise": "cpu"}, 'devise: found "cpu"'),
        ({"resume": "always"}, 'resume: found "always"'),
        ({"size": (0, 24)}, "from 4 to 16384"),
        ({"profile": "drafd"}, "did you mean 'draft'"),
    ],
)
def test_wrong_options_are_usage_errors(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(diorama.UsageError, match=message):
        diorama.render_to_store(episodes("a"), tmp_path / "out.lance", **{**SMALL, **options})


def test_changed_specs_conflict_unless_the_caller_decides(tmp_path: Path) -> None:
    store = tmp_path / "out.lance"
    diorama.render_to_store(episodes("a"), store, **SMALL)
    changed = episodes("a", seed=4)
    with pytest.raises(diorama.ConflictError, match="a"):
        diorama.render_to_store(changed, store, **SMALL)
    assert diorama.render_to_store(changed, store, resume="keep", **SMALL).kept == 1
    assert diorama.render_to_store(changed, store, resume="replace", **SMALL).replaced == 1


def test_a_failed_episode_is_in_the_summary(tmp_path: Path) -> None:
    options = {**SMALL, "renderer": "tests.render.run.renderers:Fails"}
    summary = diorama.render_to_store(episodes("a", "b/fail"), tmp_path / "out.lance", **options)
    assert (summary.rendered, [failure.episode_id for failure in summary.failed]) == (1, ["b/fail"])


@pytest.mark.slow
def test_ctrl_c_commits_what_is_in_flight_and_the_same_call_continues(tmp_path: Path) -> None:
    store, names = str(tmp_path / "out.lance"), [f"e{number:02}" for number in range(40)]

    def interrupt(done: int, total: int) -> None:
        if done == 2:
            os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt, match="call again"):
        diorama.render_to_store(episodes(*names), store, workers=1, progress=interrupt, **SMALL)
    assert signal.getsignal(signal.SIGINT) is handler
    before = diorama.open_store(store)
    stored = [name for name, _ in before.ids()]
    assert 2 <= len(stored) < 40
    assert all(before.get(name).images for name in stored)
    rest = diorama.render_to_store(episodes(*names), store, workers=1, **SMALL)
    assert (rest.skipped, rest.rendered) == (len(stored), 40 - len(stored))


def test_it_runs_in_a_thread_as_well(tmp_path: Path) -> None:
    found: list[Any] = []
    thread = threading.Thread(
        target=lambda: found.append(diorama.render_to_store(episodes("a"), tmp_path / "out.lance", **SMALL))
    )
    thread.start()
    thread.join(timeout=240)
    assert [summary.rendered for summary in found] == [1]


@pytest.mark.slow
def test_a_script_needs_no_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    lines = [
        "import diorama",
        f"summary = diorama.render_to_store({episodes('a')}, 'out.lance', workers=1, **{SMALL})",
        "print('rendered', summary.rendered)",
    ]
    script.write_text("\n".join(lines))
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.stdout.splitlines() == ["rendered 1"], done.stderr


def test_an_export_is_complete_skips_what_is_there_and_refuses_to_overwrite(tmp_path: Path) -> None:
    store, out = tmp_path / "out.lance", tmp_path / "pictures"
    diorama.render_to_store(episodes("a", "b", "c"), store, **SMALL)
    calls: list[tuple[int, int | None]] = []
    report = diorama.export(store, "folder", out, limit=2, progress=lambda done, total: calls.append((done, total)))
    assert (report.exported, report.skipped, calls) == (2, 0, [(1, 2), (2, 2)])
    assert diorama.export(store, "folder", out).skipped == 2
    assert diorama.export(store, "folder", tmp_path / "one", where="episode_id = 'b'").exported == 1
    diorama.render_to_store(episodes("a", seed=5), store, resume="replace", **SMALL)
    with pytest.raises(diorama.ConflictError, match="episode a"):
        diorama.export(store, "folder", out)
    assert diorama.export(store, "folder", out, overwrite=True).exported == 1
    assert diorama.export(store, "folder", tmp_path / "first", at=2).exported == 3


def test_wrong_exports_are_errors(tmp_path: Path) -> None:
    with pytest.raises(diorama.StoreError):
        diorama.export(tmp_path / "none.lance", "folder", tmp_path / "out")
    with pytest.raises(diorama.UsageError, match="shard"):
        diorama.export(tmp_path / "none.lance", "folder", tmp_path / "out", shard_size=2)
    with pytest.raises(diorama.DioramaError, match="did you mean 'folder'"):
        diorama.export(tmp_path / "none.lance", "foldr", tmp_path / "out")
    wrong: Any
    for wrong in ({"limit": -1}, {"limit": "2"}, {"shard_size": 0}, {"shard_size": -1}):
        with pytest.raises(diorama.UsageError, match="allowed: an integer of at least"):
            diorama.export(tmp_path / "none.lance", "coco", tmp_path / "out", **wrong)
    create_store(tmp_path / "s.lance")
    with pytest.raises(diorama.UsageError, match="no episode has the split 'val'"):
        diorama.export(tmp_path / "s.lance", "coco", tmp_path / "out", splits="val")


def test_an_unknown_renderer_is_refused_before_a_store_is_made(tmp_path: Path) -> None:
    with pytest.raises(diorama.PluginError, match="did you mean 'cycles'"):
        diorama.render_to_store(episodes("a"), tmp_path / "out.lance", size=(32, 24), renderer="cycle")
    assert list(tmp_path.iterdir()) == []
