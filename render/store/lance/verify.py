"""Looking through a whole store: every row read, checked and named where something is wrong with it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from render.model.errors import StoreError
from render.store.lance.columns import KEY, episode_schema
from render.store.lance.reader import ID_BATCH_ROWS, LanceReader
from render.store.lance.row_checks import problems_of
from render.store.lance.translate_errors import reason, translate_errors

# Rows a task: a second of work, so that the bar moves and one damaged file is not one worker's whole job.
_UNIT_ROWS = 128
_BATCH_ROWS = 16
# Below this, starting other processes takes longer than looking.
_WORTH_PROCESSES = 512


@dataclass(frozen=True)
class Damage:
    """One damaged row. row: its Lance row id (None if unreadable). spec: as asked for, if readable."""

    episode_id: str | None
    problems: tuple[str, ...]
    row: int | None = None
    spec: dict[str, Any] | None = None
    profile: str | None = None
    size: tuple[int, int] | None = None
    twice: bool = False

    def __str__(self) -> str:
        return f"episode {self.episode_id}: {'; '.join(self.problems)}"


@dataclass
class Verdict:
    """episodes: rows looked at. damaged: by id. unreadable: files whose rows can't even be named, a line each."""

    version: int
    episodes: int = 0
    damaged: list[Damage] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.damaged and not self.unreadable


@dataclass(frozen=True)
class _Unit:
    fragment: int
    offset: int
    rows: int


def verify(
    store: LanceReader, workers: int | None = None, progress: Callable[[int], None] = lambda done: None
) -> Verdict:
    """Look at every row of the version that `store` reads.

    Found: damaged bytes, pictures that don't decode to their size, boxes outside the image, masks that disagree with
    boxes or pixel counts, missing frames, search columns that say something else, answers that are no option, ids that
    are there twice. workers: processes, None for as many as cores; progress gets the number of rows done since its
    last call. Raises StoreError where the store as a whole can't be read.
    """
    verdict = Verdict(store.version)
    units = list(_units(store, verdict))
    wanted = workers or len(os.sched_getaffinity(0))
    if workers is None and sum(unit.rows for unit in units) < _WORTH_PROCESSES:
        wanted = 1
    for unit, damaged in _looked_at(store, units, wanted):
        verdict.episodes += unit.rows
        verdict.damaged += damaged
        progress(unit.rows)
    verdict.damaged += _repeated(store)
    verdict.damaged.sort(key=lambda damage: (damage.episode_id or "", damage.row or 0))
    return verdict


def _units(store: LanceReader, verdict: Verdict) -> Iterator[_Unit]:
    for fragment in store.fragments():
        try:
            with translate_errors(store.url, f"counting rows of data file {fragment.fragment_id}"):
                count = int(fragment.count_rows())
        except StoreError as error:
            verdict.unreadable.append(str(error))
            continue
        for offset in range(0, count, _UNIT_ROWS):
            yield _Unit(fragment.fragment_id, offset, min(_UNIT_ROWS, count - offset))


def _looked_at(store: LanceReader, units: list[_Unit], workers: int) -> Iterator[tuple[_Unit, list[Damage]]]:
    if workers <= 1:
        yield from ((unit, look_at(store, unit)) for unit in units)
        return
    # Never forked: Lance has threads.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _open_here, (store.url, store.version))
    try:
        yield from zip(units, pool.map(_look_here, units), strict=True)
    except BrokenProcessPool as error:
        raise StoreError(
            f"{store.url}: a process that looked through it died, as for lack of memory; nothing was changed: run it "
            "again, with fewer --workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


_here: LanceReader | None = None


def _open_here(url: str, version: int) -> None:
    global _here
    _here = LanceReader.at_version(url, version)


def _look_here(unit: _Unit) -> list[Damage]:
    assert _here is not None
    return look_at(_here, unit)


def look_at(store: LanceReader, unit: _Unit) -> list[Damage]:
    """The damaged among a few rows of one file. Rows that can't be read together are read one by one."""
    (fragment,) = (one for one in store.fragments() if one.fragment_id == unit.fragment)
    columns = episode_schema().names
    found: list[Damage] = []
    done = 0
    try:
        for row in _rows(store, fragment, columns, unit.offset, unit.rows):
            found += _judged(row)
            done += 1
    except StoreError:
        for offset in range(unit.offset + done, unit.offset + unit.rows):
            found += _one(store, fragment, columns, offset)
    return found


def _rows(
    store: LanceReader, fragment: Any, columns: Iterable[str], offset: int, count: int
) -> Iterator[Mapping[str, Any]]:
    with translate_errors(
        store.url, f"reading rows {offset} to {offset + count - 1} of data file {fragment.fragment_id}"
    ):
        batches = fragment.to_batches(
            columns=list(columns), offset=offset, limit=count, batch_size=_BATCH_ROWS, with_row_id=True
        )
        for batch in batches:
            yield from batch.to_pylist()


def _one(store: LanceReader, fragment: Any, columns: list[str], offset: int) -> list[Damage]:
    try:
        return [damage for row in _rows(store, fragment, columns, offset, 1) for damage in _judged(row)]
    except StoreError as error:
        row: dict[str, Any] = {}
        # Whatever can still be read of it, column by column: the id names it, the spec makes it again.
        for column in (KEY, "spec", "profile", "width", "height"):
            try:
                row.update(next(iter(_rows(store, fragment, [column], offset, 1)), {}))
            except StoreError:
                continue
        cause = error.__cause__
        return [_damage(row, [f"can't be read: {reason(cause) if cause else error}"])]


def _judged(row: Mapping[str, Any]) -> list[Damage]:
    problems = problems_of(row)
    return [_damage(row, problems)] if problems else []


def _damage(row: Mapping[str, Any], problems: list[str]) -> Damage:
    try:
        spec = json.loads(row["spec"])
    except (KeyError, ValueError, TypeError):
        spec = None
    size = (row["width"], row["height"]) if row.get("width") and row.get("height") else None
    return Damage(
        row.get(KEY),
        tuple(problems),
        row.get("_rowid"),
        spec if isinstance(spec, dict) else None,
        row.get("profile"),
        size,
    )


def _repeated(store: LanceReader) -> list[Damage]:
    """Every row but the newest attempt of an id that is there more than once."""
    best: dict[str, tuple[int, int]] = {}
    spare: list[Damage] = []
    try:
        for batch in store.row_numbers([KEY, "attempt"], ID_BATCH_ROWS):
            for row in batch.to_pylist():
                here = (row["attempt"] or 0, row["_rowid"])
                worse = min(best.get(row[KEY], here), here) if row[KEY] in best else None
                best[row[KEY]] = max(best.get(row[KEY], here), here)
                if worse is not None:
                    spare.append(Damage(row[KEY], ("there more than once",), worse[1], twice=True))
    except StoreError:
        # A file that can't be read is in the verdict already.
        return spare
    return spare
