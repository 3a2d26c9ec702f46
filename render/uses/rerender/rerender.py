"""The command `render-episode`: find an episode, edit it, render it in this process, compare and replace it."""

from __future__ import annotations

import shlex
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from diorama.render.annotations.compare import Comparison, circumstances
from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.episode.plausibility import check_on_cpu
from diorama.render.episode.time_limit import KERNEL_SECONDS, timeout_of
from diorama.render.renderers import make_renderer
from diorama.render.store import open_store
from diorama.render.store.analysis.scene_changes import scene_changes
from diorama.render.uses.draw.sheet import sheet
from diorama.render.uses.draw.top_view import top_view
from diorama.render.uses.rerender import output_files
from diorama.render.uses.rerender.find import ResolvedRequest, find, other_series, record_of_frames, scene_of_frames
from diorama.render.uses.rerender.request import EpisodeRequest
from diorama.render.uses.rerender.separate_process import run_within
from diorama.scene_specs.errors import ConflictError, counted
from diorama.scene_specs.model.record import EpisodeRecord, RenderKey
from diorama.scene_specs.model.scene import Scene

__all__ = ["EpisodeRequest", "EpisodeResult", "render_again"]


@dataclass(frozen=True)
class Replaced:
    """A stored episode and the record that replaced it.

    Attributes:
        store: path or URL of the store.
        episode: id of the episode.
        before: the store version with the old record.
        now: the version with the new one; equal if nothing changed.
    """

    store: str
    episode: str
    before: int
    now: int

    def lines(self) -> list[str]:
        """Return the report, with the commands that show the old record and restore it."""
        if self.now == self.before:
            return [f"nothing to replace: {self.store} has the same record"]
        store = shlex.quote(self.store)
        return [
            f"replaced in {self.store}, now version {self.now}; version {self.before} keeps the old record:",
            f"  to look:       render-store get {store} {self.episode} --at {self.before} --out before",
            f"  to go back:    render-store copy {store} {store} --at {self.before} --id {self.episode} "
            "--differing replace",
        ]


