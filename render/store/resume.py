"""Resume: what becomes of each episode asked for, given what is stored already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from render.model.errors import ConflictError
from render.model.json_diff import differences, preview_json
from render.model.record import RenderKey
from render.model.scene import Scene, Settings
from render.store.episode_store import EpisodeStore
from scene_specs.language.spec import EpisodeSpec

Policy = Literal["error", "replace", "keep"]
Kind = Literal["render", "skip", "keep", "replace", "conflict"]

# Whoever changed the profile of 40,000 episodes needs to be told once what differs, not 40,000 times.
_EXPLAINED = 5
_SHOWN_DIFFERENCES = 6


@dataclass(frozen=True)
class Decision:
    """What becomes of one episode.

    kind: render (not stored), skip (stored, same job), keep / replace / conflict (stored, made from something else).
    attempt: the number that the record gets if it is rendered. differences: of a conflict; only the first few have any.
    """

    kind: Kind
    episode: EpisodeSpec | Scene
    job: RenderKey
    settings: Settings
    attempt: int = 1
    differences: tuple[str, ...] = ()


class Planner:
    """Decides episode by episode. store: None where there is none yet."""

    def __init__(self, store: EpisodeStore | None, policy: Policy = "error") -> None:
        self._store = store
        self._policy = policy
        self._stored = dict(store.ids()) if store is not None else {}
        self._attempts: dict[str, int] | None = None
        self._explained = 0

    def stored(self, episode_id: str) -> str | None:
        """Return the job hash that an id is stored with, None if it is not stored."""
        return self._stored.get(episode_id)

    def decide(self, episode: EpisodeSpec | Scene, job: RenderKey, settings: Settings) -> Decision:
        """What becomes of an episode. Raises StoreError where the store can't be read."""
        stored = self._stored.get(episode.id)
        if stored is None:
            return Decision("render", episode, job, settings)
        if stored == job.hash():
            return Decision("skip", episode, job, settings)
        if self._policy == "keep":
            return Decision("keep", episode, job, settings)
        if self._policy == "replace":
            return Decision("replace", episode, job, settings, attempt=self._attempt(episode.id) + 1)
        return Decision("conflict", episode, job, settings, differences=self._explain(episode.id, job))

    def _attempt(self, episode_id: str) -> int:
        if self._attempts is None:
            assert self._store is not None
            rows = self._store.scan(["episode_id", "attempt"], batch_size=8192)
            self._attempts = {row["episode_id"]: row["attempt"] for row in rows}
        return self._attempts.get(episode_id, 0)

    def _explain(self, episode_id: str, job: RenderKey) -> tuple[str, ...]:
        if self._explained >= _EXPLAINED:
            return ()
        self._explained += 1
        assert self._store is not None
        return tuple(difference(self._store.job(episode_id), job))

    @staticmethod
    def conflict(decisions: Sequence[Decision], count: int = 0) -> ConflictError:
        """The error that names conflicting episodes and what differs. decisions: all, or the first of `count`."""
        count = max(count, len(decisions))
        lines = []
        for decision in decisions[:_EXPLAINED]:
            preview_json = list(decision.differences[:_SHOWN_DIFFERENCES])
            if len(decision.differences) > len(preview_json):
                preview_json.append(f"and {len(decision.differences) - len(preview_json)} more differences")
            lines.append(f"episode {decision.episode.id} is stored already, but was made from something else:")
            lines += [f"  {line}" for line in preview_json]
        if count > _EXPLAINED:
            lines.append(f"and {count - _EXPLAINED} more episodes")
        lines.append("give --replace to render them again, --keep to leave them as they are, or another id or store")
        return ConflictError("\n".join(lines))


def difference(old: RenderKey, new: RenderKey) -> list[str]:
    """What differs between two jobs, a line a place.

    Such as `spec frames[0].objects[0].color: stored "red", now "blue"`, or `settings samples: stored 64, now 24`.
    Empty exactly when the jobs have the same hash. Of settings the profile comes first: it explains the others.
    """
    return [
        f"{part}{' ' if path else ''}{path}: stored {preview_json(before)}, now {preview_json(after)}"
        for part in ("spec", "settings", "assets", "version", "renderer")
        for path, before, after in sorted(
            differences(getattr(old, part), getattr(new, part)), key=lambda found: found[0] != "profile"
        )
    ]
