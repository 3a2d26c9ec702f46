"""What an archive holds, and how its files are compared with those that are made again.

about.json          how the archive was made: commands, tag, the replaced episode, the episodes to render again
digests.json        SHA-256 of the truth and of each PNG, of every stored episode and of the replaced one
specs/              episodes.jsonl: what is stored; before.jsonl: the replaced episode; one-more.jsonl: not stored
store.lance/        the store
scenes/             a CLEVR scene file at the published size, for the clevr-masks format
exports/<format>/   the store in each format
gallery/            data files and images of the gallery
games/, played.jsonl, score.json    ICCA: games, a transcript, its scores
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from diorama.render.uses.io.written_files import RECORD
from tests.compatibility.digests import canonical, sha256

# The version that much came after.
FIRST = "0.1.0"
ABOUT = "about.json"
DIGESTS = "digests.json"
STORE = "store.lance"
SPECS = "specs/episodes.jsonl"
SPECS_BEFORE = "specs/before.jsonl"
SPECS_MORE = "specs/one-more.jsonl"
EXPORTS = "exports"
GALLERY = "gallery"
GAMES = "games"
PLAYED = "played.jsonl"
SCORE = "score.json"
# Of 255. A WebP encoder may change between versions of Pillow, by less than this on average.
WEBP_TOLERANCE = 2.0
# Blender units and pixels; the camera of clevr-masks is found to about this.
CAMERA_TOLERANCE = 1e-6
# Format -> what later versions than 0.1.0 added to its JSON files; everything around it must be as it was.
_CAMERA = rb',\s*"camera":\s*\{[^{}]*\}'
_EXTENT = rb',\s*"category":\s*"[^"]*"|,\s*"extent":\s*(?:null|\[[^\[\]]*\])'
ADDED = {
    "coco": _CAMERA + b"|" + _EXTENT + rb'|,\s*"task":[^\n]*(?=\}(?:,?\n|\]))',
    "folder": _EXTENT,
    "clevr": _CAMERA,
    "mewl": _CAMERA,
    "clevr-masks": rb',\s*"(in|ex)trinsics":\s*\[[^"{}]*\]',
}


def pack(folder: Path, archive: Path) -> None:
    """All files of a folder as a tar file that depends on names and contents only."""
    with tarfile.open(archive, "w:xz", format=tarfile.PAX_FORMAT, preset=9) as tar:
        for path in sorted(folder.rglob("*")):
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            if path.is_dir():
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
            else:
                content = path.read_bytes()
                entry.size, entry.mode = len(content), 0o644
                tar.addfile(entry, io.BytesIO(content))


def unpack(archive: Path, folder: Path) -> None:
    """The files of an archive below a folder."""
    with tarfile.open(archive) as tar:
        # Debian 12 has Python 3.11.2, which does not know filters yet.
        tar.extraction_filter = getattr(tarfile, "data_filter", None)
        tar.extractall(folder)


def truth_digests(truth: Mapping[str, Any]) -> dict[str, Any]:
    """SHA-256 of a record's truth as canonical JSON, and of its PNGs by image name."""
    return {
        "truth": sha256(canonical(truth)),
        "images": {image["name"]: image["sha256"] for image in truth["images"]},
    }


def png_digest(png: bytes) -> str:
    """Hexadecimal SHA-256."""
    return hashlib.sha256(png).hexdigest()


