"""What PNG encoding costs: milliseconds and bytes of pictures at Pillow's levels and strategies.

    python -m tools.bench_png FOLDER [--limit 24] [--rounds 5]

FOLDER holds PNG pictures, such as build/quality/standard after bench_quality. Ways take turns picture by picture; the
table shows the median over pictures of each one's fastest round. `ours` is how render/annotations/encode.py does it.
"""

from __future__ import annotations

import argparse
import io
import statistics
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from render.annotations.encode import encode_png
from render.model.errors import UsageError
from render.model.png import decode_png
from tools.quality.report import table
from tools.quality.shell import guarded, positive

Encode = Callable[[NDArray[np.uint8]], bytes]

_STRATEGIES = {
    "default": zlib.Z_DEFAULT_STRATEGY,
    "filtered": zlib.Z_FILTERED,
    "huffman": zlib.Z_HUFFMAN_ONLY,
    "runs": zlib.Z_RLE,
}


def pillow(level: int, strategy: int) -> Encode:
    """Pillow at a level and strategy of zlib."""

    def encode(color: NDArray[np.uint8]) -> bytes:
        out = io.BytesIO()
        Image.fromarray(color).save(out, format="PNG", compress_level=level, compress_type=strategy)
        return out.getvalue()

    return encode


def ways() -> dict[str, Encode]:
    """Name -> encoder."""
    levels = {f"level {level}": pillow(level, zlib.Z_DEFAULT_STRATEGY) for level in (1, 3, 6, 9)}
    strategies = {f"level 1, {name}": pillow(1, value) for name, value in _STRATEGIES.items() if name != "default"}
    return {"ours": encode_png, **levels, **strategies}


def work(folder: Path, limit: int, rounds: int) -> int:
    """Measure and print. Raises UsageError for a folder without pictures."""
    paths = sorted(folder.glob("*.png"))[:limit]
    if not paths:
        raise UsageError(f"{folder}: found no .png; measure some: bench_quality run standard")
    seconds: dict[str, list[float]] = {name: [] for name in ways()}
    sizes: dict[str, list[int]] = {name: [] for name in ways()}
    for path in paths:
        color = decode_png(path.read_bytes())
        fastest = dict.fromkeys(seconds, float("inf"))
        bytes_of = dict.fromkeys(seconds, 0)
        for _ in range(rounds):
            for name, encode in ways().items():
                start = time.perf_counter()
                data = encode(color)
                fastest[name] = min(fastest[name], time.perf_counter() - start)
                bytes_of[name] = len(data)
        for name, value in fastest.items():
            seconds[name].append(value)
            sizes[name].append(bytes_of[name])
    lines = [
        [name, f"{1000 * statistics.median(seconds[name]):.2f}", f"{statistics.median(sizes[name]) / 1000:.1f}"]
        for name in seconds
    ]
    sys.stdout.write(table([f"{len(paths)} pictures", "ms", "KB"], lines))
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=positive, default=24)
    parser.add_argument("--rounds", type=positive, default=5)
    options = parser.parse_args(arguments)
    return guarded(lambda: work(options.folder, options.limit, options.rounds))


if __name__ == "__main__":
    sys.exit(main())
