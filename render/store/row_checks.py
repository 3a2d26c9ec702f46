"""Checks of one stored episode from its row alone. Pure.

A damaged row is not what was rendered. An invalid one is, but its spec was wrong: rendering it again changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from diorama.render.passes import array_passes
from diorama.render.store.columns import RECORD_COLUMNS
from diorama.render.store.episode_store import DamagedError
from diorama.render.store.rows import record_of, row_of
from diorama.scene_specs.checks.semantics import task_diagnostics
from diorama.scene_specs.model.pictures import DAMAGED, open_png
from diorama.scene_specs.model.record import RLE, Box, EpisodeRecord, ImageRecord, ObjectAnnotation
from diorama.scene_specs.model.scene import SceneFrame

_ROUNDED = 1e-6


def problems_of(row: Mapping[str, Any]) -> list[str]:
    """Return the damage of an episode, one line each; empty for an intact one.

    Args:
        row: all columns.
    """
    try:
        record = record_of(row)
    except DamagedError as error:
        return [str(error).removeprefix(f"episode {row.get('episode_id')}: ").split("; the store is damaged")[0]]
    return problems_in(row, record)


def problems_in(row: Mapping[str, Any], record: EpisodeRecord) -> list[str]:
    """Return the problems of a row whose record was read already; see `problems_of`."""
    return [*_column_problems(row, record), *_frame_problems(record), *_image_problems(record)]


def invalid_answer(task: Mapping[str, Any] | None) -> list[str]:
    """Return why the answer of a task is invalid, in one line; empty if it is among the options."""
    return [
        f"answer {task['answer']!r} is not among the {len(task['options'])} options"
        for _ in task_diagnostics(task)
        if task is not None
    ]


def _column_problems(row: Mapping[str, Any], record: EpisodeRecord) -> Iterator[str]:
    """Check that the columns for searching match the episode.

    Columns that the record was read from are left out: their digests match. Written again they may differ, as does a
    Scene from before a field was added.
    """
    wanted = row_of(record)
    # Older rows have copies of these two.
    names = sorted(wanted.keys() - set(RECORD_COLUMNS) | {"spec", "relations"})
    # As JSON, because NaN equals itself there.
    wrong = [name for name in names if _json(row.get(name)) != _json(wanted[name])]
    # Of the images, their digest leaves out only this.
    if [image["path"] for image in row["images"]] != [image["path"] for image in wanted["images"]]:
        wrong.append("images.path")
    if wrong:
        yield f"column {', '.join(wrong)}: differs from the episode"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _frame_problems(record: EpisodeRecord) -> Iterator[str]:
    """Check for one image per view of each frame, in their order, with the objects and passes of the Scene."""
    wanted = {frame.image_name(view): frame for frame in record.scene.frames for view in frame.views}
    if (names := [image.name for image in record.images]) != list(wanted):
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
        yield f"image {image.name}: annotated objects {_preview_names(there)}, in the Scene {_preview_names(wanted)}"
    if (image.extra is not None) != bool(array_passes(frame.passes)):
        yield f"image {image.name}: passes requested {list(frame.passes)}, stored: {image.extra is not None}"
    if any((item.amodal_rle is not None) != ("amodal" in frame.passes) for item in image.annotation.objects):
        yield f"image {image.name}: passes requested {list(frame.passes)}, but amodal masks don't match"


def _preview_names(items: list[tuple[int, str]]) -> str:
    shown = ", ".join(name for _, name in items[:6])
    return f"[{shown}{', ...' if len(items) > 6 else ''}]"


def _image_problems(record: EpisodeRecord) -> Iterator[str]:
    settings = record.scene.settings
    for image in record.images:
        at = f"image {image.name}"
        if (image.width, image.height) != (settings.width, settings.height):
            yield f"{at}: size is {image.width}x{image.height}, in the Scene {settings.width}x{settings.height}"
        problem = _png_problem(image)
        if problem:
            yield f"{at}: {problem}"
        for item in image.annotation.objects:
            for problem in _object_problems(item, image.width, image.height):
                yield f"{at}: object {item.name}: {problem}"


def _png_problem(image: ImageRecord) -> str | None:
    try:
        with open_png(image.png) as decoded:
            decoded.load()
            size, mode = decoded.size, decoded.mode
    except DAMAGED as error:
        return f"can't be decoded: {error}"
    if size != (image.width, image.height) or mode != "RGB":
        return f"is {size[0]}x{size[1]} {mode}, not {image.width}x{image.height} RGB"
    return None


def _object_problems(item: ObjectAnnotation, width: int, height: int) -> Iterator[str]:
    for name, box in (("bbox", item.bbox), ("amodal_bbox", item.amodal_bbox)):
        if box is not None and not _box_inside(box, width, height):
            yield f"{name} {list(box)} is empty or not inside {width}x{height}"
    yield from _mask("", item.rle, (height, width), ("visible_pixels", item.visible_pixels), item.bbox)
    if item.amodal_rle is not None:
        pixels = ("alone_pixels", item.alone_pixels)
        yield from _mask("amodal ", item.amodal_rle, (height, width), pixels, item.amodal_bbox)
    share = min(item.visible_pixels / item.alone_pixels, 1.0) if item.alone_pixels else 0.0
    if not abs(share - item.visible_fraction) <= _ROUNDED:
        yield f"visible_fraction {item.visible_fraction}, but {item.visible_pixels} of {item.alone_pixels} pixels"


def _mask(kind: str, rle: RLE, size: tuple[int, int], pixels: tuple[str, int], wanted: Box | None) -> Iterator[str]:
    """Check a mask against the size of its image, and against the pixels and the box that are stored beside it."""
    if rle.size != size:
        yield f"{kind}mask is {rle.size[1]}x{rle.size[0]}, the image {size[1]}x{size[0]}"
        return
    try:
        area, box = measure(rle)
    except (ValueError, OverflowError) as error:
        yield f"{kind}mask can't be read: {error}"
        return
    if area != pixels[1]:
        yield f"{pixels[0]} {pixels[1]}, but the {kind}mask has {area}"
    if box != wanted:
        yield f"{kind}bbox {wanted and list(wanted)}, but the mask's is {box and list(box)}"


def _box_inside(box: Box, width: int, height: int) -> bool:
    x, y, w, h = box
    return x >= 0 and y >= 0 and w >= 1 and h >= 1 and x + w <= width and y + h <= height


def runs(counts: str) -> list[int]:
    """Decode COCO's compressed run lengths: outside, inside, outside, ... down the columns.

    Decoded here and not by pycocotools, whose C code trusts its input. Raises ValueError.
    """
    lengths: list[int] = []
    value = shift = 0
    for character in counts:
        bits = ord(character) - 48
        if not 0 <= bits < 64 or shift > 60:
            raise ValueError(f"character {character!r} does not belong there")
        value |= (bits & 31) << shift
        shift += 5
        if bits & 32:
            continue
        # The last five bits have a sign; from the fourth run on, the difference to the run before the last is stored.
        if bits & 16:
            value -= 1 << shift
        lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
        value = shift = 0
    if shift:
        raise ValueError("it ends inside a number")
    return lengths


def measure(rle: RLE) -> tuple[int, Box | None]:
    """Return the area and the tight box [x, y, width, height] of a mask, pixels; None for an empty mask's box.

    Raises ValueError.
    """
    height, width = rle.size
    lengths = runs(rle.counts)
    if min(lengths, default=0) < 0 or sum(lengths) != width * height:
        raise ValueError(f"its runs don't add up to {width}x{height} pixels")
    ends = np.cumsum(lengths, dtype=np.int64)[1::2]
    inside = np.array(lengths[1::2], dtype=np.int64)
    first, last = (ends - inside)[inside > 0], ends[inside > 0] - 1
    if not first.size:
        return 0, None
    left, right = int(first[0]) // height, int(last[-1]) // height
    top, bottom = int((first % height).min()), int((last % height).max())
    if np.any(first // height != last // height):
        # A run goes on in the next column: it covers the bottom of one and the top of the other.
        top, bottom = 0, height - 1
    return int(inside.sum()), (left, top, right - left + 1, bottom - top + 1)
