"""The truth of ICCA contexts: the `task` of their specs and records."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from diorama.scene_specs.benchmarks.icca.layout import GraphData
from diorama.scene_specs.model.spec import SpecModel
from diorama.scene_specs.tasks.truth import TaskTruth


class Part(SpecModel):
    """A part of a tangram and its pieces, numbers from 1 to 7."""

    name: str
    pieces: tuple[StrictInt, ...]


class Shown(TaskTruth):
    """The `truth` of a frame: what the image shows; of a tangram also its name and annotation.

    Attributes:
        whole: name of the whole tangram.
        parts: all parts of the tangram, also those whose pieces are black.
    """

    picture: GraphData
    tangram: str | None = None
    annotation: StrictInt | None = None
    whole: str | None = None
    parts: tuple[Part, ...] = ()


class Expression(SpecModel):
    """A referring expression for an image.

    Attributes:
        length: number of values and relations that it mentions.
        says: what it mentions.
    """

    text: str
    length: StrictInt
    says: GraphData


class Description(SpecModel):
    """The expressions for an image.

    Attributes:
        full_brevity: a shortest one.
        incremental: that of the incremental algorithm.
        single: values that identify the image alone.
    """

    full_brevity: Expression
    incremental: Expression
    single: tuple[str, ...]


class Difference(SpecModel):
    """How much the images differ.

    Attributes:
        values: number of attributes and relations in each image.
        differences: those that differ in each pair, "0-1" and so on.
    """

    values: StrictInt
    differences: dict[str, StrictInt]


class Truth(TaskTruth):
    """The truth of a context.

    Attributes:
        name: difficulty.
        source: of the images.
        vary: what the images differ in.
        number: of the context of its source and difficulty.
        options: names of the images.
        layout: "shared" if no image can be told apart by where its objects are.
        descriptions: in the order of the images.
    """

    benchmark: Literal["icca"]
    name: Literal["easy", "medium", "hard"]
    source: str
    vary: Literal["attributes", "relations", "parts"]
    number: StrictInt = 0
    options: tuple[str, ...] = ()
    layout: str | None = None
    similarity: Difference
    descriptions: Annotated[tuple[Description, ...], Field(min_length=4, max_length=4)]
