"""Prompts: the texts and images of a trial, in order, without anything that reveals the answer."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from PIL import Image

from diorama.scene_specs.benchmarks.icca import LABELS, Presented
from diorama.scene_specs.benchmarks.icca.game import TEXTS, Game, ListenerVariant, Order, SpeakerVariant
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.model.pictures import DAMAGED
from diorama.scene_specs.tasks.chat import Message, Picture, Role

MASK = "mask"
COLLAGE = "collage"
WORDS = 20
# Pixels between the images of a collage.
GAP = 2
_BLACK = (0, 0, 0)
_MAX_SIDE = 4096


@dataclass(frozen=True)
class Part:
    """A text, or an image reference: kind `text`, `image`, `mask` (a black image) or `collage` (four, row by row).

    Attributes:
        files: names in the game's folder; "mask" for a black image.
        label: of a single image.
        role: who says it: `system`, `user`, or `assistant` for the player's own words.
    """

    kind: str
    text: str = ""
    files: tuple[str, ...] = ()
    label: str = ""
    role: Role = "user"

    def data(self) -> dict[str, Any]:
        """Return the part as JSON data."""
        if self.kind == "text":
            return {"text": self.text, **({} if self.role == "user" else {"role": self.role})}
        part_data: dict[str, Any] = {self.kind: list(self.files) if self.kind == COLLAGE else self.files[0]}
        return {**part_data, "label": self.label} if self.label else part_data


@dataclass(frozen=True)
class PastTrial:
    """An earlier trial as both players saw it.

    Attributes:
        shown: index of the image shown under each listener's label.
        answer: as returned.
        choice: its label, or "" for an invalid answer.
        speaker_choice: the speaker's label of the picked image; "" without one, and in a trial that was read from a
            file.
    """

    trial: int
    message: str
    speaker_label: str
    listener_label: str
    choice: str
    speaker_choice: str
    shown: Order
    answer: str

    @property
    def correct(self) -> bool:
        """Whether the choice is the target's label."""
        return self.choice == self.listener_label


def _collage_rules(presentation: Presented) -> str:
    """Return the sentence that explains the labels of a collage; "" for separate images."""
    if presentation.form != COLLAGE:
        return ""
    places = ", ".join(f"{a} is {b}" for a, b in zip(presentation.names, LABELS["positions"], strict=True))
    by_place = presentation.labels == "positions"
    return TEXTS["collage"].format(places="a label says where in it a picture is" if by_place else places)


def _text(text: str, role: Role = "user") -> Part:
    return Part("text", text, role=role)


def image_parts(game: Game, order: Order, presentation: Presented, mask: bool = False) -> list[Part]:
    """Return the four images as parts. Masked parts name no file, so nothing distinguishes them."""
    files = [MASK if mask else game.images[k] for k in order]
    if presentation.form == COLLAGE:
        return [Part(COLLAGE, files=tuple(files))]
    kind = MASK if mask else "image"
    return [Part(kind, files=(file,), label=name) for name, file in zip(presentation.names, files, strict=True)]


def speaker_prompt(
    game: Game, variant: SpeakerVariant, presentation: Presented, trial: int, past: Sequence[PastTrial], label: str
) -> list[Part]:
    """Return the instruction, the four images once, earlier messages with their answers, and the target's label."""
    rules = TEXTS["speaker"].format(collage=_collage_rules(presentation), says=variant.says, words=WORDS)
    parts = [_text(TEXTS["system"], "system"), _text(rules)]
    parts += image_parts(game, game.speaker_order, presentation)
    for turn in past:
        parts.append(_text(f"Round {turn.trial + 1}. The target is {turn.speaker_label}."))
        parts.append(_text(turn.message, "assistant"))
        parts.append(_text(_speaker_feedback(turn)))
    return [*parts, _text(f"Round {trial + 1}. The target is {label}.")]


def _speaker_feedback(trial: PastTrial) -> str:
    if not trial.choice:
        return "The listener gave no valid answer."
    if trial.correct:
        return f"The listener rightly answered {trial.speaker_label}."
    return f"The listener wrongly answered {trial.speaker_choice}."


