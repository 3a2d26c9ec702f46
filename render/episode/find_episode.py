"""What a call of `render-episode` asks for: which episode, changed how, rendered with which settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from render.compiler import compile_episode
from render.episode.apply_edits import apply_edits
from render.episode.output_files import changed_settings, only_frames
from render.episode.request import EpisodeRequest, check
from render.model.errors import DioramaError, SpecError, UsageError
from render.model.profiles import episode_settings
from render.model.record import EpisodeRecord
from render.model.scene import Scene
from render.store import open_at, open_store
from scene_specs.language.diagnostics import did_you_mean
from scene_specs.language.spec import EpisodeSpec
from scene_specs.reading.source import SpecSource, parse_episode

# Ids that a wrong one is likened to.
_LIKENED = 100_000


@dataclass(frozen=True)
class ResolvedRequest:
    """stored: as the store has it, None without one. scene: to be rendered. edited: whether it is another Scene.

    spec: that gives the Scene, None where only the Scene is known. otherwise: whether pictures are meant to differ.
    """

    stored: EpisodeRecord | None
    scene: Scene
    spec: EpisodeSpec | None
    edited: bool
    otherwise: bool

    @property
    def source(self) -> EpisodeSpec | Scene:
        """What the record is said to be made from."""
        return self.scene if self.spec is None else self.spec


def find(request: EpisodeRequest) -> ResolvedRequest:
    """The episode asked for, changed as asked. Raises UsageError, SpecError, CompileError, StoreError, AssetError."""
    check(request)
    if request.spec is not None:
        return _from_spec(request)
    if request.store is None or request.episode_id is None:
        raise UsageError("give STORE and ID, or --from SPEC")
    stored = _stored(request.store, request.episode_id, request.at)
    settings = _sampled(changed_settings(stored.scene, request.profile, request.size), request.samples)
    source = _source_of(stored)
    size, was = ((s.width, s.height) for s in (settings.settings, stored.scene.settings))
    if request.compare and size != was:
        raise UsageError(
            f"--compare: {stored.episode_id} is stored at {was[0]}x{was[1]}, asked for at {size[0]}x{size[1]}; "
            "pictures of another size can't be compared; leave --size out"
        )
    if request.replace and stored.job.renderer != request.renderer:
        raise UsageError(
            f"--replace: {stored.episode_id} was rendered by {stored.job.renderer!r}, this would be "
            f"{request.renderer!r}; give --renderer {stored.job.renderer}"
        )
    spec: EpisodeSpec | None = None
    if request.edits:
        scene, spec = apply_edits(request, source, settings)
    else:
        scene = settings
        spec = _spec_of_scene(source, scene, request.asset_roots) if request.replace else None
    only_frames(scene, request.frames)
    otherwise = request.edits or scene.settings != stored.scene.settings
    return ResolvedRequest(stored, scene, spec, request.edits, otherwise)


def _stored(url: str, episode_id: str, at: str | None) -> EpisodeRecord:
    store = open_store(url) if at is None else open_at(url, at)
    if not store.exists(episode_id):
        known = [name for name, _ in store.ids()] if store.count() <= _LIKENED else []
        hint = did_you_mean(episode_id, known)
        raise UsageError(f"{url}: episode {episode_id} is not in the store" + (f"; {hint}" if hint else ""))
    return store.get(episode_id)


def _source_of(stored: EpisodeRecord) -> EpisodeSpec | Scene:
    """What a stored episode was made from."""
    if "scene_version" in stored.job.spec:
        return stored.scene
    episode = parse_episode(json.dumps(stored.job.spec), f"stored spec of {stored.episode_id}")
    assert isinstance(episode, EpisodeSpec | Scene)
    return episode


def _sampled(scene: Scene, samples: int | None) -> Scene:
    if samples is None:
        return scene
    # What was asked for counts for every picture, however much glass is in it.
    exact = {"samples": samples, "glass_samples": 0}
    return scene.model_copy(update={"settings": scene.settings.model_copy(update=exact)})


def _spec_of_scene(source: EpisodeSpec | Scene, scene: Scene, asset_roots: tuple[Path, ...]) -> EpisodeSpec | None:
    """The spec, if it still gives this Scene here; an older Diorama may have compiled it otherwise."""
    if isinstance(source, Scene):
        return None
    try:
        again = compile_episode(source, scene.settings, asset_roots)
    except DioramaError:
        return None
    return source if again == scene else None


def _from_spec(request: EpisodeRequest) -> ResolvedRequest:
    """The one episode of the spec file, or the one with the id, compiled."""
    assert request.spec is not None
    with SpecSource([request.spec]) as source:
        diagnostics, _ = source.check()
        if diagnostics:
            raise SpecError(diagnostics)
        found = {item.episode.id: item.episode for item in source if request.episode_id in (None, item.episode.id)}
    if len(found) != 1:
        if request.episode_id is not None:
            raise UsageError(f"--from {request.spec}: no episode {request.episode_id!r} in it")
        some = ", ".join(sorted(found)[:5])
        raise UsageError(f"--from {request.spec}: {len(found)} episodes; name one of them, such as {some}")
    (episode,) = found.values()
    scene = _sampled(_compiled(episode, request), request.samples)
    spec = episode if isinstance(episode, EpisodeSpec) else None
    if request.edits:
        scene, spec = apply_edits(request, episode, scene)
    only_frames(scene, request.frames)
    return ResolvedRequest(None, scene, spec, request.edits, True)


def _compiled(episode: EpisodeSpec | Scene, request: EpisodeRequest) -> Scene:
    if isinstance(episode, Scene):
        return changed_settings(episode, request.profile, request.size)
    return compile_episode(episode, episode_settings(episode, request.profile, request.size), request.asset_roots)
