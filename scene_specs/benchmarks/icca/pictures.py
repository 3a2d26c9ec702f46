"""Images as models take them: as they are, masked, or four in one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from scene_specs.benchmarks.icca.game import Game
from scene_specs.benchmarks.icca.input_errors import refused
from scene_specs.benchmarks.icca.prompts import COLLAGE, MASK, Part

GAP = 2
_BLACK = (0, 0, 0)
_MOST_SIDE = 4096


def opened(path: Path) -> Image.Image:
    """A picture in RGB. Raises SpecError."""
    try:
        with Image.open(path) as picture:
            return picture.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise refused(f"can't be read as a picture: {error}", file=str(path)) from error


def collage(pictures: Sequence[Image.Image], gap: int = GAP) -> Image.Image:
    """Four pictures of one size, two by two in the order of reading, on black, `gap` pixels apart; no pixel is lost."""
    sizes = {picture.size for picture in pictures}
    if len(pictures) != 4 or len(sizes) != 1:
        raise refused(f"found {len(pictures)} pictures of sizes {sorted(sizes)}; expected four of one size")
    width, height = pictures[0].size
    made = Image.new("RGB", (2 * width + gap, 2 * height + gap), _BLACK)
    for k, picture in enumerate(pictures):
        made.paste(picture, (k % 2 * (width + gap), k // 2 * (height + gap)))
    return made


def image_of(game: Game, part: Part, gap: int = GAP) -> Image.Image:
    """The picture that a part of a prompt refers to; a mask is black and as large as the game's first image.

    Raises SpecError for a game without a folder, a part without an image, or images larger than 4096 pixels a side.
    """
    if game.folder is None or part.kind == "text":
        raise refused(f"game {game.name!r}: no image to open")
    pictures = [
        Image.new("RGB", opened(game.folder / game.images[0]).size, _BLACK)
        if file == MASK
        else opened(game.folder / file)
        for file in part.files
    ]
    if max(max(picture.size) for picture in pictures) > _MOST_SIDE:
        raise refused(f"game {game.name!r}: an image is larger than {_MOST_SIDE} pixels a side")
    return collage(pictures, gap) if part.kind == COLLAGE else pictures[0]


def model_input(game: Game, prompt: Sequence[Part]) -> list[str | Image.Image]:
    """A prompt as most models take it: texts and pictures in order, before each single picture a text with its label.

    Raises SpecError as `image_of` does.
    """
    found: list[str | Image.Image] = []
    for part in prompt:
        if part.kind == "text":
            found.append(part.text)
            continue
        if part.label:
            found.append(f"Picture {part.label}:")
        found.append(image_of(game, part))
    return found


def png(picture: Image.Image) -> bytes:
    """The bytes of a PNG; the same for the same pixels."""
    made = io.BytesIO()
    picture.save(made, "PNG")
    return made.getvalue()
