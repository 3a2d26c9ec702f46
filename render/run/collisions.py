"""Episodes that another run stored while this one was at them: what is there stays, and ours is not called rendered."""

from __future__ import annotations

from collections.abc import Sequence

from render.model.errors import ConflictError
from render.run.worker import Failure
from render.store.episode_store import EpisodeStore


def conflicting_commits(store: EpisodeStore, parts: Sequence[bytes]) -> list[Failure]:
    """Which of the episodes just put (see `put_encoded`) are not what the store has under their ids.

    Asked where a put left some as they are. Of one that is repeated, or that another run made from the same, the
    store has what was meant: that is no failure. Raises StoreError.
    """
    from render.store.episode_store import ids_filter
    from render.store.rows import decode

    table = decode(parts).select(["episode_id", "job_hash"])
    ours = {row["episode_id"]: row["job_hash"] for row in table.to_pylist()}
    store.refresh()
    found = {row["episode_id"]: row["job_hash"] for row in store.scan(["episode_id", "job_hash"], ids_filter([*ours]))}
    return [
        conflict(name, store.url, f"job {found[name][:12]}, and {job[:12]} here")
        for name, job in ours.items()
        if found.get(name, job) != job
    ]


def conflict(episode_id: str, url: str, differs: str) -> Failure:
    """The failure of an episode that another run stored, made from something else.

    differs: what is stored and what was wanted here, "" where that is said of episodes before.
    """
    shown = f" ({differs})" if differs else ""
    return Failure(
        episode_id,
        ConflictError.__name__,
        f"episode {episode_id}: another run has stored it in {url} since this one began, made from something "
        f"else{shown}; that stays. Run the same command again to see what differs, with --replace to render it again, "
        "or with --keep to leave it",
    )
