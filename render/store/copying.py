"""Copying of episodes from one store into another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from render.model.errors import ConflictError, StoreError
from render.store.episode_store import BATCH_ROWS, EpisodeReader, EpisodeStore, read_each, short_columns
from render.store.resume import check_series

Differing = Literal["error", "newest", "keep", "replace"]
_SHOWN = 5
_STATE_COLUMNS = ("job_hash", "attempt", "sha256", "text_sha256")


@dataclass
class CopyResult:
    """copied: new in the target. same: stored already, equal. replaced, kept: differed. damaged: skipped, with why."""

    copied: int = 0
    same: int = 0
    replaced: int = 0
    kept: int = 0
    damaged: list[str] = field(default_factory=list)


def copy(
    source: EpisodeReader,
    target: EpisodeStore,
    where: str | None = None,
    differing: Differing = "error",
    progress: Callable[[int], None] = lambda done: None,
    mix_series: bool = False,
) -> CopyResult:
    """Copy the episodes that match a SQL filter. Equal episodes are skipped, so an interrupted copy can be repeated.

    differing, for an id with other contents in the target: "error" copies nothing and lists them, "newest" takes the
    later attempt, "keep" keeps the target's, "replace" takes the source's. progress gets the number of episodes done
    since its last call. mix_series: whether the target may hold images of another series of Blender. Raises
    StoreError, ConflictError.
    """
    stored = short_columns(target, _STATE_COLUMNS)
    wanted = short_columns(source, _STATE_COLUMNS, where)
    todo = [key for key in sorted(wanted) if stored.get(key) != wanted[key]]
    result = CopyResult(same=len(wanted) - len(todo))
    if todo and not mix_series:
        check_series(target, source.job(todo[0]))
    conflicts = [key for key in todo if key in stored]
    if conflicts and differing == "error":
        raise _conflict(target.url, conflicts)
    if differing == "keep":
        result.kept = len(conflicts)
        todo = [key for key in todo if key not in stored]
    progress(len(wanted) - len(todo))
    for start in range(0, len(todo), BATCH_ROWS):
        chunk = todo[start : start + BATCH_ROWS]
        found = read_each(source, chunk)
        result.damaged += [str(item) for item in found if isinstance(item, StoreError)]
        records = [item for item in found if not isinstance(item, StoreError)]
        done = target.replace(records) if differing == "replace" else target.put(records)
        result.copied += done.inserted
        result.replaced += done.updated
        result.kept += done.unchanged
        progress(len(chunk))
    return result


def _conflict(url: str, keys: list[str]) -> ConflictError:
    shown = "\n".join(f"  {key}" for key in keys[:_SHOWN])
    more = f"\n  and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    count = f"{len(keys)} episodes are" if len(keys) > 1 else "1 episode is"
    return ConflictError(
        f"{count} in {url} with other contents; nothing was copied:\n{shown}{more}\n"
        "pass --differing newest, keep or replace"
    )
