"""What `render-episode` does: find the episode, change it, render it here and now, write files, compare, replace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from render.annotations.compare import Comparison, circumstances, scene_changes
from render.compiler.assets import resolve_blend
from render.compiler.render_key import render_key_of
from render.episode.find_episode import ResolvedRequest, find
from render.episode.make_record import make_record
from render.episode.output_files import BlendSaver, Files, check_writable, default_folder, only_frames, only_images
from render.episode.replace_stored import Replaced, replace_stored
from render.episode.request import EpisodeRequest
from render.gallery.sheet import sheet
from render.gallery.top_view import top_view
from render.model.passes import Renderer
from render.model.record import EpisodeRecord
from render.model.scene import Scene

__all__ = ["Done", "EpisodeRequest", "render_again"]


@dataclass(frozen=True)
class Done:
    """record: the new one, the stored one where that was looked at, or None. folder, paths: what was written.

    comparison: None if there was nothing to compare with. edited: places of the Scene that differ from the stored one.
    since: what changed between the stored making and this one. replaced: None where the store was left as it is.
    """

    episode: str
    record: EpisodeRecord | None
    folder: Path | None
    paths: tuple[Path, ...]
    comparison: Comparison | None = None
    edited: tuple[str, ...] = ()
    since: tuple[str, ...] = ()
    replaced: Replaced | None = None

    @property
    def exit_code(self) -> int:
        """1 if pictures or truth differ where that was not asked for."""
        return int(self.comparison is not None and not self.comparison.identical and self.replaced is None)

    def lines(self) -> list[str]:
        """For people."""
        edited = [f"edited: {line}" for line in self.edited]
        if self.folder is None or self.record is None:
            return [*edited, *(f"file: {path}" for path in self.paths)]
        seconds = ", ".join(f"{step} {value:.2f} s" for step, value in self.record.provenance.seconds.items())
        count = len(self.record.images)
        images = f"{count} image{'' if count == 1 else 's'}"
        lines = [f"{self.episode}: {images} on {self.record.provenance.device} ({seconds})"]
        lines += edited
        lines += self.comparison.lines() if self.comparison else [f"changed since: {line}" for line in self.since]
        lines.append(f"files: {self.folder}")
        return [*lines, *(self.replaced.lines() if self.replaced else [])]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "episode": self.episode,
            "folder": None if self.folder is None else str(self.folder),
            "files": [str(path) for path in self.paths],
            "provenance": None if self.record is None else self.record.provenance.model_dump(mode="json"),
            "edited": list(self.edited),
            "changed": list(self.since),
            "comparison": self.comparison.as_dict() if self.comparison else None,
            "replaced": self.replaced.as_dict() if self.replaced else None,
        }


def render_again(request: EpisodeRequest) -> Done:
    """Do what is asked. Raises what the commands do, before anything is written where it can be seen before."""
    asked = find(request)
    for path in (request.sheet, request.plan):
        if path is not None:
            check_writable(path)
    if request.only_looks:
        return _look(request, asked)
    folder = request.out or default_folder(asked.scene.id)
    check_writable(folder, folder=True)
    record, blends = _render(request, asked, folder)
    files = Files(folder)
    stored = only_images(asked.stored, request.frames) if asked.stored is not None else None
    compared = stored is not None and (request.compare or not asked.otherwise)
    comparison = files.write_record(record, stored if compared else None, request.compare)
    _pictures(request, record.scene, record, files)
    if asked.spec is not None and asked.edited:
        files.write_spec(asked.spec)
    edited: tuple[str, ...] = ()
    since: tuple[str, ...] = ()
    if stored is not None:
        edited = scene_changes(stored.scene, record.scene) if asked.edited else ()
        since = circumstances(stored, record)
    replaced = None
    if request.replace:
        assert request.store is not None and stored is not None
        replaced = replace_stored(request.store, stored, record)
    return Done(record.episode_id, record, folder, (*files.paths, *blends), comparison, edited, since, replaced)


def _look(request: EpisodeRequest, asked: ResolvedRequest) -> Done:
    """A sheet or a plan and nothing else. What is stored needs no renderer, and a plan never does."""
    scene = only_frames(asked.scene, request.frames)
    files = Files(None)
    record = asked.stored if not asked.otherwise else None
    if record is not None:
        record = only_images(record, request.frames)
    elif request.sheet is not None:
        record, _ = _render(request, asked, Path())
    edited: tuple[str, ...] = ()
    if asked.stored is not None and asked.edited:
        edited = scene_changes(only_images(asked.stored, request.frames).scene, scene)
    _pictures(request, scene, record, files)
    return Done(scene.id, record, None, tuple(files.paths), edited=edited)


def _pictures(request: EpisodeRequest, scene: Scene, record: EpisodeRecord | None, files: Files) -> None:
    """The sheet and the plan, where they are asked for."""
    if request.sheet is not None and record is not None:
        whole = sheet(record)
        files.save(request.sheet, lambda part: whole.save(part, format="PNG"))
    if request.plan is not None:
        drawn = top_view(scene)
        files.save(request.plan, lambda part: part.write_text(drawn, encoding="utf-8"))


def _render(request: EpisodeRequest, asked: ResolvedRequest, folder: Path) -> tuple[EpisodeRecord, list[Path]]:
    scene = only_frames(asked.scene, request.frames)
    job = render_key_of(asked.source, scene.settings, request.renderer, request.asset_roots)
    inner = _renderer(request)
    renderer: Renderer = BlendSaver(inner, folder) if request.save_blend else inner
    try:
        record = make_record(renderer, scene, job, scene.settings, request.asset_roots)
    finally:
        renderer.close()
    return record, renderer.paths if isinstance(renderer, BlendSaver) else []


def _renderer(request: EpisodeRequest) -> Any:
    if request.renderer == "fake":
        from render.renderers.fake import FakeRenderer

        return FakeRenderer()
    from render.renderers.cycles.cycles_renderer import CyclesRenderer

    return CyclesRenderer(request.device, 0, partial(resolve_blend, asset_roots=request.asset_roots))
