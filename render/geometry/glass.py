"""The number of samples of a view: more where it shows much glass, that is, any material that transmits light.

Light that passed through glass arrives in rare, bright samples. The denoiser takes them for noise and darkens what they
light. Where only the lamps of the stage light the ground, it needs few samples (`opaque_samples`); `samples` are enough
for an image of which a tenth is glass. A crowd of eight glass objects, which fills nearly a fifth, needs about ten
times as many, because its light passes through several of them (docs/quality.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.raster import compose, object_layer
from diorama.scene_specs.language.materials import scatters, transmits
from diorama.scene_specs.language.scene import Scene, SceneFrame, SceneView, Settings
from diorama.scene_specs.language.spec import EpisodeSpec, MaterialSpec
from diorama.scene_specs.language.stage import load_stage

# The samples grow from the first share of the image on, and are `glass_samples` from the second one on.
SHARES = (0.1, 0.2)
# Largest width in pixels at which the share is measured; more pixels do not change it.
_WIDTH = 80


def glass_share(frame: SceneFrame, view: SceneView, settings: Settings) -> float:
    """Share of the pixels that show an object of glass, 0 to 1; of a contrast, the largest of its members."""
    if view.glass is not None:
        return view.glass
    glass = [transmits(item.material.name) for item in frame.objects]
    if not any(glass):
        return 0.0
    coarser = max(settings.width // _WIDTH, 1)
    camera = Camera.of(view.camera, max(settings.width // coarser, 1), max(settings.height // coarser, 1))
    ids, _ = compose([object_layer(item, camera) for item in frame.objects], camera.width, camera.height)
    # An id is 1 + the position of its object; 0 is none.
    return float(np.count_nonzero(np.array([False, *glass])[ids])) / ids.size


def expected_number(kind: Callable[[str], bool], episode: EpisodeSpec | Scene) -> list[float]:
    """Number of objects per frame with a kind of material: counted in a Scene, the mean over the draws of a spec."""
    if isinstance(episode, Scene):
        return [float(sum(kind(item.material.name) for item in frame.objects)) for frame in episode.frames]
    stage = load_stage(episode.stage)
    defaults = stage.defaults.materials
    numbers = []
    for frame in episode.frames:
        numbers.append(sum(_chance(kind, item.material, defaults) for item in frame.objects))
        if frame.pointer is not None:
            given = frame.pointer.material or (stage.pointer.material if stage.pointer else None)
            numbers[-1] += _chance(kind, given, defaults)
        if frame.random_objects is not None:
            count = float(np.mean(frame.random_objects.count))
            numbers[-1] += count * _chance(kind, None, frame.random_objects.materials or defaults)
    return numbers


def _chance(kind: Callable[[str], bool], material: str | MaterialSpec | None, defaults: Sequence[str]) -> float:
    """Probability that a material is of the kind; None is drawn from the defaults."""
    if material is None:
        return sum(map(kind, defaults)) / len(defaults)
    name = material.name if isinstance(material, MaterialSpec) else material
    return float(name is not None and kind(name))


def may_show_glass(episode: EpisodeSpec | Scene) -> bool:
    """Whether an object of a Scene is of glass, or one of a spec may be."""
    shares = [view.glass for frame in episode.frames for view in frame.views] if isinstance(episode, Scene) else []
    return any(shares) or any(expected_number(transmits, episode))


def samples_at(settings: Settings, share: float, plain: bool = False) -> int:
    """Samples per pixel of an image of which this share is glass. plain: no object transmits or gives light."""
    if plain and settings.opaque_samples:
        return min(settings.opaque_samples, settings.samples)
    if settings.glass_samples <= settings.samples:
        return settings.samples
    least, full = SHARES
    part = min(max((share - least) / (full - least), 0.0), 1.0)
    return settings.samples + round(part * (settings.glass_samples - settings.samples))


def samples_of(settings: Settings, frame: SceneFrame, view: SceneView) -> int:
    """Samples per pixel of one view."""
    share = glass_share(frame, view, settings) if settings.glass_samples > settings.samples else 0.0
    # Hidden objects light the ground, too. Nobody knows about materials of .blend files.
    materials = [item.material for item in frame.objects]
    plain = all(material.blend is None and scatters(material.name) for material in materials)
    return samples_at(settings, share, plain)
