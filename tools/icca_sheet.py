"""Draws rendered ICCA contexts: `python -m tools.icca_sheet STORE SHEET.jpg`.

A context a block: its four pictures, and below each what names it, shortest first, then by the incremental algorithm.
"""

from __future__ import annotations

import argparse
import io
import textwrap
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from render.model.record import EpisodeRecord
from render.store import open_store

WHITE, INK, FAINT = (255, 255, 255), (32, 36, 40), (110, 116, 122)
MARGIN, LINE = 6, 13


def block(record: EpisodeRecord, side: int) -> Image.Image:
    """One context, as high as it needs."""
    task = record.scene.task or {}
    pictures = []
    for image in record.images:
        with Image.open(io.BytesIO(image.png)) as opened:
            small = opened.convert("RGB")
        small.thumbnail((side, side), Image.Resampling.LANCZOS)
        pictures.append(small)
    width = side * 10 // 54
    texts = [
        [
            (line, color)
            for name, color in (("full_brevity", INK), ("incremental", FAINT))
            for line in textwrap.wrap(said[name]["text"], width)
        ]
        for said in task["descriptions"]
    ]
    top = LINE + MARGIN + pictures[0].height + 2
    size = (4 * (side + MARGIN) + MARGIN, top + LINE * max(map(len, texts)) + 2 * MARGIN)
    made = Image.new("RGB", size, WHITE)
    draw, font = ImageDraw.Draw(made), ImageFont.load_default(size=10)
    counts = sorted({*task["similarity"]["differences"].values()})
    head = f"{record.episode_id}   differ in {', '.join(map(str, counts))} of {task['similarity']['values']}"
    draw.text((MARGIN, 1), head, fill=INK, font=font)
    for k, (picture, lines) in enumerate(zip(pictures, texts, strict=True)):
        x = MARGIN + k * (side + MARGIN)
        made.paste(picture, (x, LINE + MARGIN))
        for row, (line, color) in enumerate(lines):
            draw.text((x, top + row * LINE), line, fill=color, font=font)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 2 where there are no contexts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--side", type=int, default=160, help="pixels of a picture [160]")
    parser.add_argument("--columns", type=int, default=2, help="contexts side by side [2]")
    parser.add_argument("--first", type=int, default=0, help="contexts to pass over [0]")
    parser.add_argument("--count", type=int, default=40, help="most contexts drawn [40]")
    given = parser.parse_args(arguments)
    store = open_store(given.store)
    ids = sorted(key for key, _ in store.ids() if key.startswith("icca/"))[given.first :][: given.count]
    if not ids:
        parser.error(f"{given.store}: no contexts there")
    blocks = [block(store.get(key), given.side) for key in ids]
    rows = [blocks[k : k + given.columns] for k in range(0, len(blocks), given.columns)]
    heights = [max(one.height for one in row) for row in rows]
    sheet = Image.new("RGB", (given.columns * blocks[0].width, sum(heights)), WHITE)
    y = 0
    for row, height in zip(rows, heights, strict=True):
        for k, one in enumerate(row):
            sheet.paste(one, (k * blocks[0].width, y))
        y += height
    sheet.save(given.sheet, quality=82)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
