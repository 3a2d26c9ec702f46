"""Find the episode that a call of `render-episode` requests, and apply its edits and settings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from diorama.render.compiler import compile_episode
from diorama.render.machine.blender_series import PYTHONS, key_suffix, series_of
from diorama.render.store import open_at, open_store
from diorama.render.store.episode_store import unknown_id_message
from diorama.render.store.selection import StoreEpisodes, read_exported_record
from diorama.render.uses.rerender.edit import apply_edits
from diorama.render.uses.rerender.request import EpisodeRequest, check_options
from diorama.scene_specs.errors import DioramaError, UsageError
from diorama.scene_specs.model.profiles import episode_settings
from diorama.scene_specs.model.record import EpisodeRecord, RenderKey
from diorama.scene_specs.model.scene import Scene, Settings
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import stage_with
from diorama.scene_specs.reading.source import parse_episode, read_checked


@dataclass(frozen=True)
class ResolvedRequest:
    """An episode to render.

    Attributes:
        request: request with the name of the renderer.
        stored: the record in the store, None for a spec file.
        scene: what to render, with all frames.
        spec: the spec that compiles to `scene`, None where only the Scene is known.
        expect_difference: whether the edits or settings change the images.
    """

    request: EpisodeRequest
    stored: EpisodeRecord | None
    scene: Scene
    spec: EpisodeSpec | None
    expect_difference: bool


def find(request: EpisodeRequest) -> ResolvedRequest:
    """Find the requested episode and apply its edits.

    Raises:
        UsageError: options contradict each other, or the episode or a frame does not exist.
        SpecError: the spec file is wrong, or an edit made it wrong.
        CompileError: no layout is found.
        StoreError: the store can't be read.
        AssetError: an asset is missing.
    """
    check_options(request)
    if request.spec is not None:
        stored = None
        source = base = _of_file(request.spec, request.episode_id)
        spec = source if isinstance(source, EpisodeSpec) else None
    else:
        stored = _read_stored(request)
        # Of a stored Scene, nothing moves.
        source, base, spec = source_of(stored), stored.scene, None
    request = replace(request, renderer=_renderer_name(request, stored))
    # Of a stored Scene, an image of any size was rendered.
    own = (stored.scene.settings.width, stored.scene.settings.height) if stored else None
    settings = episode_settings(base, request.profile, request.size or own)
    if request.samples is not None:
        # --samples is exact: views with much glass get no more.
        settings = settings.with_samples(request.samples)
    scene = compile_episode(base, settings, request.asset_roots)
    if stored is not None:
        _check_stored(request, stored, scene.settings)
    expect_difference = stored is None or request.edits or scene.settings != stored.scene.settings
    if request.edits:
        scene, spec = apply_edits(request, source, scene)
    elif request.replace:
        spec = _spec_of_scene(source, scene, request.asset_roots)
    scene_of_frames(scene, request.frames)
    return ResolvedRequest(request, stored, scene, spec, expect_difference)


def _of_file(file: str, episode_id: str | None) -> EpisodeSpec | Scene:
    """Return the requested episode of a spec file, or its only one."""
    by_id = {item.episode.id: item.episode for item in read_checked([file]) if episode_id in (None, item.episode.id)}
    if len(by_id) == 1:
        return next(iter(by_id.values()))  # type: ignore[no-any-return]
    if episode_id is not None:
        raise UsageError(f"--from {file}: episode {episode_id!r} is not in the file")
    some = ", ".join(sorted(by_id)[:5])
    raise UsageError(f"--from {file}: {len(by_id)} episodes; add the ID of one, such as {some}")


def _read_stored(request: EpisodeRequest) -> EpisodeRecord:
    if request.export is not None and request.episode_id is not None:
        return read_exported_record(request.export, request.episode_id)
    if request.store is None or request.episode_id is None:
        raise UsageError("give STORE and ID, --from SPEC, or --from-export DIR and ID")
    store = open_store(request.store) if request.at is None else open_at(request.store, request.at)
    if not store.exists(request.episode_id):
        raise UsageError(unknown_id_message(store, request.episode_id))
    return store.get(request.episode_id)


def _check_stored(request: EpisodeRequest, stored: EpisodeRecord, settings: Settings) -> None:
    """Raise UsageError if the stored episode can't be compared, or can't be replaced."""
    size, was = ((sized.width, sized.height) for sized in (settings, stored.scene.settings))
    if request.compare and size != was:
        raise UsageError(
            f"--compare: {stored.episode_id} is stored at {was[0]}x{was[1]}, requested at {size[0]}x{size[1]}; "
            "images of another size can't be compared; leave --size out"
        )
    if request.replace and stored.job.renderer != request.renderer:
        raise UsageError(
            f"--replace: {stored.episode_id} was rendered by {stored.job.renderer!r}, this would be "
            f"{request.renderer!r}; give --renderer {stored.job.renderer}"
        )
    if request.replace and (other := other_series(stored.job, request.renderer)):
        raise UsageError(
            f"--replace: {stored.episode_id} was rendered by {other}; render it with Python "
            f"{PYTHONS.get(str(series_of(stored.job)))}, or replace episodes with render-batch --replace --mix-series"
        )


def _renderer_name(request: EpisodeRequest, stored: EpisodeRecord | None) -> str:
    # A downloaded file does not decide which module is imported, and only Cycles saves .blend files.
    if stored is None or request.save_blend or ":" in stored.job.renderer:
        return request.renderer or "cycles"
    return request.renderer or stored.job.renderer


def other_series(stored: RenderKey, renderer: str) -> str:
    """Return "Blender 4.5, this is Blender 5.2" if a renderer here is of another series than a stored episode's."""
    was, now = series_of(stored), series_of(stored.model_copy(update={"version": key_suffix(renderer)}))
    return f"Blender {was}, this is Blender {now}" if renderer != "fake" and was and was != now else ""


