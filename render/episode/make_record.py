"""Make the record of one episode in one process, without Ray: compile, render, annotate, encode."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import numpy as np

from diorama.render import __version__
from diorama.render.annotations import annotate
from diorama.render.annotations.annotate import object_layers, observer_annotations
from diorama.render.annotations.encode import encode_extra, encode_png
from diorama.render.compiler import compile_episode
from diorama.render.compiler.assets import check_assets
from diorama.render.episode.plausibility import CYCLES, find_doubt
from diorama.render.passes import rendered_rows
from diorama.scene_specs.asset_roots import in_asset_roots
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.model.passes import Passes, Renderer
from diorama.scene_specs.model.profiles import Episode
from diorama.scene_specs.model.record import EpisodeRecord, FrameAnnotation, ImageRecord, Provenance, RenderKey
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView, Settings
from diorama.scene_specs.shapes.shapenet import load_model


class Stopwatch:
    """A sum of seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, step: str) -> None:
        """Add the time since the last lap to `step`."""
        now = time.perf_counter()
        self.seconds[step] = self.seconds.get(step, 0.0) + now - self._last
        self._last = now

    def add(self, seconds: dict[str, float], instead_of: str) -> None:
        """End a lap whose parts were measured inside it; only the remainder counts as `instead_of`."""
        self.lap(instead_of)
        for step, value in seconds.items():
            self.seconds[step] = self.seconds.get(step, 0.0) + value
            self.seconds[instead_of] -= value


@in_asset_roots
def make_record(
    renderer: Renderer,
    episode: Episode,
    key: RenderKey,
    settings: Settings,
    asset_roots: Sequence[Path] = (),
    attempt: int = 1,
    keep_implausible: bool = False,
) -> EpisodeRecord:
    """Compile, render, annotate and encode one episode.

    Args:
        renderer: left open.
        episode: its spec or Scene.
        key: its identity, as stored with it.
        settings: settings to render with; for a Scene its own.
        asset_roots: folders of .blend materials and meshes.
        attempt: greater than 1 if it replaces a stored episode.
        keep_implausible: whether images that can't be of their Scene are kept, and none is doubted.

    Returns:
        The record. `provenance.unusual` has what the caller has to settle (`check_on_cpu`).

    Raises:
        ImplausibleError: the ids of an image can't be of its Scene.
        CompileError: no layout is found.
        RenderError: the renderer fails, or returns something else than `Passes`.
        AssetError: an asset is missing or has changed.
    """
    watch = Stopwatch()
    scene = compile_episode(episode, settings, asset_roots)
    check_assets(scene, asset_roots)
    watch.lap("compile")
    images, device = [], ""
    unusual = dict[str, tuple[str, ...]]()
    for frame in scene.frames:
        observers = observer_annotations(scene, frame)
        watch.lap("annotate")
        for view in frame.views:
            passes = renderer.render(scene, frame, view)
            _check_passes(key.renderer, passes, frame, scene.settings)
            device = passes.device
            watch.add(passes.seconds, "render")
            layers = object_layers(scene, frame, view, scene.settings.width, scene.settings.height)
            if not keep_implausible and (doubt := find_doubt(scene, frame, view, passes, layers, key.renderer)):
                unusual[frame.image_name(view)] = (doubt.problem, *doubt.looks)
            annotation = annotate(scene, frame, view, passes, layers, observers)
            watch.lap("annotate")
            images.append(_encode_image(frame, view, passes, annotation))
            watch.lap("encode")
    info = renderer.info
    facts = {key: value for key, value in info.items() if key not in ("device", "cpu", "kernels", "uuid")}
    return EpisodeRecord(
        episode_id=scene.id,
        job=key,
        scene=scene,
        images=images,
        provenance=Provenance(
            versions={**versions(), **facts},
            device=device or info.get("device", ""),
            cpu=info.get("cpu", ""),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            attempt=attempt,
            seconds={step: round(value, 4) for step, value in watch.seconds.items()},
            models=repaired_models(scene),
            unusual=unusual,
        ),
    )


def _encode_image(frame: SceneFrame, view: SceneView, passes: Passes, annotation: FrameAnnotation) -> ImageRecord:
    height, width = passes.ids.shape
    return ImageRecord(
        name=frame.image_name(view),
        frame=frame.name,
        view=view.name,
        width=width,
        height=height,
        png=encode_png(passes.color),
        annotation=annotation,
        extra=encode_extra(passes, frame.passes),
    )


def _check_passes(renderer: str, passes: Passes, frame: SceneFrame, settings: Settings) -> None:
    """Raise RenderError for arrays of another form than `Passes` and their passes say; plug-ins make them."""
    sizes: dict[str | int, int] = {"H": settings.height, "W": settings.width, "N": len(frame.objects)}
    rows = {name: row.shape for name, row in rendered_rows(frame).items()}
    for name, axes in {"color": ("H", "W", 3), "ids": ("H", "W"), **rows}.items():
        array = getattr(passes, name) if name in ("color", "ids") else passes.get(name)
        expected = tuple(sizes.get(axis, axis) for axis in axes)
        # A pass that is missing is for `encode_extra` to report.
        if array is not None and array.shape != expected:
            raise RenderError(f"renderer {renderer!r}: found {name} of shape {array.shape}; expected {expected}")
    if passes.color.dtype != np.uint8:
        raise RenderError(f"renderer {renderer!r}: found color of type {passes.color.dtype}; expected uint8")
    last = len(frame.objects)
    # On a GPU, it may also be the GPU's fault: see `find_doubt`.
    if renderer != CYCLES and (passes.ids.min() < 0 or passes.ids.max() > last):
        ids = f"{passes.ids.min()} to {passes.ids.max()}"
        raise RenderError(f"renderer {renderer!r}: found ids from {ids}; expected 0 to {last}")


def repaired_models(scene: Scene) -> dict[str, tuple[str, ...]]:
    """Return the notes on the models that a Scene shows.

    Returns:
        Model name -> license, repairs and replacements; sorted.

    Raises:
        AssetError: a model is missing or broken.
    """
    shown = sorted({item.shape for frame in scene.frames for item in frame.objects if is_model(item.shape)})
    return {name: notes for name in shown if (notes := load_model(name).notes)}


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return the versions of the packages that decide numbers and pixels."""
    return {"diorama": __version__, **{name: metadata.version(name) for name in ("numpy", "pillow")}}
