"""What a call of `render-episode` asks for: which episode, changed how, rendered with which settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from render.compiler import compile_episode
from render.edit import REMOVED, Step, changed, parse_assignment, parse_path
from render.errors import DioramaError, SpecError, UsageError
from render.profiles import DEFAULT_PROFILE, settings_for
from render.record import EpisodeRecord
from render.rerender import changed_settings, only_frames
from render.scene import Scene
from render.scene_edit import change_scene, parse_after
from render.settle import settle
from render.store import open_at, open_store
from scene_specs.faults import nearest
from scene_specs.reading import SpecSource, parse_episode
from scene_specs.spec import EpisodeSpec
from scene_specs.stage import stage_of

# Ids that a wrong one is likened to.
_LIKENED = 100_000


@dataclass(frozen=True)
class Again:
    """What is asked: an episode of a store, or of a spec file. The other fields are render-episode's options."""

    store: str | None
    episode_id: str | None
    spec: str | None = None
    at: str | None = None
    frames: tuple[str, ...] = ()
    profile: str | None = None
    size: tuple[int, int] | None = None
    samples: int | None = None
    seed: int | None = None
    sets: tuple[str, ...] = ()
    unsets: tuple[str, ...] = ()
    scene_sets: tuple[str, ...] = ()
    recompile: bool = False
    out: Path | None = None
    sheet: Path | None = None
    plan: Path | None = None
    device: str = "auto"
    save_blend: bool = False
    compare: bool = False
    replace: bool = False
    asset_roots: tuple[Path, ...] = ()
    renderer: str = "cycles"

    @property
    def edits(self) -> bool:
        """Whether another Scene is asked for."""
        decided = self.seed is not None or self.recompile
        return bool(self.sets or self.unsets or self.scene_sets or decided)

    @property
    def only_looks(self) -> bool:
        """Whether a sheet, a plan or both are all that is to be made."""
        looks = self.sheet is not None or self.plan is not None
        return looks and not (self.out is not None or self.save_blend or self.compare or self.replace)


@dataclass(frozen=True)
class Asked:
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


def find(request: Again) -> Asked:
    """The episode asked for, changed as asked. Raises UsageError, SpecError, CompileError, StoreError, AssetError."""
    _check(request)
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
        scene, spec = _edited(request, source, settings)
    else:
        scene = settings
        spec = _spec_of_scene(source, scene, request.asset_roots) if request.replace else None
    only_frames(scene, request.frames)
    otherwise = request.edits or scene.settings != stored.scene.settings
    return Asked(stored, scene, spec, request.edits, otherwise)


def _check(request: Again) -> None:
    """Options against each other. Raises UsageError."""
    if request.replace and request.frames:
        raise UsageError("--replace commits whole episodes; leave --frame out")
    if request.replace and request.samples is not None:
        raise UsageError(
            "--replace with --samples: a stored profile says how its pictures were sampled; give --profile instead"
        )
    if request.replace and request.at is not None:
        raise UsageError(
            "--replace with --at: an old version comes back as it was by "
            "`render-store copy STORE STORE --at VERSION --id ID --differing replace`"
        )
    for option, given in (("--compare", request.compare), ("--replace", request.replace), ("--at", request.at)):
        if given and request.spec is not None:
            raise UsageError(f"{option} needs an episode of a store; give STORE and ID instead of --from")
    if request.scene_sets and (request.sets or request.unsets or request.seed is not None or request.recompile):
        raise UsageError("--set-scene changes the compiled Scene, the other options the spec before it; give one kind")
    if request.save_blend and request.renderer != "cycles":
        raise UsageError("--save-blend needs Blender; leave --renderer out")


def _stored(url: str, episode_id: str, at: str | None) -> EpisodeRecord:
    store = open_store(url) if at is None else open_at(url, at)
    if not store.exists(episode_id):
        known = [name for name, _ in store.ids()] if store.count() <= _LIKENED else []
        hint = nearest(episode_id, known)
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
    return scene.model_copy(update={"settings": scene.settings.model_copy(update={"samples": samples})})


def _edited(request: Again, source: EpisodeSpec | Scene, scene: Scene) -> tuple[Scene, EpisodeSpec | None]:
    """The Scene that the edits give, and its spec; None where only the Scene says it.

    scene: the one before, with the settings to render with.
    """
    if request.scene_sets or isinstance(source, Scene):
        if request.seed is not None or request.recompile:
            raise UsageError(
                f"episode {scene.id} was made from a Scene, in which everything is decided already: --seed and "
                "--recompile would change nothing; --set changes a place of it"
            )
        texts = [*request.sets, *request.scene_sets]
        changes: list[tuple[tuple[Step, ...], Any]] = [parse_assignment(text, "--set-scene") for text in texts]
        changes += [_removal(text) for text in request.unsets]
        return change_scene(scene, changes, "--set-scene" if request.scene_sets else "--set"), None
    base = source
    if request.seed is not None:
        base = source.model_copy(update={"seed": request.seed})
    elif not request.recompile:
        base = settle(source, scene, request.asset_roots)
    spec = _change_spec(base, request)
    if spec.id != scene.id:
        raise UsageError(f"--set id: would be another episode, {spec.id!r}; write a spec file and use --from")
    return compile_episode(spec, scene.settings, request.asset_roots), spec


def _removal(text: str) -> tuple[tuple[Step, ...], Any]:
    path, rest = parse_path(text, "--unset")
    if rest:
        raise UsageError(f"--unset {text}: takes a path only, without {rest!r}")
    return path, REMOVED


def _change_spec(spec: EpisodeSpec, request: Again) -> EpisodeSpec:
    """The spec with --set and then --unset applied, in their order. Raises UsageError, SpecError."""
    document = spec.model_dump(mode="json")
    for text in request.sets:
        document, _ = changed(document, *parse_assignment(text))
    for text in request.unsets:
        document, _ = changed(document, *_removal(text), "--unset")
    options = " and ".join(name for name, given in (("--set", request.sets), ("--unset", request.unsets)) if given)
    found = parse_after(document, options) if options else spec
    if not isinstance(found, EpisodeSpec):
        raise UsageError(f"{options}: what comes out is a Scene and no spec; use --set-scene")
    return found


def _spec_of_scene(source: EpisodeSpec | Scene, scene: Scene, asset_roots: tuple[Path, ...]) -> EpisodeSpec | None:
    """The spec, if it still gives this Scene here; an older Diorama may have compiled it otherwise."""
    if isinstance(source, Scene):
        return None
    try:
        again = compile_episode(source, scene.settings, asset_roots)
    except DioramaError:
        return None
    return source if again == scene else None


def _from_spec(request: Again) -> Asked:
    """The one episode of the spec file, or the one with the id, compiled."""
    assert request.spec is not None
    with SpecSource([request.spec]) as source:
        faults, _ = source.check()
        if faults:
            raise SpecError(faults)
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
        scene, spec = _edited(request, episode, scene)
    only_frames(scene, request.frames)
    return Asked(None, scene, spec, request.edits, True)


def _compiled(episode: EpisodeSpec | Scene, request: Again) -> Scene:
    if isinstance(episode, Scene):
        return changed_settings(episode, request.profile, request.size)
    width, height = request.size or stage_of(episode).size
    return compile_episode(
        episode, settings_for(request.profile or DEFAULT_PROFILE, width, height), request.asset_roots
    )
