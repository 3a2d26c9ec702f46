"""Measure PNG encoding: milliseconds and bytes per image.

    python -m tools bench-png FOLDER [--limit 24] [--rounds 5]

FOLDER holds PNG images, such as build/quality/standard after bench-quality. The encoders are ours and Pillow's at
several levels and strategies. They alternate image by image; the table shows the median over images of each encoder's
fastest round. `ours` is render/annotations/encode.py.
"""

from __future__ import annotations

import io
import statistics
import time
import zlib
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from render.annotations.encode import encode_png
from render.model.errors import UsageError
from render.model.png import decode_png
from scene_specs.language.tables import markdown_table
from tools.option_types import positive

Encode = Callable[[NDArray[np.uint8]], bytes]
_STRATEGIES = {"filtered": zlib.Z_FILTERED, "huffman": zlib.Z_HUFFMAN_ONLY, "runs": zlib.Z_RLE}


def pillow(level: int, strategy: int) -> Encode:
    """Return Pillow's encoder at a level and strategy of zlib."""

    def encode(color: NDArray[np.uint8]) -> bytes:
        out = io.BytesIO()
        Image.fromarray(color).save(out, format="PNG", compress_level=level, compress_type=strategy)
        return out.getvalue()

    return encode


def encoders() -> dict[str, Encode]:
    """Return the encoders by name."""
    levels = {f"level {level}": pillow(level, zlib.Z_DEFAULT_STRATEGY) for level in (1, 3, 6, 9)}
    strategies = {f"level 1, {name}": pillow(1, value) for name, value in _STRATEGIES.items()}
    return {"ours": encode_png, **levels, **strategies}


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=positive, default=24)
    parser.add_argument("--rounds", type=positive, default=5)


def main(options: Namespace) -> None:
    """Measure and print. Raises UsageError for a folder without images."""
    paths = sorted(options.folder.glob("*.png"))[: options.limit]
    if not paths:
        raise UsageError(f"{options.folder}: found no .png; measure some: bench-quality run standard")
    seconds: dict[str, list[float]] = {name: [] for name in encoders()}
    sizes: dict[str, list[int]] = {name: [] for name in encoders()}
    for path in paths:
        color = decode_png(path.read_bytes())
        times: dict[str, list[float]] = {name: [] for name in seconds}
        for turn in range(options.rounds):
            for name, encode in encoders().items():
                start = time.perf_counter()
                data = encode(color)
                times[name].append(time.perf_counter() - start)
                if turn == 0:
                    sizes[name].append(len(data))
        for name, found in times.items():
            seconds[name].append(min(found))
    rows = [
        (name, f"{1000 * statistics.median(seconds[name]):.2f}", f"{statistics.median(sizes[name]) / 1000:.1f}")
        for name in seconds
    ]
    print(markdown_table([f"{len(paths)} pictures", "ms", "KB"], rows), end="")
