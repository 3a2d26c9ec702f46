"""Copying of episodes from one store into another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from diorama.render.store.episode_store import BATCH_ROWS, IDENTITY_COLUMNS, EpisodeReader, short_columns
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.resume import check_blender_series, put_first
from diorama.render.store.selection import listed, read_each
from diorama.scene_specs.errors import ConflictError, MissingError, StoreError
from diorama.scene_specs.model.record import EpisodeRecord

Differing = Literal["error", "newest", "keep", "replace"]
# Of a commit: episodes, and bytes of their images.
_COMMIT_ROWS, _COMMIT_BYTES = 512, 1 << 26
_SHOWN_MISSING = 100
# Id -> what identifies the contents of an episode.
States = dict[str, tuple[Any, ...]]


@dataclass
class CopyResult:
    """The outcome of a copy.

    Attributes:
        copied: new in the target.
        same: stored already, equal.
        replaced: differed.
        kept: differed.
        damaged: skipped, with why.
    """

    copied: int = 0
    same: int = 0
    replaced: int = 0
    kept: int = 0
    damaged: list[str] = field(default_factory=list)

    def __add__(self, other: CopyResult) -> CopyResult:
        return CopyResult(
            *(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True))
        )


def states(store: EpisodeReader, where: str | None = None) -> States:
    """Return id -> what identifies the contents of an episode."""
    return short_columns(store, IDENTITY_COLUMNS, where)


def check_together(
    sources: Sequence[EpisodeReader],
    target: EpisodeReader | None,
    where: str | None = None,
    differing: Differing = "error",
    wanted: Iterable[str] = (),
    mix_series: bool = False,
) -> list[States]:
    """Check before a copy from several stores that nothing is missing and, with "error", that no contents differ.

    Args:
        wanted: ids that the sources and the target have to have together.
        mix_series: whether they may hold images of several series of Blender. Returns the states of each source.

    Raises:
        MissingError: something asked for is missing.
        ConflictError: what is there already differs.
        StoreError: the store can't be read or written.
    """
    together = {} if target is None else states(target)
    conflicts, first = [], target if together else None
    read = [states(source, where) for source in sources]
    for source, own in zip(sources, read, strict=True):
        new = next((key for key, state in own.items() if together.get(key) != state), None)
        if new is not None and not mix_series:
            first = first or source
            check_blender_series(first, source.job(new), None if first is target else where)
        conflicts += [key for key, state in own.items() if together.setdefault(key, state) != state]
    if conflicts and differing == "error":
        raise _conflict_error(" or ".join(store.url for store in (target, *sources) if store), sorted(set(conflicts)))
    if missing := [key for key in wanted if key not in together]:
        lines = listed("missing from all of the stores; nothing was copied", missing, _SHOWN_MISSING)
        advice = "run the same render-batch commands again, with the same --part: they render what is missing"
        raise MissingError(f"{lines}\n{advice}")
    return read


def copy(
    source: EpisodeReader,
    target: LanceStore,
    where: str | None = None,
    differing: Differing = "error",
    progress: Callable[[int], None] = lambda done: None,
    stored: States | None = None,
    mix_series: bool = False,
    wanted: States | None = None,
) -> CopyResult:
    """Copy the episodes that match a SQL filter. Equal episodes are skipped, so an interrupted copy can be repeated.

    differing, for an id with other contents in the target: "error" copies nothing and lists them, "newest" takes the
    later attempt, "keep" keeps the target's, "replace" takes the source's. progress gets the number of episodes done
    since its last call.

    Args:
        stored: what `states` returned for the target, None to read it; updated for the next copy into it.
        mix_series: see check_together.
        wanted: what it returned for the source, None to read it.

    Raises:
        StoreError: the store can't be read or written.
        ConflictError: what is there already differs.
    """
    stored = states(target) if stored is None else stored
    wanted = states(source, where) if wanted is None else wanted
    todo = [key for key in sorted(wanted) if stored.get(key) != wanted[key]]
    result = CopyResult(same=len(wanted) - len(todo))
    conflicts = [key for key in todo if key in stored]
    if conflicts and differing == "error":
        raise _conflict_error(target.url, conflicts)
    if differing == "keep":
        result.kept = len(conflicts)
        todo = [key for key in todo if key not in stored]
    progress(len(wanted) - len(todo))
    checked = mix_series
    for chunk, records in _read_groups(source, todo, result.damaged):
        put = partial(target.replace if differing == "replace" else target.put, records)
        if records and not checked:
            done, checked = put_first(target, {record.episode_id: record.job for record in records}, put), True
        else:
            done = put()
        result.copied += done.inserted
        result.replaced += done.updated
        result.kept += done.unchanged
        # Not the damaged ones: another source may have them intact.
        stored.update({record.episode_id: wanted[record.episode_id] for record in records})
        progress(len(chunk))
    return result


def _read_groups(
    source: EpisodeReader, todo: list[str], damaged: list[str]
) -> Iterator[tuple[list[str], list[EpisodeRecord]]]:
    """Yield ids and their intact episodes, as many at a time as one commit takes, for each commit has its price."""
    chunk: list[str] = []
    records: list[EpisodeRecord] = []
    for start in range(0, len(todo), BATCH_ROWS):
        part = todo[start : start + BATCH_ROWS]
        chunk += part
        for item in read_each(source, part):
            if isinstance(item, StoreError):
                damaged.append(str(item))
            else:
                records.append(item)
        size = sum(len(image.png) + len(image.extra or b"") for record in records for image in record.images)
        if size > _COMMIT_BYTES or len(chunk) >= _COMMIT_ROWS or start + BATCH_ROWS >= len(todo):
            yield chunk, records
            chunk, records = [], []


def _conflict_error(url: str, keys: list[str]) -> ConflictError:
    problem = f"{'are' if len(keys) > 1 else 'is'} in {url} with other contents; nothing was copied"
    return ConflictError(f"{listed(problem, keys)}\npass --differing newest, keep or replace")
