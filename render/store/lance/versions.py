"""What a store was at other times: every commit is a version, a tag gives one a name.

Versions stay until `clean_up` takes old ones away; a tagged one stays as long as its tag.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from render.model.errors import StoreError, UsageError
from render.store.lance.translate_errors import translate_errors

# Beside a writer, taking younger versions away corrupted 7 stores of 10.
LEAST_AGE = timedelta(days=1)


@dataclass(frozen=True)
class Version:
    """number: counts from 1. committed: when. episodes, fragments: at that version."""

    number: int
    committed: datetime
    episodes: int
    fragments: int


@dataclass(frozen=True)
class Change:
    """An episode from a version on. present: False where it was deleted, or not there yet."""

    version: int
    committed: datetime
    present: bool
    attempt: int | None = None
    job_hash: str | None = None
    sha256: str | None = None
    text_sha256: str | None = None

    @property
    def state(self) -> tuple[object, ...]:
        """What two changes are compared by."""
        return (self.present, self.attempt, self.job_hash, self.sha256, self.text_sha256)


def list_versions(url: str, dataset: Any) -> list[Version]:
    """All versions, oldest first."""
    with translate_errors(url, "listing its versions"):
        found = dataset.versions()
    return [
        Version(
            item["version"],
            # Lance gives local time without saying so.
            item["timestamp"].astimezone(UTC),
            int(item["metadata"]["total_rows"]),
            int(item["metadata"]["total_fragments"]),
        )
        for item in sorted(found, key=lambda item: int(item["version"]))
    ]


def changes(versions: list[Version], state_at: Callable[[Version], Change]) -> list[Change]:
    """The versions at which an episode became what it then was, oldest first.

    Halves the span between two versions where they differ: a few looks instead of one a version. Spans end where
    episodes were deleted, because elsewhere none can go. One that was replaced and then replaced again by the very
    bytes it had may not be seen.
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
    kept += [now for before, now in pairwise(ordered) if now.state != before.state]
    return kept


def tags_of(url: str, dataset: Any) -> dict[str, int]:
    """Tag -> version, by name."""
    with translate_errors(url, "listing its tags"):
        found = dataset.tags.list()
    return {name: int(found[name]["version"]) for name in sorted(found)}


def tag(url: str, dataset: Any, name: str, version: int | None) -> int:
    """Name a version, the newest for None; returns it. Raises StoreError if the name is taken or the version gone."""
    with translate_errors(url, f"tagging {name!r}"):
        number = dataset.version if version is None else version
        dataset.tags.create(name, number)
    return int(number)


def untag(url: str, dataset: Any, name: str) -> None:
    """Take a tag away; its version stays until it is cleaned up."""
    with translate_errors(url, f"removing the tag {name!r}"):
        dataset.tags.delete(name)


def clean_up(url: str, dataset: Any, older_than: timedelta, least_age: timedelta = LEAST_AGE) -> int:
    """Take away versions older than a day at least, but tagged ones; returns the bytes freed. History ends there.

    least_age: for tests that are the only writer.
    """
    if older_than < least_age:
        raise UsageError(f"versions younger than {least_age} stay: taking them away beside a writer damages a store")
    with translate_errors(url, "cleaning up old versions (nothing of the newest is lost)"):
        # delete_unverified would also take files that a commit on its way has just written.
        stats = dataset.cleanup_old_versions(
            older_than=older_than, delete_unverified=False, error_if_tagged_old_versions=False
        )
    return int(stats.bytes_removed)


def version_of(url: str, dataset: Any, wanted: int | str) -> int:
    """The number of a version given by number or by tag. Raises StoreError, with the tags there are."""
    tags = tags_of(url, dataset)
    if str(wanted) in tags:
        return tags[str(wanted)]
    # Longer ones are of no version, and Python reads none of thousands of digits.
    if str(wanted).isdecimal() and len(str(wanted)) < 20:
        return int(wanted)
    named = ", ".join(tags) or "none"
    raise StoreError(f"{url}: has no version and no tag {str(wanted)[:80]!r}; its tags: {named}")
