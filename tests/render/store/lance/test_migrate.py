from __future__ import annotations

from pathlib import Path

import lance
import pyarrow as pa
import pytest

from diorama.render.model.errors import StoreError
from diorama.render.store.columns import VERSION_KEY, episode_schema
from diorama.render.store.episode_store import PutResult
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.migrate import migrate
from diorama.render.store.rows import table_of
from tests.factories import make_record


def older_store(place: Path) -> str:
    """As schema version 1 was: no column `relations`."""
    table = table_of([make_record("demo/0"), make_record("demo/1", seed=1)]).drop_columns(["relations"])
    features = {VERSION_KEY: b"1", b"huggingface": b"{}"}
    lance.write_dataset(table.replace_schema_metadata(features), str(place))
    return str(place)


def test_an_older_store_says_what_to_do_and_is_migrated(tmp_path: Path) -> None:
    url = older_store(tmp_path / "old.lance")
    with pytest.raises(StoreError, match=rf"schema version 1 of an older Diorama.*render-store migrate {url}"):
        LanceStore.open(url)
    assert migrate(url) == 1
    store = LanceStore.open(url)
    # Its new column is the last one.
    assert {field.name: field for field in store._dataset.schema} == {field.name: field for field in episode_schema()}
    assert store.get("demo/1") == make_record("demo/1", seed=1)
    (row,) = store.scan(["relations"], "episode_id = 'demo/0'")
    (fresh,) = table_of([make_record("demo/0")]).select(["relations"]).to_pylist()
    assert row == fresh
    assert store._dataset.schema.metadata[b"huggingface"] == episode_schema().metadata[b"huggingface"]
    assert store.put([make_record("demo/0", attempt=2), make_record("demo/2")]) == PutResult(1, 1, 0)
    store.compact()
    assert store.count() == 3
    assert migrate(url) == 2


def test_a_migration_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = older_store(tmp_path / "old.lance")
    with monkeypatch.context() as patch:
        patch.setattr("diorama.render.store.lance.migrate.episode_schema", lambda: pa.schema([], {"another.key": "2"}))
        with pytest.raises(StoreError):
            migrate(url)
    assert migrate(url) == 1
    assert LanceStore.open(url).count() == 2


def test_what_is_no_store_or_leads_elsewhere_is_not_migrated(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match="is a file, and a store is a folder"):
        migrate(str(tmp_path / "file"))
    with pytest.raises(StoreError, match="there is no store"):
        migrate(str(tmp_path / "nothing"))
    url = older_store(tmp_path / "old.lance")
    (tmp_path / "old.lance/data").rename(tmp_path / "elsewhere")
    (tmp_path / "old.lance/data").symlink_to(tmp_path / "elsewhere")
    before = sorted((tmp_path / "elsewhere").iterdir())
    with pytest.raises(StoreError, match="symbolic link"):
        migrate(url)
    assert sorted((tmp_path / "elsewhere").iterdir()) == before


def test_a_store_of_a_newer_version_is_named(tmp_path: Path) -> None:
    url = older_store(tmp_path / "new.lance")
    lance.dataset(url).update_schema_metadata({VERSION_KEY.decode(): "99"})
    with pytest.raises(StoreError, match=rf"^{url}: has schema version 99, this Diorama reads version"):
        migrate(url)
