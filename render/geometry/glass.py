"""How many samples a picture takes: more where glass fills it.

Light that has passed glass comes in rare, bright samples, which a denoiser takes for noise: it darkens what they light.
A picture of which a tenth is glass is good with the profile's own samples; a crowd of eight glass objects, which fill
nearly a fifth, needs more than ten times as many: light arrives there through several of them (docs/quality.md).
"""

from __future__ import annotations

import numpy as np

from render.geometry.camera import Camera
from render.geometry.raster import Pose, compose, rasterize
from render.geometry.solid import solid
from render.model.scene import Scene, SceneFrame, SceneView, Settings
from scene_specs.language.spec import EpisodeSpec, MaterialSpec
from scene_specs.language.stage import load_stage

GLASS = "glass"
# Shares of the picture from which on samples grow, and at which they are `glass_samples`.
SHARES = (0.1, 0.2)
# Seen at this width or less: a share needs no more.
_WIDTH = 80


def glass_share(frame: SceneFrame, view: SceneView, settings: Settings) -> float:
    """Share of the picture's pixels that show an object of glass, 0 to 1."""
    if all(item.material.name != GLASS for item in frame.objects):
        return 0.0
    coarser = max(settings.width // _WIDTH, 1)
    camera = Camera.of(view.camera, max(settings.width // coarser, 1), max(settings.height // coarser, 1))
    layers = [
        rasterize(solid(item.shape, item.outline), Pose(item.rotation_deg, item.scale, item.location), camera)
        for item in frame.objects
    ]
    ids, _ = compose(layers, camera.width, camera.height)
    # ids are 1 + position.
    clear = np.array([False, *(item.material.name == GLASS for item in frame.objects)])
    return float(np.count_nonzero(clear[ids])) / ids.size


def may_show_glass(episode: EpisodeSpec | Scene) -> bool:
    """Whether an object of an episode is of glass, or what its spec leaves open may be."""
    if isinstance(episode, Scene):
        return any(item.material.name == GLASS for frame in episode.frames for item in frame.objects)
    open_ones = load_stage(episode.stage).defaults.materials
    for frame in episode.frames:
        more = frame.random_objects
        drawn = () if more is None else (more.materials or open_ones)
        given = [item.material for item in frame.objects] + [frame.pointer.material if frame.pointer else None]
        named = [material.name if isinstance(material, MaterialSpec) else material for material in given]
        if GLASS in (*drawn, *named) or (GLASS in open_ones and None in given):
            return True
    return False


def samples_of(settings: Settings, frame: SceneFrame, view: SceneView) -> int:
    """Samples a pixel of one view."""
    if settings.glass_samples <= settings.samples:
        return settings.samples
    least, full = SHARES
    part = min(max((glass_share(frame, view, settings) - least) / (full - least), 0.0), 1.0)
    return settings.samples + round(part * (settings.glass_samples - settings.samples))
