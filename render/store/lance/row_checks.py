"""What can be wrong with one stored episode, found from its row alone. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from render.model.png import open_png
from render.model.record import RLE, Box, EpisodeRecord, ImageRecord, ObjectAnnotation
from render.model.scene import SceneFrame
from render.store.episode_store import DamagedError
from render.store.lance.columns import RECORD_COLUMNS
from render.store.lance.rows import record_of, row_of

_ROUNDED = 1e-6


def problems_of(row: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with an episode, a line each; empty for a whole one. row: all columns."""
    try:
        record = record_of(row)
    except DamagedError as error:
        return [_short(str(error), row.get("episode_id"))]
    return problems_in(row, record)


def problems_in(row: Mapping[str, Any], record: EpisodeRecord) -> list[str]:
    """As `problems_of`, for who has made the record of that row already."""
    return [*_columns(row, record), *_frames(record), *_pictures(record), *_answer(record.scene.task)]


def _short(text: str, episode: Any) -> str:
    return text.removeprefix(f"episode {episode}: ").split("; the store is damaged")[0]


def _columns(row: Mapping[str, Any], record: EpisodeRecord) -> Iterator[str]:
    """The columns for searching say what the episode itself does.

    Columns that the record was read from are left out: their digests hold. Written again they may differ, as a Scene
    made before a field was added does.
    """
    wanted = row_of(record)
    names = sorted(wanted.keys() - set(RECORD_COLUMNS))
    wrong = [name for name in names if not _same(row.get(name), wanted[name])]
    if wrong:
        yield f"column {', '.join(wrong)}: not what the episode itself says"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _frames(record: EpisodeRecord) -> Iterator[str]:
    """One image a view of each frame, in their order, with the objects and passes that the Scene has."""
    wanted = {frame.image_name(view): frame for frame in record.scene.frames for view in frame.views}
    names = [image.name for image in record.images]
    if names != list(wanted):
        missing = [name for name in wanted if name not in names]
        extra = [name for name in names if name not in wanted]
        yield f"images: missing {missing}, not in the Scene {extra}, or twice or in another order"
    for image in record.images:
        if image.name in wanted:
            yield from _against_scene(image, wanted[image.name])


def _against_scene(image: ImageRecord, frame: SceneFrame) -> Iterator[str]:
    there = [(item.index, item.name) for item in image.annotation.objects]
    wanted = [(item.index, item.name) for item in frame.objects]
    if there != wanted:
        yield f"image {image.name}: annotated objects {_few(there)}, in the Scene {_few(wanted)}"
    if (image.extra is not None) != bool(frame.passes):
        yield f"image {image.name}: passes asked for {list(frame.passes)}, stored: {image.extra is not None}"


def _few(items: list[tuple[int, str]]) -> str:
    shown = ", ".join(name for _, name in items[:6])
    return f"[{shown}{', ...' if len(items) > 6 else ''}]"


def _pictures(record: EpisodeRecord) -> Iterator[str]:
    settings = record.scene.settings
    for image in record.images:
        at = f"image {image.name}"
        if (image.width, image.height) != (settings.width, settings.height):
            yield f"{at}: says {image.width}x{image.height}, the Scene {settings.width}x{settings.height}"
        problem = _picture(image)
        if problem:
            yield f"{at}: {problem}"
        for item in image.annotation.objects:
            for wrong in _object(item, image.width, image.height):
                yield f"{at}: object {item.name}: {wrong}"


def _picture(image: ImageRecord) -> str | None:
    try:
        with open_png(image.png) as picture:
            picture.load()
            size, mode = picture.size, picture.mode
    except (OSError, ValueError, SyntaxError) as error:
        return f"can't be decoded: {error}"
    if size != (image.width, image.height) or mode != "RGB":
        return f"is {size[0]}x{size[1]} {mode}, not {image.width}x{image.height} RGB"
    return None


def _object(item: ObjectAnnotation, width: int, height: int) -> Iterator[str]:
    for name, box in (("bbox", item.bbox), ("amodal_bbox", item.amodal_bbox)):
        if box is not None and not _inside(box, width, height):
            yield f"{name} {list(box)} is empty or not inside {width}x{height}"
    if item.rle.size != (height, width):
        yield f"mask is {item.rle.size[1]}x{item.rle.size[0]}, the image {width}x{height}"
        return
    try:
        area, box = measure(item.rle)
    except ValueError as error:
        yield f"mask can't be read: {error}"
        return
    if area != item.visible_pixels:
        yield f"visible_pixels {item.visible_pixels}, but the mask has {area}"
    if box != item.bbox:
        yield f"bbox {item.bbox and list(item.bbox)}, but the mask's is {box and list(box)}"
    share = min(item.visible_pixels / item.alone_pixels, 1.0) if item.alone_pixels else 0.0
    if not abs(share - item.visible_fraction) <= _ROUNDED:
        yield f"visible_fraction {item.visible_fraction}, but {item.visible_pixels} of {item.alone_pixels} pixels"


def _inside(box: Box, width: int, height: int) -> bool:
    x, y, w, h = box
    return x >= 0 and y >= 0 and w >= 1 and h >= 1 and x + w <= width and y + h <= height


def _answer(task: Mapping[str, Any] | None) -> Iterator[str]:
    options, answer = (task or {}).get("options"), (task or {}).get("answer")
    if isinstance(options, list) and options and answer is not None and answer not in options:
        yield f"answer {answer!r} is not among the {len(options)} options"


def runs(counts: str) -> list[int]:
    """Run lengths of COCO's compressed encoding: outside, inside, outside, ... down the columns.

    Read here and not by pycocotools, whose C code trusts them. Raises ValueError.
    """
    lengths: list[int] = []
    at = 0
    while at < len(counts):
        value = shift = 0
        while True:
            if at >= len(counts):
                raise ValueError("it ends inside a number")
            bits = ord(counts[at]) - 48
            at += 1
            if not 0 <= bits < 64 or shift > 60:
                raise ValueError(f"character {counts[at - 1]!r} does not belong there")
            value |= (bits & 31) << shift
            shift += 5
            if not bits & 32:
                break
        # Sign of the last five bits; from the fourth run on, the difference to the run before the last is stored.
        if bits & 16:
            value -= 1 << shift
        lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
    return lengths


def measure(rle: RLE) -> tuple[int, Box | None]:
    """Pixels and tight box [x, y, width, height] of a mask, None for an empty one. Raises ValueError."""
    height, width = rle.size
    lengths = runs(rle.counts)
    if min(lengths, default=0) < 0 or sum(lengths) != width * height:
        raise ValueError(f"its runs don't add up to {width}x{height} pixels")
    area, start = 0, 0
    left, top, right, bottom = width, height, -1, -1
    for number, length in enumerate(lengths):
        if number % 2 and length:
            first, last = start, start + length - 1
            area += length
            left, right = min(left, first // height), max(right, last // height)
            whole = first // height != last // height
            top = 0 if whole else min(top, first % height)
            bottom = height - 1 if whole else max(bottom, last % height)
        start += length
    return area, ((left, top, right - left + 1, bottom - top + 1) if area else None)
