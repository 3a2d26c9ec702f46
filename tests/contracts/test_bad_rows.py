"""One bad row never stops the rest: every format and the gallery go on, and name it with its reason (exit code 4)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pytest

from diorama.render.store.columns import RECORD_COLUMNS
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.rows import text_digest
from diorama.render.uses.gallery.build_gallery import GalleryOptions, build
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.model.record import EpisodeRecord
from tests.contracts.formats import FORMATS, all_records, store_of
from tests.render.uses.export.helpers import exported, run


def _scene(record: EpisodeRecord, **changes: Any) -> EpisodeRecord:
    return record.model_copy(update={"scene": record.scene.model_copy(update=changes)})


def _task(record: EpisodeRecord, **changes: Any) -> EpisodeRecord:
    return _scene(record, task={**(record.scene.task or {}), **changes})


# Rows that are as they were put.
INVALID: dict[str, Callable[[EpisodeRecord], EpisodeRecord]] = {
    "a missing stage": lambda record: _scene(record, stage="moonbase"),
    "a missing benchmark": lambda record: _task(record, benchmark="gone"),
    "another task": lambda record: _task(record, name=5, options=7, answer=None),
    "a missing shape": lambda record: _scene(
        record,
        frames=tuple(
            frame.model_copy(
                update={"objects": tuple(item.model_copy(update={"shape": "gadget"}) for item in frame.objects)}
            )
            for frame in record.scene.frames
        ),
    ),
}


def _broken_digest(row: dict[str, Any]) -> dict[str, Any]:
    return {"sha256": "00"}


def _broken_text(row: dict[str, Any]) -> dict[str, Any]:
    """Texts with their right hash, as another program may write them."""
    changed = {**row, "scene": '{"stage": '}
    return {"scene": changed["scene"], "text_sha256": text_digest(changed)}


def _infinite_spec(row: dict[str, Any]) -> dict[str, Any]:
    changed = {**row, "spec": json.dumps({**json.loads(row["spec"]), "seed": float("nan")})}
    return {"spec": changed["spec"], "text_sha256": text_digest(changed)}


UNREADABLE = {"images that don't match": _broken_digest, "a text that is not JSON": _broken_text}
# Of these, formats that write the column again find that they can't.
DAMAGED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    **UNREADABLE, "a number that JSON has not": _infinite_spec
}  # fmt: skip
KINDS = [*INVALID, *DAMAGED]


def bad_store(folder: Path, name: str, kind: str) -> tuple[LanceStore, str]:
    """A bad episode and, after it, five good ones; the id of the bad one."""
    bad, *good = all_records(name)[:6]
    if kind in INVALID:
        return store_of(folder, [INVALID[kind](bad), *good]), bad.episode_id
    store = store_of(folder, [bad, *good])
    where = f"episode_id = '{bad.episode_id}'"
    (row,) = store.scan(RECORD_COLUMNS, where)
    values = {column: "'" + value.replace("'", "''") + "'" for column, value in DAMAGED[kind](row).items()}
    lance.dataset(store.url).update(values, where=where)
    store.refresh()
    return store, bad.episode_id


def pictures(out: Path) -> Counter[str]:
    """How often each PNG is there; a format may number them."""
    return Counter(digest for file, digest in exported(out).items() if file.endswith(".png"))


@pytest.mark.alike
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FORMATS, indirect=True)
def test_an_export_goes_on(tmp_path: Path, name: str, kind: str) -> None:
    store, bad = bad_store(tmp_path / "s.lance", name, kind)
    report = run(store, name, tmp_path / "out")
    error = report.error()
    # A format that does not need what is missing has all of them; `eval` leaves out episodes without items.
    assert report.exported == (6 if error is None and (name, kind) != ("eval", "a missing benchmark") else 5)
    if error is not None:
        assert isinstance(error, StoreError)
        assert bad in str(error)
    assert (error is not None) >= (kind in UNREADABLE)
    run(store_of(tmp_path / "good.lance", all_records(name)[1:6]), name, tmp_path / "good")
    # The numbers in names of CLEVR count the images of the whole store.
    assert name == "clevr" or {*exported(tmp_path / "good")} <= {*exported(tmp_path / "out")}
    assert pictures(tmp_path / "good") <= pictures(tmp_path / "out")


@pytest.mark.alike
@pytest.mark.parametrize("kind", KINDS)
def test_a_gallery_goes_on(tmp_path: Path, kind: str) -> None:
    store, bad = bad_store(tmp_path / "s.lance", "folder", kind)
    report = build(store, tmp_path / "gallery", GalleryOptions(workers=1))
    assert (report.episodes, (tmp_path / "gallery/index.html").exists()) == (6, True)
    error = report.error()
    assert report.built == (6 if error is None else 5)
    assert (error is not None) >= (kind in UNREADABLE)
    if error is not None:
        assert isinstance(error, StoreError)
        assert bad in str(error)
