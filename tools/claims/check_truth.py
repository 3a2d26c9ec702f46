"""Check truth against renders of random scenes.

    python -m tools check-truth [--scenes 200] [--alone 40]

For every object: the compiler's visible pixels against the id pass, and the box against the mask. In the first
`--alone` scenes each object is also rendered alone, and its box compared with the amodal box. Prints a table; exit code
1 if a bound is broken: visible pixels differ by less than 2 % in the median, and nowhere by more than 8 % and 5 pixels;
amodal boxes agree within 1 pixel.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import numpy as np
from numpy.typing import NDArray

from diorama.render.annotations import annotate
from diorama.render.compiler import compile_episode
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import ObjectAnnotation
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tools.programs import positive

Box = tuple[int, int, int, int]


def episode(number: int) -> EpisodeSpec:
    """Return a spec of 1 to 10 random objects; in every fourth the camera looks aside and truncates some."""
    frame: dict[str, object] = {"random_objects": {"count": number % 10 + 1, "materials": ["rubber", "metal", "glass"]}}
    if number % 4 == 3:
        frame["camera"] = {"look_at": [1.2, 1.4, 0.0]}
        frame["constraints"] = [{"in_frame": False}, {"min_visible_pixels": 1}]
    return EpisodeSpec.model_validate({"version": 1, "id": f"truth/{number:04d}", "seed": 11, "frames": [frame]})


def tight_box(mask: NDArray[np.bool_]) -> Box | None:
    """Return (x, y, width, height) of a boolean mask, independently of render/annotations; None if it is empty."""
    if not mask.any():
        return None
    (y, x), (bottom, right) = np.argwhere(mask).min(axis=0).tolist(), np.argwhere(mask).max(axis=0).tolist()
    return (x, y, right - x + 1, bottom - y + 1)


def alone(renderer: CyclesRenderer, scene: Scene, index: int) -> Box | None:
    """Return the box of one object rendered without the others."""
    frame = scene.frames[0]
    only = frame.model_copy(update={"objects": (frame.objects[index - 1].model_copy(update={"index": 1}),)})
    return tight_box(renderer.render(scene, only, only.views[0]).ids == 1)


def box_distance(real: Box | None, stated: Box | None) -> float:
    """Return the largest distance between the edges of two boxes, pixels; 99 if only one of them exists."""
    if real is None or stated is None:
        return 0.0 if real == stated else 99.0
    ends = [(b[0], b[1], b[0] + b[2], b[1] + b[3]) for b in (real, stated)]
    return float(max(abs(p - q) for p, q in zip(*ends, strict=True)))


def differences(item: ObjectAnnotation, passes: Passes, compiled_pixels: int) -> tuple[float, ...]:
    """Compare an object with the id pass: pixels, share of its pixels, wrong mask, truncated, boxes outside the image.

    compiled_pixels: visible pixels by the compiler.
    """
    mask = item.rle.mask()
    wrong = item.bbox != tight_box(mask) or not np.array_equal(mask, passes.ids == item.index)
    height, width = mask.shape
    boxes = filter(None, (item.bbox, item.amodal_bbox))
    unclipped = sum(min(x, y) < 0 or x + w > width or y + h > height for x, y, w, h in boxes)
    pixels = abs(compiled_pixels - item.visible_pixels)
    return pixels, pixels / max(item.visible_pixels, 1), wrong, item.truncated, unclipped


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--scenes", type=positive, default=200)
    parser.add_argument("--alone", type=int, default=40)


def main(options: Namespace) -> int:
    """Run the comparison; 1 if a bound is broken."""
    renderer = CyclesRenderer("cpu")
    settings = settings_for("draft", 320, 240).model_copy(update={"samples": 1, "denoise": False})
    rows, amodal = list[tuple[float, ...]](), [0.0]
    for number in range(options.scenes):
        scene = compile_episode(episode(number), settings)
        frame, view = scene.frames[0], scene.frames[0].views[0]
        passes = renderer.render(scene, frame, view)
        # The fake renderer's ids are the compiler's software id buffer.
        compiled_ids = FakeRenderer().render(scene, frame, view).ids
        for item in annotate(scene, frame, view, passes).objects:
            rows.append(differences(item, passes, int(np.count_nonzero(compiled_ids == item.index))))
            if number < options.alone:
                amodal.append(box_distance(alone(renderer, scene, item.index), item.amodal_bbox))
    pixels, shares, wrong, truncated, unclipped = np.array(rows, float).T
    bad, median = ((shares > 0.08) & (pixels > 5)).sum(), float(np.median(shares))
    print(
        f"{len(rows)} objects in {options.scenes} scenes, {truncated.sum():.0f} truncated\n"
        f"visible pixels, compiler against id pass: median {median:.4%}, worst {shares.max():.2%}, "
        f"worst {pixels.max():.0f} px, over 8 % and 5 px: {bad}\n"
        f"boxes or masks that differ from the id pass: {wrong.sum():.0f}; "
        f"boxes outside the image: {unclipped.sum():.0f}\n"
        f"amodal box against the object rendered alone: {len(amodal) - 1} objects, worst {max(amodal):.0f} px"
    )
    return int(median >= 0.02 or bad > 0 or wrong.any() or unclipped.any() or max(amodal) > 1)
