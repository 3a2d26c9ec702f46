"""The benchmark `views`: many views of each model, with camera matrices in every record."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

from pydantic import model_validator

from diorama.scene_specs.tasks.benchmark import Command, Seed, argument, option

# As in diorama.scene_specs.model.spec.CameraSpec.
MAX_DISTANCE, MAX_FRAMING = 1e4, 10.0


class Options(Command):
    """Generate episodes with many views of each 3D model.

    The command writes one episode per model; `render-batch` renders the episodes. Each of MODELS is a category by name
    or ShapeNet number (chairs, 03001627), a single model (chairs/#3, the third of its category, or 03001627/<id>), or
    the word `all`. The command reads all models first. If a model can't be read, the command reports the file and
    writes nothing.

    Examples:
      render-specs views chairs --limit 10 --out specs.jsonl
      render-specs views all --views 8 --elevation 10:40 --out specs.jsonl
    """

    models: tuple[str, ...] = argument(default=())
    listed: Path | None = option(
        None, "File with additional MODELS, one per line.", path="file", name="--list", group="Models"
    )
    limit: int | None = option(None, "Maximum number of models.  [default: all]", ge=0)
    skip_broken: bool = option(False, "Leave out models that can't be read, with a warning for each.")
    shapenet: Path | None = option(
        None,
        "Root folder of ShapeNetCore.  [default: $DIORAMA_SHAPENET, or `root` in the section [shapenet] of "
        "./assets.toml or ~/.config/diorama/assets.toml, or else the 64 packaged models]",
        path="folder",
        environment="DIORAMA_SHAPENET",
    )
    count: int = option(24, "Views per model.", ge=1, le=100, name="--views", group="Cameras")
    yaw: Literal["even", "random"] = option("even", "Place cameras around the model in even steps or at random.")
    start: float = option(0.0, "Yaw of the first camera in degrees; 0 shows the front.", metavar="DEG", leaves="0.3")
    elevation: tuple[float, float] = option(
        (20.0, 20.0),
        "Elevation of the cameras in degrees. With MIN:MAX, the elevations rise from MIN to MAX in even steps, or are "
        "random with --yaw random.",
        metavar="DEG|MIN:MAX",
    )
    distance: float | None = option(
        None,
        "Distance of the cameras from the model in Blender units. A model fits a sphere of radius 1.  "
        "[default: set by --framing]",
        metavar="LENGTH",
    )
    framing: float | None = option(
        None,
        "Fraction of the image's shorter side that a sphere around the model fills, instead of --distance.  "
        "[default: the stage's value]",
        metavar="FRACTION",
    )
    background: tuple[int, int, int] | None = option(
        None, "Background color, 8-bit sRGB.  [default: the stage's color]", group="Images"
    )
    stage: str = option(
        "studio", "Stage: the ground, lights and camera of the scenes; see docs/spec.md.", metavar="NAME", leaves="0.3"
    )
    color: str | None = option(
        None, "Name of a palette color, such as red.  [default: the model's own colors]", metavar="NAME", leaves="0.3"
    )
    material: str | None = option(
        None, "Name of a material, such as metal.  [default: the model's own]", metavar="NAME", leaves="0.3"
    )
    seed: Seed = 0

    @model_validator(mode="after")
    def _check(self) -> Options:
        low, high = self.elevation
        if not -90 <= low <= high <= 90:
            raise ValueError(f"found elevations from {low:g} to {high:g}; allowed: -90 to 90, least first")
        if not math.isfinite(self.start):
            raise ValueError(f"found first yaw {self.start:g}; expected degrees")
        if self.distance is not None and not 0 < self.distance <= MAX_DISTANCE:
            raise ValueError(f"found distance {self.distance:g}; allowed: above 0, at most {MAX_DISTANCE:g}")
        if self.framing is not None and not 0 < self.framing <= MAX_FRAMING:
            raise ValueError(f"found framing {self.framing:g}; allowed: above 0, at most {MAX_FRAMING:g}")
        if self.distance is not None and self.framing is not None:
            raise ValueError("found both a distance and a framing; allowed: one of them")
        return self
