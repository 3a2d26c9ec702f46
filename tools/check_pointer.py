"""Check that the pointer points at its target and hides none of it.

    python -m tools check-pointer [--scenes 500]

Renders random scenes with and without the pointer. The ray from knuckle through fingertip must pass the target's center
within its radius, and the target must have as many pixels in the id pass as without the pointer. Prints the figures;
exit code 1 if a scene fails.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import numpy as np

from diorama.render.annotations import annotate
from diorama.render.compiler import compile_episode
from diorama.render.model.errors import CompileError
from diorama.render.model.profiles import settings_for
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.language.spec import EpisodeSpec
from tools.option_types import positive


def episode(number: int) -> EpisodeSpec:
    """Return a spec of 3 objects in the published quadrants, or of 1 to 6 anywhere."""
    count = 3 if number % 2 else number // 2 % 6 + 1
    frame = {
        "objects": [{"name": f"o{k}"} for k in range(count)],
        "pointer": {"target": f"o{number % count}"},
        **({"area": {"x": [-3, 3], "y": [-3, 3]}} if number % 2 == 0 else {}),
    }
    return EpisodeSpec.model_validate({"version": 1, "id": f"pointer/{number:04d}", "seed": 3, "frames": [frame]})


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--scenes", type=positive, default=500)


def main(options: Namespace) -> int:
    """Check all scenes; 1 if one fails."""
    renderer = CyclesRenderer("cpu")
    settings = settings_for("draft", 320, 240).model_copy(update={"samples": 1, "denoise": False})
    misses: list[float] = []
    hidden = unplaced = 0
    for number in range(options.scenes):
        try:
            scene = compile_episode(episode(number), settings)
        except CompileError:
            unplaced += 1
            continue
        frame, view = scene.frames[0], scene.frames[0].views[0]
        passes = renderer.render(scene, frame, view)
        truth = annotate(scene, frame, view, passes)
        assert truth.pointer is not None
        (target,) = (item for item in frame.objects if item.name == truth.pointer.target)
        knuckle, tip = np.array(truth.pointer.knuckle), np.array(truth.pointer.fingertip)
        along = (tip - knuckle) / np.sqrt(((tip - knuckle) ** 2).sum())
        away = np.array(target.location) - knuckle
        ahead = float((away * along).sum())
        misses.append(float(np.sqrt(((away - ahead * along) ** 2).sum())) / target.scale if ahead > 0 else np.inf)
        without = frame.model_copy(update={"objects": frame.objects[:-1], "pointer": None})
        bare = renderer.render(scene, without, view)
        hidden += (passes.ids == target.index).sum() < (bare.ids == target.index).sum() - 2
    print(
        f"{len(misses)} scenes ({unplaced} found no layout); the ray passes the target's center at "
        f"{np.median(misses):.2f} of its radius in the median, {max(misses):.2f} at worst; "
        f"targets that lost pixels: {hidden}"
    )
    return int(max(misses) > 1 or hidden > 0)
