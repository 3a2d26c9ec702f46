"""`--format huggingface`: Parquet with Image features and a dataset card, ready to upload.

    <out>/data/<split>-00000-of-00012.parquet    one row an episode, the columns of the store
          README.md                              the card: splits, columns, figures

    datasets.load_dataset("<out>", split="train")[0]["images"]      a list of PIL images

`hf upload USER/NAME <out>` publishes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from render.export._shards import Shard, ShardFormat, Written, export_shards, facts_by_split
from render.export.protocol import ExportOptions, ExportReport
from render.model.record import EpisodeRecord
from render.store.episode_store import EpisodeReader

FORMAT_VERSION = 1
# Some 200 MB of seven small pictures each; a group is what a reader loads at once.
_EPISODES = 500
_GROUP = 50
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def export(store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None]) -> ExportReport:
    """Write Parquet shards and the card; see render.export.protocol.Exporter."""
    format_ = ShardFormat(FORMAT_VERSION, _EPISODES, _name_of, _write, _finish)
    return export_shards(store, out, options, progress, format_)


def _split_name(split: str) -> str:
    # datasets allows letters, digits and _ only.
    return re.sub(r"[^A-Za-z0-9_]", "_", split)


def _name_of(split: str, number: int, count: int) -> str:
    return f"data/{_split_name(split)}-{number:05d}-of-{count:05d}.parquet"


def _write(path: Path, _shard: Shard, records: Iterator[EpisodeRecord]) -> int:
    import pyarrow.parquet as pq

    from render.store.columns import episode_schema
    from render.store.rows import table_of

    count = 0
    with pq.ParquetWriter(path, episode_schema(), compression="zstd", write_page_index=True) as writer:
        while group := list(islice(records, _GROUP)):
            writer.write_table(table_of(group), row_group_size=_GROUP)
            count += len(group)
    return count


def _finish(store: EpisodeReader, out: Path, options: ExportOptions, files: dict[str, Written]) -> None:
    partial = out / ".README.md.part"
    partial.write_text(_card(store, options, files), encoding="utf-8")
    partial.replace(out / "README.md")


def _card(store: EpisodeReader, options: ExportOptions, files: dict[str, Written]) -> str:
    splits = facts_by_split(files)
    total = sum(facts["samples"] for facts in splits.values())
    size = next((name for most, name in _SIZES if total < most), "n>1M")
    lines = [
        "---",
        "pretty_name: rendered by Diorama",
        "size_categories:",
        f"- {size}",
        "tags:",
        "- synthetic",
        "- image",
    ]
    lines += ["configs:", "- config_name: default", "  data_files:"]
    for split in splits:
        lines += [f"  - split: {_split_name(split)}", f"    path: data/{_split_name(split)}-*.parquet"]
    lines += ["---", "", "# Rendered by Diorama", "", "One row an episode; `images` are its pictures, `objects` every "]
    lines[-1] += "object of every picture with box, mask and pose, `scene` all numbers that it was rendered from."
    lines += ["", "| split | episodes | files | MB |", "|---|---|---|---|"]
    for split, facts in splits.items():
        lines.append(f"| {_split_name(split)} | {facts['samples']} | {facts['files']} | {facts['bytes'] / 1e6:.1f} |")
    for title, counter in _figures(store, options).items():
        lines += ["", f"## {title}", "", "| | count |", "|---|---|"]
        lines += [f"| {_cell(name)} | {count} |" for name, count in sorted(counter.items())]
    return "\n".join(lines) + "\n"


def _figures(store: EpisodeReader, options: ExportOptions) -> dict[str, Counter[str]]:
    """Counts over the stored episodes that were chosen; not over a --limit."""
    tasks: Counter[str] = Counter()
    images: Counter[str] = Counter()
    words: dict[str, Counter[str]] = {name: Counter() for name in ("shape", "color", "material", "size")}
    for row in store.scan(["benchmark", "task", "width", "height", "image_names", "objects"], options.where, 256):
        tasks["/".join(part for part in (row["benchmark"], row["task"]) if part) or "none"] += 1
        images[f"{row['width']}x{row['height']}"] += len(row["image_names"] or ())
        for item in row["objects"] or ():
            for name, counter in words.items():
                counter[item[name] or "in numbers"] += 1
    return {"Episodes by task": tasks, "Images by size": images} | {f"Objects by {k}": v for k, v in words.items()}


def _cell(text: str) -> str:
    # Task names are the author's: they must not end the cell or become HTML.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;").replace("\n", " ")
