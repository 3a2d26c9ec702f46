"""What became of an episode from version to version of a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from diorama.render.store.episode_store import ids_filter
from diorama.render.store.lance.reader import LanceReader, Version


@dataclass(frozen=True)
class Change:
    """State of an episode from a version on.

    Attributes:
        present: False where it was deleted, or not stored yet.
    """

    version: int
    committed: datetime
    present: bool
    attempt: int | None = None
    job_hash: str | None = None
    sha256: str | None = None
    text_sha256: str | None = None

    @property
    def state(self) -> tuple[object, ...]:
        """What differs between two states."""
        return (self.present, self.attempt, self.job_hash, self.sha256, self.text_sha256)


def changes(versions: list[Version], state_at: Callable[[Version], Change]) -> list[Change]:
    """Return the changes of an episode, oldest first.

    Bisects the span between two versions with different states, which reads few versions instead of all. Spans end
    where episodes were deleted, because an episode can't vanish elsewhere. An episode that was replaced and then
    replaced again by its previous bytes may go unnoticed.
    """
    if not versions:
        return []
    seen: dict[int, Change] = {}

    drops = [index for index, (old, new) in enumerate(pairwise(versions)) if new.episodes < old.episodes]
    ends = sorted({0, len(versions) - 1, *drops, *(index + 1 for index in drops)})
    spans = [*pairwise(ends)] or [(0, 0)]
    while spans:
        first, last = spans.pop()
        for index in (first, last):
            if index not in seen:
                seen[index] = state_at(versions[index])
        if last - first > 1 and seen[first].state != seen[last].state:
            middle = (first + last) // 2
            spans += [(first, middle), (middle, last)]
    ordered = [seen[index] for index in sorted(seen)]
    kept = [ordered[0]] if ordered[0].present else []
    return kept + [new for old, new in pairwise(ordered) if new.state != old.state]


def history(store: LanceReader, episode_id: str) -> list[Change]:
    """Return when an episode was stored, replaced and deleted, oldest first; empty if no version has it."""

    def state_at(version: Version) -> Change:
        columns = ["attempt", "job_hash", "sha256", "text_sha256"]
        for row in store.at_number(version.number).scan(columns, ids_filter([episode_id])):
            return Change(version.number, version.committed, True, **row)
        return Change(version.number, version.committed, False)

    return changes(store.versions(), state_at)
