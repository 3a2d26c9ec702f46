"""Verification of a complete store: each row is read and checked, damaged ones are listed and can be deleted."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from diorama.render.store.columns import episode_schema
from diorama.render.store.episode_store import ID_BATCH_ROWS, KEY, ids_filter
from diorama.render.store.lance.errors import reason, translate_errors
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.reader import LanceReader
from diorama.render.store.processes import map_in_processes
from diorama.render.store.row_checks import invalid_answer, problems_of
from diorama.render.store.rows import record_of
from diorama.scene_specs.errors import StoreError
from diorama.scene_specs.files.writing import atomic_writer
from diorama.scene_specs.model.record import EpisodeRecord

# Rows per task: a second of work, so that the progress bar moves and one damaged file is not a worker's only task.
_UNIT_ROWS = 128
_COLUMNS = episode_schema().names
_BATCH_ROWS = 16
# Below this, starting other processes takes longer than the check.
_MIN_PARALLEL_ROWS = 512
_IDS_PER_DELETE = 500
# Two digests alone, which can't be compressed.
_MIN_ROW_BYTES = 64
_DIED = (
    "a process that checked it died, possibly out of memory; nothing was changed: run it again, with fewer --workers"
)
_T = TypeVar("_T")
Inspect = Callable[[EpisodeRecord], Iterable[str]]
# Number of the data file, first row, number of rows.
_Unit = tuple[int, int, int]


@dataclass(frozen=True)
class Damage:
    """One damaged row.

    Attributes:
        row: its Lance row id (None if unreadable).
        spec: as requested, if readable.
        duplicate: the row is intact, but its id has another row with a later attempt.
        invalid: the row is intact, but its spec is wrong; it is reported and never deleted.
        unusual: the row is intact, but images look unlike others, which may be right; likewise.
    """

    episode_id: str | None
    problems: tuple[str, ...]
    row: int | None = None
    spec: dict[str, Any] | None = None
    profile: str | None = None
    size: tuple[int, int] | None = None
    renderer: str | None = None
    duplicate: bool = False
    invalid: bool = False
    unusual: bool = False

    def __str__(self) -> str:
        return f"episode {self.episode_id}: {'; '.join(self.problems)}"


@dataclass
class Verdict:
    """The outcome of a verification.

    Attributes:
        episodes: checked rows.
        damaged: sorted by id.
        invalid: sorted by id.
        unusual: sorted by id.
        unreadable: files whose rows can't be listed, one line each.
    """

    version: int
    episodes: int = 0
    damaged: list[Damage] = field(default_factory=list)
    invalid: list[Damage] = field(default_factory=list)
    unusual: list[Damage] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    @property
    def intact(self) -> bool:
        """Whether no row is damaged."""
        return not self.damaged and not self.unreadable


def verify(
    store: LanceReader,
    workers: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
    also: Inspect | None = None,
) -> Verdict:
    """Check every row of the version that `store` reads.

    Finds damaged bytes, images that don't decode to their size, boxes outside the image, masks that disagree with boxes
    or pixel counts, missing frames, search columns that contradict the episode, and duplicate ids. Answers that are not
    an option make a row invalid, not damaged.

    Args:
        workers: processes, None for one per core; progress gets the number of rows checked since its last call.
        also: says what is unusual in an intact episode, a function of a module.

    Raises:
        StoreError: if the store can't be read at all.
    """
    verdict = Verdict(store.version)
    units = list(_iter_units(store, verdict))
    few = sum(rows for *_, rows in units) < _MIN_PARALLEL_ROWS
    results = map_in_processes(store, partial(check_unit, also=also), units, workers, few, _DIED)
    for (_, _, rows), damaged in zip(units, results, strict=True):
        verdict.episodes += rows
        for damage in damaged:
            group = verdict.invalid if damage.invalid else verdict.unusual if damage.unusual else verdict.damaged
            group.append(damage)
        progress(rows)
    verdict.damaged += _find_duplicates(store)
    for damages in (verdict.damaged, verdict.invalid, verdict.unusual):
        damages.sort(key=lambda damage: (damage.episode_id or "", damage.row or 0))
    return verdict


def _iter_units(store: LanceReader, verdict: Verdict) -> Iterator[_Unit]:
    for fragment in store.fragments():
        try:
            with translate_errors(store.url, f"counting rows of data file {fragment.fragment_id}"):
                # Compares with the data file what the manifest says of it.
                fragment.validate()
                count = int(fragment.count_rows())
                size = sum(file.file_size_bytes or 0 for file in fragment.metadata.files)
                if size and count > size // _MIN_ROW_BYTES:
                    raise ValueError(f"found {count:,} rows in {size:,} bytes")
        except StoreError as error:
            verdict.unreadable.append(str(error))
            continue
        for offset in range(0, count, _UNIT_ROWS):
            yield fragment.fragment_id, offset, min(_UNIT_ROWS, count - offset)


def check_unit(store: LanceReader, unit: _Unit, also: Inspect | None = None) -> list[Damage]:
    """Return the damaged, invalid and unusual rows of a unit. Rows that can't be read together are read one by one."""
    number, first, count = unit
    (fragment,) = (fragment for fragment in store.fragments() if fragment.fragment_id == number)
    damages: list[Damage] = []
    offset = first
    try:
        for row in _read_rows(store, fragment, _COLUMNS, first, count):
            damages += _check_row(row, also)
            offset += 1
    except StoreError:
        for single in range(offset, first + count):
            damages += _check_single(store, fragment, single, also)
    return damages


