"""The form of the specs about which `sight.py` tells the truth: bodies that stand on the ground, of stated sizes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError, model_validator

from diorama.scene_specs.benchmarks.perspective.sight import CORNERS, HIGH
from diorama.scene_specs.benchmarks.perspective.truth import SCREEN
from diorama.scene_specs.language.diagnostics import option_problems
from diorama.scene_specs.language.vocabulary import SHAPES

_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Point3 = Annotated[list[_Number], Field(min_length=3, max_length=3)]


class _Standing(BaseModel):
    name: str
    size: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)]
    location: Annotated[list[_Number], Field(min_length=2, max_length=3)]

    @model_validator(mode="after")
    def _stands(self) -> _Standing:
        half = HIGH / 2 if self.name == SCREEN else self.size
        # A person in a pose is a little lower than one who looks straight ahead.
        if any(abs(z - half) > 0.01 * half for z in self.location[2:]):
            raise ValueError(f"{self.name} does not stand on the ground: its middle is at {self.location[2]:g}")
        return self


class _Object(_Standing):
    shape: Any
    color: str
    rotation_deg: _Number

    @model_validator(mode="after")
    def _known(self) -> _Object:
        if self.name == SCREEN and (self.shape, self.size) != ({"polygon": CORNERS, "height": HIGH}, 1):
            raise ValueError(f"expected the {SCREEN} that render-specs perspective writes; found another shape or size")
        if self.name != SCREEN and self.shape not in SHAPES:
            raise ValueError(f"{self.name} is no {', '.join(SHAPES[:-1])} or {SHAPES[-1]}")
        return self


class _Observer(_Standing):
    looks_at: str


class _Camera(BaseModel):
    location: _Point3
    look_at: _Point3


class _Frame(BaseModel):
    objects: list[_Object]
    observers: Annotated[list[_Observer], Field(min_length=1, max_length=1)]
    camera: _Camera
    # The geometry knows nothing of these.
    random_objects: None = None
    pointer: None = None
    views: None = None

    @model_validator(mode="after")
    def _complete(self) -> _Frame:
        if not {SCREEN, self.observers[0].looks_at} <= {item.name for item in self.objects}:
            raise ValueError(f"expected an object named {SCREEN}, and an observer who looks at an object")
        return self


class _Spec(BaseModel):
    frames: Annotated[list[_Frame], Field(min_length=1, max_length=1)]


def form_problem(data: dict[str, Any]) -> str:
    """Return the first reason why the geometry can't tell who sees what in a spec, as JSON data; "" if it can."""
    try:
        _Spec.model_validate(data)
    except ValidationError as error:
        return option_problems(error)[0]
    return ""
