"""KiloGram: tangrams, their descriptions by parts, and reference games (Ji et al., EMNLP 2022)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import model_validator

from scene_specs.language.benchmark import Command, Seed, argument, option

_ANNOTATIONS = "Annotations as published; repeatable."
_SPLITS = "JSON {split: [tangram, ...]} [default: sampled from the seed]."


class Options(Command):
    """Generate KiloGram reference games, one per line.

    A game shows ten tangrams and describes one of them. The four conditions have the same games; `aug` shows subsets of
    the parts. Normalized descriptions differ in more than case, articles and typos. `render-export --format kilogram`
    writes the published layout.

    Examples:
      render-specs kilogram --condition whole+black --out specs.jsonl
      render-specs kilogram --pictures --split dense --world 3d --out specs.jsonl
    """

    pictures: bool = option(False, "Generate single images, one episode per description, not games.", group="Games")
    condition: Literal["whole+black", "part+black", "whole+color", "part+color", "aug", "four"] = option(
        "four", "What is described and colored; four: all of these."
    )
    targets: Literal["one", "all"] = option("one", "Games for one sampled description per tangram, or for all.")
    contexts: int = option(10, "Games per target.", ge=1, le=1000)
    distinct: Literal["raw", "normalized"] = option(
        "raw", "Descriptions in a game differ as written, or also when normalized."
    )
    svg: Path | None = option(None, "Drawings <tangram>.svg [default: packaged].", path="folder", group="Drawings")
    annotations: tuple[Path, ...] = option((), _ANNOTATIONS, path="file")
    splits: Path | None = option(None, _SPLITS, path="file")
    strict: bool = option(False, "Treat every problem in these files as an error.")
    world: Literal["2d", "3d"] = option("2d", "Flat pieces, or wooden pieces on CLEVR's table.", group="Images")
    size: int = option(224, "Width and height of images in pixels (2d).", ge=16, le=4096, metavar="PIXELS")
    border: float = option(1.0, "White line between pieces in pixels (2d).", ge=0, le=50, metavar="PIXELS")
    margin: float = option(0.0, "White margin of the figure in pixels (2d).", ge=0, le=1000, metavar="PIXELS")
    sharp: bool = option(False, "Turn antialiasing off: only piece colors and white (2d).")
    seed: Seed = 0
    split: Literal["train", "val", "dev", "heldout", "dense", "all"] = option("dev", "Split to generate.")

    @model_validator(mode="after")
    def _check(self) -> Options:
        if 2 * self.margin > self.size - 8:
            raise ValueError("--margin leaves less than 8 pixels of the image")
        if self.svg is None and (self.annotations or self.splits):
            raise ValueError("--annotations and --splits are for your own drawings; give --svg DIR too")
        if self.svg is not None and not self.annotations:
            raise ValueError("--svg needs --annotations FILE, with descriptions of the drawings")
        return self


class Tangrams(Command, run="variety:write_tangrams", writes=()):
    """Draw random tangrams as SVG files.

    Seven pieces are laid exactly edge to edge, and no two tangrams are alike. The drawings have no descriptions, and
    `render-specs kilogram --svg` needs one for each.

    Examples:
      render-specs kilogram tangrams --count 100 --out tangrams
      render-specs kilogram tangrams --count 100 --symmetric 1 --out tangrams
    """

    count: int = option(..., "Number of tangrams.", ge=1, le=100_000, group="Sampling")
    seed: Seed = 0
    corners: float = option(0.1, "Share of pieces that touch others only at a corner.", ge=0, le=1, group="Contents")
    symmetric: float = option(0.5, "Share of tangrams with symmetric pairs of pieces.", ge=0, le=1)
    alike: float = option(0.7, "Maximum overlap of two silhouettes, as a share of 1.", ge=0, le=1)
    out: Path = option(..., "Folder for one SVG file per tangram.", metavar="DIR", group="Output")


class Drawings(Command, run="dataset:check_drawings", writes=("json", "out")):
    """Check the tangram drawings of DIR, and their annotations.

    Measures each <tangram>.svg: areas and angles of the seven pieces, overlaps, gaps, margins of the view box.

    Examples:
      render-specs kilogram drawings tangrams
      render-specs kilogram drawings tangrams --annotations told.json --strict
    """

    folder: Path = argument(path="folder")
    annotations: tuple[Path, ...] = option((), _ANNOTATIONS, path="file")
    splits: Path | None = option(None, _SPLITS, path="file")
    strict: bool = option(False, "Exit with code 2 if there are errors.")

    @model_validator(mode="after")
    def _check(self) -> Drawings:
        if self.splits is not None and not self.annotations:
            raise ValueError("--splits is checked against descriptions; give --annotations too")
        return self


class Naming(Command, run="measures:naming", writes=("json", "out")):
    """Measure naming agreement on each tangram.

    FILES are annotation files [default: the packaged annotations]. Reports shape and part naming divergence (SND and
    PND, from 0 for full agreement to 1) and part segmentation agreement (PSA, from 1 to 7). Tangrams with a single
    description are left out.

    Examples:
      render-specs kilogram naming
      render-specs kilogram naming annotations.json --json --out naming.json
    """

    files: tuple[Path, ...] = argument(default=(), path="file", metavar="[FILES]...")


COMMANDS = (Tangrams, Drawings, Naming)
