"""Does the pointer point? Random scenes, rendered with and without it.

    python -m tools.check_pointer [--scenes 500]

In each: the ray from knuckle through fingertip passes the target's center within its radius, and the target has as many
pixels in the id pass as without the pointer. Prints the figures; exit code 1 if one scene fails.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from render.annotations import annotate
from render.compiler import compile_episode
from render.model.errors import CompileError
from render.model.profiles import settings_for
from render.renderers.cycles.cycles_renderer import CyclesRenderer
from scene_specs.language.spec import EpisodeSpec


def episode(number: int) -> EpisodeSpec:
    """3 objects in the published quadrants, or 1 to 6 anywhere."""
    count = 3 if number % 2 else number // 2 % 6 + 1
    frame = {
        "objects": [{"name": f"o{k}"} for k in range(count)],
        "pointer": {"target": f"o{number % count}"},
        **({"area": {"x": [-3, 3], "y": [-3, 3]}} if number % 2 == 0 else {}),
    }
    return EpisodeSpec.model_validate({"version": 1, "id": f"pointer/{number:04d}", "seed": 3, "frames": [frame]})


def main() -> int:
    """Run the comparison; exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=500)
    options = parser.parse_args()
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
    sys.stdout.write(
        f"{len(misses)} scenes ({unplaced} found no layout); the ray passes the target's center at "
        f"{np.median(misses):.2f} of its radius in the median, {max(misses):.2f} at worst; "
        f"targets that lost pixels: {hidden}\n"
    )
    return int(max(misses) > 1 or hidden > 0)


if __name__ == "__main__":
    sys.exit(main())
