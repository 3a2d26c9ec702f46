"""The truth of MEWL episodes: the `task` of their specs and records."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt, model_validator

from diorama.scene_specs.benchmarks.mewl import TaskName
from diorama.scene_specs.benchmarks.mewl.copies import Info
from diorama.scene_specs.benchmarks.mewl.draft import VALUES, Object
from diorama.scene_specs.tasks.truth import TaskTruth

# What a word stands for: an attribute's value or a relation, a count, an object; None is something that is not shown.
Meaning = str | int | Object | None
# The published tasks have five.
MOST_OPTIONS = 50
_Option = Annotated[str, Field(min_length=1)]


class Truth(TaskTruth):
    """The truth of an episode.

    Attributes:
        name: of the task.
        number: of the episode in its task and split.
        words: word -> meaning.
        options: names for the query, one of which is right.
        answer: one of the options.
        types: of shape, color, material and composite, the attribute that each word of an option names.
        lexicon: the same as `words`, of imported episodes.
        info: of imported episodes.
        shapes: those that stand for CLEVR's cube, sphere and cylinder.
    """

    benchmark: Literal["mewl"]
    name: TaskName
    number: StrictInt = 0
    words: dict[str, Meaning] | None = None
    options: Annotated[tuple[_Option, ...], Field(min_length=1, max_length=MOST_OPTIONS)]
    answer: str
    types: tuple[str, ...] = ()
    lexicon: dict[str, Meaning] | None = None
    info: Info | None = None
    shapes: tuple[str, ...] = VALUES["shape"]

    @model_validator(mode="after")
    def _names_objects(self) -> Truth:
        for word, meaning in self.meanings.items() if self.name in ("object", "bootstrap") else ():
            if not isinstance(meaning, tuple):
                raise ValueError(f"{word!r}: found {meaning!r}; allowed: an object, [shape, color, material, size]")
        return self

    @property
    def meanings(self) -> dict[str, Meaning]:
        """The stored map from words to meanings; {} if there is none."""
        return self.words or self.lexicon or {}

    @property
    def as_clevr(self) -> dict[str, str]:
        """Shape of the episode -> the one of CLEVR that it stands for."""
        return dict(zip(self.shapes, VALUES["shape"], strict=False))
