"""CLEVR and CLEVR-CoGenT episodes (Johnson et al., CLEVR, CVPR 2017): one image of a few objects each.

Attributes are drawn here, uniformly as in the published generator, and written into the spec. The compiler draws
locations, rotations and jitter.
"""

from __future__ import annotations

import re

import numpy as np

from diorama.scene_specs.benchmarks.clevr import Options
from diorama.scene_specs.benchmarks.clevr.stacks import MAX_STACKED, stacked
from diorama.scene_specs.language.benchmark import Series
from diorama.scene_specs.language.errors import spec_error
from diorama.scene_specs.language.rng import generator, pick
from diorama.scene_specs.language.spec import EpisodeSpec, FrameSpec, ObjectSpec
from diorama.scene_specs.language.vocabulary import CLEVR_MATERIALS, COGENT, COLORS, SHAPES, SIZES

MAX_OBJECTS = 10


def generate(options: Options) -> Series:
    """Episodes by the options of `render-specs clevr`."""
    specs = (clevr_spec(options, index) for index in range(options.count))
    dumped = (spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for spec in specs)
    return Series(dumped, options.count)


def clevr_spec(options: Options, index: int) -> EpisodeSpec:
    """Return episode `index` of a split, independently of other episodes.

    Ids: `clevr/<split>/<6 digits>`, and with `cogent-a/` or `stacks/` before the split. Raises SpecError for arguments
    out of range.
    """
    (fewest, most), split, seed, cogent = options.objects, options.split, options.seed, options.cogent
    limit = MAX_STACKED if options.stacks else MAX_OBJECTS
    if not 0 <= fewest <= most <= limit:
        raise spec_error(f"found {fewest}-{most} objects; allowed: at most {limit}, fewest first, such as 3-10")
    if options.stacks and cogent:
        raise spec_error("--stacks has no conditions; allowed: --stacks, or --cogent")
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,49}", split):
        raise spec_error(f"found split {split!r}; allowed: letters, digits and _ . + -, at most 50")
    name = f"cogent-{cogent.lower()}" if cogent else "stacks" if options.stacks else "clevr"
    episode = "/".join(["clevr", *([name] if name != "clevr" else []), split, f"{index:06d}"])
    total = int(generator(seed, episode, "count").integers(fewest, most + 1))
    rng = generator(seed, episode, "attributes")
    frame = (
        stacked(rng, total) if options.stacks else FrameSpec(objects=tuple(_object(rng, cogent) for _ in range(total)))
    )
    task = {"benchmark": "clevr", "name": name, "index": index}
    return EpisodeSpec(version=1, id=episode, seed=seed, split=split, frames=(frame,), task=task)


def _object(rng: np.random.Generator, cogent: str | None) -> ObjectSpec:
    shape = pick(rng, SHAPES)
    color = pick(rng, COGENT[cogent][shape] if cogent else tuple(COLORS))
    return ObjectSpec(shape=shape, color=color, material=pick(rng, CLEVR_MATERIALS), size=pick(rng, tuple(SIZES)))
