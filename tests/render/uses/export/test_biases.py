"""What is counted about objects."""

from __future__ import annotations

import random
from typing import Any

from diorama.render.uses.export.biases import ObjectCounts


def one(image: int, shape: str, color: str, box: list[int] | None) -> dict[str, Any]:
    return {"image": image, "shape": shape, "color": color, "material": "rubber", "size": None, "bbox": box}


def test_what_goes_together_is_said() -> None:
    """Color follows shape; cube and cone are never in one image; everything is on the left."""
    counts, rng = ObjectCounts(), random.Random(2)
    for number in range(200):
        shapes = [("cube", "red"), ("sphere", "blue")] if number % 2 else [("cone", "green")]
        if rng.random() < 0.5:
            shapes.append(("ball", "gray"))
        counts.add([one(0, *words, [8, 20 + rng.randrange(8), 4, 4]) for words in shapes], 100, 50)
    counts.add([one(0, "cube", "red", None)], 100, 50)
    lines = [*counts.lines()]
    assert "in 200 images: shape " in lines[0] and "size in numbers 100.0 %" in lines[0]
    assert "shape and color 1.00" in lines[1] and "color and material 0.00" in lines[1]
    assert "cube and sphere 2.00 times" in lines[2] and "cone and cube 0.00 times" in lines[2]
    assert "at 10 % of the width (standard deviation 0)" in lines[3] and "; 0 % in the middle ninth" in lines[3]


def test_independent_words_are_not_associated() -> None:
    counts, rng = ObjectCounts(), random.Random(3)
    for _ in range(500):
        found = [
            one(k % 2, rng.choice("abc"), rng.choice("xyz"), [rng.randrange(96), rng.randrange(46), 4, 4])
            for k in range(6)
        ]
        counts.add(found, 100, 50)
    lines = [*counts.lines()]
    assert "in 1,000 images" in lines[0] and "shape and color 0.0" in lines[1]
    assert all(0.85 < float(text.split(" times")[0].split()[-1]) < 1.1 for text in lines[2].split(":")[1].split(","))
    # Centers fill 96 x 46 of 100 x 50 pixels.
    assert "; 13 % in the middle ninth" in lines[3] and "height (26)" in lines[3]


def test_nothing_is_said_of_nothing() -> None:
    assert [*ObjectCounts().lines()] == []
