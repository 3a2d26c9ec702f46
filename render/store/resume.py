"""Resume: decides for each requested episode whether to render it, given what is stored already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from diorama.render.machine.blender_series import PYTHONS, series_of
from diorama.render.store.episode_store import KEY, EpisodeReader, PutResult, short_columns
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.errors import ConflictError
from diorama.scene_specs.language.json_diff import differences, preview_json
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.record import RenderKey
from diorama.scene_specs.model.scene import Scene, Settings
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import stage_with

Policy = Literal["error", "replace", "keep"]
Kind = Literal["render", "skip", "keep", "replace", "conflict"]

# After a change of profile for 40,000 episodes, the difference should be shown a few times, not 40,000 times.
_EXPLAINED = 5
_SHOWN_DIFFERENCES = 6


@dataclass(frozen=True)
class Decision:
    """The decision about one episode.

    Attributes:
        kind: render (not stored), skip (stored, same job), keep / replace / conflict (stored, with another job).
        attempt: number of the record if it is rendered.
        differences: of a conflict; only the first few conflicts have any.
    """

    kind: Kind
    episode: EpisodeSpec | Scene
    job: RenderKey
    settings: Settings
    attempt: int = 1
    differences: tuple[str, ...] = ()


class Planner:
    """Decides episode by episode.

    Args:
        store: None if it does not exist yet.
        mix_series: see RunOptions.
    """

    def __init__(self, store: LanceStore | None, policy: Policy = "error", mix_series: bool = False) -> None:
        self._store = store
        self._policy = policy
        self._any_series = mix_series or store is None
        # Id -> the job hash that it is stored with.
        self.stored = dict(store.ids()) if store is not None else {}
        self._explained = 0

    def decide(self, episode: EpisodeSpec | Scene, job: RenderKey, settings: Settings) -> Decision:
        """Decide about one episode.

        Raises:
            ConflictError: for another series of Blender.
            StoreError: the store can't be read or written.
        """
        stored = self.stored.get(episode.id)
        if stored is not None:
            if stored == job.hash():
                return Decision("skip", episode, job, settings)
            if self._policy == "keep":
                return Decision("keep", episode, job, settings)
        if not self._any_series:
            assert self._store is not None
            check_blender_series(self._store, job)
            self._any_series = True
        if stored is None:
            return Decision("render", episode, job, settings)
        if self._policy == "replace":
            return Decision("replace", episode, job, settings, attempt=self._stored_attempts.get(episode.id, 0) + 1)
        return Decision("conflict", episode, job, settings, differences=self._explain_conflict(episode.id, job))

    @cached_property
    def _stored_attempts(self) -> dict[str, int]:
        assert self._store is not None
        return {key: attempt for key, (attempt,) in short_columns(self._store, ["attempt"]).items()}

    def _explain_conflict(self, episode_id: str, job: RenderKey) -> tuple[str, ...]:
        if self._explained >= _EXPLAINED:
            return ()
        self._explained += 1
        assert self._store is not None
        return tuple(difference(self._store.job(episode_id), job))

    @staticmethod
    def conflict(decisions: Sequence[Decision], count: int = 0) -> ConflictError:
        """Return the error that lists conflicting episodes and their differences.

        Args:
            decisions: all conflicts, or the first of `count`.
        """
        count = max(count, len(decisions))
        lines = []
        for decision in decisions[:_EXPLAINED]:
            shown = list(decision.differences[:_SHOWN_DIFFERENCES])
            if len(decision.differences) > len(shown):
                shown.append(f"and {len(decision.differences) - len(shown)} more")
            lines.append(f"episode {decision.episode.id} is stored already, but was made from something else:")
            lines += [f"  {line}" for line in shown]
        if count > _EXPLAINED:
            lines.append(f"and {count - _EXPLAINED} more, {count} episodes in all")
        lines.append("pass --replace to render them again, --keep to keep the stored ones, or use another id or store")
        return ConflictError("\n".join(lines))


def check_blender_series(store: EpisodeReader, new: RenderKey, where: str | None = None) -> None:
    """Raise ConflictError if the store's first episode was rendered by another series of Blender than `new` is.

    Args:
        where: the SQL filter of the episodes that count.
    """
    first = next(iter(store.scan([KEY], where, batch_size=1)), None)
    stored, now = series_of(store.job(first[KEY])) if first else None, series_of(new)
    if stored and now and stored != now:
        raise ConflictError(
            f"{store.url} holds images of Blender {stored}, and these are of Blender {now}, whose images differ "
            f"slightly: render with Python {PYTHONS.get(stored)}, name another store, or pass --mix-series"
        )


def put_first(store: LanceStore, rows: Mapping[str, RenderKey], put: Callable[[], PutResult]) -> PutResult:
    """Put a writer's first episodes, unless another writer has meanwhile begun the store with another series.

    Args:
        rows: id -> key of what `put` puts. If two writers begin an empty store at once, the one that commits second
            gives way: its own commit shows it the other's rows first.

    Raises:
        ConflictError: what is there already differs.
        StoreError: the store can't be read or written.
    """
    store.refresh()
    new = next(iter(rows.values()))
    check_blender_series(store, new)
    begun = store.count() > 0
    result = put()
    if begun:
        # Replaced rows are the last ones: in a store of both series, the first row may now be one of the other series.
        return result
    try:
        check_blender_series(store, new)
    except ConflictError:
        stored = dict(store.ids())
        store.delete([key for key, job in rows.items() if stored.get(key) == job.hash()])
        raise
    return result


def difference(old: RenderKey, new: RenderKey) -> list[str]:
    """Return the differences between two jobs, one line per location; empty exactly if they have the same hash.

    Such as `spec frames[0].objects[0].color: stored "red", now "blue"`, or `settings samples: stored 64, now 24`.
    The profile comes first among the settings, because it explains the others.
    """
    stages = {name.removeprefix("stage:"): digest for name, digest in old.assets.items() - new.assets.items()}
    now = {name: stage_with(name, digest) for name, digest in stages.items() if name in plugins("stages")}
    renamed = [
        f"stage {was!r} has changed; what was stored is stage {name!r}" for was, name in now.items() if was != name
    ]
    models = sorted(
        name for name, _ in old.assets.items() - new.assets.items() if is_model(name) and name in new.assets
    )
    renamed += [f"model {name!r} has changed, or another version of Diorama read it" for name in models]
    return renamed + [
        f"{part}{' ' if path else ''}{path}: stored {preview_json(before)}, now {preview_json(after)}"
        for part in ("spec", "settings", "assets", "version", "renderer")
        for path, before, after in sorted(
            differences(getattr(old, part), getattr(new, part)), key=lambda leaf: leaf[0] != "profile"
        )
    ]
