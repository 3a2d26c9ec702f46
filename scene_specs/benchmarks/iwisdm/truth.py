"""The truth of iWISDM trials: the `task` of their specs and records."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, model_validator

from diorama.scene_specs.benchmarks.iwisdm.task_graph import Expression
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.model.spec import SpecModel
from diorama.scene_specs.tasks.truth import TaskTruth

Property = Literal["location", "category", "identity", "view_angle"]


class Node(SpecModel):
    """An operator of a task's graph, or a constant.

    Attributes:
        name: of the operator; "Select" looks at an object, "CONST" is a constant.
        frame: of a Select, from 0.
        property: of a constant.
        value: of a constant.
        child: operands.
    """

    name: str
    frame: StrictInt | None = None
    property: Property | None = None
    value: str | None = None
    child: tuple[Node, ...]

    @model_validator(mode="after")
    def _check_fields(self) -> Node:
        stated = [key for key in ("frame", "property", "value") if getattr(self, key) is not None]
        if stated != {"Select": ["frame"], "CONST": ["property", "value"]}.get(self.name, []):
            raise ValueError(f"{self.name}: found {stated}; allowed: frame of a Select, property and value of a CONST")
        return self

    def selects(self) -> bool:
        """Whether it looks at an object."""
        return self.name == "Select" or any(child.selects() for child in self.child)

    def expression(self) -> Expression:
        """Return the node as an expression of task_graph.py."""
        return Expression(
            self.name, tuple(child.expression() for child in self.child), self.frame, self.property, self.value
        )


class Question(SpecModel):
    """A question of a trial.

    Attributes:
        answer_frame: frame in which the answer is due, from 0.
        answer: in words, such as "true" or "top left".
        operator: root of its graph.
    """

    answer_frame: StrictInt
    answer: str
    operator: Node

    @model_validator(mode="after")
    def _about_objects(self) -> Question:
        if not self.operator.selects():
            raise ValueError("found no Select; expected a question about an object")
        return self


class Placed(SpecModel):
    """An object in a frame of a trial.

    Attributes:
        number: its number in the instruction.
        frame: from 0.
        location: quadrant, such as "top left".
        category: index in `categories` of the trial.
        object: index in `models` of the trial.
        view_angle: side that it shows.
        is_distractor: whether no question is about it.
        asked: number of a question -> properties that the question uses.
    """

    number: StrictInt
    frame: Annotated[int, Field(strict=True, ge=0)]
    location: str
    category: StrictInt
    object: StrictInt
    view_angle: str
    is_distractor: StrictBool
    asked: dict[str, tuple[Property, ...]]


class Truth(TaskTruth):
    """The truth of a trial. The tables of one without `objects` are empty, too; only its answers can be verified.

    Attributes:
        name: of the benchmark's level, or of the task.
        number: of the trial in its set.
        task: number of the trial's task in its set.
        answers: one per frame, "null" where none is due; several are joined by "; ".
        questions: of an imported trial none, or the one that its task file has.
        objects: of all frames, in their order.
        categories: words for categories.
        models: identities, `<category>/<model>`.
    """

    benchmark: Literal["iwisdm"]
    name: str = ""
    number: StrictInt = 0
    task: StrictInt = 0
    instruction: str
    answers: tuple[str, ...]
    questions: tuple[Question, ...] = ()
    objects: tuple[Placed, ...] = ()
    categories: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _refers_to_its_tables(self) -> Truth:
        missing = [key for key in CompleteTruth.__annotations__ if key not in self.model_fields_set]
        if missing and self.has_objects:
            raise ValueError(f"required key {preview_json(missing[0])} is missing beside the objects")
        for number, item in enumerate(self.objects):
            for name, table in (("category", self.categories), ("object", self.models)):
                if not 0 <= getattr(item, name) < len(table):
                    problem = f"found {getattr(item, name)}; there are {len(table)}, counted from 0"
                    raise ValueError(f"objects[{number}].{name}: {problem}")
        return self

    @property
    def has_objects(self) -> bool:
        """Whether it has its objects."""
        return "objects" in self.model_fields_set


class CompleteTruth(Truth):
    """The truth of a trial that has its objects, and what these refer to."""

    questions: tuple[Question, ...]
    objects: tuple[Placed, ...]
    categories: tuple[str, ...]
    models: tuple[str, ...]
