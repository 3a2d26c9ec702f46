"""Exports and their subsets, read by each major version of `datasets`: every value is that of the store."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.render.store.columns import COMPLETE_VERSION
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.rows import table_of
from diorama.render.store.selection import condition
from diorama.render.uses.export.protocol import ExportOptions
from diorama.scene_specs.model.pictures import decode_png
from diorama.scene_specs.model.record import ImageRecord
from tests.render.uses.export.helpers import run
from tests.render.uses.export.test_load_dataset import records_of, same_truth

pytestmark = pytest.mark.readers
READER = Path(__file__).resolve().parents[3] / "harness/datasets_reader.py"
# See tools/setup.sh.
PREFIX = Path(sys.prefix)
VERSIONS = ("2.21.0", "3.6.0", "4.8.5", "5.2.0")


def read(version: str, folders: list[Path], home: Path) -> list[dict[str, list[dict[str, Any]]]]:
    older = PREFIX / f"datasets-{version}"
    paths = {"PYTHONPATH": str(older)} if older.exists() else {}
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home), **paths}
    command = [str(PREFIX / "harness/bin/python"), str(READER), *map(str, folders)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["version"] == version
    rows: list[dict[str, list[dict[str, Any]]]] = found["rows"]
    return rows


def digest(image: ImageRecord) -> str:
    return hashlib.sha256(np.ascontiguousarray(decode_png(image.png)).tobytes()).hexdigest()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["clevr", "passes"])
def test_every_version_reads_every_value(kind: str, version: str, tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made = records_of(kind)
    store.put(made)
    records = {record.episode_id: record for record in made}
    ids = sorted(records)
    first = records[ids[0]].scene.split
    of_split = [key for key in ids if records[key].scene.split == first]
    subsets = [
        (None, ids),
        (f"episode_id > '{ids[0]}'", ids[1:]),
        *([(condition(None, splits=(first,)), of_split)] if first else []),
        # After `render-store delete`.
        (None, ids[:-1]),
    ]
    questions = 3 if kind == "clevr" else None
    folders = []
    for number, (where, expected) in enumerate(subsets):
        if number == len(subsets) - 1:
            store.delete([ids[-1]])
        for name in ("huggingface", "webdataset"):
            folders.append(tmp_path / f"{number}" / name)
            report = run(store, name, folders[-1], ExportOptions(where=where, questions=questions))
            assert report.exported == len(expected)
    loaded = iter(read(version, folders, tmp_path / "home"))
    for _, expected in subsets:
        rows = [(split, row) for split, some in next(loaded).items() for row in some]
        assert sorted(row["episode_id"] for _, row in rows) == expected
        for split, row in rows:
            record = records[row["episode_id"]]
            assert split == (record.scene.split or "unsplit").replace("+", "_")
            (stored,) = table_of([record], COMPLETE_VERSION).to_pylist()
            stored["images"] = [digest(image) for image in record.images]
            stored["extra"] = stored["extra"] and [data and data.hex() for data in stored["extra"]]
            assert all(len(item.pop("extent")) == 3 and item.pop("category") for item in row["objects"])
            assert json.loads(row["task_data"] or "null") == record.scene.task
            assert {name: row[name] for name in stored} == stored
            assert bool(row.get("questions")) == (questions is not None)
        samples = [row for some in next(loaded).values() for row in some]
        assert sorted(row["json"]["id"] for row in samples) == expected
        for row in samples:
            for number, image in enumerate(records[row["json"]["id"]].images):
                assert row[f"{number}.png"] == digest(image)
                same_truth(row["json"]["images"][number], image)
