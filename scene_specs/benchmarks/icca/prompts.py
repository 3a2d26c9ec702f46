"""What a player is given in a trial: a list of texts and references to images, in order, and nothing that gives the
answer away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scene_specs.benchmarks.icca.game import Game, Order
from scene_specs.benchmarks.icca.variants import LABELS, ListenerVariant, SpeakerVariant

MASK = "mask"
COLLAGE = "collage"
_RULES = (
    "This is a game of two players, a speaker and a listener, about the same four pictures, which each of you may see "
    "in an order of their own. "
)
_SPEAKER = "You are the speaker. In each round you are told the label of one picture, in your order. "
_LABELS = "Labels mean nothing to the listener: don't use them. At most {words} words. "
_LISTENER = "You are the listener. In each round you read the speaker's message and answer with one label: {labels}. "
_COLLAGE = "The four pictures are shown as one image, two by two: {places}. "
_MASKED = "The pictures are hidden from you. Guess at first, and learn from what you are told after each round. "
WORDS = 20


@dataclass(frozen=True)
class Part:
    """A text, or an image reference: kind `text`, `image`, `mask` (a black image) or `collage` (four, row by row).

    files: names in the game's folder; "mask" for a black one. label: of a single image.
    """

    kind: str
    text: str = ""
    files: tuple[str, ...] = ()
    label: str = ""

    def data(self) -> dict[str, Any]:
        """As JSON data."""
        if self.kind == "text":
            return {"text": self.text}
        found: dict[str, Any] = {self.kind: list(self.files) if self.kind == COLLAGE else self.files[0]}
        return {**found, "label": self.label} if self.label else found


@dataclass(frozen=True)
class Past:
    """One trial that was played, as both sides saw it. choice: a label, or "" for an answer that is none."""

    trial: int
    message: str
    speaker_label: str
    listener_label: str
    choice: str
    speaker_choice: str
    shown: Order

    @property
    def correct(self) -> bool:
        """Whether the listener picked the target's label."""
        return self.choice == self.listener_label


@dataclass(frozen=True)
class Setting:
    """How a game is shown. labels: `letters` or `positions`. form: `separate` or `collage`. seed: of the listener's
    orders.
    """

    labels: str = "letters"
    form: str = "separate"
    seed: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The four labels."""
        return LABELS[self.labels]

    @property
    def told(self) -> str:
        """What has to be said of the form: which picture of a collage a label means."""
        if self.form != COLLAGE:
            return ""
        if self.labels == "positions":
            return _COLLAGE.format(places="a label says where in it a picture is")
        return _COLLAGE.format(
            places=", ".join(f"{a} is {b}" for a, b in zip(self.names, LABELS["positions"], strict=True))
        )


def images_of(game: Game, order: Order, setting: Setting, mask: bool = False) -> list[Part]:
    """The four images as parts. Masked ones name no file: nothing tells them apart."""
    files = [MASK if mask else game.images[k] for k in order]
    if setting.form == COLLAGE:
        return [Part(COLLAGE, files=tuple(files))]
    kind = MASK if mask else "image"
    return [Part(kind, files=(file,), label=name) for name, file in zip(setting.names, files, strict=True)]


def speaker_prompt(
    game: Game, variant: SpeakerVariant, setting: Setting, trial: int, past: Sequence[Past], label: str
) -> list[Part]:
    """Instruction, the four images once, what was said and answered so far, and the label of the target."""
    rules = _RULES + _SPEAKER + setting.told + variant.says + " " + _LABELS.format(words=WORDS)
    parts = [Part("text", rules.strip()), *images_of(game, game.speaker_order, setting)]
    for one in past:
        parts.append(Part("text", f"Round {one.trial + 1}. The target is {one.speaker_label}."))
        parts.append(Part("text", f"Your message: {one.message}"))
        parts.append(Part("text", _speaker_feedback(one)))
    return [*parts, Part("text", f"Round {trial + 1}. The target is {label}. Your message:")]


def _speaker_feedback(one: Past) -> str:
    if not one.choice:
        return "The listener gave no valid answer."
    if one.correct:
        return f"The listener rightly answered {one.speaker_label}."
    return f"The listener wrongly answered {one.speaker_choice}."


def listener_prompt(
    game: Game, variant: ListenerVariant, setting: Setting, trial: int, past: Sequence[Past], message: str
) -> list[Part]:
    """Instruction, the rounds so far where the variant has a history, images where it shows them, and the message."""
    names = ", ".join(setting.names)
    rules = _RULES + _LISTENER.format(labels=names) + setting.told + (_MASKED if variant.mask else "")
    parts = [Part("text", rules.strip())]
    for one in past if variant.history else ():
        parts += _round(game, variant, setting, one.trial, f"Round {one.trial + 1}.", one.shown)
        parts += [Part("text", _question(one.message)), Part("text", f"Your answer: {one.choice or 'invalid'}")]
        parts.append(Part("text", _listener_feedback(one, names)))
    title = f"Round {trial + 1}." if variant.history else "This round."
    shown = game.shown_order(variant, trial, setting.seed)
    return [*parts, *_round(game, variant, setting, trial, title, shown), Part("text", _question(message))]


def _round(game: Game, variant: ListenerVariant, setting: Setting, trial: int, title: str, shown: Order) -> list[Part]:
    parts = [Part("text", title)]
    return [*parts, *images_of(game, shown, setting, variant.mask)] if variant.shows(trial) else parts


def _question(message: str) -> str:
    return f"Which picture is meant by this message: {message}"


def _listener_feedback(one: Past, names: str) -> str:
    if one.correct:
        return "Right."
    if not one.choice:
        return f"No valid answer; valid are {names}."
    return f"Wrong. The target was {one.listener_label}."


def image_count(parts: Sequence[Part]) -> int:
    """How many images a prompt holds; a collage is one."""
    return sum(part.kind != "text" for part in parts)


def as_text(parts: Sequence[Part]) -> str:
    """A prompt for reading: images in brackets."""
    lines = []
    for part in parts:
        if part.kind == "text":
            lines.append(part.text)
        else:
            lines.append(f"[{part.kind} {' | '.join(part.files)}]" + (f" {part.label}" if part.label else ""))
    return "\n".join(lines) + "\n"


def speaker_trial_label(game: Game, setting: Setting, image: int) -> str:
    """The speaker's label of an image."""
    return setting.names[game.speaker_order.index(image)]
