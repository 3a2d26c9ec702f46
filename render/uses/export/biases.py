"""What the objects of a dataset have in common: shares of their words, which go together, and where they are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from diorama.scene_specs.language.model_names import shape_class

WORDS = ("shape", "color", "material", "size")
# Shapes that fewer images show say nothing about co-occurrence.
_LEAST_IMAGES = 30


class ObjectCounts:
    """Counts over the visible objects of episodes."""

    def __init__(self) -> None:
        self.objects = self.images = 0
        self._together: Counter[tuple[str, ...]] = Counter()
        self._shapes: Counter[frozenset[str]] = Counter()
        self._places: list[tuple[float, float]] = []
        self._middle = 0

    def add(self, objects: Iterable[Mapping[str, Any]], width: int, height: int) -> None:
        """Count an episode.

        Args:
            objects: objects of all of its images, as in the column of a store.
        """
        images: dict[int, set[str]] = {}
        for row in objects:
            if (box := row["bbox"]) is None:
                continue
            self.objects += 1
            shape = shape_class(row["shape"])
            self._together[(shape, *(row[name] or "in numbers" for name in WORDS[1:]))] += 1
            x, y = (box[0] + box[2] / 2) / width, (box[1] + box[3] / 2) / height
            self._places.append((x, y))
            self._middle += abs(x - 0.5) < 1 / 6 and abs(y - 0.5) < 1 / 6
            images.setdefault(row["image"], set()).add(shape)
        self.images += len(images)
        self._shapes.update(map(frozenset, images.values()))

    def lines(self) -> Iterator[str]:
        """Say what was counted, a sentence or two each; nothing without objects."""
        if not self.objects:
            return
        shares = [f"{name} {_shares_text(self._words(k))}" for k, name in enumerate(WORDS)]
        yield f"Of {self.objects:,} visible objects in {self.images:,} images: {'; '.join(shares)}."
        pairs = [f"{WORDS[a]} and {WORDS[b]} {self._association(a, b):.2f}" for a, b in combinations(range(4), 2)]
        yield f"Association of words within an object (Cramér's V; 0 independent, 1 determined): {', '.join(pairs)}."
        if lifts := sorted(self._lifts()):
            texts = [
                f"{first} and {other} {lift:.2f} times" for lift, first, other in dict.fromkeys((lifts[-1], lifts[0]))
            ]
            yield f"Shapes that share an image most and least, against independence: {', '.join(texts)} as often."
        (x, y), (dx, dy) = np.mean(self._places, axis=0), np.std(self._places, axis=0)
        yield (
            f"Centers of boxes: at {100 * x:.0f} % of the width (standard deviation {100 * dx:.0f}) and {100 * y:.0f} "
            f"% of the height ({100 * dy:.0f}); {100 * self._middle / self.objects:.0f} % in the middle ninth of the "
            "image (11 % if places were uniform)."
        )

    def _words(self, *places: int) -> Counter[tuple[str, ...]]:
        counts: Counter[tuple[str, ...]] = Counter()
        for words, count in self._together.items():
            counts[tuple(words[k] for k in places)] += count
        return counts

    def _association(self, a: int, b: int) -> float:
        first, second, both = self._words(a), self._words(b), self._words(a, b)
        least = min(len(first), len(second)) - 1
        total = sum(
            (both[x, y] - expected) ** 2 / expected
            for (x,), n in first.items()
            for (y,), m in second.items()
            for expected in (n * m / self.objects,)
        )
        return math.sqrt(total / self.objects / least) if least else 0.0

    def _lifts(self) -> Iterator[tuple[float, str, str]]:
        """How often two shapes share an image, divided by what independence would give; then the shapes."""
        alone: Counter[str] = Counter()
        both: Counter[tuple[str, str]] = Counter()
        for shapes, count in self._shapes.items():
            alone.update(dict.fromkeys(shapes, count))
            both.update(dict.fromkeys(combinations(sorted(shapes), 2), count))
        often = sorted(shape for shape, count in alone.items() if _LEAST_IMAGES <= count < self.images)
        for first, second in combinations(often, 2):
            yield both[first, second] * self.images / (alone[first] * alone[second]), first, second


def _shares_text(counter: Counter[tuple[str, ...]]) -> str:
    """Return the eight largest shares, and the others together."""
    total, most = sum(counter.values()), counter.most_common(8)
    rest = len(counter) - len(most)
    texts = [f"{name} {100 * count / total:.1f} %" for (name,), count in most]
    return ", ".join([*texts, *([f"{rest} others"] if rest > 0 else [])])
