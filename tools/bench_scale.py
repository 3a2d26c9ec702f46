"""Measure what grows with the number of episodes: commits, memory of the command, size of the store, time to resume.

    python -m tools bench-scale --episodes 100000

Simulated workers: one record of the fake renderer, at 64 x 48 pixels, is committed under ever new ids, in groups of 64
as in a fast run. One row for each tenth of the episodes, then one for the plan of a second run, which finds all stored.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from render.compiler.render_key import render_key_of
from render.episode.make_record import make_record
from render.model.profiles import episode_settings
from render.renderers.fake import FakeRenderer
from render.run.batch import Batch
from render.run.limits import resident
from render.run.options import RunOptions
from render.store import open_or_create
from render.store.rows import encode
from scene_specs.language.tables import markdown_table
from scene_specs.reading.source import SpecSource
from tools.programs import write_specs

_GROUP = 64
_SIZE = (64, 48)


def measure(folder: Path, episodes: int) -> Iterator[list[Any]]:
    """Yield the rows of the table."""
    frame = {"objects": [{"shape": "cube"}, {"shape": "sphere"}]}
    specs = folder / "specs.jsonl"
    write_specs(specs, ({"version": 1, "id": f"scale/{k:08d}", "frames": [frame]} for k in range(episodes)))
    url, record = str(folder / "scale.lance"), None
    store, group, since = open_or_create(url), [], time.monotonic()
    for number, item in enumerate(SpecSource([str(specs)]), start=1):
        settings = episode_settings(item.episode, None, _SIZE)
        key = render_key_of(item.episode, settings, "fake", ())
        record = record or make_record(FakeRenderer(), item.episode, key, settings)
        group.append(encode(record.model_copy(update={"episode_id": item.episode.id, "job": key})))
        if len(group) == _GROUP or number == episodes:
            start = time.monotonic()
            store.put_encoded(group)
            last, group = time.monotonic() - start, []
            store.maybe_compact()
        if number % (episodes // 10) == 0:
            size = sum(path.stat().st_size for path in Path(url).rglob("*") if path.is_file())
            seconds = time.monotonic() - since
            rate = f"{episodes / 10 / seconds:.0f}/s, last commit {1000 * last:.0f} ms"
            yield [f"{number:,}", rate, f"{resident() >> 20} MiB", f"{size / 1e6:,.0f} MB"]
            since = time.monotonic()
    store.close()
    before, start = resident(), time.monotonic()
    batch = Batch([str(specs)], url, RunOptions(renderer="fake", size=_SIZE))
    batch.plan()
    assert batch.summary.skipped == episodes, f"{batch.summary.skipped} of {episodes} are stored"
    seconds, grown = time.monotonic() - start, resident() - before
    yield ["plan again", f"{seconds:.0f} s", f"+{grown >> 20} MiB, {grown / episodes:.0f} bytes each", ""]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="folder of specs and store [default: a temporary one]")


def main(options: Namespace) -> None:
    """Measure, and print a table."""
    folder = Path(tempfile.mkdtemp(prefix="scale-", dir=options.folder))
    try:
        print(markdown_table(["episodes", "rate", "memory", "store"], [*measure(folder, options.episodes)]))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
