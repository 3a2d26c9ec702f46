"""What `render-episode` does: find the Scene, render it here and now, write files, compare."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from render.compare import Comparison
from render.compiler import compile_episode
from render.compiler.assets import resolve_blend
from render.errors import SpecError, UsageError
from render.passes import Renderer
from render.profiles import DEFAULT_PROFILE, settings_for
from render.record import EpisodeRecord
from render.rerender import BlendSaver, changed_settings, default_folder, only_frames, write_files
from render.run.episode import make_record
from render.run.jobs import job_of
from render.scene import Scene
from render.store import open_store
from scene_specs.reading import SpecSource
from scene_specs.stage import load_stage


@dataclass(frozen=True)
class Again:
    """What is asked: an episode of a store, or of a spec file. The other fields are render-episode's options."""

    store: str | None
    episode_id: str | None
    spec: str | None = None
    frames: tuple[str, ...] = ()
    profile: str | None = None
    size: tuple[int, int] | None = None
    out: Path | None = None
    device: str = "auto"
    blend: bool = True
    asset_roots: tuple[Path, ...] = ()
    renderer: str = "cycles"


@dataclass(frozen=True)
class Done:
    """record: the new one. comparison: None if there was nothing to compare with."""

    record: EpisodeRecord
    folder: Path
    paths: tuple[Path, ...]
    comparison: Comparison | None

    @property
    def exit_code(self) -> int:
        """1 if pictures or truth differ where they should not."""
        return int(self.comparison is not None and not self.comparison.identical)

    def lines(self) -> list[str]:
        """For people."""
        seconds = ", ".join(f"{step} {value:.2f} s" for step, value in self.record.provenance.seconds.items())
        head = [
            f"{self.record.episode_id}: {len(self.record.images)} images on {self.record.provenance.device} ({seconds})"
        ]
        return [*head, *(self.comparison.lines() if self.comparison else []), f"files: {self.folder}"]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "episode": self.record.episode_id,
            "folder": str(self.folder),
            "files": [str(path) for path in self.paths],
            "provenance": self.record.provenance.model_dump(mode="json"),
            "comparison": self.comparison.as_dict() if self.comparison else None,
        }


def _from_spec(request: Again) -> Scene:
    """The compiled Scene of the one episode of the spec file, or of the one with the id."""
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
    if isinstance(episode, Scene):
        return changed_settings(episode, request.profile, request.size)
    width, height = request.size or load_stage(episode.stage).size
    return compile_episode(
        episode, settings_for(request.profile or DEFAULT_PROFILE, width, height), request.asset_roots
    )


def _renderer(request: Again) -> Any:
    if request.renderer == "fake":
        from render.run.fake import FakeRenderer

        return FakeRenderer()
    from render.cycles.session import CyclesRenderer

    return CyclesRenderer(request.device, 0, partial(resolve_blend, asset_roots=request.asset_roots))


def render_again(request: Again) -> Done:
    """Render and write; compare where nothing was asked to be otherwise. Raises what the commands do."""
    stored = None
    if request.spec is not None:
        scene = _from_spec(request)
    else:
        if request.store is None or request.episode_id is None:
            raise UsageError("give STORE and ID, or --from SPEC")
        stored = open_store(request.store).get(request.episode_id)
        scene = changed_settings(stored.scene, request.profile, request.size)
    scene = only_frames(scene, request.frames)
    same = stored is not None and scene.settings == stored.scene.settings
    folder = request.out or default_folder(scene.id)
    folder.mkdir(parents=True, exist_ok=True)
    inner = _renderer(request)
    renderer: Renderer = BlendSaver(inner, folder) if request.blend and request.renderer == "cycles" else inner
    job = job_of(scene, scene.settings, request.renderer, request.asset_roots)
    try:
        record = make_record(renderer, scene, job, scene.settings, request.asset_roots)
    finally:
        renderer.close()
    paths, comparison = write_files(folder, record, stored if same else None)
    blends = renderer.paths if isinstance(renderer, BlendSaver) else []
    return Done(record, folder, (*paths, *blends), comparison)
