"""The truth of KiloGram episodes: the `task` of their specs and records, and the `truth` of their frames."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import StrictBool, StrictInt, StringConstraints

from diorama.scene_specs.benchmarks.kilogram.examples import Color
from diorama.scene_specs.model.spec import SpecModel
from diorama.scene_specs.tasks.truth import TaskTruth


class Part(SpecModel):
    """A part of a tangram.

    Attributes:
        pieces: their numbers, from 1 to 7.
        shown: whether it is named and colored where the condition says so.
    """

    name: str
    pieces: tuple[StrictInt, ...]
    shown: StrictBool
    color: Color


class Figure(TaskTruth):
    """The truth of a frame.

    Attributes:
        annotation: number of the tangram's description.
        whole: name of the whole.
        parts: in the order of the sentence.
        hash_text: the published text.
        image: the published name of the image, without its suffix; exports name files by it.
        drawn: of imported figures, see `drawn_digest`.
        settled: of pieces that were dropped, see diorama.render.uses.rerender.settle.
    """

    tangram: str
    annotation: StrictInt
    whole: str
    parts: tuple[Part, ...]
    hash_text: str
    image: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}$")]
    drawn: str | None = None
    settled: Any = None

    @property
    def counts(self) -> tuple[int, int]:
        """Numbers of parts and of shown parts."""
        return len(self.parts), sum(part.shown for part in self.parts)


class Truth(TaskTruth):
    """The truth of an episode. Those with single images have no answer, and nothing else of a game.

    Attributes:
        name: condition.
        number: of the game of its target.
        text: that the target is asked for by.
        target: id of the tangram.
        part_count: parts of the target.
        shown_parts: those that are shown.
        options: names of the frames.
        answer: the frame of the target.
        unconstrained: distractors may have other numbers of parts, and equal names.
        drawings: whose they are; "" is Diorama's own.
    """

    benchmark: Literal["kilogram"]
    name: Literal["whole+black", "part+black", "whole+color", "part+color", "aug"]
    number: StrictInt = 0
    text: str = ""
    target: str
    part_count: StrictInt
    shown_parts: StrictInt = 0
    options: tuple[str, ...] = ()
    answer: str = ""
    unconstrained: StrictBool = False
    drawings: str = ""
