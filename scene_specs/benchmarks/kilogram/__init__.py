"""KiloGram: tangrams, their descriptions by parts, and reference games (Ji et al., EMNLP 2022)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from scene_specs.language.benchmark import Command, Seed

_Annotations = Annotated[
    tuple[Path, ...],
    Field(description="Annotations as published; repeatable.", json_schema_extra={"path": "file", "metavar": "FILE"}),
]
_Splits = Annotated[
    Path | None,
    Field(
        description="JSON {split: [tangram, ...]} [default: sampled from the seed].",
        json_schema_extra={"path": "file", "metavar": "FILE"},
    ),
]


class Options(Command):
    """Generate KiloGram reference games, one per line.

    A game shows ten tangrams and describes one of them. The four conditions have the same games; `aug` shows subsets of
    the parts. Normalized descriptions differ in more than case, articles and typos. `render-export --format kilogram`
    writes the published layout.
    """

    pictures: bool = Field(False, description="Generate single images, one episode per description, not games.")
    condition: Literal["whole+black", "part+black", "whole+color", "part+color", "aug", "four"] = Field(
        "four", description="What is described and colored; four: all of these."
    )
    split: Literal["train", "val", "dev", "heldout", "dense", "all"] = Field("dev", description="Split to generate.")
    targets: Literal["one", "all"] = Field(
        "one", description="Games for one sampled description per tangram, or for all."
    )
    contexts: int = Field(10, ge=1, le=1000, description="Games per target.")
    distinct: Literal["raw", "normalized"] = Field(
        "raw", description="Descriptions in a game differ as written, or also when normalized."
    )
    svg: Path | None = Field(
        None,
        description="Drawings <tangram>.svg [default: packaged tangrams].",
        json_schema_extra={"path": "folder", "metavar": "DIR"},
    )
    annotations: _Annotations = ()
    splits: _Splits = None
    strict: bool = Field(False, description="Treat every problem in these files as an error.")
    world: Literal["2d", "3d"] = Field("2d", description="Flat pieces, or wooden pieces on CLEVR's table.")
    size: int = Field(224, ge=16, le=4096, description="Width and height of images in pixels (2d).")
    border: float = Field(1.0, ge=0, le=50, description="White line between pieces in pixels (2d).")
    margin: float = Field(0.0, ge=0, le=1000, description="White margin of the figure in pixels (2d).")
    sharp: bool = Field(False, description="Turn antialiasing off: only piece colors and white (2d).")
    seed: Seed = 0

    @model_validator(mode="after")
    def _check(self) -> Options:
        if 2 * self.margin > self.size - 8:
            raise ValueError("--margin leaves less than 8 pixels of the image")
        if self.svg is None and (self.annotations or self.splits):
            raise ValueError("--annotations and --splits are for your own drawings; give --svg DIR too")
        if self.svg is not None and not self.annotations:
            raise ValueError("--svg needs --annotations FILE, with descriptions of the drawings")
        return self


class Tangrams(Command):
    """Draw random tangrams as SVG files.

    Seven pieces are laid exactly edge to edge, and no two tangrams are alike. The drawings have no descriptions, and
    `render-specs kilogram --svg` needs one for each.
    """

    run: ClassVar[str] = "variety:write_tangrams"
    writes: ClassVar[tuple[str, ...]] = ()

    count: int = Field(ge=1, le=100_000, description="Number of tangrams.")
    corners: float = Field(0.1, ge=0, le=1, description="Share of pieces that touch others only at a corner.")
    symmetric: float = Field(0.5, ge=0, le=1, description="Share of tangrams with symmetric pairs of pieces.")
    alike: float = Field(0.7, ge=0, le=1, description="Maximum overlap of two silhouettes, as a share of 1.")
    seed: Seed = 0
    out: Path = Field(description="Folder for one SVG file per tangram.", json_schema_extra={"metavar": "DIR"})


class Drawings(Command):
    """Check the tangram drawings of DIR, and their annotations.

    Measures each <tangram>.svg: areas and angles of the seven pieces, overlaps, gaps, margins of the view box.
    """

    run: ClassVar[str] = "dataset:check_drawings"
    writes: ClassVar[tuple[str, ...]] = ("json", "out")

    folder: Path = Field(json_schema_extra={"argument": True, "path": "folder", "metavar": "DIR"})
    annotations: _Annotations = ()
    splits: _Splits = None
    strict: bool = Field(False, description="Exit with code 2 if there are errors.")

    @model_validator(mode="after")
    def _check(self) -> Drawings:
        if self.splits is not None and not self.annotations:
            raise ValueError("--splits is checked against descriptions; give --annotations too")
        return self


class Naming(Command):
    """Measure naming agreement on each tangram.

    FILES are annotation files [default: the packaged annotations]. Reports shape and part naming divergence (SND and
    PND, from 0 for full agreement to 1) and part segmentation agreement (PSA, from 1 to 7). Tangrams with a single
    description are left out.
    """

    run: ClassVar[str] = "measures:naming"
    writes: ClassVar[tuple[str, ...]] = ("json", "out")

    files: tuple[Path, ...] = Field((), json_schema_extra={"argument": True, "path": "file", "metavar": "[FILES]..."})


COMMANDS = (Tangrams, Drawings, Naming)
