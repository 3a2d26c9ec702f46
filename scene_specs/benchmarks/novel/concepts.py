"""Concepts of the benchmark and the truth of its episodes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from diorama.scene_specs.model.spec import SpecModel
from diorama.scene_specs.tasks.truth import TaskTruth

Role = Literal["member", "known", "new", "near", "far", "color", "texture", "size"]
TaskName = Literal["generalization", "shape-bias", "mutual-exclusivity", "few-exemplars"]


class Exemplar(SpecModel):
    """An image that shows what a word means.

    Attributes:
        frame: name of the frame.
        word: said of its object.
    """

    frame: str
    word: str


class Choice(SpecModel):
    """An image that the question asks about.

    Attributes:
        frame: name of the frame; its last letter, in upper case, is the option.
        role: `member` of the asked concept; `known`, of the word with exemplars; `new`, of no word so far; `near` and
            `far`, no members; or what a wrong choice shares with an exemplar.
        distance: chamfer distance to the nearest exemplar of any word (2 is the height of a CLEVR shape).
    """

    frame: str
    role: Role
    distance: float


class Truth(TaskTruth):
    """The `task` of an episode.

    Attributes:
        benchmark: "novel".
        name: of the task.
        number: of the episode in its task and split.
        words: word -> the shape at the center of its concept; the words of a split are of no other split.
        exemplars: in the order of the images.
        axis: along which concepts or near misses differ; None if they differ in more.
        step: distance of the query from the middle between two concepts, or of a near miss from the concept, in
            positions on the axis; None where nothing is graded.
        asked: word that the question is about; None if the question is which word is right.
        choices: the images to choose from, or the query alone.
        options: allowed answers.
        answer: one of the options.
    """

    benchmark: Literal["novel"] = "novel"
    name: TaskName
    number: int = Field(ge=0)
    words: dict[str, str]
    exemplars: tuple[Exemplar, ...] = Field(min_length=1)
    axis: str | None = None
    step: float | None = None
    asked: str | None = None
    choices: tuple[Choice, ...] = Field(min_length=1)
    options: tuple[str, ...]
    answer: str
