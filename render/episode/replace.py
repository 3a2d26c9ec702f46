"""Replace a stored episode by a new record in one commit; the store's history keeps the old one."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from diorama.render.model.errors import ConflictError
from diorama.render.model.record import EpisodeRecord
from diorama.render.store import open_store


@dataclass(frozen=True)
class Replaced:
    """before: the store version with the old record. now: the version with the new one; equal if nothing changed."""

    store: str
    episode: str
    before: int
    now: int

    def lines(self) -> list[str]:
        """The report, with the commands that show the old record and restore it."""
        if self.now == self.before:
            return [f"nothing to replace: {self.store} has the same record"]
        store = shlex.quote(self.store)
        return [
            f"replaced in {self.store}, now version {self.now}; version {self.before} keeps the old record:",
            f"  to look:       render-store get {store} {self.episode} --at {self.before} --out before",
            f"  to go back:    render-store copy {store} {store} --at {self.before} --id {self.episode} "
            "--differing replace",
        ]


def replace_stored(url: str, stored: EpisodeRecord, record: EpisodeRecord) -> Replaced:
    """Commit `record` in place of `stored` with the next attempt number; write nothing if both are the same.

    Raises ConflictError if another writer has replaced the episode since `stored` was read, StoreError.
    """
    store = open_store(url)
    same = record.job.hash() == stored.job.hash() and record.truth == stored.truth
    if same and record.digest() == stored.digest():
        return Replaced(url, stored.episode_id, store.version, store.version)
    current = store.get(stored.episode_id)
    if (current.digest(), current.job.hash()) != (stored.digest(), stored.job.hash()):
        raise ConflictError(
            f"{url}: episode {stored.episode_id} was replaced by another writer meanwhile; nothing was committed; "
            "look at the stored episode and run the command again"
        )
    before = store.version
    provenance = record.provenance.model_copy(update={"attempt": stored.provenance.attempt + 1})
    store.replace([record.model_copy(update={"provenance": provenance})])
    return Replaced(url, stored.episode_id, before, store.version)