def _read_rows(
    store: LanceReader, fragment: Any, columns: list[str], offset: int, count: int
) -> Iterator[Mapping[str, Any]]:
    action = f"reading rows {offset} to {offset + count - 1} of data file {fragment.fragment_id}"
    with translate_errors(store.url, action):
        batches = fragment.to_batches(
            columns=columns, offset=offset, limit=count, batch_size=_BATCH_ROWS, with_row_id=True
        )
        for batch in batches:
            yield from batch.to_pylist()


def _check_single(store: LanceReader, fragment: Any, offset: int, also: Inspect | None) -> list[Damage]:
    try:
        return [damage for row in _read_rows(store, fragment, _COLUMNS, offset, 1) for damage in _check_row(row, also)]
    except StoreError as error:
        row: dict[str, Any] = {}
        # Read what is still readable, column by column: the id names the episode, the spec renders it again.
        for column in (KEY, "spec", "profile", "width", "height", "job"):
            with suppress(StoreError):
                row.update(next(iter(_read_rows(store, fragment, [column], offset, 1)), {}))
        cause = error.__cause__
        return [_damage_of(row, [f"can't be read: {reason(cause) if cause else error}"])]


def _check_row(row: Mapping[str, Any], also: Inspect | None) -> list[Damage]:
    if problems := problems_of(row):
        return [_damage_of(row, problems)]
    reasons = invalid_answer(json.loads(row["scene"]).get("task"))
    found = ((reasons, True), ([*also(record_of(row))] if also else [], False))
    return [replace(_damage_of(row, lines), invalid=wrong, unusual=not wrong) for lines, wrong in found if lines]


def _damage_of(row: Mapping[str, Any], problems: list[str]) -> Damage:
    size = (row["width"], row["height"]) if row.get("width") and row.get("height") else None
    renderer, spec = (_json_object(row, "job") or {}).get("renderer"), _json_object(row, "spec")
    return Damage(row.get(KEY), tuple(problems), row.get("_rowid"), spec, row.get("profile"), size, renderer)


def _json_object(row: Mapping[str, Any], column: str) -> dict[str, Any] | None:
    try:
        value = json.loads(row[column])
    except (KeyError, ValueError, TypeError):
        return None
    return value if isinstance(value, dict) else None


def _find_duplicates(store: LanceReader) -> list[Damage]:
    """Return every row except the newest attempt of each id that has several rows."""
    best: dict[str, tuple[int, int]] = {}
    older_rows: list[Damage] = []
    # A file that can't be read is in the verdict already.
    with suppress(StoreError):
        for batch in store.row_numbers([KEY, "attempt"], ID_BATCH_ROWS):
            for row in batch.to_pylist():
                key, here = row[KEY], (row["attempt"] or 0, row["_rowid"])
                if key in best:
                    _, older = min(best[key], here)
                    older_rows.append(Damage(key, ("stored more than once",), older, duplicate=True))
                best[key] = max(best.get(key, here), here)
    return older_rows


def delete_damaged(store: LanceStore, verdict: Verdict) -> int:
    """Delete the damaged rows of a verdict, and of each duplicate id every row except the newest attempt.

    Returns the number of deleted rows. They stay in older versions of the store.
    """
    by_row = [damage for damage in verdict.damaged if damage.row is not None]
    by_id = [damage for damage in verdict.damaged if damage.row is None and damage.episode_id is not None]
    deleted = 0
    # Row numbers hold at one version: after a commit of another writer they may belong to other rows.
    if store.version == verdict.version:
        deleted += sum(store.delete_where(_rows_filter(part)) for part in _chunks_to_delete(by_row))
    else:
        by_id += [damage for damage in by_row if not damage.duplicate]
    ids = sorted({damage.episode_id for damage in by_id if damage.episode_id is not None})
    return deleted + sum(map(store.delete, _chunks_to_delete(ids)))


def _rows_filter(damaged: Sequence[Damage]) -> str:
    # The id as well: deleting does not move rows, but a wrong row must never be deleted.
    numbers = ", ".join(str(damage.row) for damage in damaged)
    ids = ids_filter(sorted({damage.episode_id or "" for damage in damaged}))
    return f"_rowid IN ({numbers}) AND {ids}"


def _chunks_to_delete(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    return (items[start : start + _IDS_PER_DELETE] for start in range(0, len(items), _IDS_PER_DELETE))


def write_specs(damaged: Sequence[Damage], out: Path) -> dict[Path, str]:
    """Write the specs of damaged episodes as .jsonl; return file -> render-batch options that render them again.

    One file per profile, size and renderer; the first is `out`. Episodes without a readable spec are left out.
    """
    groups: dict[str, dict[str, str]] = {}
    for damage in damaged:
        if damage.spec is None or damage.duplicate:
            continue
        options = f"--profile {damage.profile}" if damage.profile else ""
        if damage.size:
            options += f" --size {damage.size[0]}x{damage.size[1]}"
        if damage.renderer and damage.renderer != "cycles":
            options += f" --renderer {shlex.quote(str(damage.renderer))}"
        text = json.dumps(damage.spec, ensure_ascii=False)
        groups.setdefault(options.strip(), {})[str(damage.episode_id)] = text
    written: dict[Path, str] = {}
    for number, (options, lines) in enumerate(sorted(groups.items())):
        file = out if number == 0 else out.with_name(f"{out.stem}-{number + 1}{out.suffix}")
        with atomic_writer(file, "--specs-out") as stream:
            stream.writelines(f"{lines[key]}\n" for key in sorted(lines))
        written[file] = options
    return written
