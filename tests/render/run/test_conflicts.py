"""Two runs at the same ids of one store: whoever is late says what it did and what it did not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diorama.render.run.batch import Batch
from diorama.render.run.commit import Committer
from diorama.render.run.local_ray import local_ray
from diorama.render.run.options import RunOptions
from diorama.render.run.summary import Summary
from diorama.render.run.worker import Done, Failure, Task
from diorama.render.store import open_or_create, open_store
from diorama.render.store.episode_store import PutResult
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.rows import encode
from diorama.scene_specs.errors import ConflictError
from diorama.scene_specs.model.record import RenderKey
from diorama.scene_specs.reading.source import SpecSource
from tests.factories import make_job, make_record, make_spec
from tests.marks import slow
from tests.render.run.conftest import Farm

ROOT = Path(__file__).resolve().parents[3]
CPU = ("--device", "cpu", "--workers", "1")


@pytest.fixture(scope="module", autouse=True)
def one_ray() -> Iterator[None]:
    """One Ray for all runs of this file."""
    with patch.dict(os.environ, PYTHONPATH=str(ROOT)), local_ray():
        yield


def planned(farm: Farm, *names: str, **options: Any) -> Batch:
    """A run of these episodes that has looked into the store, and has not begun to render."""
    specs = Path(farm.write(*names)).rename(farm.folder / "late.jsonl")
    made = RunOptions(**{"device": "cpu", "workers": 1, "renderer": "fake", "size": (32, 24), **options})
    batch = Batch(SpecSource([specs]), farm.store, made)
    batch.plan()
    return batch


def said(summary: Summary) -> tuple[int, int, int, int]:
    return summary.rendered, summary.skipped, summary.left, summary.exit_code


@pytest.mark.slow
@pytest.mark.parametrize("done", [("a",), ("a", "b", "c")])
def test_what_another_run_has_made_meanwhile_is_skipped(farm: Farm, done: tuple[str, ...]) -> None:
    late = planned(farm, "a", "b", "c")
    farm.run(farm.write(*done), *CPU)
    assert said(late.render()) == (3 - len(done), len(done), 0, 0)
    assert farm.stored() == ["a", "b", "c"]


@pytest.mark.slow
def test_what_another_run_has_made_otherwise_is_a_failure(farm: Farm) -> None:
    late = planned(farm, "a", "b", "c")
    farm.run(farm.write("a"), *CPU, "--profile", "draft")
    summary = late.render()
    assert said(summary) == (2, 0, 0, 1)
    (failure,) = summary.failed
    assert (failure.episode_id, failure.kind) == ("a", "ConflictError")
    assert 'settings profile: stored "draft", now "standard"' in failure.message and "--replace" in failure.message
    assert open_store(farm.store).get("a").scene.settings.profile == "draft"


@pytest.mark.slow
def test_such_a_failure_counts_for_stopping(farm: Farm) -> None:
    late = planned(farm, "a", "b", "c", max_failures=1)
    farm.run(farm.write("a"), *CPU, "--profile", "draft")
    assert said(late.render()) == (0, 0, 2, 1) and late.summary.stopped == "failures"


@pytest.mark.slow
def test_what_is_to_be_kept_is_kept_whenever_it_came(farm: Farm) -> None:
    late = planned(farm, "a", "b", resume="keep")
    farm.run(farm.write("a"), *CPU, "--profile", "draft")
    assert said(late.render()) == (1, 0, 0, 0) and late.summary.kept == 1


@pytest.mark.slow
def test_what_another_has_deleted_meanwhile_is_rendered(farm: Farm) -> None:
    farm.run(farm.write("a", "b"), *CPU)
    late = planned(farm, "a", "b", "c")
    assert late.summary.skipped == 2
    open_or_create(farm.store).delete(["a"])
    assert said(late.render()) == (2, 1, 0, 0)


@pytest.mark.slow
def test_after_a_new_start_of_ray_a_runs_own_episodes_are_not_anothers(farm: Farm) -> None:
    late = planned(farm, "a", "b")
    store = open_or_create(farm.store)
    first = next(late._missing_tasks(store))
    assert isinstance(first, Task) and first.episode.id == "a"
    store.put([make_record("a", job=first.key)])
    rest = [task.episode.id for task in late._missing_tasks(store) if isinstance(task, Task)]
    late.count_decisions()
    assert (rest, late.summary.skipped, late.summary.todo) == (["b"], 0, 2)


@pytest.mark.parametrize("attempt", [1, *slow(2)], ids=["both new", "both replacing"])
def test_what_was_rendered_and_not_stored_is_no_success(
    farm: Farm, monkeypatch: pytest.MonkeyPatch, attempt: int
) -> None:
    if attempt == 2:
        farm.run(farm.write("a", "b"), *CPU, "--profile", "draft")
    rival, right = make_record("a", attempt=attempt), LanceStore.put_encoded
    monkeypatch.setattr(LanceStore, "put_encoded", lambda self, parts: self.put([rival]) and right(self, parts))
    found = farm.run(farm.write("a", "b"), *CPU, *(["--replace"] if attempt == 2 else []), code=1)
    assert (found["rendered"], found["images"], found["left"]) == (1, 1, 0)
    assert found["replaced"] == attempt - 1
    assert [(failure["episode"], failure["kind"]) for failure in found["failed"]] == [("a", "ConflictError")]
    assert rival.job.hash()[:12] in found["failed"][0]["message"]
    assert open_store(farm.store).get("a") == rival


def job(name: str, which: str) -> RenderKey:
    return make_job(make_spec(name, color=which))


made = st.tuples(st.integers(1, 3), st.sampled_from(["red", "blue"]))


@settings(max_examples=20, deadline=None)
@given(st.dictionaries(st.sampled_from("abcde"), st.tuples(st.none() | made, made), min_size=1))
def test_an_episode_is_done_exactly_if_the_store_has_it(episodes: dict[str, tuple[Any, Any]]) -> None:
    with TemporaryDirectory() as folder:
        store = LanceStore.create(f"{folder}/s.lance", fsync=False)
        store.put([make_record(n, attempt=t[0], job=job(n, t[1])) for n, (t, _) in episodes.items() if t is not None])
        committer = Committer(LanceStore.open(store.url, fsync=False), RunOptions(commit_every=1, store_wait=0.0))
        try:
            for name, (_, (attempt, which)) in episodes.items():
                committer.add(Done(name, encode(make_record(name, attempt=attempt, job=job(name, which))), 2))
            outcome = committer.finish(60)
        finally:
            committer.close()
        store.refresh()
        assert [item.episode_id for item in outcome] == [*episodes]
        for item in outcome:
            stored = store.job(item.episode_id) == job(item.episode_id, episodes[item.episode_id][1][1])
            assert isinstance(item, Done if stored else Failure)


SERIES = {"4.5": "0.1.0", "5.2": "0.1.0+blender5.2"}


def commit(url: str, version: str, *names: str, mix_series: bool = False) -> None:
    """What a run that began when the store was empty commits."""
    job = make_job(renderer="cycles", version=version)
    options = RunOptions(commit_every=1, store_wait=0.0, mix_series=mix_series)
    committer = Committer(LanceStore.open(url, fsync=False), options)
    try:
        for name in names:
            committer.add(Done(name, encode(make_record(name, job=job)), 2))
            committer.finish(60)
    finally:
        committer.close()


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("late", ["a", "b"], ids=["the same id", "another id"])
def test_of_two_series_that_begin_a_store_the_later_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool, late: str
) -> None:
    url, right = LanceStore.create(str(tmp_path / "s.lance"), fsync=False).url, LanceStore.put_encoded

    def beaten(self: LanceStore, parts: Sequence[bytes]) -> PutResult:
        monkeypatch.undo()
        commit(url, SERIES["4.5"], "a")
        return right(self, parts)

    if at_once:
        monkeypatch.setattr(LanceStore, "put_encoded", beaten)
    else:
        commit(url, SERIES["4.5"], "a")
    with pytest.raises(ConflictError, match=r"4\.5, and these are of Blender 5\.2.*--mix-series"):
        commit(url, SERIES["5.2"], late)
    stored = LanceStore.open(url)
    assert {name: stored.job(name).version for name, _ in stored.ids()} == {"a": "0.1.0"}
    commit(url, SERIES["4.5"], "c", "d")
    commit(url, SERIES["5.2"], "e", mix_series=True)
    assert LanceStore.open(url).count() == 4


@pytest.mark.parametrize(("stopped", "code"), [("interrupt", 130), ("failures", 1), ("", 1)])
def test_what_is_left_is_ctrl_cs_doing_only_if_it_was_pressed(stopped: str, code: int) -> None:
    assert Summary(left=1, stopped=stopped).exit_code == code
    assert Summary(stopped=stopped).exit_code == 0
