"""`--format folder`: one folder per episode, for people and scripts.

    <out>/<episode id>/<image name>.png    the image
                       <image name>.json   name, frame, view, size, and its annotation
                                           (diorama.scene_specs.model.record.FrameAnnotation)
                       <image name>.npz    optional passes, if the spec requested them: depth, normal, coverage
                       episode.json        spec and job, Scene, task, provenance, digest, and the names of the files
          metadata-<split>.parquet             with --about, for datasets.load_dataset("<out>"): a row per image with
                                               file_name, episode_id, task and contrast (JSON) and its annotation
                                               (diorama.render.uses.export.hub.IMAGE_TYPE)

An episode's folder gets its name once it is complete. Ids may be nested (`a` and `a/b`): if the folder already exists,
the files are moved into it one by one, `episode.json` last. A folder without `episode.json` is not an episode.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from diorama.render.store.episode_store import IDENTITY_COLUMNS
from diorama.render.uses.export import hub
from diorama.render.uses.export.croissant import Node, field, file_set, objects_field, record_set, source
from diorama.render.uses.io.written_files import WrittenFiles
from diorama.scene_specs.errors import ConflictError
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.files.writing import indented_json
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.exporting.layouts import ID, IMAGE_NAME, EpisodeFolders, Identity, split_of

_EPISODE = "episode.json"
_TABLE = "metadata-"
_GROUP = 256
_ROW = pa.schema([*((name, pa.string()) for name in ("file_name", "episode_id", "task", "contrast")), *hub.IMAGE_TYPE])


def _folder_of(episode_id: str) -> Path:
    if not ID.fullmatch(episode_id):
        raise ValueError("this id can't be a folder name")
    return Path(episode_id)


def _identity_in(data: dict[str, Any]) -> Identity:
    return {"episode_id": data.get("id"), **{key: data.get(key) for key in ("format_version", *IDENTITY_COLUMNS)}}


def _remove_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Remove the files of another episode, `episode.json` last; folders of ids below it stay."""
    old: Any = None
    with suppress(OSError, ValueError, AttributeError):
        old = json.loads(read_foreign(folder / _EPISODE)).get("files")
    for name in old if isinstance(old, list) else ():
        stem, _, suffix = str(name).rpartition(".")
        if name not in files and suffix in ("png", "json", "npz") and IMAGE_NAME.fullmatch(stem):
            (folder / str(name)).unlink(missing_ok=True)
    (folder / _EPISODE).unlink(missing_ok=True)


def _files_of(record: EpisodeRecord, identity: Identity) -> dict[str, bytes]:
    """Name -> content. Raises ValueError for image names that can't be file names."""
    files: dict[str, bytes] = {}
    extents = hub.object_extents(record)
    for image in record.images:
        if not IMAGE_NAME.fullmatch(image.name) or image.name == "episode":
            raise ValueError(f"the image name {image.name!r} can't be a file name")
        if f"{image.name}.png" in files:
            raise ValueError(f"two images have the name {image.name!r}")
        files[f"{image.name}.png"] = image.png
        facts = image.model_dump(mode="json", exclude={"png", "extra", "annotation"})
        files[f"{image.name}.json"] = indented_json({**facts, **hub.annotation_data(image, extents)})
        if image.extra is not None:
            files[f"{image.name}.npz"] = image.extra
    files["episode.json"] = indented_json(
        {
            **{key: value for key, value in identity.items() if key != "episode_id"},
            "id": record.episode_id,
            "files": [*files, "episode.json"],
            "images": [image.name for image in record.images],
            "task": record.scene.task,
            "provenance": record.provenance.model_dump(mode="json"),
            "job": record.job.model_dump(mode="json"),
            "scene": record.scene.model_dump(mode="json"),
        }
    )
    return files


def write_tables(out: Path, written: WrittenFiles, update: bool = False) -> None:
    """List all episodes of a folder in `metadata-<split>.parquet`; see diorama.render.uses.export."""
    if update and not any(out.glob(f"{_TABLE}*.parquet")):
        return
    splits: dict[str, list[Path]] = {}
    for path in sorted(out.rglob(_EPISODE)):
        splits.setdefault(split_of(json.loads(read_foreign(path))["scene"]["split"]), []).append(path.parent)
    hub.check_hub_splits(splits)
    # The rows of others name images that are now in another split, or gone.
    others = written.remove_stale(f"{_TABLE}*.parquet", [f"{_TABLE}{split}.parquet" for split in splits])
    if others:
        raise ConflictError("\n".join(others))
    for split, folders in splits.items():
        with written.replacing(f"{_TABLE}{split}.parquet") as temporary, pq.ParquetWriter(temporary, _ROW) as writer:
            for start in range(0, len(folders), _GROUP):
                rows = [row for folder in folders[start : start + _GROUP] for row in _read_rows(out, folder)]
                writer.write_table(pa.Table.from_pylist(rows, _ROW))


def _read_rows(out: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each image of an episode."""
    episode = json.loads(read_foreign(folder / _EPISODE))
    said = {frame["name"]: frame["utterance"] for frame in episode["scene"]["frames"]}
    values = {"task": episode["task"], "contrast": episode["scene"].get("contrast")}
    texts = {key: None if value is None else json.dumps(value, ensure_ascii=False) for key, value in values.items()}
    for name in episode["images"]:
        facts = json.loads(read_foreign(folder / f"{name}.json"))
        path = (folder / f"{name}.png").relative_to(out).as_posix()
        named = {"file_name": path, "episode_id": episode["id"], **texts}
        yield {**named, **hub.typed_truth({**facts, "utterance": said.get(facts["frame"])})}


def _read_card_head(out: Path) -> dict[str, Any]:
    tables = sorted(out.glob(f"{_TABLE}*.parquet"))
    files = {path.stem.removeprefix(_TABLE): [path.name, "**/*.png"] for path in tables}
    return hub.data_files(files, metadata_filenames=[path.name for path in tables])


def croissant_parts(out: Path) -> tuple[list[Node], list[Node], dict[str, Any]]:
    """See diorama.render.uses.export. The SHA-256 of the images of an episode is in its episode.json."""
    texts, images = "annotation-files", "image-files"
    where = "file in this folder; the image and its annotation differ in the suffix"
    annotated = [
        field("annotations/path", "sc:Text", where, **source(texts, fileProperty="fullpath")),
        field("annotations/name", "sc:Text", "name of the image", **source(texts, jsonPath="name")),
        objects_field("annotations/objects", texts, "rle.counts", "cr:BoundingBox", jsonPath="objects"),
    ]
    shown = [
        field("images/path", "sc:Text", where, **source(images, fileProperty="fullpath")),
        field("images/image", "sc:ImageObject", "image, PNG", **source(images, fileProperty="content")),
    ]
    # With a slash: the files that describe the folder lie beside the episodes.
    distribution = [file_set(texts, "*/*.json", "application/json"), file_set(images, "*/*.png", "image/png")]
    record_sets = [
        record_set("annotations", "One record per image: its measured truth.", annotated),
        record_set("images", "One record per image.", shown),
    ]
    return distribution, record_sets, _read_card_head(out)


FOLDERS = EpisodeFolders(1, _EPISODE, _folder_of, _files_of, identity_in=_identity_in, clear=_remove_files)