def files_of(folder: Path) -> dict[str, bytes]:
    """Relative path -> content of every file, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def gallery_files(folder: Path, store: Path) -> dict[str, bytes]:
    """The data files and images of a gallery, without what depends on where the store is.

    Left out: pages, programs and styles, which later versions may change. The name of the data folder is a hash over
    data that names the store, by its path in version 0.1.0, so both are replaced by a word. The hash of the store's
    location, which later versions have, is left out.
    """
    kept = {}
    for name, content in files_of(folder).items():
        if name.startswith(("data/", "episodes/")) or name == "gallery.json":
            if name.endswith(("gallery.json", "gallery.js")):
                content = re.sub(b'("store": ?)"%b"' % re.escape(store.name.encode()), rb'\1"STORE"', content)
                content = re.sub(rb' "location_hash": "[0-9a-f]{64}",\n', b"", content)
            kept[re.sub(r"^data/[0-9a-f]{12}/", "data/HASH/", name)] = content.replace(str(store).encode(), b"STORE")
    return kept


def differing(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    """Names of files that only one side has or whose contents differ."""
    return sorted({*old, *new} - {name for name in old.keys() & new.keys() if old[name] == new[name]})


def differing_export(version: str, name: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    """Names of files that differ in an export, as far as the same bytes are promised for its format.

    Since version 0.2.0 they are those of the archive; what came after 0.1.0 is left out for that. clevr-masks finds
    each camera by least squares with LAPACK, whose last digits depend on the processor, and writes them unrounded. So
    its numbers may differ by CAMERA_TOLERANCE; everything else must be equal.
    """
    if version == FIRST:
        old, new = _as_first(name, old, new)
    if name == "kilogram" and version == FIRST:
        # Targets had the tangram's name in every condition, and now have their image's.
        named = {file for file in new if file in old and _by_tangram(new[file]) == _by_tangram(old[file])}
        return [file for file in differing(old, new) if file not in named]
    if name == "clevr-masks":
        names = differing(_without_lists(old), _without_lists(new))
        both = [file for file in names if file.endswith(".json") and file in old and file in new]
        same = {file for file in both if close(json.loads(old[file]), json.loads(new[file]), CAMERA_TOLERANCE)}
        return [file for file in names if file not in same]
    return differing_exports(old, new)


def _as_first(name: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    """An export of version 0.1.0 and one of today, both without what is new or elsewhere today."""
    old, new = dict(old), _without_lists(new)
    match name:
        case "malevic":
            # Files that version 0.1.0 did not write.
            new = {file: data for file, data in new.items() if not file.endswith(("/vocab.json", "_questions.h5"))}
        case "kilogram":
            # Files are where the published programs look for them.
            old = {_published_place(file): data for file, data in old.items()}
        case "iwisdm":
            return _trials(old), _trials(new)
        case "webdataset":
            return _samples(old), _samples(new)
        case "huggingface":
            old, new = ({f"{file}, read": rows for file, rows in _rows(files).items()} for files in (old, new))
            return {**old, f"{RECORD}, read": b""}, {**new, f"{RECORD}, read": b""}
        case _ if name in ADDED:
            new = {
                file: re.sub(ADDED[name], b"", data) if file.endswith(".json") else data for file, data in new.items()
            }
    return old, new


def _without_lists(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """An export without the record of what it wrote; that of shards, which version 0.1.0 had, without other files."""
    shards = {key: value for key, value in json.loads(files.get(RECORD, b"{}")).items() if key != "lists"}
    others = {file: data for file, data in files.items() if file != RECORD and not file.endswith("SHA256SUMS")}
    return {**others, RECORD: (json.dumps(shards, indent=1) + "\n").encode()} if shards else others


def _published_place(file: str) -> str:
    """Where a file of version 0.1.0's KiloGram export is now, of the split `dev`."""
    if file.startswith("images/"):
        return f"development/{file.replace('/aug/', '/augmented/')}"
    name = file.removeprefix("dev/")
    if name == "aug.csv":
        return "development/texts/augmented/new_dev_df.csv"
    return f"development/texts/{'' if name.endswith('_pictures.json') else 'controlled/'}{name}"


def _rows(files: Mapping[str, bytes]) -> dict[str, Any]:
    """The rows of Parquet files as version 0.1.0 had them, and the card without the sizes of files."""
    found: dict[str, Any] = {}
    for file, data in files.items():
        if file.endswith(".parquet"):
            found[file] = _table(data).to_pylist()
            for row in found[file]:
                row.pop("task_data", None), row.pop("contrast", None)
                for item in row["objects"]:
                    item.pop("extent", None), item.pop("category", None)
        else:
            found[file] = re.sub(rb" \d+\.\d \|$", b"", data, flags=re.MULTILINE)
    return found