def source_of(stored: EpisodeRecord) -> EpisodeSpec | Scene:
    """Return the spec or Scene that a stored episode was made from."""
    if "scene_version" in stored.job.spec:
        return stored.scene
    episode: EpisodeSpec = parse_episode(json.dumps(stored.job.spec), f"stored spec of {stored.episode_id}")
    stage = stage_with(episode.stage, stored.job.assets.get(f"stage:{episode.stage}"))
    return episode.model_copy(update={"stage": stage})


def episodes_of(files: Sequence[str], store: str | None) -> Iterator[EpisodeSpec | Scene]:
    """Return the episodes of checked files, or those from which the episodes of a store were made.

    Raises:
        SpecError: files are wrong.
        StoreError: the store can't be read.
    """
    if store is None:
        return (item.episode for item in read_checked(files))
    stored = StoreEpisodes(store)
    return map(source_of, stored.read(stored.ids()))


def _spec_of_scene(source: EpisodeSpec | Scene, scene: Scene, asset_roots: tuple[Path, ...]) -> EpisodeSpec | None:
    """Return the spec if it still compiles to this Scene, which another version of Diorama may have compiled."""
    if isinstance(source, Scene):
        return None
    try:
        recompiled = compile_episode(source, scene.settings, asset_roots)
    except DioramaError:
        return None
    return source if recompiled == scene else None


def scene_of_frames(scene: Scene, names: Sequence[str]) -> Scene:
    """Return the Scene with the named frames only; all if `names` is empty.

    Raises:
        UsageError: there is no frame of a name.
    """
    if not names:
        return scene
    known = [frame.name for frame in scene.frames]
    for name in names:
        if name not in known:
            raise UsageError(f"episode {scene.id}: no frame {name!r}; there are: {', '.join(known)}")
    return scene.model_copy(update={"frames": tuple(frame for frame in scene.frames if frame.name in names)})


def record_of_frames(record: EpisodeRecord, names: Sequence[str]) -> EpisodeRecord:
    """Return the record with the images and frames of these names only; all if `names` is empty."""
    if not names:
        return record
    frames = tuple(frame for frame in record.scene.frames if frame.name in names)
    images = [image for image in record.images if image.frame in names]
    return record.model_copy(update={"images": images, "scene": record.scene.model_copy(update={"frames": frames})})
