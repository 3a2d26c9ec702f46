"""Endless items: the same for any number of workers, after kills and pickles; nothing is left running."""

from __future__ import annotations

import gc
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import diorama
from diorama.render.cli.eval import main as eval_main
from diorama.render.episode.make_record import make_record
from diorama.render.run.local_ray import local_ray
from diorama.render.run.worker import Done, Failure
from diorama.render.uses.live.feed import Feed
from diorama.render.uses.live.stream import Live, LiveItem, _tasks
from diorama.scene_specs.tasks.blocks import BLOCK, Blocks, Source, sources_of
from tests.marks import slow

ROOT = Path(__file__).resolve().parents[4]
SMALL: dict[str, Any] = {"renderer": "fake", "size": (64, 48), "seed": 7}
CLEVR: dict[str, Any] = {**SMALL, "questions": 2, "objects": (2, 4)}


@pytest.fixture(scope="module", autouse=True)
def one_ray() -> Iterator[None]:
    """A Ray of this file."""
    with patch.dict(os.environ, PYTHONPATH=str(ROOT)), local_ray():
        yield


def told(item: LiveItem) -> tuple[str, str, str, bytes]:
    """What must not depend on how an item was made."""
    return item.id, item.question, item.answer, b"".join(image.png for image in item.record.images)


def take(live: Live, number: int) -> list[tuple[str, str, str, bytes]]:
    """The next items."""
    return [told(item) for item in itertools.islice(live, number)]


@pytest.fixture(scope="module")
def expected(one_ray: None) -> list[tuple[str, str, str, bytes]]:
    """The first items of CLEVR, by one worker."""
    with diorama.live("clevr", **CLEVR, workers=1) as live:
        return take(live, 60)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, *slow(4)])
def test_order_and_bytes_are_the_same_for_any_number_of_workers(
    expected: list[tuple[str, str, str, bytes]], workers: int
) -> None:
    with diorama.live("clevr", **CLEVR, workers=workers, ahead=16) as live:
        assert take(live, 60) == expected
    assert len({name for name, *_ in expected}) == 60


@pytest.mark.slow
def test_a_killed_worker_is_replaced_and_nothing_changes(
    expected: list[tuple[str, str, str, bytes]], tmp_path: Path
) -> None:
    log = tmp_path / "events.jsonl"
    with diorama.live("clevr", **CLEVR, workers=2, ahead=4, run={"json_log": log}) as live:
        found = take(live, 6)
        deadline = time.monotonic() + 60
        while len(pids := _workers_up(log)) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        found += take(live, 54)
    assert found == expected
    assert '"worker-down"' in log.read_text() and len(_workers_up(log)) >= 3, "no worker was replaced"


def _workers_up(log: Path) -> list[int]:
    """The process of each worker that has started."""
    events = [json.loads(line) for line in log.read_text().splitlines()]
    return [event["pid"] for event in events if event["event"] == "worker-up"]


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 25])
def test_a_pickled_stream_continues_with_the_next_item(expected: list[tuple[str, str, str, bytes]], after: int) -> None:
    with diorama.live("clevr", **CLEVR, workers=1) as live:
        assert take(live, after) == expected[:after]
        state = pickle.dumps(live)
    with pickle.loads(state) as again:
        assert take(again, 60 - after) == expected[after:]
    assert len(state) < 2000


@pytest.mark.slow
def test_skip_leaves_out_episodes_and_keeps_what_follows(expected: list[tuple[str, str, str, bytes]]) -> None:
    episodes = list(dict.fromkeys(name.partition("#")[0] for name, *_ in expected))
    with diorama.live("clevr", **CLEVR, workers=1).skip(5) as live:
        found = take(live, 20)
        with pytest.raises(diorama.UsageError, match="has begun"):
            live.skip(1)
    assert found == [item for item in expected if item[0].partition("#")[0] in episodes[5:]][:20]


