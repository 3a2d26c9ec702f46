"""The form of the specs about which `sight.py` tells the truth: bodies that stand on the ground, of stated sizes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from diorama.scene_specs.benchmarks.perspective.sight import CORNERS, HIGH
from diorama.scene_specs.benchmarks.perspective.truth import SCREEN
from diorama.scene_specs.language.diagnostics import option_problems
from diorama.scene_specs.language.vocabulary import SHAPES

_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_Point3 = Annotated[list[_Number], Field(min_length=3, max_length=3)]


class _Standing(BaseModel):
    name: str
    size: Annotated[_Number, Field(gt=0)]
    location: Annotated[list[_Number], Field(min_length=2, max_length=3)]


class _Object(_Standing):
    shape: Any
    color: str
    rotation_deg: _Number


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


class _Spec(BaseModel):
    frames: Annotated[list[_Frame], Field(min_length=1, max_length=1)]


def form_problem(data: dict[str, Any]) -> str:
    """Return the first reason why the geometry can't tell who sees what in a spec, as JSON data; "" if it can."""
    try:
        (frame,) = _Spec.model_validate(data).frames
    except ValidationError as error:
        return option_problems(error)[0]
    screens = [(item.shape, item.size) for item in frame.objects if item.name == SCREEN]
    if screens != [({"polygon": CORNERS, "height": HIGH}, 1)]:
        return f"expected one object {SCREEN}, of the shape and size that render-specs perspective writes"
    for item in frame.objects:
        if item.name != SCREEN and item.shape not in SHAPES:
            return f"{item.name}: expected one of the shapes {', '.join(SHAPES)}; found {item.shape}"
    for body in (*frame.objects, *frame.observers):
        half = HIGH / 2 if body.name == SCREEN else body.size
        # A person in a pose is a little lower than one who looks straight ahead.
        if any(abs(z - half) > 0.01 * half for z in body.location[2:]):
            return f"{body.name} does not stand on the ground: expected z = {half:g}; found {body.location[2]:g}"
    return ""
