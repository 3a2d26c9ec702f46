"""Taking damaged rows out of a store, so that their episodes can be made again."""

from __future__ import annotations

from render.store.lance.lance_store import LanceStore
from render.store.lance.reader import ids_filter
from render.store.lance.verify import Damage, Verdict

_CHUNK = 500


def delete_damaged(store: LanceStore, verdict: Verdict) -> int:
    """Delete the damaged rows of a verdict, and of an id that is there more than once all but the newest attempt.

    Returns how many rows went. They stay in older versions of the store.
    """
    by_row = [damage for damage in verdict.damaged if damage.row is not None]
    by_id = [damage for damage in verdict.damaged if damage.row is None and damage.episode_id is not None]
    gone = 0
    # Row numbers are those of one version: a commit of another writer in between would make them somebody else's.
    if store.version == verdict.version:
        gone += sum(store.delete_where(_rows(part)) for part in _parts(by_row))
    else:
        by_id += [damage for damage in by_row if not damage.twice]
    ids = sorted({damage.episode_id for damage in by_id if damage.episode_id is not None})
    return gone + sum(store.delete(ids[start : start + _CHUNK]) for start in range(0, len(ids), _CHUNK))


def _rows(damaged: list[Damage]) -> str:
    # The id as well: deleting does not move rows, but a wrong row must not go whatever happened.
    numbers = ", ".join(str(damage.row) for damage in damaged)
    ids = ids_filter(sorted({damage.episode_id or "" for damage in damaged}))
    return f"_rowid IN ({numbers}) AND {ids}"


def _parts(damaged: list[Damage]) -> list[list[Damage]]:
    return [damaged[start : start + _CHUNK] for start in range(0, len(damaged), _CHUNK)]