@pytest.mark.slow
def test_no_more_than_ahead_is_rendered_and_a_slow_caller_loses_nothing() -> None:
    with diorama.live("mewl", **SMALL, split="train", workers=2, ahead=3) as live:
        first = next(live)
        time.sleep(3)
        assert isinstance(live._feed, Feed) and len(live._feed._done) <= 3
        names = [first.record.episode_id, *(next(live).record.episode_id for _ in range(11))]
    assert names == [spec["id"] for spec in Blocks(sources_of("mewl", {"split": "train"}), 7).block(0)[:12]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mewl", {"split": "train"}),
        ("malevic", {"name": "pos1", "split": "train"}),
        ("iwisdm", {"benchmark": "low"}),
        ("kilogram", {}),
        ("icca", {"contexts": 4}),
        ("clevr", {"questions": 1}),
    ],
)
def test_each_benchmark_gives_items_that_render_again_from_their_specs(name: str, options: dict[str, Any]) -> None:
    with diorama.live(name, **SMALL, workers=1, ahead=2, **options) as live:
        item = next(live)
    assert item.score(item.answer) == item.score(item.label) == 1.0
    assert all(item.score(other) == 0.0 for other in item.options if other != item.answer)
    assert item.score("\n".join(item.options)) == item.score(item.question) == item.score("") == 0.0
    assert all(image.dtype == "uint8" for image in item.images)
    scene = diorama.compile_spec(item.spec, "draft", (64, 48))
    again = make_record(diorama.FakeRenderer(), scene, item.record.job, scene.settings)
    assert [image.png for image in again.images] == [image.png for image in item.record.images]


@pytest.mark.slow
def test_items_of_cycles_render_again_byte_for_byte() -> None:
    with diorama.live("clevr", seed=3, questions=2, size=(48, 36), workers=1, ahead=2) as live:
        item = next(live)
    (image,) = diorama.render_scene(diorama.compile_spec(item.spec, "draft", (48, 36)), device="cpu")
    assert (image.passes.color == item.images[0]).all()


@pytest.mark.slow
def test_a_failed_episode_is_left_out_and_the_order_stays(caplog: pytest.LogCaptureFixture) -> None:
    specs = Blocks(sources_of("mewl", {"split": "train"}), 7).block(0)
    options = {**SMALL, "renderer": "tests.render.run.renderers:Fails", "split": "train"}
    with (
        patch("diorama.render.uses.live.stream.Blocks.block", lambda *_: [{**specs[0], "id": "b/fail"}, *specs[1:]]),
        diorama.live("mewl", **options, workers=2) as live,
    ):
        names = [next(live).record.episode_id for _ in range(3)]
    assert names == [spec["id"] for spec in specs[1:4]] and "left out" in caplog.text


@pytest.mark.slow
def test_what_was_shown_is_kept_and_scored_the_same(tmp_path: Path) -> None:
    from click.testing import CliRunner

    store = tmp_path / "shown.lance"
    replies = tmp_path / "replies.jsonl"
    with diorama.live("mewl", **SMALL, split="train", workers=1, ahead=20, record=store) as live:
        shown = list(itertools.islice(live, 12))
    assert sorted(name for name, _ in diorama.open_store(store).ids()) == sorted(
        {item.record.episode_id for item in shown}
    )
    given = [item.options[k % len(item.options)] for k, item in enumerate(shown)]
    lines = [json.dumps({"id": item.id, "reply": reply}) for item, reply in zip(shown, given, strict=True)]
    replies.write_text("\n".join(lines))
    done = CliRunner().invoke(eval_main, ["score", str(replies), "--store", str(store), "--json"])
    assert done.exit_code == 0, done.output
    rows = {(row["by"], row["group"]): row for row in json.loads(done.stdout)["rows"]}
    assert round(rows["all", ""]["accuracy"] * 12) == sum(
        item.score(reply) for item, reply in zip(shown, given, strict=True)
    )