def listener_prompt(
    game: Game, variant: ListenerVariant, presentation: Presented, trial: int, past: Sequence[PastTrial], message: str
) -> list[Part]:
    """Return the instruction, earlier rounds if the variant has them, images where it shows them, and the message."""

    def round_parts(number: int, title: str, shown: Order, message: str) -> list[Part]:
        images = image_parts(game, shown, presentation, variant.mask) if variant.shows(number) else []
        return [_text(title), *images, _text(f"Which picture is meant by this message: {message}")]

    names = ", ".join(presentation.names)
    masked = TEXTS["masked"] if variant.mask else ""
    rules = TEXTS["listener"].format(labels=names, collage=_collage_rules(presentation), masked=masked)
    parts = [_text(TEXTS["system"], "system"), *([_text(rules.strip())] if variant.intro else [])]
    for turn in past if variant.history else ():
        parts += round_parts(turn.trial, f"Round {turn.trial + 1}.", turn.shown, turn.message)
        # The player's own words, valid or not; services refuse an empty message.
        parts += [_text(turn.answer.strip() or "(no answer)", "assistant"), _text(_listener_feedback(turn, names))]
    title = f"Round {trial + 1}." if variant.history else "This round."
    return [*parts, *round_parts(trial, title, game.shown_order(variant, trial, presentation.seed), message)]


def _listener_feedback(trial: PastTrial, names: str) -> str:
    if trial.correct:
        return "Right."
    if not trial.choice:
        return f"No valid answer; valid are {names}."
    return f"Wrong. The target was {trial.listener_label}."


def image_count(parts: Sequence[Part]) -> int:
    """Return the number of images in a prompt; a collage is one."""
    return sum(part.kind != "text" for part in parts)


def as_text(parts: Sequence[Part]) -> str:
    """Return a prompt as text, with images in brackets."""

    def line(part: Part) -> str:
        if part.kind != "text":
            return f"[{part.kind} {' | '.join(part.files)}] {part.label}".rstrip()
        return part.text if part.role == "user" else f"{part.role}: {part.text}"

    return "\n".join(map(line, parts)) + "\n"


def speaker_label_of(game: Game, presentation: Presented, image: int) -> str:
    """Return the speaker's label of an image."""
    return presentation.names[game.speaker_order.index(image)]


def last_shown(prompt: Sequence[Part], labels: Sequence[str]) -> dict[str, str]:
    """Label -> file of the images that the prompt showed last; {} if it shows none."""
    for end in range(len(prompt), 0, -1):
        part = prompt[end - 1]
        if part.kind == COLLAGE:
            return dict(zip(labels, part.files, strict=True))
        if part.kind != "text":
            return {image_part.label: image_part.files[0] for image_part in prompt[max(0, end - len(labels)) : end]}
    return {}


def open_image(path: Path) -> Image.Image:
    """Return an image in RGB. Raises SpecError."""
    try:
        with Image.open(io.BytesIO(read_foreign(path)), formats=("PNG", "JPEG")) as image:
            return image.convert("RGB")
    except DAMAGED as error:
        raise spec_error(f"can't be read as an image: {error}", file=str(path)) from error


def collage(images: Sequence[Image.Image]) -> Image.Image:
    """Four images of one size, two by two in reading order, on black, GAP pixels apart, at their full size."""
    sizes = {image.size for image in images}
    if len(images) != 4 or len(sizes) != 1:
        raise spec_error(f"found {len(images)} images of sizes {sorted(sizes)}; expected four of one size")
    width, height = images[0].size
    sheet = Image.new("RGB", (2 * width + GAP, 2 * height + GAP), _BLACK)
    for k, image in enumerate(images):
        sheet.paste(image, (k % 2 * (width + GAP), k // 2 * (height + GAP)))
    return sheet


def compose_image(game: Game, part: Part) -> Image.Image:
    """Return the image that a part of a prompt refers to; a mask is black and as large as the game's first image.

    Raises SpecError for a game without a folder, a part without an image, or images larger than 4096 pixels a side.
    """
    if game.folder is None or part.kind == "text":
        raise game.error("no image to open")
    images = [
        Image.new("RGB", open_image(game.folder / game.images[0]).size, _BLACK)
        if file == MASK
        else open_image(game.folder / file)
        for file in part.files
    ]
    if max(max(image.size) for image in images) > _MAX_SIDE:
        raise game.error(f"an image is larger than {_MAX_SIDE} pixels a side")
    return collage(images) if part.kind == COLLAGE else images[0]


def messages_of(game: Game, prompt: Sequence[Part], pictures: dict[Part, Picture]) -> list[Message]:
    """Yield a prompt as messages, of alternating roles after the first.

    Args:
        pictures: those opened before, which are not opened again.

    Raises:
        SpecError: as `compose_image` does.
    """

    def content(part: Part) -> Iterator[str | Picture]:
        if part.kind == "text":
            yield part.text
            return
        if part.label:
            yield f"Picture {part.label}:"
        if part not in pictures:
            pictures[part] = Picture(" ".join(part.files), png_bytes(compose_image(game, part)))
        yield pictures[part]

    return [
        Message(role, tuple(block for part in parts for block in content(part)))
        for role, parts in groupby(prompt, key=lambda part: part.role)
    ]


def png_bytes(image: Image.Image) -> bytes:
    """Return a PNG file; equal for equal pixels."""
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
