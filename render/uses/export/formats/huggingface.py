"""`--format huggingface`: Parquet files with Image features and a dataset card, ready to upload.

    <out>/data/<split>-00000-of-00012.parquet    one row per episode: the columns of the store, the complete task and
                                                 the contrast as JSON (`task_data`, `contrast`), the `extent` of objects
          README.md                              the card: splits, columns, statistics

With `--questions N`, each row also has `questions`, a list (diorama.render.uses.export.hub.QUESTIONS_TYPE).

    datasets.load_dataset("<out>", split="train")[0]["images"]      a list of PIL images

`hf upload USER/NAME <out>` publishes the dataset.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from diorama.render.store.columns import COMPLETE_VERSION, OBJECT_TYPE, episode_schema, feature_of
from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.rows import table_of
from diorama.render.store.selection import chosen_ids
from diorama.render.uses.export import croissant, hub
from diorama.render.uses.export._shards import Shard, ShardExport
from diorama.render.uses.export.protocol import ExportOptions
from diorama.render.uses.io.written_files import WrittenShard
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.language.model_names import kind_of, shape_class
from diorama.scene_specs.model.record import EpisodeRecord

SHARDED = True
QUESTIONS = True
# About 200 MB with seven small images per episode. A reader loads a row group at once.
_EPISODES = 500
_GROUP = 50

_ABOUT_QUESTIONS = {
    "id": "id of the question", "task": "kind of question", "question": "text; <image> stands for an image",
    "answer": "correct answer",
}  # fmt: skip
# As version 0.1.0 wrote it, so that exporting again changes nothing.
_CARD = """---
pretty_name: rendered by Diorama
size_categories:
- {size}
tags:
- synthetic
- image
configs:
- config_name: default
  data_files:
{data_files}---

# Rendered by Diorama

One row an episode; `images` are its pictures, `objects` every \
object of every picture with box, mask and pose, `scene` all numbers that it was rendered from.

