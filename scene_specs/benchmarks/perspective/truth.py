"""The truth of the episodes of `perspective`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from diorama.scene_specs.tasks.truth import TaskTruth

TaskName = Literal["level-1", "level-2", "second-view", "director", "facing", "shelf"]
SCREEN = "screen"
_ASKED: dict[TaskName, int] = {"level-1": 1, "level-2": 1, "second-view": 2, "director": 2, "facing": 0, "shelf": 3}


class Truth(TaskTruth):
    """The `task` of an episode. Objects are named by color and shape, such as `red sphere`.

    Attributes:
        benchmark: "perspective".
        name: of the task.
        number: of the episode in its task and split.
        person: name of the observer.
        asked: object that the question is about; of `second-view`, the one that is left or right of the
            other; of `director` and `shelf`, all objects of the shape that is named; of `facing`, none.
        which: of `shelf`, which one the person means, of those that it sees.
        of: of level-2, the object that the person looks at, from which left and right are counted.
        options: allowed answers.
        answer: one of the options.
        egocentric: the options that are right from the camera's point of view, or that it can't tell apart.
    """

    benchmark: Literal["perspective"] = "perspective"
    name: TaskName
    number: Annotated[int, Field(ge=0, strict=True)]
    person: str
    asked: tuple[str, ...] = ()
    which: Literal["smallest", "largest"] | None = None
    of: str | None = None
    options: tuple[str, ...]
    answer: str
    egocentric: tuple[str, ...]

    @model_validator(mode="after")
    def _check_asked(self) -> Truth:
        if not len(self.asked) == len({*self.asked}) == _ASKED[self.name]:
            listed = ", ".join(self.asked) or "none"
            raise ValueError(f"asked: expected different objects, {_ASKED[self.name]} for {self.name}; found {listed}")
        if (self.which is None) == (self.name == "shelf"):
            raise ValueError(f"which: expected smallest or largest for shelf only; found {self.which or 'none'}")
        return self

    @property
    def is_photographed(self) -> bool:
        """Whether the second image is what the person photographs."""
        return self.name == "second-view"
