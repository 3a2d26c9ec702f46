"""The truth of MALeViC items: the `task` of their specs and records."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, StrictFloat, StrictInt, model_validator

from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import SpecModel
from diorama.scene_specs.tasks.truth import TaskTruth

# Keys of a question, which scenes without one have not.
_CLAIMS = ("options", "answer", "asked", "adjective", "threshold", "distance", "vagueness")
# Beyond all sizes, in units of the canvas; painting takes memory.
_LARGEST = 200
_Vagueness = Literal["same", "different"]
_Word = Literal["big", "small", "biggest", "smallest"]
_Positive = Annotated[float, Field(strict=True, ge=0, lt=_LARGEST)]


class Described(SpecModel):
    """An object of a scene.

    Attributes:
        radius: size class.
        area: pixels on the canvas.
        row: as published, the center, of a triangle the apex.
        column: as published, the center, of a triangle the apex.
        turned: the second of two poses.
        size: its label; None for an object that is neither biggest nor smallest.
        threshold: area above which objects like it are big.
        distance: from its area to the threshold, as a share of the range of areas.
        vagueness: "different" if the mean of k would give another label.
    """

    shape: str
    color: str
    radius: StrictInt
    area: StrictInt
    row: StrictFloat
    column: StrictFloat
    turned: StrictBool
    size: _Word | None
    threshold: StrictFloat | None
    distance: StrictFloat | None
    vagueness: _Vagueness


class Caption(SpecModel):
    """A sentence that can be asked about a scene, and its false counterpart.

    Attributes:
        object: index of the object that they are about.
    """

    object: StrictInt
    true: str
    false: str


class Truth(TaskTruth):
    """The truth of an item. A scene without a question has "" and -1 in its place.

    Attributes:
        name: of the set.
        number: of the item in its split.
        world: what shows the scene: "flat" outlines, or "3d" prisms on the table.
        variant: of k: drawn for each scene ("vague"), or always its mean ("static").
        areas: of circles: as "published", or "true" to their size class.
        reference_k: mean of k.
        reference_sigma: standard deviation of k.
        rads: size classes.
        shapes: that scenes have.
        colors: that scenes have.
        question: the sentence.
        options: "yes" and "no".
        asked: index of the object in question.
        adjective: the last word but one of the sentence.
        k: places the threshold between the greatest area (0) and the least (1).
        threshold: as of the object in question, like `distance` and `vagueness`.
        objects: in the order of the frame.
        captions: all that the set can ask.
    """

    benchmark: Literal["malevic"]
    name: str
    split: str
    number: Annotated[int, Field(strict=True, ge=0)]
    world: Literal["flat", "3d"]
    variant: Literal["vague", "static"]
    areas: Literal["published", "true"]
    reference_k: _Positive = 0.29
    reference_sigma: _Positive = 0.066
    rads: tuple[Annotated[int, Field(strict=True, ge=0, lt=_LARGEST)], ...] = tuple(range(30, 121, 10))
    shapes: tuple[str, ...] = ("triangle", "circle", "square", "rectangle")
    colors: tuple[str, ...] = ("red", "blue", "yellow", "green", "white")
    question: str = ""
    options: tuple[str, ...] = ()
    answer: Literal["", "yes", "no"] = ""
    asked: Annotated[int, Field(strict=True, ge=0)] = -1
    adjective: Literal["", "big", "small", "biggest", "smallest"] = ""
    k: Annotated[float, Field(strict=True, ge=-1, le=2)]
    threshold: StrictFloat | None = None
    distance: StrictFloat | None = None
    vagueness: _Vagueness = "same"
    objects: tuple[Described, ...]
    captions: tuple[Caption, ...]

    @model_validator(mode="after")
    def _claims_of_a_question(self) -> Truth:
        stated = [key for key in _CLAIMS if key in self.model_fields_set]
        if stated and not self.question:
            raise ValueError(f"{', '.join(stated)}: stored, but there is no question")
        empty = [key for key in stated if getattr(self, key) in ("", ())]
        if missing := [key for key in _CLAIMS if self.question and (key not in stated or key in empty)]:
            raise ValueError(f"{', '.join(missing)}: missing, but there is a question")
        if self.asked >= len(self.objects):
            raise ValueError(f"asked: stored {self.asked}; there are {len(self.objects)} objects, counted from 0")
        return self

    @property
    def target(self) -> Described:
        """The object in question."""
        return self.objects[self.asked]

    @classmethod
    def of_record(cls, episode: EpisodeRecord) -> Self:
        """Return the truth of a rendered item, which has one image."""
        truth = super().of_record(episode)
        if len(episode.images) != 1:
            raise spec_error(f"a MALeViC item has one image; found {len(episode.images)}", episode=episode.episode_id)
        return truth
