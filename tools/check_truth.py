"""Does the truth hold? Random compiled scenes, rendered, against what the compiler and the annotations say.

    python -m tools.check_truth [--scenes 200] [--alone 40] [--models]

For every object: the compiler's visible pixels against the id pass, the box against the mask; for the first
`--alone` scenes
each object is also rendered alone, and its box compared with the amodal one. With `--models`, models of the
library in force stand among the shapes, half of all objects. Prints a table; exit code 1 if a bound is broken:
median difference of visible pixels under 2 %, none over 8 % or 5 pixels; amodal boxes within 1 pixel.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as coco

from render.annotations import annotate
from render.compiler import compile_episode
from render.geometry.shapenet import library
from render.model.profiles import settings_for
from render.model.scene import Scene
from render.renderers.cycles.cycles_renderer import CyclesRenderer
from render.renderers.fake import FakeRenderer
from scene_specs.language.spec import EpisodeSpec
from scene_specs.language.vocabulary import SHAPES

Numbers = list[float]


def episode(number: int, models: tuple[str, ...] = ()) -> EpisodeSpec:
    """1 to 10 random objects; every fourth scene is pushed over the border, to be truncated."""
    count = number % 10 + 1
    drawn: dict[str, object] = {"count": count, "materials": ["rubber", "metal", "glass"]}
    if models:
        # Three of them a scene, so that each stands beside others in the course of many scenes.
        # Thin things show less than the 200 pixels that the stage asks of cubes.
        drawn["sizes"] = ["large"]
        drawn["shapes"] = [*SHAPES, *(models[(3 * number + k) % len(models)] for k in range(len(SHAPES)))]
    frame: dict[str, object] = {"random_objects": drawn}
    if models:
        frame["constraints"] = [{"min_visible_pixels": 40}]
    if number % 4 == 3:
        frame["camera"] = {"look_at": [1.2, 1.4, 0.0]}
        frame["constraints"] = [{"in_frame": False}, {"min_visible_pixels": 1}]
    return EpisodeSpec.model_validate({"version": 1, "id": f"truth/{number:04d}", "seed": 11, "frames": [frame]})


def all_models() -> Iterator[str]:
    """Every model of the library in force, its categories in turn."""
    source = library()
    lists = [source.models(category) for category in source.categories()]
    for number in range(max(map(len, lists))):
        for category, ids in zip(source.categories(), lists, strict=True):
            if number < len(ids):
                yield f"shapenet:{category}/{ids[number]}"


def tight_box(mask: NDArray[np.bool_]) -> tuple[int, int, int, int] | None:
    """[x, y, width, height] of a boolean mask."""
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    if not len(rows):
        return None
    return (int(columns[0]), int(rows[0]), int(columns[-1] - columns[0] + 1), int(rows[-1] - rows[0] + 1))


def alone(renderer: CyclesRenderer, scene: Scene, index: int) -> tuple[int, int, int, int] | None:
    """Box of one object rendered without the others."""
    frame = scene.frames[0]
    item = frame.objects[index - 1]
    only = frame.model_copy(update={"objects": (item.model_copy(update={"index": 1}),)})
    return tight_box(renderer.render(scene, only, only.views[0]).ids == 1)


def main() -> int:
    """Run the comparison; exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=200)
    parser.add_argument("--alone", type=int, default=40)
    parser.add_argument("--models", action="store_true")
    options = parser.parse_args()
    models = tuple(all_models()) if options.models else ()
    renderer = CyclesRenderer("cpu")
    settings = settings_for("draft", 320, 240).model_copy(update={"samples": 1, "denoise": False})
    relative: Numbers = []
    absolute: Numbers = []
    amodal: Numbers = []
    boxes_wrong = truncated = unclipped = 0
    for number in range(options.scenes):
        scene = compile_episode(episode(number, models), settings)
        frame = scene.frames[0]
        passes = renderer.render(scene, frame, frame.views[0])
        truth = annotate(scene, frame, frame.views[0], passes)
        # The fake renderer's ids are the compiler's software id buffer.
        guess = np.bincount(
            FakeRenderer().render(scene, frame, frame.views[0]).ids.ravel(), minlength=len(frame.objects) + 1
        )
        for item in truth.objects:
            mask = coco.decode({"size": list(item.rle.size), "counts": item.rle.counts.encode()}).astype(bool)
            boxes_wrong += item.bbox != tight_box(mask) or not np.array_equal(mask, passes.ids == item.index)
            difference = abs(int(guess[item.index]) - item.visible_pixels)
            absolute.append(difference)
            relative.append(difference / max(item.visible_pixels, 1))
            truncated += item.truncated
            for box in (item.bbox, item.amodal_bbox):
                unclipped += box is not None and (
                    min(box[:2]) < 0 or box[0] + box[2] > settings.width or box[1] + box[3] > settings.height
                )
            if number < options.alone:
                real = alone(renderer, scene, item.index)
                if real is None or item.amodal_bbox is None:
                    amodal.append(0.0 if real == item.amodal_bbox else 99.0)
                else:
                    ends = [(b[0], b[1], b[0] + b[2], b[1] + b[3]) for b in (real, item.amodal_bbox)]
                    amodal.append(max(abs(p - q) for p, q in zip(*ends, strict=True)))
    bad = sum(r > 0.08 and a > 5 for r, a in zip(relative, absolute, strict=True))
    median = float(np.median(relative))
    sys.stdout.write(
        f"{len(relative)} objects in {options.scenes} scenes, {truncated} truncated\n"
        f"visible pixels, compiler against id pass: median {median:.4%}, "
        f"worst {max(relative):.2%}, worst {max(absolute):.0f} px, over 8 % and 5 px: {bad}\n"
        f"boxes or masks that differ from the id pass: {boxes_wrong}; boxes outside the image: {unclipped}\n"
        f"amodal box against the object rendered alone: {len(amodal)} objects, worst {max(amodal, default=0):.0f} px\n"
    )
    return int(median >= 0.02 or bad > 0 or boxes_wrong > 0 or unclipped > 0 or max(amodal, default=0) > 1)


if __name__ == "__main__":
    sys.exit(main())
