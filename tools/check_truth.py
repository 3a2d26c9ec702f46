"""Check truth against renders of random scenes.

    python -m tools check-truth [--scenes 200] [--alone 40]

For every object: the compiler's visible pixels against the id pass, and the box against the mask. In the first
`--alone` scenes each object is also rendered alone, and its box compared with the amodal box. Prints a table; exit code
1 if a bound is broken: visible pixels differ by less than 2 % in the median, and nowhere by more than 8 % and 5 pixels;
amodal boxes agree within 1 pixel.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field

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
    rows, columns = np.nonzero(mask.any(axis=1))[0], np.nonzero(mask.any(axis=0))[0]
    if not len(rows):
        return None
    return (int(columns[0]), int(rows[0]), int(columns[-1] - columns[0] + 1), int(rows[-1] - rows[0] + 1))


def alone(renderer: CyclesRenderer, scene: Scene, index: int) -> Box | None:
    """Return the box of one object rendered without the others."""
    frame = scene.frames[0]
    item = frame.objects[index - 1]
    only = frame.model_copy(update={"objects": (item.model_copy(update={"index": 1}),)})
    return tight_box(renderer.render(scene, only, only.views[0]).ids == 1)


def box_distance(real: Box | None, stated: Box | None) -> float:
    """Return the largest distance between the edges of two boxes, pixels; 99 if only one of them exists."""
    if real is None or stated is None:
        return 0.0 if real == stated else 99.0
    ends = [(b[0], b[1], b[0] + b[2], b[1] + b[3]) for b in (real, stated)]
    return float(max(abs(p - q) for p, q in zip(*ends, strict=True)))


@dataclass
class Differences:
    """Differences of all objects so far. relative, absolute: of visible pixels. amodal: of boxes, pixels."""

    relative: list[float] = field(default_factory=list)
    absolute: list[float] = field(default_factory=list)
    amodal: list[float] = field(default_factory=list)
    boxes_wrong: int = 0
    truncated: int = 0
    unclipped: int = 0

    def add(self, item: ObjectAnnotation, passes: Passes, compiled_pixels: int) -> None:
        """Compare one object with the id pass. compiled_pixels: visible pixels by the compiler."""
        mask = item.rle.mask()
        self.boxes_wrong += item.bbox != tight_box(mask) or not np.array_equal(mask, passes.ids == item.index)
        difference = abs(compiled_pixels - item.visible_pixels)
        self.absolute.append(difference)
        self.relative.append(difference / max(item.visible_pixels, 1))
        self.truncated += item.truncated
        height, width = mask.shape
        for box in (item.bbox, item.amodal_bbox):
            if box is not None:
                self.unclipped += min(box[:2]) < 0 or box[0] + box[2] > width or box[1] + box[3] > height

    def report(self, scenes: int) -> int:
        """Print the table; return 1 if a bound is broken."""
        bad = sum(r > 0.08 and a > 5 for r, a in zip(self.relative, self.absolute, strict=True))
        median, amodal = float(np.median(self.relative)), max(self.amodal, default=0)
        print(
            f"{len(self.relative)} objects in {scenes} scenes, {self.truncated} truncated\n"
            f"visible pixels, compiler against id pass: median {median:.4%}, worst {max(self.relative):.2%}, "
            f"worst {max(self.absolute):.0f} px, over 8 % and 5 px: {bad}\n"
            f"boxes or masks that differ from the id pass: {self.boxes_wrong}; "
            f"boxes outside the image: {self.unclipped}\n"
            f"amodal box against the object rendered alone: {len(self.amodal)} objects, worst {amodal:.0f} px"
        )
        return int(median >= 0.02 or bad > 0 or self.boxes_wrong > 0 or self.unclipped > 0 or amodal > 1)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--scenes", type=positive, default=200)
    parser.add_argument("--alone", type=int, default=40)


def main(options: Namespace) -> int:
    """Run the comparison; 1 if a bound is broken."""
    renderer = CyclesRenderer("cpu")
    settings = settings_for("draft", 320, 240).model_copy(update={"samples": 1, "denoise": False})
    found = Differences()
    for number in range(options.scenes):
        scene = compile_episode(episode(number), settings)
        frame, view = scene.frames[0], scene.frames[0].views[0]
        passes = renderer.render(scene, frame, view)
        # The fake renderer's ids are the compiler's software id buffer.
        compiled_ids = FakeRenderer().render(scene, frame, view).ids
        for item in annotate(scene, frame, view, passes).objects:
            found.add(item, passes, int(np.count_nonzero(compiled_ids == item.index)))
            if number < options.alone:
                found.amodal.append(box_distance(alone(renderer, scene, item.index), item.amodal_bbox))
    return found.report(options.scenes)