@pytest.mark.slow
def test_a_mixture_has_its_shares_in_each_block_and_blocks_differ() -> None:
    mixture = sources_of({"mewl": {"weight": 3, "split": "train"}, "malevic": {"weight": 1, "name": "pos1"}}, {})
    blocks = Blocks(mixture, 1)
    first, second = blocks.block(0), blocks.block(1)
    assert Counter(spec["task"]["benchmark"] for spec in first) == {"mewl": 192, "malevic": 64}
    assert len({spec["id"] for spec in first + second}) == 2 * BLOCK
    assert Blocks(mixture, 1).block(1) == second, "a block must not depend on earlier ones"
    assert {json.dumps(spec["frames"]) for spec in first}.isdisjoint(json.dumps(spec["frames"]) for spec in second)
    tasks = Counter(spec["task"]["name"] for spec in Blocks((Source("mewl", 1.0, {"split": "train"}),), 1).block(0))
    assert len(tasks) == 9 and max(tasks.values()) - min(tasks.values()) <= 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"benchmark": "clevr"}, "pass questions=N"),
        ({"benchmark": "nothing"}, "nothing"),
        ({"benchmark": "mewl", "count": 3}, "can't be an option of an endless stream"),
        ({"benchmark": "mewl", "colour": 3}, "colour"),
        ({"benchmark": {"mewl": 0}}, "expected a positive number"),
        ({"benchmark": {"mewl": 1}, "task": "shape"}, "beside a mixture"),
        ({"benchmark": "mewl", "ahead": 0}, "ahead"),
        ({"benchmark": "mewl", "run": {"gpu": 1}}, "gpu"),
    ],
)
def test_wrong_arguments_are_reported_before_anything_starts(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(diorama.DioramaError, match=message):
        diorama.live(arguments.pop("benchmark"), **arguments, seed=1)


def test_an_error_of_the_workers_reaches_the_caller() -> None:
    live = diorama.live("mewl", **{**SMALL, "renderer": "nothing:Nothing"}, workers=1)
    with pytest.raises(diorama.DioramaError, match="nothing"):
        next(live)


def test_the_feed_gives_failures_their_place() -> None:
    live = diorama.live("mewl", **SMALL, split="train")
    feed = Feed(_tasks(live.options, 0), 3)
    while (first := next(feed)) is None:
        time.sleep(0.1)
    tasks = [next(feed) for _ in range(3)]
    assert [task is None for task in tasks] == [False, False, True]
    names = [task.episode.id for task in (first, *tasks) if task is not None]
    feed.add(Done(names[2], b"", 1))
    feed.add_failure(Failure(names[0], "CompileError", ""))
    feed.add(Done(names[1], b"", 1))
    assert [feed.take().episode_id for _ in range(3)] == names
    assert next(feed) is not None


SCRIPT = """
import gc, os, signal, sys, diorama
live = diorama.live("mewl", seed=1, renderer="fake", size=(32, 24), split="train", workers=2)
next(live)
if sys.argv[1] == "collected":
    del live
    import ray
    print("running" if ray.is_initialized() else "ended")
elif sys.argv[1] == "interrupted":
    os.killpg(os.getpgid(0), signal.SIGINT)
    while True:
        next(live)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["collected", "interrupted", "at the end"])
def test_nothing_is_left_running(how: str, tmp_path: Path) -> None:
    environment = {**os.environ, "DIORAMA_MARK": str(tmp_path), "PYTHONPATH": str(ROOT)}
    for name in [name for name in environment if name.startswith("RAY_")]:
        del environment[name]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, how],
        env=environment, capture_output=True, text=True, timeout=240, start_new_session=True, check=False,
    )  # fmt: skip
    assert ("KeyboardInterrupt" in done.stderr) == (how == "interrupted"), done.stderr
    assert ("ended" in done.stdout) == (how == "collected"), done.stdout
    mark = f"DIORAMA_MARK={tmp_path}".encode()
    deadline = time.monotonic() + 10
    while (left := list(_processes_with(mark))) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == []


def _processes_with(mark: bytes) -> Iterator[str]:
    """Command lines of the processes that have this in their environment."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                yield (path.parent / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue


@pytest.mark.slow
def test_a_stream_that_is_dropped_ends_its_thread() -> None:
    live = diorama.live("mewl", **SMALL, split="train", workers=1)
    next(live)
    feed = live._feed
    assert feed is not None and feed.error is None
    del live
    gc.collect()
    assert feed.error is not None, "the loop goes on"
