"""The command `render-episode`: find an episode, edit it, render it in this process, compare and replace it."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from diorama.render.annotations.compare import Comparison, circumstances, scene_changes
from diorama.render.compiler.render_key import render_key_of
from diorama.render.draw.sheet import sheet
from diorama.render.draw.top_view import top_view
from diorama.render.episode.find import ResolvedRequest, find, only_frames, only_images, other_series
from diorama.render.episode.make_record import make_record
from diorama.render.episode.output_files import BlendSaver, Files, check_writable
from diorama.render.episode.replace import Replaced, replace_stored
from diorama.render.episode.request import EpisodeRequest
from diorama.render.episode.time_limit import KERNEL_SECONDS, run_within, timeout_of
from diorama.render.model.record import EpisodeRecord, RenderKey
from diorama.render.renderers import make_renderer
from diorama.scene_specs.language.scene import Scene
from diorama.scene_specs.language.tables import counted

__all__ = ["EpisodeRequest", "EpisodeResult", "render_again"]


@dataclass(frozen=True)
class EpisodeResult:
    """record: the new record, the stored one where the call only views it, or None. folder, paths: the written files.

    comparison: None without a stored record to compare with. edited: fields of the Scene that differ from the stored
    one. changed: versions, device, settings and assets that differ. replaced: None where the store is unchanged.
    other_series: see diorama.render.episode.find.other_series.
    """

    episode: str
    record: EpisodeRecord | None
    folder: Path | None
    paths: tuple[Path, ...]
    comparison: Comparison | None = None
    edited: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    replaced: Replaced | None = None
    other_series: str = ""

    @property
    def exit_code(self) -> int:
        """1 if images or truth differ and the episode was not replaced."""
        return int(self.comparison is not None and not self.comparison.identical and self.replaced is None)

    def lines(self) -> list[str]:
        """The report as text."""
        edited = [f"edited: {line}" for line in self.edited]
        if self.folder is None or self.record is None:
            return [*edited, *(f"file: {path}" for path in self.paths)]
        seconds = ", ".join(f"{step} {value:.2f} s" for step, value in self.record.provenance.seconds.items())
        images = counted(len(self.record.images), "image")
        lines = [f"{self.episode}: {images} on {self.record.provenance.device} ({seconds})", *edited]
        lines += self.comparison.lines() if self.comparison else [f"changed since: {line}" for line in self.changed]
        if self.other_series and not self.comparison:
            lines.append(f"stored by {self.other_series}: the images differ; pass --compare to see them side by side")
        lines.append(f"files: {self.folder}")
        return [*lines, *(self.replaced.lines() if self.replaced else [])]

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            "episode": self.episode,
            "folder": None if self.folder is None else str(self.folder),
            "files": [str(path) for path in self.paths],
            "provenance": None if self.record is None else self.record.provenance.model_dump(mode="json"),
            "edited": list(self.edited),
            "changed": list(self.changed),
            "comparison": self.comparison.as_dict() if self.comparison else None,
            "replaced": asdict(self.replaced) if self.replaced else None,
        }


def render_again(request: EpisodeRequest) -> EpisodeResult:
    """Run a request. Raises the errors of the commands, most of them before anything is rendered or written."""
    resolved = find(request)
    request = replace(request, renderer=resolved.renderer)
    for path in (request.sheet, request.plan):
        if path is not None:
            check_writable(path)
    if request.views_only:
        return _view(request, resolved)
    folder = request.out or Path(resolved.scene.id.replace("/", "_"))
    check_writable(folder, folder=True)
    record, blends = render_request(request, resolved, folder)
    files = Files(folder)
    stored = only_images(resolved.stored, request.frames) if resolved.stored is not None else None
    series = other_series(stored.job, request.renderer) if stored is not None else ""
    compared = stored is not None and (request.compare or not (resolved.expect_difference or series))
    comparison = files.write_record(record, stored if compared else None, request.compare)
    _write_views(request, record.scene, record, files)
    if resolved.spec is not None and resolved.edited:
        files.write_spec(resolved.spec)
    edited = scene_changes(stored.scene, record.scene) if stored is not None and resolved.edited else ()
    changed = circumstances(stored, record) if stored is not None else ()
    replaced = None
    if request.replace:
        assert request.store is not None and stored is not None
        replaced = replace_stored(request.store, stored, record)
    return EpisodeResult(
        record.episode_id, record, folder, (*files.paths, *blends), comparison, edited, changed, replaced, series
    )


def _view(request: EpisodeRequest, resolved: ResolvedRequest) -> EpisodeResult:
    """Write a sheet or a top view only. A stored record needs no renderer, a top view never does."""
    scene = only_frames(resolved.scene, request.frames)
    files = Files(None)
    stored = only_images(resolved.stored, request.frames) if resolved.stored is not None else None
    record = None if resolved.expect_difference else stored
    if record is None and request.sheet is not None:
        record, _ = render_request(request, resolved, Path())
    edited = scene_changes(stored.scene, scene) if stored is not None and resolved.edited else ()
    _write_views(request, scene, record, files)
    return EpisodeResult(scene.id, record, None, tuple(files.paths), edited=edited)


def _write_views(request: EpisodeRequest, scene: Scene, record: EpisodeRecord | None, files: Files) -> None:
    """Write the requested sheet and top view."""
    if request.sheet is not None and record is not None:
        image = sheet(record)
        files.save(request.sheet, lambda part: image.save(part, format="PNG"))
    if request.plan is not None:
        svg = top_view(scene)
        files.save(request.plan, lambda part: part.write_text(svg, encoding="utf-8"))


def render_request(
    request: EpisodeRequest, resolved: ResolvedRequest, folder: Path
) -> tuple[EpisodeRecord, list[Path]]:
    """The new record, and the .blend files written to `folder`."""
    scene = only_frames(resolved.scene, request.frames)
    key = render_key_of(resolved.source, scene.settings, request.renderer, request.asset_roots)
    try:
        return run_within(_limit(request, scene), f"episode {scene.id}", _render_here, request, scene, key, folder)
    finally:
        # Left by BlendSaver where the time limit ended it. The name has the process; another one may still be writing.
        for part in folder.glob(".*.part") if request.save_blend else ():
            if not Path("/proc", part.name.split(".")[1]).exists():
                shutil.rmtree(part, ignore_errors=True)


def _limit(request: EpisodeRequest, scene: Scene) -> float:
    """Seconds that rendering the episode may take."""
    settings, images = scene.settings, sum(len(frame.views) for frame in scene.frames)
    limit = timeout_of(request.timeout, settings.max_samples, settings.width, settings.height, images)
    return limit + (KERNEL_SECONDS if request.timeout is None and request.device != "cpu" else 0.0)


def _render_here(
    request: EpisodeRequest, scene: Scene, key: RenderKey, folder: Path
) -> tuple[EpisodeRecord, list[Path]]:
    """`render_request` in this process."""
    renderer = make_renderer(request.renderer, request.device, asset_roots=request.asset_roots)
    if request.save_blend:
        renderer = BlendSaver(renderer, folder)
    try:
        record = make_record(renderer, scene, key, scene.settings, request.asset_roots)
    finally:
        renderer.close()
    return record, renderer.paths if isinstance(renderer, BlendSaver) else []
