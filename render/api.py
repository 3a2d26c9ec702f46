"""What the commands do, from Python: `import render`, then each in a line or two.

scene = render.compile_spec({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]})
image = render.render_scene(scene)[0]          # image.passes.color (H, W, 3) uint8, image.truth.objects[0].bbox
record = render.open_store("diorama.lance").get("demo/0001")
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from render.annotations import annotate
from render.compiler import compile_episode
from render.compiler.assets import resolve_blend
from render.model.errors import UsageError
from render.model.passes import Passes, Renderer
from render.model.profiles import episode_settings
from render.model.record import FrameAnnotation
from render.model.scene import MOST_SIDE, Scene
from render.store import open_store
from scene_specs.checks.semantics import check_spec
from scene_specs.language.spec import EpisodeSpec
from scene_specs.reading.source import parse_episode

__all__ = ["RenderedImage", "compile_spec", "open_store", "render_scene"]


@dataclass(frozen=True)
class RenderedImage:
    """One image of an episode. name: as in the store. passes: arrays (see Passes). truth: see FrameAnnotation."""

    name: str
    passes: Passes
    truth: FrameAnnotation


def compile_spec(
    spec: EpisodeSpec | Mapping[str, Any] | str,
    profile: str | None = None,
    size: tuple[int, int] | None = None,
    asset_roots: Sequence[Path] = (),
) -> Scene:
    """The Scene of a spec: every number filled in.

    spec: an EpisodeSpec, plain JSON data, or JSON text of one episode; also of a Scene, in which nothing moves.
    profile: default `standard`, of a Scene its own settings. size: (width, height) pixels, default the stage's, of a
    Scene its own. asset_roots: folders that .blend materials may come from.

    Raises SpecError with every diagnostic, CompileError where no layout is found, AssetError, UsageError.
    """
    if size is not None and not all(1 <= side <= MOST_SIDE for side in size):
        raise UsageError(f"size {size}: width and height go from 1 to {MOST_SIDE}")
    if isinstance(spec, EpisodeSpec):
        check_spec(spec)
        episode: EpisodeSpec | Scene = spec
    else:
        episode = parse_episode(spec if isinstance(spec, str) else json.dumps(dict(spec)))
    settings = episode_settings(episode, profile, size)
    if isinstance(episode, Scene):
        return episode.model_copy(update={"settings": settings})
    return compile_episode(episode, settings, asset_roots)


def render_scene(
    scene: Scene,
    device: str = "auto",
    threads: int = 0,
    renderer: Renderer | None = None,
    asset_roots: Sequence[Path] = (),
) -> list[RenderedImage]:
    """Every image of a Scene, in order, as arrays with their truth.

    device: auto, gpu, cpu, cuda or optix. threads: of the CPU, 0 for all. renderer: another one than Cycles, such as
    FakeRenderer; it is left open.

    Raises RenderError, DeviceError, AssetError.
    """
    own = renderer is None
    if renderer is None:
        from render.renderers.cycles.cycles_renderer import CyclesRenderer

        renderer = CyclesRenderer(device, threads, partial(resolve_blend, asset_roots=tuple(asset_roots)))
    try:
        images = []
        for frame in scene.frames:
            for view in frame.views:
                passes = renderer.render(scene, frame, view)
                images.append(RenderedImage(frame.image_name(view), passes, annotate(scene, frame, view, passes)))
        return images
    finally:
        if own:
            renderer.close()
