"""What every format promises about files that it did not write: they stay as they are, and are named (exit code 2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export.protocol import ExportOptions
from diorama.render.uses.io.written_files import RECORD
from diorama.scene_specs.errors import DioramaError
from tests.contracts.formats import EACH, all_records, records, store_of
from tests.render.uses.export.helpers import contents, exported, run, unfinished

ASKED = ExportOptions(overwrite=True)


def error_of(store: LanceStore, name: str, out: Path, options: ExportOptions | None = None) -> DioramaError | None:
    """The error that `render-export` would end with."""
    try:
        return run(store, name, out, options).error()
    except DioramaError as error:
        return error


def check_refused(error: DioramaError | None, out: Path, path: Path) -> None:
    """Exit code 2, and the file or a folder of it is named."""
    assert error is not None, path
    assert error.exit_code == 2, error
    assert any(str(one) in str(error) for one in (path, *path.parents) if out in one.parents), (path, error)


def one_of_each_kind(files: Iterable[str]) -> dict[int, str]:
    """One of the files that differ by digits alone, such as the images of an episode, by number."""
    return dict(enumerate({re.sub(r"\d+", "0", file): file for file in files}.values()))


@pytest.mark.alike
@EACH
def test_a_file_of_the_user_in_the_place_of_any_file(store: LanceStore, tmp_path: Path, name: str) -> None:
    run(store, name, tmp_path / "fresh")
    fresh = exported(tmp_path / "fresh")
    for number, file in one_of_each_kind(contents(tmp_path / "fresh")).items():
        if file == RECORD and name in ("acme", "folder", "iwisdm", "mewl"):
            continue
        out = tmp_path / str(number)
        (out / file).parent.mkdir(parents=True)
        (out / file).write_text("mine")
        check_refused(error_of(store, name, out), out, out / file)
        assert (out / file).read_text() == "mine"
        assert unfinished(out) == []
        assert error_of(store, name, out, ASKED) is None
        assert exported(out) == fresh


@pytest.mark.alike
@EACH
def test_a_folder_of_the_user_in_the_place_of_any_file(store: LanceStore, tmp_path: Path, name: str) -> None:
    run(store, name, tmp_path / "fresh")
    for number, file in one_of_each_kind(exported(tmp_path / "fresh")).items():
        notes = tmp_path / str(number) / file / "notes.txt"
        notes.parent.mkdir(parents=True)
        notes.write_text("mine")
        check_refused(error_of(store, name, tmp_path / str(number)), tmp_path / str(number), notes)
        assert notes.read_text() == "mine"


@pytest.mark.alike
@EACH
def test_an_export_of_another_store_stays_as_it_is(store: LanceStore, tmp_path: Path, name: str) -> None:
    other = store_of(tmp_path / "other.lance", all_records(name)[5:])
    for one, folder in ((store, "one"), (other, "two")):
        run(one, name, tmp_path / folder)
    first, second = exported(tmp_path / "one"), exported(tmp_path / "two")
    before = contents(tmp_path / "one")
    shared = {file for file in first.keys() & second.keys() if first[file] != second[file]}
    error = error_of(other, name, tmp_path / "one")
    after = contents(tmp_path / "one")
    if shared:
        assert error is not None and error.exit_code == 2
        assert any(str(tmp_path / "one" / file) in str(error) for file in shared)
        # No image that the lists lack, either.
        assert after == before
    else:
        assert error is None
        assert {**first, **second}.items() <= after.items()
    assert error_of(other, name, tmp_path / "one", ASKED) is None
    assert second.items() <= exported(tmp_path / "one").items()


@pytest.mark.alike
@EACH
def test_what_the_user_changed_or_added_stays(store: LanceStore, tmp_path: Path, name: str) -> None:
    run(store, name, tmp_path / "old")
    old = exported(tmp_path / "old")
    store.put(all_records(name)[5:6])
    run(store, name, tmp_path / "new")
    new = exported(tmp_path / "new")
    again = store_of(tmp_path / "again.lance", records(name))
    for number, file in one_of_each_kind(old).items():
        out = tmp_path / str(number)
        run(again, name, out)
        notes = [path / "notes.txt" for path in {(out / one).parent for one in old}]
        for path in notes:
            path.write_text("mine")
        with (out / file).open("ab") as stream:
            stream.write(b"changed")
        changed = (out / file).read_bytes()
        error = error_of(store, name, out)
        assert (out / file).read_bytes() == changed
        assert all(path.read_text() == "mine" for path in notes)
        if new.get(file, old[file]) != old[file]:
            check_refused(error, out, out / file)


@pytest.mark.alike
@EACH
def test_an_export_of_an_older_version_is_updated_when_asked_once(store: LanceStore, tmp_path: Path, name: str) -> None:
    """It has no record, or one of shards alone."""
    out = tmp_path / "out"
    run(store, name, out)
    record = out / RECORD
    if record.exists():
        shards = {key: value for key, value in json.loads(record.read_bytes()).items() if key != "lists"}
        record.write_text(json.dumps(shards)) if shards else record.unlink()
        error = error_of(store, name, out)
        assert error is not None and error.exit_code == 2
        assert "older versions kept no record" in str(error)
        assert error_of(store, name, out, ASKED) is None
    assert error_of(store, name, out) is None


@pytest.mark.alike
@EACH
def test_a_store_that_was_moved_is_the_same(store: LanceStore, tmp_path: Path, name: str) -> None:
    run(store, name, tmp_path / "out")
    moved = LanceStore.open(str((tmp_path / "s.lance").rename(tmp_path / "moved.lance")))
    moved.put(all_records(name)[5:6])
    options = ASKED if name in ("huggingface", "webdataset") else None
    assert error_of(moved, name, tmp_path / "out", options) is None


@contextmanager
def stopped(at: int, after: bool) -> Iterator[list[int]]:
    """Stop when the file or folder with this number is about to get its name, or has it; yields how many had."""
    count: list[int] = []

    def stopping(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*given: Any) -> Any:
            count.append(1)
            if len(count) == at and not after:
                raise KeyboardInterrupt
            done = call(*given)
            if len(count) == at:
                raise KeyboardInterrupt
            return done

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", stopping(Path.replace))
        patch.setattr(Path, "rename", stopping(Path.rename))
        yield count


@pytest.mark.slow
@pytest.mark.parametrize("grown", [False, True])
@EACH
def test_a_stopped_export_goes_on_without_being_asked(
    store: LanceStore, tmp_path: Path, name: str, grown: bool
) -> None:
    """Of shards, the last one stops: a store that grew changes them, which has to be asked for."""
    options = ExportOptions(overwrite=grown and name in ("huggingface", "webdataset"))
    before = store_of(tmp_path / "before.lance", records(name))
    if grown:
        store.put(all_records(name)[5:6])
    with stopped(0, False) as calls:
        run(store, name, tmp_path / "fresh")
    total = len(calls)
    for number in range(1, total + 1, max(1, total // 8)):
        for after in (False, True):
            out = tmp_path / f"{number}-{after}"
            if grown:
                run(before, name, out)
            with stopped(number, after), pytest.raises(KeyboardInterrupt):
                run(store, name, out, options)
                # Fewer files than of a fresh export: all are written.
                raise KeyboardInterrupt
            assert error_of(store, name, out, options) is None
            assert exported(out) == exported(tmp_path / "fresh")
            assert unfinished(out) == []
