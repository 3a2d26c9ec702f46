"""A stored episode replaced by a new making of it, in one commit; what was there stays in the store's history."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from render.model.errors import ConflictError
from render.model.record import EpisodeRecord
from render.store import open_store


@dataclass(frozen=True)
class Replaced:
    """before: the store's version that has the episode as it was; now: the one that has the new making.

    Both are the same where there was nothing to replace.
    """

    store: str
    episode: str
    before: int
    now: int

    def lines(self) -> list[str]:
        """For people, with the commands that show the old one and bring it back."""
        if self.now == self.before:
            return [f"nothing to replace: {self.store} has the very same"]
        return [
            f"replaced in {self.store}, now version {self.now}; as it was it stays in version {self.before}:",
            f"  to look:       render-store get {self.store} {self.episode} --at {self.before} --out before",
            f"  to go back:    render-store copy {self.store} {self.store} --at {self.before} --id {self.episode} "
            "--differing replace",
        ]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def replace_stored(url: str, stored: EpisodeRecord, record: EpisodeRecord) -> Replaced:
    """Commit `record` in place of `stored`, one attempt on; nothing is written where both are the same.

    Raises ConflictError if the store has another making by now, StoreError.
    """
    store = open_store(url)
    same = record.job.hash() == stored.job.hash() and record.truth == stored.truth
    if same and record.digest() == stored.digest():
        return Replaced(url, stored.episode_id, store.version, store.version)
    now = store.get(stored.episode_id)
    if (now.digest(), now.job.hash()) != (stored.digest(), stored.job.hash()):
        raise ConflictError(
            f"{url}: episode {stored.episode_id} was replaced by another writer meanwhile; nothing was committed; "
            "look at what is there now and start again"
        )
    before = store.version
    attempt = stored.provenance.attempt + 1
    provenance = record.provenance.model_copy(update={"attempt": attempt})
    store.replace([record.model_copy(update={"provenance": provenance})])
    return Replaced(url, stored.episode_id, before, store.version)