"""


def _card_text(store: EpisodeReader, options: ExportOptions, files: Mapping[str, WrittenShard]) -> str:
    splits: dict[str, list[WrittenShard]] = {}
    for shard in files.values():
        splits.setdefault(hub.hub_split(shard.split), []).append(shard)
    rows = [
        (name, sum(shard.samples for shard in shards), len(shards), f"{sum(shard.size for shard in shards) / 1e6:.1f}")
        for name, shards in splits.items()
    ]
    total = sum(shard.samples for shard in files.values())
    files_of = "".join(f"  - split: {name}\n    path: data/{name}-*.parquet\n" for name in splits)
    card = _CARD.format(size=hub.size_category(total), data_files=files_of)
    card += markdown_table(("split", "episodes", "files", "MB"), rows)
    for title, counter in _count_figures(store, options).items():
        card += f"\n## {title}\n\n| | count |\n|---|---|\n"
        card += "".join(f"| {hub.cell(name)} | {count} |\n" for name, count in sorted(counter.items()))
    return card


@cache
def _parquet_schema(questions: bool) -> pa.Schema:
    """Of the files: the columns of a store with all texts, and more (see the module)."""
    schema = episode_schema(COMPLETE_VERSION)
    objects = pa.field("objects", pa.list_(pa.struct([*OBJECT_TYPE, *hub.ADDED_TO_OBJECTS])))
    added = [pa.field("task_data", pa.string()), pa.field("contrast", pa.string())]
    added += [pa.field("questions", hub.QUESTIONS_TYPE)] if questions else []
    described = json.loads(schema.metadata[b"huggingface"])
    described["info"]["features"] |= {one.name: feature_of(one.type) for one in (objects, *added)}
    fields = [objects if one.name == "objects" else one for one in schema]
    return pa.schema([*fields, *added], metadata={**schema.metadata, b"huggingface": json.dumps(described)})


def _count_figures(store: EpisodeReader, options: ExportOptions) -> dict[str, Counter[str]]:
    """Return counts over the exported episodes."""
    chosen = set(chosen_ids(store, options))
    tasks: Counter[str] = Counter()
    images: Counter[str] = Counter()
    words: dict[str, Counter[str]] = {name: Counter() for name in ("shape", "color", "material", "size")}
    columns = ["episode_id", "benchmark", "task", "width", "height", "image_names", "objects"]
    for row in store.scan(columns, options.where, 256):
        if row["episode_id"] not in chosen:
            continue
        tasks["/".join(part for part in (row["benchmark"], row["task"]) if part) or "none"] += 1
        images[f"{row['width']}x{row['height']}"] += len(row["image_names"] or ())
        for item in row["objects"] or ():
            for name, counter in words.items():
                counter[shape_class(item[name] or "in numbers")] += 1
    return {"Episodes by task": tasks, "Images by size": images} | {f"Objects by {k}": v for k, v in words.items()}


def croissant_parts(out: Path) -> tuple[list[croissant.Node], list[croissant.Node], dict[str, Any]]:
    """See diorama.render.uses.export."""
    shards = [f"data/{path.name}" for path in sorted((out / "data").glob("*.parquet"))]
    encoding, files = "application/x-parquet", "parquet-files"
    distribution = [croissant.file_object(out, shard, encoding) for shard in shards]
    names = {
        "episode_id": "id of the episode", "benchmark": "benchmark", "task": "task of the benchmark",
        "split": "split, of the record set splits", "answer": "correct answer", "scene": "compiled Scene, JSON",
        "task_data": "complete task, JSON", "contrast": "part in a pair or chain, JSON",
    }  # fmt: skip
    lists = {"image_names": "name of each image", "utterances": "text of each image", "options": "possible answers"}
    fields = [
        croissant.field(f"episodes/{name}", "sc:Text", text, **croissant.source(files, column=name))
        for name, text in names.items()
    ]
    fields += [
        croissant.field(f"episodes/{name}", "sc:Text", text, repeated=True, **croissant.source(files, column=name))
        for name, text in lists.items()
    ]
    images = croissant.source(files, "bytes", column="images")
    fields.append(croissant.field("episodes/images", "sc:ImageObject", "images, PNG", repeated=True, **images))
    fields.append(croissant.objects_field("episodes/objects", files, "rle_counts", "sc:Integer", column="objects"))
    record_sets = [croissant.record_set("episodes", "One record per episode.", fields)]
    if shards and "questions" in pq.read_schema(out / shards[0]).names:
        kinds = {key: ("sc:Text", key, text) for key, text in _ABOUT_QUESTIONS.items()}
        asked = [
            fields[0] | {"@id": "questions/episode_id"},
            croissant.list_field("questions/questions", files, "all of them", kinds, column="questions"),
        ]
        record_sets.append(
            croissant.record_set("questions", "One record per episode: the questions about its images.", asked)
        )
    splits = dict.fromkeys(shard.removeprefix("data/").rsplit("-", 3)[0] for shard in shards)
    return (
        [*distribution, croissant.file_set(files, "data/*.parquet", encoding)],
        record_sets,
        hub.data_files({split: f"data/{split}-*.parquet" for split in splits}),
    )


class _HuggingfaceExport(ShardExport):
    version, episodes, side_names = 3, _EPISODES, ("README.md",)

    def name_of(self, split: str, number: int, count: int) -> str:
        return f"data/{hub.hub_split(split)}-{number:05d}-of-{count:05d}.parquet"

    def encode(self, record: EpisodeRecord, questions: list[dict[str, Any]]) -> pa.Table:
        (row,) = table_of([record], COMPLETE_VERSION).to_pylist()
        texts, extents = hub.episode_texts(record), hub.object_extents(record)
        for item in row["objects"]:
            item |= {"category": kind_of(item["shape"]), "extent": extents.get((item["frame"], item["name"]))}
        row |= {"task_data": texts["task"], "contrast": texts["contrast"], "questions": questions}
        return pa.Table.from_pylist([row], _parquet_schema(self.options.questions is not None))

    def write(self, path: Path, _shard: Shard, samples: Iterator[pa.Table]) -> int:
        count, schema = 0, _parquet_schema(self.options.questions is not None)
        with pq.ParquetWriter(path, schema, compression="zstd", write_page_index=True) as writer:
            while group := list(islice(samples, _GROUP)):
                writer.write_table(pa.concat_tables(group).combine_chunks(), row_group_size=_GROUP)
                count += len(group)
        return count

    def side_files_from_store(self, shards: Mapping[str, WrittenShard]) -> dict[str, str]:
        return {"README.md": _card_text(self.store, self.options, shards)}


export = _HuggingfaceExport.export
