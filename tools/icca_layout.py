"""Measure how many images of ICCA contexts are identified by their layout alone.

    python -m tools icca-layout STORE

The guesser sees bounding boxes only, in pixels, and shares no code with `check --prove`: how many objects there are, in
which quarters of the image they are, where the widest gaps between them are, and in which rows and columns they stand.
A describer names one of these; a listener picks an image at random among those that it is true of.
"""

from __future__ import annotations

import itertools
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from render.cli.verification import StoreEpisodes
from scene_specs.language.tables import markdown_table

Box = tuple[int, int, int, int]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("store")


def layout(boxes: Sequence[Box], width: int, height: int) -> Iterator[tuple[str, Hashable]]:
    """What a layout says. boxes: left, top, width, height in pixels."""
    middles = [(left + wide / 2, top + high / 2) for left, top, wide, high in boxes]
    yield "number of objects", len(boxes)
    quarters = Counter((x >= width / 2, y >= height / 2) for x, y in middles)
    yield "quarters", frozenset(quarters.items())
    yield "empty quarters", frozenset((a, b) for a in (0, 1) for b in (0, 1)) - {*quarters}
    for axis, size, name in ((0, width, "column"), (1, height, "row")):
        along = sorted(middle[axis] for middle in middles)
        gaps = [b - a for a, b in itertools.pairwise(along)]
        if gaps:
            yield f"widest gap, {name}s", gaps.index(max(gaps))
        yield f"{name}s", sum(gap > size / 8 for gap in gaps)
        yield f"first {name}", sum(at < size / 2 for at in along)


def main(options: Namespace) -> int:
    """Print the number of images that each fact identifies, and the listener's accuracy by the most telling fact."""
    episodes = StoreEpisodes(options.store)
    named: Counter[str] = Counter()
    chances: list[float] = []
    for episode in episodes.read([name for name in episodes.ids() if name.startswith("icca/")]):
        facts = []
        for image in episode.images:
            boxes = [item.bbox for item in image.annotation.objects if item.bbox is not None]
            facts.append(dict(layout(boxes, image.width, image.height)))
        for own in facts:
            alike = {name: sum(other.get(name) == value for other in facts) for name, value in own.items()}
            named.update(name for name, count in alike.items() if count == 1)
            named["any"] += 1 in alike.values()
            chances.append(1 / min(alike.values()))
    share = sum(chances) / len(chances)
    rows = [(name, count, f"{100 * count / len(chances):.1f} %") for name, count in named.most_common()]
    sys.stdout.write(markdown_table(("identified by", "images", "share"), rows))
    sys.stdout.write(
        f"\n{len(chances)} images; accuracy of a listener who hears the layout alone: {100 * share:.1f} %\n"
    )
    return 0