@dataclass(frozen=True)
class EpisodeResult:
    """What a call found and wrote.

    Attributes:
        episode: id of the episode.
        record: the new record, the stored one where the call only views it, or None.
        folder: folder of the written files, None if the call only views the episode.
        paths: paths of the written files.
        comparison: None without a stored record to compare with.
        edited: fields of the Scene that differ from the stored one.
        changed: versions, device, settings and assets that differ.
        replaced: None where the store is unchanged.
        other_series: see diorama.render.uses.rerender.find.other_series.
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
        """Return the report as text."""
        edited = [f"edited: {line}" for line in self.edited]
        if self.folder is None or self.record is None:
            return [*edited, *(f"file: {path}" for path in self.paths)]
        seconds = ", ".join(f"{step} {value:.2f} s" for step, value in self.record.provenance.seconds.items())
        images = counted(len(self.record.images), "image")
        lines = [f"{self.episode}: {images} on {self.record.provenance.device} ({seconds})", *edited]
        changed = [f"changed since: {line}" for line in self.changed]
        lines += output_files.comparison_lines(self.comparison) if self.comparison else changed
        if self.other_series and not self.comparison:
            lines.append(f"stored by {self.other_series}: the images differ; pass --compare to see them side by side")
        lines.append(f"files: {self.folder}")
        return [*lines, *(self.replaced.lines() if self.replaced else [])]

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "episode": self.episode,
            "folder": None if self.folder is None else str(self.folder),
            "files": [str(path) for path in self.paths],
            "provenance": None if self.record is None else self.record.provenance.model_dump(mode="json"),
            "edited": list(self.edited),
            "changed": list(self.changed),
            "comparison": output_files.comparison_facts(self.comparison) if self.comparison else None,
            "replaced": asdict(self.replaced) if self.replaced else None,
        }


def render_again(request: EpisodeRequest) -> EpisodeResult:
    """Find, edit, render, compare and replace an episode, as far as it is requested.

    Raises:
        DioramaError: what `find`, rendering and the store raise, most of it before anything is rendered or written.
    """
    resolved = find(request)
    request = resolved.request
    for path in (request.sheet, request.plan):
        if path is not None:
            output_files.check_writable(path)
    stored = record_of_frames(resolved.stored, request.frames) if resolved.stored is not None else None
    views = request.sheet is not None or request.plan is not None
    if views and not (request.out is not None or request.save_blend or request.compare or request.replace):
        return _write_view(resolved, stored)
    folder = request.out or Path(resolved.scene.id.replace("/", "_"))
    output_files.check_writable(folder, folder=True)
    record, blends = render_request(resolved, folder)
    files = output_files.Files(folder)
    series = other_series(stored.job, request.renderer) if stored is not None else ""
    compared = stored is not None and (request.compare or not (resolved.expect_difference or series))
    comparison = files.write_record(record, stored if compared else None, request.compare)
    _write_views(request, record.scene, record, files)
    if resolved.spec is not None and request.edits:
        files.write_spec(resolved.spec)
    edited = scene_changes(stored.scene, record.scene) if stored is not None and request.edits else ()
    changed = circumstances(stored, record) if stored is not None else ()
    replaced = None
    if request.replace:
        assert request.store is not None and stored is not None
        replaced = replace_stored(request.store, stored, record)
    return EpisodeResult(
        record.episode_id, record, folder, (*files.paths, *blends), comparison, edited, changed, replaced, series
    )


def _write_view(resolved: ResolvedRequest, stored: EpisodeRecord | None) -> EpisodeResult:
    """Write a sheet or a top view only. A stored record needs no renderer, a top view never does."""
    request, files = resolved.request, output_files.Files(None)
    scene = scene_of_frames(resolved.scene, request.frames)
    record = None if resolved.expect_difference else stored
    if record is None and request.sheet is not None:
        record, _ = render_request(resolved, Path())
    edited = scene_changes(stored.scene, scene) if stored is not None and request.edits else ()
    _write_views(request, scene, record, files)
    return EpisodeResult(scene.id, record, None, tuple(files.paths), edited=edited)


def _write_views(
    request: EpisodeRequest, scene: Scene, record: EpisodeRecord | None, files: output_files.Files
) -> None:
    """Write the requested sheet and top view."""
    if request.sheet is not None and record is not None:
        image = sheet(record)
        files.save(request.sheet, lambda part: image.save(part, format="PNG"))
    if request.plan is not None:
        svg = top_view(scene)
        files.save(request.plan, lambda part: part.write_text(svg, encoding="utf-8"))


def render_request(resolved: ResolvedRequest, folder: Path) -> tuple[EpisodeRecord, list[Path]]:
    """Render an episode within its time limit.

    Args:
        resolved: what to render.
        folder: folder for .blend files.

    Returns:
        The new record, and the paths of the .blend files.

    Raises:
        RenderError: the renderer failed, or took too long.
        AssetError: an asset is missing.
    """
    request = resolved.request
    scene = scene_of_frames(resolved.scene, request.frames)
    key = render_key_of(resolved.spec or resolved.scene, scene.settings, request.renderer, request.asset_roots)
    try:
        return run_within(_time_limit(request, scene), f"episode {scene.id}", _render_here, request, scene, key, folder)
    finally:
        # Left by BlendSaver where the time limit ended it. The name has the process; another one may still be writing.
        for part in folder.glob(".*.part") if request.save_blend else ():
            if not Path("/proc", part.name.split(".")[1]).exists():
                shutil.rmtree(part, ignore_errors=True)


def _time_limit(request: EpisodeRequest, scene: Scene) -> float:
    """Return the seconds that rendering the episode may take."""
    settings, images = scene.settings, sum(len(frame.views) for frame in scene.frames)
    limit = timeout_of(request.timeout, settings.max_samples, settings.width, settings.height, images)
    return limit + (KERNEL_SECONDS if request.timeout is None and request.device != "cpu" else 0.0)


def _render_here(
    request: EpisodeRequest, scene: Scene, key: RenderKey, folder: Path
) -> tuple[EpisodeRecord, list[Path]]:
    """`render_request` in this process."""
    renderer = make_renderer(request.renderer, request.device, asset_roots=request.asset_roots)
    saver = output_files.BlendSaver(renderer, folder) if request.save_blend else None
    try:
        record = make_record(saver or renderer, scene, key, scene.settings, request.asset_roots)
        check_on_cpu(record, asset_roots=request.asset_roots)
    finally:
        renderer.close()
    return record, saver.paths if saver else []


def replace_stored(url: str, stored: EpisodeRecord, record: EpisodeRecord) -> Replaced:
    """Commit `record` in place of `stored` with the next attempt number; write nothing if both are the same.

    The store's history keeps the old record.

    Raises:
        ConflictError: another writer has replaced the episode since `stored` was read.
        StoreError: the store can't be read or written.
    """
    store = open_store(url)
    if record.job.hash() == stored.job.hash() and record.truth == stored.truth and record.digest() == stored.digest():
        return Replaced(url, stored.episode_id, store.version, store.version)
    current = store.get(stored.episode_id)
    if (current.digest(), current.job.hash()) != (stored.digest(), stored.job.hash()):
        raise ConflictError(
            f"{url}: episode {stored.episode_id} was replaced by another writer meanwhile; nothing was committed; "
            "look at the stored episode and run the command again"
        )
    before = store.version
    provenance = record.provenance.model_copy(update={"attempt": stored.provenance.attempt + 1})
    store.replace([record.model_copy(update={"provenance": provenance})])
    return Replaced(url, stored.episode_id, before, store.version)
