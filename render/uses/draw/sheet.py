"""The sheet of an episode: every image with its annotations, utterances, options and answer."""

from __future__ import annotations

import math

from PIL import Image

from diorama.render.uses.draw.overlay import overlay
from diorama.render.uses.draw.tile_grid import Tile, tile_grid
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord

# (count, width): up to `count` images are shown `width` pixels wide. No number of images makes a side longer than about
# 8,000 pixels.
_WIDTHS = ((4, 640), (12, 480), (40, 320), (200, 160))
_MIN_WIDTH = 64
_MAX_ENLARGEMENT = 3
_MAX_IMAGES = 2000


def sheet(record: EpisodeRecord) -> Image.Image:
    """Draw all images of an episode, in their order, with boxes, masks and names, under the episode's task. RGB.

    All images are shown at one width, which depends on their number. Only the first 2,000 are shown.
    """
    width = _tile_width(record)
    shown = zip(record.images[:_MAX_IMAGES], record.utterances(), strict=False)
    tiles = [Tile(_annotated_image(image, width), image.name, utterance or "") for image, utterance in shown]
    # Up to 1,920 pixels of columns, or about as many as rows if there are more images.
    columns = 2 if len(tiles) == 4 else max(1920 // width, math.ceil(math.sqrt(len(tiles))))
    return tile_grid(tiles, columns, title=record.episode_id, notes=_episode_notes(record))


def _tile_width(record: EpisodeRecord) -> int:
    width = next((width for most, width in _WIDTHS if len(record.images) <= most), _MIN_WIDTH)
    largest = max((image.width for image in record.images), default=width)
    # Small images are enlarged, but not until single pixels dominate.
    return max(_MIN_WIDTH, min(width, largest * _MAX_ENLARGEMENT))


def _annotated_image(image: ImageRecord, width: int) -> Image.Image:
    # Drawn at an integer scale near the requested width, so that lines and letters stay sharp.
    drawn = overlay(image.color(), image.annotation, max(1, round(width / image.width)), tint=False)
    height = max(1, round(drawn.height * width / drawn.width))
    return drawn if drawn.width == width else drawn.resize((width, height), Image.Resampling.LANCZOS)


def _episode_notes(record: EpisodeRecord) -> list[str]:
    """Return what the episode is, and what its task asks."""
    settings, task = record.scene.settings, record.scene.task or {}
    kind = "/".join(str(task[key]) for key in ("benchmark", "name") if task.get(key) is not None)
    facts = [kind, record.scene.split, settings.profile, f"{settings.width} x {settings.height}"]
    notes = [" · ".join(str(fact) for fact in facts if fact)]
    for key in ("instruction", "question", "options", "answer"):
        if (value := task.get(key)) is not None:
            notes.append(f"{key}: {', '.join(map(str, value)) if isinstance(value, list | tuple) else value}")
    hidden = len(record.images) - _MAX_IMAGES
    return [*notes, f"and {hidden} more images"] if hidden > 0 else notes
