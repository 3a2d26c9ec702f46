"""Measure how many images of ICCA contexts are identified by their layout alone.

    python -m tests.scene_specs.benchmarks.icca.layout_guesser STORE

The guesser sees bounding boxes only, in pixels, and shares no code with `check --prove`: how many objects there are, in
which quarters of the image they are, where the widest gaps between them are, and in which rows and columns they stand.
A describer names one of these; a listener picks an image at random among those that it is true of.
"""

from __future__ import annotations

import io
import itertools
import sys
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from PIL import Image

from diorama.render.store.selection import StoreEpisodes

Box = tuple[int, int, int, int]


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


def measure(store: str) -> tuple[Counter[str], list[float]]:
    """How many images each fact identifies, and each image's chance by the most telling fact."""
    episodes = StoreEpisodes(store)
    named: Counter[str] = Counter()
    chances: list[float] = []
    for episode in episodes.read([name for name in episodes.ids() if name.startswith("icca/")]):
        facts = []
        for image in episode.images:
            boxes = [item.bbox for item in image.annotation.objects if item.bbox is not None]
            with Image.open(io.BytesIO(image.png)) as opened:
                facts.append(dict(layout(boxes, *opened.size)))
        for own in facts:
            alike = {name: sum(other.get(name) == value for other in facts) for name, value in own.items()}
            named.update(name for name, count in alike.items() if count == 1)
            named["any"] += 1 in alike.values()
            chances.append(1 / min(alike.values()))
    return named, chances


if __name__ == "__main__":
    found, chances = measure(sys.argv[1])
    share = 100 * sum(chances) / len(chances)
    sys.stdout.write(f"{found['any']} of {len(chances)} images identified: {dict(found)}\n")
    sys.stdout.write(f"accuracy of a listener who hears the layout alone: {share:.1f} %\n")
