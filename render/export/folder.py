"""`--format folder`: one folder an episode, for people and scripts.

    <out>/<episode id>/<image name>.png    the picture
                       <image name>.json   its truth (render.model.record.FrameAnnotation): name, frame, view and size
                       <image name>.npz    optional passes, where they were asked for: depth, normal, coverage
                       episode.json        spec and job, Scene, task, provenance, digest, and the names of the files

An episode's folder takes its name once everything is in it. Ids may lie inside each other (`a` and `a/b`): where the
folder is there already the files are moved in one by one, `episode.json` last; without it an episode is not there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from render.export._pictures import ID, IMAGE_NAME, write_each
from render.export.protocol import ExportOptions, ExportReport, chosen_ids, iter_valid_records, output_lock
from render.model.errors import StoreError
from render.model.record import EpisodeRecord, ImageRecord
from render.store.episode_store import EpisodeReader

FORMAT_VERSION = 1

# No id or image name begins with a dot.
_PARTIAL = ".partial"
_MARKS = ("format_version", "job_hash", "attempt", "sha256", "text_sha256")


def export(store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None]) -> ExportReport:
    """Write episodes to folders below `out`; see render.export.protocol.Exporter."""
    report = ExportReport()
    with output_lock(out):
        marks = _marks_of(store)
        todo = []
        for episode_id in chosen_ids(store, options):
            if _wanted(out, episode_id, marks[episode_id], options, report):
                todo.append(episode_id)
            else:
                progress(1)

        def write(record: EpisodeRecord) -> bool:
            _write(out, record, marks[record.episode_id])
            return True

        write_each(iter_valid_records(store, todo, report, progress), write, out, report, progress)
    return report


def _marks_of(store: EpisodeReader) -> dict[str, dict[str, Any]]:
    """Id -> what tells whether an exported episode is the stored one."""
    columns = ["episode_id", "job_hash", "attempt", "sha256", "text_sha256"]
    rows = store.scan(columns, batch_size=8192)
    return {row.pop("episode_id"): {"format_version": FORMAT_VERSION, **row} for row in rows}


def _wanted(out: Path, episode_id: str, marks: dict[str, Any], options: ExportOptions, report: ExportReport) -> bool:
    """Whether an episode is to be written; if not, the report says why."""
    if not ID.fullmatch(episode_id):
        report.failed.append(f"episode {episode_id!r}: this id can't be a folder's name")
        return False
    there = _exported(out / episode_id)
    if there is None:
        return True
    if {key: there.get(key) for key in _MARKS} == marks:
        report.skipped += 1
        return False
    if not options.overwrite:
        report.differing.append(f"episode {episode_id}: {out / episode_id} holds another version of it than the store")
        return False
    return True


def _exported(folder: Path) -> dict[str, Any] | None:
    """The episode.json of a folder, None where there is none: no episode. Empty if it is unreadable."""
    try:
        data = json.loads((folder / "episode.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except ValueError:
        return {}
    except OSError as error:
        raise StoreError(f"{folder}: what was exported there can't be read: {error.strerror or error}") from error
    return data if isinstance(data, dict) else {}


def _write(out: Path, record: EpisodeRecord, marks: dict[str, Any]) -> None:
    target = out / record.episode_id
    files = _files_of(record, marks)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.parent / f".{target.name}{_PARTIAL}"
    # Left by an export that was stopped here.
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name, content in files.items():
        (partial / name).write_bytes(content)
    if target.exists():
        _move_in(partial, target, list(files))
    else:
        partial.rename(target)


def _move_in(partial: Path, target: Path, names: list[str]) -> None:
    """Replace an episode, or put one beside the folders of ids below it. episode.json is last in names."""
    old = _exported(target) or {}
    listed = old.get("files")
    for name in listed if isinstance(listed, list) else ():
        stem, _, kind = str(name).rpartition(".")
        if name not in names and kind in ("png", "json", "npz") and IMAGE_NAME.fullmatch(stem):
            (target / str(name)).unlink(missing_ok=True)
    (target / names[-1]).unlink(missing_ok=True)
    for name in names:
        (partial / name).replace(target / name)
    partial.rmdir()


def _files_of(record: EpisodeRecord, marks: dict[str, Any]) -> dict[str, bytes]:
    """Name -> content, `episode.json` last. Raises ValueError for names that can't be files."""
    files: dict[str, bytes] = {}
    for image in record.images:
        if not IMAGE_NAME.fullmatch(image.name) or image.name == "episode":
            raise ValueError(f"an image can't be called {image.name!r} in a folder")
        if f"{image.name}.png" in files:
            raise ValueError(f"two images are called {image.name!r}")
        files[f"{image.name}.png"] = image.png
        files[f"{image.name}.json"] = _json(_truth_of(image))
        if image.extra is not None:
            files[f"{image.name}.npz"] = image.extra
    names = [*files, "episode.json"]
    files["episode.json"] = _json(
        {
            **marks,
            "id": record.episode_id,
            "files": names,
            "images": [image.name for image in record.images],
            "task": record.scene.task,
            "provenance": record.provenance.model_dump(mode="json"),
            "job": record.job.model_dump(mode="json"),
            "scene": record.scene.model_dump(mode="json"),
        }
    )
    return files


def _truth_of(image: ImageRecord) -> dict[str, Any]:
    facts = image.model_dump(mode="json", exclude={"png", "extra", "annotation"})
    return {**facts, **image.annotation.model_dump(mode="json")}


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
