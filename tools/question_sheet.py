"""Make pictures with questions for a reader, and compare the answers.

    python -m tools question-sheet STORE OUT [--count 100] [--seed 0]
    python -m tools question-sheet STORE OUT --answers FILE

The first command writes, for random images of STORE, OUT/pictures/NUMBER.png (the image, and again with a number on
each object) and OUT/items.jsonl, which a reader gets, and OUT/key.jsonl, which no reader gets. The second reads lines
{"item": 1, "answer": "yes", "object": 3} and prints those that differ from the key; exit code 1 if there are any.
"""

from __future__ import annotations

import json
import random
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from render.annotations.image_views import store_views
from render.model.record import ImageRecord
from render.store import open_store
from scene_specs.language.rendered import mask_of
from scene_specs.questions.expressions import expressions
from scene_specs.questions.generate import Questioner
from scene_specs.questions.grammar import default_grammar
from scene_specs.questions.program import spoken
from tools.option_types import positive

MIN_PIXELS, ENLARGED = 20, 2


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("store")
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=positive, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--answers", type=Path)


def main(options: Namespace) -> int:
    """Write the items, or compare answers; return the exit code."""
    if options.answers is not None:
        return compare(options.out, options.answers)
    store, rng = open_store(options.store), random.Random(options.seed)
    keys = sorted(key for key, _ in store.ids())
    asker = Questioner(default_grammar(), options.seed, (), 1, MIN_PIXELS)
    items: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    (options.out / "pictures").mkdir(parents=True)
    for key in rng.sample(keys, min(options.count, len(keys))):
        record = store.get(key)
        for view, image in zip(store_views([record]), record.images, strict=True):
            asked, named = list(asker.ask(view)), list(expressions(view, default_grammar(), options.seed, MIN_PIXELS))
            if not asked or not named:
                continue
            number, order = len(items) + 1, rng.sample(range(len(view.objects)), len(view.objects))
            chosen = rng.choice(named)
            picture(image, order).save(options.out / f"pictures/{number:03d}.png")
            items.append({"item": number, "question": asked[0].text, "expression": chosen.texts[0]})
            true = {"answer": spoken(asked[0].answer), "object": order.index(chosen.target) + 1, "episode": key}
            answers.append({"item": number, **true, "program": asked[0].data()["program"]})
    for name, rows in (("items", items), ("key", answers)):
        (options.out / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return 0


def picture(image: ImageRecord, order: list[int]) -> Image.Image:
    """Return an image beside itself with numbers: object `order[k]` has the number k + 1."""
    plain = Image.fromarray(image.color()).resize((image.width * ENLARGED, image.height * ENLARGED))
    both = Image.new("RGB", (2 * plain.width, plain.height))
    both.paste(plain, (0, 0))
    both.paste(plain, (plain.width, 0))
    draw, font = ImageDraw.Draw(both), ImageFont.load_default(22)
    pointer = image.annotation.pointer
    objects = [item for item in image.annotation.objects if pointer is None or item.name != pointer.name]
    for number, index in enumerate(order, start=1):
        rows, columns = np.nonzero(mask_of(objects[index]))
        if len(rows):
            # The visible pixel nearest to the middle of the visible part.
            middle = int(np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2))
            at = (plain.width + (int(columns[middle]) + 0.5) * ENLARGED, (int(rows[middle]) + 0.5) * ENLARGED)
            draw.text(at, str(number), "white", font, "mm", stroke_width=3, stroke_fill="black")
    return both


def compare(out: Path, answers: Path) -> int:
    """Print the answers that differ from the key."""
    key = {row["item"]: row for row in map(json.loads, (out / "key.jsonl").read_text("utf-8").splitlines())}
    items = {row["item"]: row for row in map(json.loads, (out / "items.jsonl").read_text("utf-8").splitlines())}
    read = [json.loads(line) for line in answers.read_text("utf-8").splitlines()]
    wrong = 0
    for row in read:
        for name, asked in (("answer", "question"), ("object", "expression")):
            if str(row[name]).strip().lower() != str(key[row["item"]][name]):
                wrong += 1
                sys.stdout.write(
                    f"{row['item']}: {items[row['item']][asked]} read {row[name]}, key {key[row['item']][name]}\n"
                )
    sys.stdout.write(f"{len(read)} of {len(key)} items, {wrong} differences\n")
    return int(wrong > 0 or len(read) < len(key))
