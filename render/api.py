"""The Python API: `import render`, then a line or two for what each command does.

scene = render.compile_spec({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]})
image = render.render_scene(scene)[0]          # image.passes.color (H, W, 3) uint8, image.truth.objects[0].bbox
record = render.open_store("diorama.lance").get("demo/0001")
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from render.annotations import annotate
from render.compiler import compile_episode
from render.geometry.asset_roots import in_asset_roots
from render.model.errors import UsageError
from render.model.passes import Passes, Renderer
from render.model.profiles import episode_settings
from render.model.record import EpisodeRecord, FrameAnnotation
from render.renderers import make_renderer
from render.store import open_store
from scene_specs.checks.semantics import check_spec
from scene_specs.language.notebook import register
from scene_specs.language.scene import MOST_SIDE, Scene
from scene_specs.language.spec import EpisodeSpec
from scene_specs.reading.source import parse_episode

__all__ = ["RenderedImage", "compile_spec", "open_store", "render_scene"]


def _record_html(record: EpisodeRecord) -> str:
    from render.gallery.notebook import record_html

    return record_html(record)


def _scene_html(scene: Scene) -> str:
    from render.gallery.notebook import scene_html

    return scene_html(scene)


# The gallery takes a while to import, and is only needed in a notebook.
register(EpisodeRecord, _record_html)
register(Scene, _scene_html)


@dataclass(frozen=True)
class RenderedImage:
    """One image of an episode. name: as in the store. passes: arrays (see Passes). truth: its annotations."""

    name: str
    passes: Passes
    truth: FrameAnnotation


def compile_spec(
    spec: EpisodeSpec | Mapping[str, Any] | str,
    profile: str | None = None,
    size: tuple[int, int] | None = None,
    asset_roots: Sequence[Path] = (),
) -> Scene:
    """Compile a spec to a Scene, in which every number is filled in.

    spec: an EpisodeSpec, plain JSON data, or the JSON text of one episode. It may be a Scene: only its settings change.
    profile: the default is `standard`, or a Scene's own settings. size: (width, height) in pixels; the default is the
    stage's size, or a Scene's own. asset_roots: folders of .blend materials and meshes.

    Raises SpecError with every diagnostic, CompileError if no layout is found, AssetError, UsageError.
    """
    if size is not None and not all(1 <= side <= MOST_SIDE for side in size):
        raise UsageError(f"size {size}: allowed are a width and height from 1 to {MOST_SIDE}")
    if isinstance(spec, EpisodeSpec):
        check_spec(spec)
        episode: EpisodeSpec | Scene = spec
    else:
        episode = parse_episode(spec if isinstance(spec, str) else json.dumps(dict(spec)))
    settings = episode_settings(episode, profile, size)
    if isinstance(episode, Scene):
        return episode.model_copy(update={"settings": settings})
    return compile_episode(episode, settings, asset_roots)


@in_asset_roots
def render_scene(
    scene: Scene,
    device: str = "auto",
    threads: int = 0,
    renderer: Renderer | None = None,
    asset_roots: Sequence[Path] = (),
) -> list[RenderedImage]:
    """Render every image of a Scene, in order, to arrays with their annotations.

    device: auto, gpu, cpu, cuda or optix. threads: CPU threads, 0 for all. renderer: used instead of Cycles and left
    open, such as FakeRenderer.

    Raises RenderError, DeviceError, AssetError.
    """
    close_renderer = renderer is None
    if renderer is None:
        renderer = make_renderer("cycles", device, threads, asset_roots)
    try:
        images = []
        for frame in scene.frames:
            for view in frame.views:
                passes = renderer.render(scene, frame, view)
                images.append(RenderedImage(frame.image_name(view), passes, annotate(scene, frame, view, passes)))
        return images
    finally:
        if close_renderer:
            renderer.close()
