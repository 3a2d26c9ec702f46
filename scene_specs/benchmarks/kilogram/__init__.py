"""KiloGram: tangrams, their descriptions by parts, and reference games (Ji et al., EMNLP 2022)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import model_validator

from scene_specs.language.benchmark import Command, Seed, argument, option

_ANNOTATIONS = "JSON file of descriptions, in the format of the published KiloGram data; repeatable."


class Options(Command):
    """Generate KiloGram reference games, one per line.

    A game shows ten tangrams and a description of one of them. `--condition four` writes each game in four conditions:
    whole+black, part+black, whole+color and part+color. `--condition aug` writes other games, in which text and colors
    cover only some of the parts. `--distinct normalized` treats descriptions as equal if they differ only in case,
    article, punctuation, or one typo in a word of five letters or more. `render-export --format kilogram` exports
    rendered games in the format of the published data.

    Examples:
      render-specs kilogram --condition whole+black --out specs.jsonl
      render-specs kilogram --pictures --split train --world 3d --out specs.jsonl
    """

    pictures: bool = option(
        False, "Generate single images instead of games, one episode per description.", group="Games"
    )
    condition: Literal["whole+black", "part+black", "whole+color", "part+color", "aug", "four"] = option(
        "four", "Text (whole, or whole and parts) and colors (all black, or a color per part); `four`: the first four."
    )
    targets: Literal["one", "all"] = option(
        "one", "Describe each tangram once, with a sampled description, or once with each of its descriptions."
    )
    contexts: int = option(
        10,
        "Games per description, with different distractors. With --condition aug: for each number of shown parts.",
        ge=1,
        le=1000,
    )
    distinct: Literal["raw", "normalized"] = option(
        "raw", "All descriptions in a game differ: as written (raw), or also after normalization (normalized)."
    )
    svg: Path | None = option(
        None,
        "Folder of drawings <tangram>.svg; needs --annotations.  [default: the packaged drawings]",
        path="folder",
        group="Drawings",
    )
    annotations: tuple[Path, ...] = option((), _ANNOTATIONS, path="file")
    splits: Path | None = option(
        None, "JSON file {split: [tangram, ...]}.  [default: split at random with --seed]", path="file"
    )
    strict: bool = option(False, "Treat every problem in these files as an error.")
    world: Literal["2d", "3d"] = option("2d", "Flat pieces, or wooden pieces on the stage `clevr`.", group="Images")
    size: int = option(224, "Width and height of images in pixels (2d only).", ge=16, le=4096, metavar="PIXELS")
    border: float = option(
        1.0, "Width of the white line between pieces in pixels (2d only).", ge=0, le=50, metavar="PIXELS"
    )
    margin: float = option(0.0, "White margin around the figure in pixels (2d only).", ge=0, le=1000, metavar="PIXELS")
    sharp: bool = option(False, "Turn antialiasing off, so that pixels have only piece colors and white (2d only).")
    seed: Seed = 0
    split: Literal["train", "val", "dev", "heldout", "dense", "all"] = option(
        "dev", "Split to generate. val shares tangrams with train. The packaged drawings have no dense."
    )

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

    The seven pieces of a tangram never overlap, and each touches another along an edge or at a corner (--corners). Any
    two silhouettes overlap by at most --alike, even if one is reflected or rotated by 90 degrees.

    The drawings have no descriptions. To use them with `render-specs kilogram --svg`, write a description of each into
    a file for --annotations.

    Examples:
      render-specs kilogram tangrams --count 100 --out tangrams
      render-specs kilogram tangrams --count 100 --symmetric 1 --out tangrams
    """

    count: int = option(..., "Number of tangrams.", ge=1, le=100_000, group="Sampling")
    seed: Seed = 0
    corners: float = option(
        0.1, "Fraction of pieces that are attached only at a corner.", ge=0, le=1, metavar="FRACTION", group="Contents"
    )
    symmetric: float = option(
        0.5, "Fraction of tangrams with symmetric pairs of pieces.", ge=0, le=1, metavar="FRACTION"
    )
    alike: float = option(
        0.7, "Maximum intersection over union of two silhouettes, from 0 to 1.", ge=0, le=1, metavar="FRACTION"
    )
    out: Path = option(..., "Folder for one SVG file per tangram.", metavar="DIR", group="Output")


class Drawings(Command, run="dataset:check_drawings", writes=("json", "out")):
    """Check tangram drawings and their descriptions.

    DIR has one file <tangram>.svg per drawing. The command measures the areas and angles of the seven pieces, their
    overlaps, the gaps between them, and the distance from the figure to the view box. It reports what deviates from a
    tangram.

    Examples:
      render-specs kilogram drawings tangrams
      render-specs kilogram drawings tangrams --annotations texts.json --strict
    """

    folder: Path = argument(path="folder")
    annotations: tuple[Path, ...] = option((), _ANNOTATIONS, path="file")
    splits: Path | None = option(
        None,
        "Also check this JSON file {split: [tangram, ...]}; needs --annotations.  [default: check no splits]",
        path="file",
    )
    strict: bool = option(False, "Exit with code 2 instead of 0 if there are errors.")

    @model_validator(mode="after")
    def _check(self) -> Drawings:
        if self.splits is not None and not self.annotations:
            raise ValueError("--splits is checked against descriptions; give --annotations too")
        return self


class Naming(Command, run="measures:naming", writes=("json", "out")):
    """Measure naming agreement on each tangram.

    FILES are annotation files [default: the packaged annotations]. The command reports shape naming divergence (SND),
    part naming divergence (PND) and part segmentation agreement (PSA). SND and PND are 0 if all descriptions use the
    same words and 1 if no two share a word. PSA ranges from 1 to 7 (the number of pieces); at 7,
    all descriptions divide the tangram into the same parts. Tangrams with a single description are left out.

    Examples:
      render-specs kilogram naming
      render-specs kilogram naming annotations.json --json --out naming.json
    """

    files: tuple[Path, ...] = argument(default=(), path="file", metavar="[FILES]...")


COMMANDS = (Tangrams, Drawings, Naming)
