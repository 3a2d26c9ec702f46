"""A store of true episodes, exported; and what a folder holds."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import format_of
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.render.uses.io.written_files import RECORD
from tests.render.store.rendered import rendered

SPLITS = {"demo/a": "train", "demo/b": "val", "demo/c": "train", "demo/d": None, "demo/e": "train"}


def projected(camera: dict[str, Any], location: Any) -> Any:
    """x, y and depth of a world point, as the pages say."""
    x, y, z = (np.array(camera["extrinsics"]) @ [*location, 1])[:3]
    depth = 1.0 if camera["projection"] == "orthographic" else z
    return [*(np.array(camera["intrinsics"]) @ [x / depth, y / depth, 1])[:2], z]


def make_store(folder: Path) -> LanceStore:
    """Five episodes, put in another order than that of their ids."""
    store = LanceStore.create(str(folder / "s.lance"), fsync=False)
    records = [rendered(name, seed=number, split=split) for number, (name, split) in enumerate(SPLITS.items())]
    store.put(records[::-1])
    return store


def run(store: LanceStore, name: str, out: Path, options: ExportOptions | None = None) -> ExportReport:
    """Export, and check that progress counts each episode once."""
    options = options or ExportOptions()
    done: list[int] = []
    report = format_of(name).export(store, out, options, done.append)
    chosen = store.count(options.where)
    assert sum(done) == (chosen if options.limit is None else min(chosen, options.limit))
    return report


def contents(out: Path) -> dict[str, str]:
    """Relative path -> SHA-256 of every file."""
    files = sorted(path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def exported(out: Path) -> dict[str, str]:
    """The same without the record of what was written, which also knows the store and what was there before."""
    return {path: digest for path, digest in contents(out).items() if path != RECORD}


def unfinished(out: Path) -> list[Path]:
    """What an export should not leave behind."""
    return [path for path in out.rglob("*") if path.name.endswith((".part", ".parts", ".partial"))]
