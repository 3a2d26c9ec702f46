"""The truth of the episodes of `perspective`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from diorama.scene_specs.language.spec import SpecModel

TaskName = Literal["level-1", "level-2", "director", "facing"]
SCREEN = "screen"


class Truth(SpecModel):
    """The `task` of an episode. Objects are named by color and shape, such as `red sphere`.

    Attributes:
        benchmark: "perspective".
        name: of the task.
        number: of the episode in its task and split.
        person: name of the observer.
        asked: object that the question is about; of `director`, the two that the person may mean; of `facing`, none.
        of: of level-2, the object that the person looks at, from which left and right are counted.
        options: allowed answers.
        answer: one of the options.
        egocentric: the options that are right from the camera's point of view, or that it can't tell apart.
    """

    benchmark: Literal["perspective"] = "perspective"
    name: TaskName
    number: int = Field(ge=0)
    person: str
    asked: tuple[str, ...] = ()
    of: str | None = None
    options: tuple[str, ...]
    answer: str
    egocentric: tuple[str, ...]
