"""The benchmark `views`: many views of each model, with camera matrices in every record.

It is not in `scene_specs` because it reads the library of models.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from scene_specs.language.benchmark import Command, Seed


class Options(Command):
    """Generate episodes with many views of each model.

    Writes one episode per model, for `render-batch`. MODELS: a category (chairs, 03001627), a model (chairs/#3,
    03001627/<id>), or all. All models are read first; if one can't be read, the command reports its file and writes
    nothing.
    """

    models: tuple[str, ...] = Field((), json_schema_extra={"argument": True})
    listed: Path | None = Field(
        None,
        description="File with more MODELS, one per line.",
        json_schema_extra={"option": "--list", "path": "file", "metavar": "FILE"},
    )
    count: int = Field(24, ge=1, le=100, description="Views per model.", json_schema_extra={"option": "--views"})
    yaw: Literal["even", "random"] = Field(
        "even", description="Place cameras around the model in even steps, or at random."
    )
    start: float = Field(
        0.0, description="First yaw in degrees; 0 faces the front.", json_schema_extra={"metavar": "DEG"}
    )
    elevation: tuple[float, float] = Field(
        (20.0, 20.0), description="Elevation in degrees.", json_schema_extra={"metavar": "DEG|MIN:MAX"}
    )
    distance: float | None = Field(
        None, description="Camera distance; a model's longest side is 2 [default: --framing]."
    )
    framing: float | None = Field(None, description="Share of the image that the model fills [default: the stage's].")
    background: tuple[int, int, int] | None = Field(None, description="8-bit sRGB [default: the stage's].")
    stage: str = Field("studio", description="Stage of the scenes.", json_schema_extra={"metavar": "NAME"})
    color: str | None = Field(
        None,
        description="Color of the palette [default: the model's own colors].",
        json_schema_extra={"metavar": "NAME"},
    )
    material: str | None = Field(
        None, description="Material [default: the model's own].", json_schema_extra={"metavar": "NAME"}
    )
    limit: int | None = Field(None, ge=0, description="Maximum number of models [default: all].")
    seed: Seed = 0
    skip_broken: bool = Field(False, description="Leave out models that can't be read, with a warning for each.")
    shapenet: Path | None = Field(
        None,
        description="Root of ShapeNetCore [default: $DIORAMA_SHAPENET, assets.toml, or the 64 packaged models].",
        json_schema_extra={"metavar": "DIR", "path": "folder", "environment": "DIORAMA_SHAPENET"},
    )
