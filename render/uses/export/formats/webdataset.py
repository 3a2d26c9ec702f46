"""`--format webdataset`: tar shards with one sample per episode, as the webdataset library streams them.

    <out>/<split>-<6 digits>.tar     <9 digits>.json    id, split, task and contrast (JSON); of each image name,
                                                        utterance, annotation (IMAGE_TYPE in hub.py); questions
                                     <9 digits>.0.png, <9 digits>.1.png, ...   the images, in the order of the JSON
                                     <9 digits>.0.npz   optional passes, if the spec requested them
          shardindex.json            shards with samples, bytes and SHA-256
          README.md                  which files are data, and their types, for datasets.load_dataset("<out>")

    webdataset.WebDataset("<out>/train-{000000..000012}.tar").decode("pil")      sample["0.png"], sample["json"]

Images have numbers instead of names, because webdataset takes everything after the first dot as the file type.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from diorama.render.store.selection import chosen_ids
from diorama.render.uses.export import hub
from diorama.render.uses.export._shards import Shard, ShardExport
from diorama.render.uses.export.croissant import Node, field, file_object, file_set, record_set, source
from diorama.render.uses.io.written_files import WrittenShard
from diorama.scene_specs.model.record import EpisodeRecord

SHARDED = True
QUESTIONS = True
_INDEX = "shardindex.json"
_TEXTS = ("id", "split", "task", "contrast")
_TRUTH = pa.struct([*((name, pa.string()) for name in _TEXTS), ("images", pa.list_(hub.IMAGE_TYPE))])
# About 400 MB with seven small images per episode.
_EPISODES = 1000


def _add_to_archive(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    # Without date and owner, so that the same episodes give the same bytes.
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), 0o644
    archive.addfile(member, io.BytesIO(content))


def _truth_data(record: EpisodeRecord) -> dict[str, Any]:
    images, extents = [], hub.object_extents(record)
    for image, utterance in zip(record.images, record.utterances(), strict=True):
        facts = image.model_dump(mode="json", exclude={"png", "extra", "annotation"})
        images.append(hub.typed_truth({**facts, "utterance": utterance, **hub.annotation_data(image, extents)}))
    return {"id": record.episode_id, "split": record.scene.split, **hub.episode_texts(record), "images": images}


def _card_head(splits: Iterable[str], images: int, questions: bool) -> dict[str, Any]:
    # Not *: a split's name may begin with another's.
    patterns = {split: f"{split}-{'[0-9]' * 6}.tar" for split in splits}
    asked = [("questions", hub.QUESTIONS_TYPE)] if questions else []
    pictures = {f"{number}.png": "image" for number in range(images)}
    columns = pa.struct([("json", pa.struct([*_TRUTH, *asked]))])
    return hub.data_files(patterns) | hub.features(columns, **pictures, __key__="string", __url__="string")


def croissant_parts(out: Path) -> tuple[list[Node], list[Node], dict[str, Any]]:
    """See diorama.render.uses.export. mlcroissant gives JSON inside archives as text."""
    shards = [file_object(out, path.name, "application/x-tar") for path in sorted(out.glob("*.tar"))]
    texts = file_set("json-files", "*.json", "application/json", shards)
    pictures = file_set("image-files", "*.png", "image/png", shards)
    fields = {"episodes": ("json-files", "json", "sc:Text", "id, split, task, contrast; images with objects and masks"),
              "images": ("image-files", "image", "sc:ImageObject", "image; <sample>.<number>.png")}  # fmt: skip
    record_sets = [
        record_set(name, f"One record per {name[:-1]}.", [
            field(f"{name}/path", "sc:Text", "file in its archive", **source(files, fileProperty="fullpath")),
            field(f"{name}/{key}", kind, text, **source(files, fileProperty="content")),
        ])
        for name, (files, key, kind, text) in fields.items()
    ]  # fmt: skip
    splits = dict.fromkeys(shard["@id"].rpartition("-")[0] for shard in shards)
    index = json.loads((out / _INDEX).read_bytes())
    return [*shards, texts, pictures], record_sets, _card_head(splits, index["images"], index["questions"])


class _WebdatasetExport(ShardExport):
    version, episodes, side_names = 4, _EPISODES, (_INDEX, "README.md")

    def name_of(self, split: str, number: int, _count: int) -> str:
        return f"{split}-{number:06d}.tar"

    def encode(self, record: EpisodeRecord, questions: list[dict[str, Any]]) -> list[tuple[str, bytes]]:
        """(suffix, content) of each member."""
        truth = _truth_data(record) | ({} if self.options.questions is None else {"questions": questions})
        members = [("json", json.dumps(truth, ensure_ascii=False).encode())]
        for number, image in enumerate(record.images):
            members.append((f"{number}.png", image.png))
            if image.extra is not None:
                members.append((f"{number}.npz", image.extra))
        return members

    def write(self, path: Path, shard: Shard, samples: Iterator[list[tuple[str, bytes]]]) -> int:
        count = 0
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
            for count, members in enumerate(samples, start=1):
                for suffix, content in members:
                    _add_to_archive(archive, f"{shard.first + count - 1:09d}.{suffix}", content)
        return count

    def side_files_from_store(self, shards: Mapping[str, WrittenShard]) -> dict[str, str]:
        listed = [
            {"url": name, "nsamples": tar.samples, "filesize": tar.size, "sha256": tar.sha256, "split": tar.split}
            for name, tar in shards.items()
        ]
        chosen = {*chosen_ids(self.store, self.options)}
        rows = self.store.scan(["episode_id", "image_names"], self.options.where, 8192)
        images = max((len(row["image_names"] or ()) for row in rows if row["episode_id"] in chosen), default=0)
        asked = self.options.questions is not None
        index = {"wids_version": 1, "images": images, "questions": asked, "shardlist": listed}
        splits = dict.fromkeys(tar.split for tar in shards.values())
        return {
            _INDEX: json.dumps(index, indent=1) + "\n",
            "README.md": hub.head(_card_head(splits, images, asked)) + "\n# Rendered by Diorama\n",
        }


export = _WebdatasetExport.export
