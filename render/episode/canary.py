"""A test image with known ids and mean colors, which a worker of a GPU renders before its first episode."""

from __future__ import annotations

import numpy as np

from diorama.render.annotations.annotate import object_layers
from diorama.render.compiler import compile_episode
from diorama.render.episode.plausibility import check_ids, first_problem
from diorama.scene_specs.errors import ImplausibleError
from diorama.scene_specs.model.passes import Renderer
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec

_CUBE = {"shape": "cube", "color": "red", "location": [-1.2, 0.6], "rotation_deg": 20}
_SPHERE = {"shape": "sphere", "color": "blue", "location": [1.2, -0.6]}
_SPEC = {
    "version": 1,
    "id": "canary",
    "stage": "mewl",
    "frames": [{"objects": [{**item, "size": "large", "material": "rubber"} for item in (_CUBE, _SPHERE)]}],
}
_SIZE = (64, 48)
# Mean display color of the ground, the cube and the sphere, as CPUs render it; 0.1 levels apart in both series.
_MEANS = ((165, 163, 161), (157, 86, 87), (96, 119, 180))
_TOLERANCE = 12


def check_canary(renderer: Renderer) -> None:
    """Render the test image. Raises ImplausibleError for other ids or colors, and what the renderer raises."""
    scene = compile_episode(EpisodeSpec.model_validate(_SPEC), settings_for("draft", *_SIZE))
    frame, view = scene.frames[0], scene.frames[0].views[0]
    passes = renderer.render(scene, frame, view)
    if fault := first_problem(check_ids(scene, frame, view, passes.ids, object_layers(scene, frame, view, *_SIZE))):
        raise ImplausibleError(f"before its first episode: a test image on {passes.device}: {fault.problem}")
    means = [passes.color[passes.ids == index].mean(axis=0).round().astype(int).tolist() for index in range(3)]
    if np.abs(np.array(means) - _MEANS).max() > _TOLERANCE:
        raise ImplausibleError(
            f"before its first episode: a test image on {passes.device} has the mean colors {means}; expected {_MEANS}"
        )
