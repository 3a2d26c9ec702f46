"""`--format webdataset`: tar shards with one sample per episode, as the webdataset library streams them.

    <out>/<split>-<6 digits>.tar     <9 digits>.json    id, split, task; name, utterance and annotation of each image
                                     <9 digits>.0.png, <9 digits>.1.png, ...   the images, in the order of the JSON
                                     <9 digits>.0.npz   optional passes, if the spec requested them
          shardindex.json            shards with samples, bytes and SHA-256

    webdataset.WebDataset("<out>/train-{000000..000012}.tar").decode("pil")      sample["0.png"], sample["json"]

Images have numbers instead of names, because webdataset takes everything after the first dot as the file type.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from diorama.render.export._shards import Shard, ShardFormat, WrittenShard, export_shards, hub_split
from diorama.render.export.croissant import Node, field, file_object, file_set, record_set, source
from diorama.render.export.protocol import ExportOptions
from diorama.render.io.atomic_output import below
from diorama.render.model.errors import UsageError
from diorama.render.model.record import EpisodeRecord
from diorama.render.store.episode_store import EpisodeReader
from diorama.scene_specs.language.atomic import write_atomic

SHARDED = True
FORMAT_VERSION = 1
# About 400 MB with seven small images per episode.
_EPISODES = 1000


def _name_of(split: str, number: int, _count: int) -> str:
    return f"{split}-{number:06d}.tar"


def _write(path: Path, shard: Shard, records: Iterator[EpisodeRecord]) -> int:
    count = 0
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for count, record in enumerate(records, start=1):
            key = f"{shard.first + count - 1:09d}"
            _add(archive, f"{key}.json", json.dumps(_truth(record), ensure_ascii=False).encode())
            for number, image in enumerate(record.images):
                _add(archive, f"{key}.{number}.png", image.png)
                if image.extra is not None:
                    _add(archive, f"{key}.{number}.npz", image.extra)
    return count


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    # Without date and owner, so that the same episodes give the same bytes.
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    archive.addfile(member, io.BytesIO(content))


def _truth(record: EpisodeRecord) -> dict[str, Any]:
    images = []
    for image, utterance in zip(record.images, record.utterances(), strict=True):
        facts = image.model_dump(mode="json", exclude={"png", "extra", "annotation"})
        facts |= {"utterance": utterance, **image.annotation.model_dump(mode="json")}
        images.append(facts)
    return {"id": record.episode_id, "split": record.scene.split, "task": record.scene.task, "images": images}


def _finish(_store: EpisodeReader, out: Path, _options: ExportOptions, files: dict[str, WrittenShard]) -> None:
    shards = [
        {"url": name, "nsamples": shard.samples, "filesize": shard.size, "sha256": shard.sha256, "split": shard.split}
        for name, shard in files.items()
    ]
    index = json.dumps({"wids_version": 1, "shardlist": shards}, indent=1) + "\n"
    write_atomic(below(out, "shardindex.json"), index, fsync=False)


def croissant(out: Path) -> tuple[list[Node], list[Node], dict[str, str]]:
    """See diorama.render.export. mlcroissant gives JSON inside archives as text."""
    shards = [file_object(out, path.name, "application/x-tar") for path in sorted(out.glob("*.tar"))]
    texts = file_set("json-files", "*.json", "application/json", shards)
    pictures = file_set("image-files", "*.png", "image/png", shards)
    fields = {"episodes": ("json-files", "json", "sc:Text", "id, split, task; images with objects, boxes, masks"),
              "images": ("image-files", "image", "sc:ImageObject", "image; <sample>.<number>.png")}  # fmt: skip
    record_sets = [
        record_set(name, f"One record per {name[:-1]}.", [
            field(f"{name}/path", "sc:Text", "file in its archive", **source(files, fileProperty="fullpath")),
            field(f"{name}/{key}", kind, text, **source(files, fileProperty="content")),
        ])
        for name, (files, key, kind, text) in fields.items()
    ]  # fmt: skip
    splits = dict.fromkeys(shard["@id"].rpartition("-")[0] for shard in shards)
    # Not *: a split's name may begin with another's.
    patterns = {hub_split(split): f"{split}-{'[0-9]' * 6}.tar" for split in splits}
    if len(patterns) < len(splits):
        raise UsageError(f"splits {', '.join(splits)}: two have one name on the hub; export one of them with --split")
    return [*shards, texts, pictures], record_sets, patterns


export = partial(export_shards, format_=ShardFormat(FORMAT_VERSION, _EPISODES, _name_of, _write, _finish))