def _samples(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The members of tar shards; JSON as version 0.1.0 had it: tasks as objects, relations by the names of objects."""
    members: dict[str, bytes] = {}
    for file, data in files.items():
        if not file.endswith(".tar"):
            continue
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            members |= {f"{file}/{one.name}": archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]
    return {name: _sample(data) if name.endswith(".json") else data for name, data in members.items()}


def _sample(content: bytes) -> bytes:
    data = json.loads(content)
    data.pop("contrast", None)
    if isinstance(data["task"], str):
        data["task"] = json.loads(data["task"])
    for image in data["images"]:
        if isinstance(image["relations"], list):
            relations: dict[str, dict[str, list[str]]] = {}
            for one in image["relations"]:
                relations.setdefault(one["relation"], {})[one["of"]] = one["objects"]
            image["relations"] = relations
        for item in image["objects"]:
            item.pop("extent", None), item.pop("category", None)
        image["relations"] = {name: found for name, found in image["relations"].items() if found}
    return json.dumps(data, sort_keys=True).encode()


def _trials(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """An iWISDM export without task files, under the names of version 0.1.0, whose layout was not the published one.

    JSON without the identity of the stored episode and the cameras, which are elsewhere and new.
    """
    found = {}
    for name, content in files.items():
        if re.search(r"/task\d+\.json$|/tasks/", name):
            continue
        if name.endswith(".json"):
            kept = {key: value for key, value in json.loads(content).items() if key not in ("diorama", "cameras")}
            content = json.dumps(kept, sort_keys=True).encode()
        found[name.replace("/trials/", "/").replace("/frames/task_info", "/task_info")] = content
    return found


def _by_tangram(file: bytes) -> Any:
    """The data of a KiloGram file, with its targets cut to the names of tangrams; the bytes of another file."""
    if not file.startswith((b"{", b"[")):
        return file
    data = json.loads(file)
    for part in data if isinstance(data, list) else [data]:
        if "targets" in part:
            part["targets"] = re.sub(r"_\d+(?=\W)", "", json.dumps(part["targets"]))
    return data


def close(old: Any, new: Any, tolerance: float) -> bool:
    """Whether JSON data is equal but for floats, which may differ by a tolerance."""
    if isinstance(old, float) and isinstance(new, float):
        return math.isclose(old, new, rel_tol=0.0, abs_tol=tolerance)
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(close(old[key], new[key], tolerance) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(close(a, b, tolerance) for a, b in zip(old, new, strict=True))
    return bool(old == new)


def differing_exports(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    """As differing(), but Parquet written by another version of its library is compared by its tables.

    Such a version packs the same table into other bytes, and names itself in the file. The export's own list of what it
    wrote holds digests of those bytes, so it is left out then.
    """
    names = differing(old, new)
    packed_otherwise = {
        name
        for name in names
        if name.endswith(".parquet") and name in old and name in new and _other_writer(old[name], new[name])
    }
    if not packed_otherwise:
        return names
    same = {name for name in packed_otherwise if _table(old[name]).equals(_table(new[name]))}
    return [name for name in names if name not in same and name != RECORD]


def _other_writer(old: bytes, new: bytes) -> bool:
    writers = [pq.read_metadata(io.BytesIO(content)).created_by for content in (old, new)]
    return bool(writers[0] != writers[1])


def _table(content: bytes) -> Any:
    return pq.read_table(io.BytesIO(content))


def differing_gallery(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    """As differing(), but thumbnails may differ as much as two versions of a WebP encoder do.

    Captions of version 0.1.0 said "a hand left points"; later ones say "a left hand points". Later pages also have
    questions and expressions.
    """
    added = re.compile(rb', ?"questions": ?\[[^\[\]]*\], ?"expressions": ?\{[^{}]*\}')
    new = {name: added.sub(b"", data) if name.endswith("page.js") else data for name, data in new.items()}
    old = {name: content.replace(b"a hand left points", b"a left hand points") for name, content in old.items()}
    names = differing(old, new)
    return [
        name
        for name in names
        if not (name.endswith(".webp") and name in old and name in new and _alike(old[name], new[name]))
    ]


def _alike(old: bytes, new: bytes) -> bool:
    a, b = (np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), dtype=np.int16) for content in (old, new))
    return a.shape == b.shape and float(np.abs(a - b).mean()) <= WEBP_TOLERANCE


def export_arguments(about: Mapping[str, Any], root: Path) -> Iterator[tuple[str, list[str | Path]]]:
    """(format, arguments of render-export but --out) of each export. root: the unpacked archive."""
    for name, made in about["exports"].items():
        yield name, [root / made["source"], "--format", name, *made["options"]]
