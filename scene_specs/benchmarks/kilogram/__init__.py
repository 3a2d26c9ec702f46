"""KiloGram: tangrams, their descriptions by parts, and reference games (Ji et al., EMNLP 2022)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import model_validator

from diorama.scene_specs.tasks.benchmark import Command, Seed, argument, option

_ANNOTATIONS = "JSON file of descriptions, in the format of the published KiloGram data; repeatable."
_SPLITS = (
    "JSON file {split: [tangram, ...]}, such as the published data_split.json, or the published val.py, which lists "
    "the validation data and is read, but never run; repeatable."
)


class Options(Command):
    """Generate KiloGram reference games, one per line.

    A reference game shows ten tangrams and a description of one of them, the target. The other nine tangrams are
    distractors. A tangram has seven pieces. A description names the whole tangram, such as "a bird", and its parts,
    such as "a wing"; a part has one or more pieces.

    Values of --condition: whole+black, part+black, whole+color and part+color combine a text with colors. whole: the
    text names the whole. part: the text names the whole and its parts. black: all pieces are black. color: each part
    has a color of its own. four: each game in all four of these conditions. aug: other games, in which only some of the
    parts are named and colored.

    `render-export --format kilogram` exports rendered games in the format of the published data.

    Examples:
      render-specs kilogram --condition whole+black --out specs.jsonl
      render-specs kilogram --pictures --split train --world 3d --out specs.jsonl
    """

    pictures: bool = option(
        False, "Generate single images instead of games, one episode per description.", group="Games"
    )
    condition: Literal["whole+black", "part+black", "whole+color", "part+color", "aug", "four"] = option(
        "four", "What the text names, and the colors of the pieces; see above."
    )
    targets: Literal["one", "all", "subsets"] = option(
        "one",
        "Which descriptions to make games for: one of each tangram, chosen at random, or all. subsets (--condition aug "
        "only): every subset of the parts of every description, as in the published analysis by parts.",
    )
    contexts: int = option(
        10,
        "Number of games per description, each with other distractors. With --condition aug: number of games for each "
        "description and each number or subset of named parts. The packaged data gives 1,360 episodes by default.",
        ge=1,
        le=1000,
    )
    context_size: int = option(10, "Number of tangrams in a game.", ge=2, le=100)
    unconstrained: bool = option(
        False,
        "Choose distractors at random, as the published random contexts do: the tangrams of a game may have different "
        "numbers of parts and equal names.",
    )
    distinct: Literal["raw", "normalized"] = option(
        "raw",
        "How the names of the ten whole tangrams in a game must differ. raw: no two names are written alike. "
        "normalized: no two names are alike even if you ignore case, articles and punctuation, and one typo in each "
        "word of five letters or more.",
    )
    svg: Path | None = option(
        None,
        "Folder of drawings <tangram>.svg; needs --annotations.  [default: the packaged drawings]",
        path="folder",
        group="Drawings",
    )
    annotations: tuple[Path, ...] = option((), _ANNOTATIONS, path="file")
    splits: tuple[Path, ...] = option((), f"{_SPLITS}  [default: split at random with --seed]", path="file")
    strict: bool = option(False, "Treat every problem in the files of --svg, --annotations and --splits as an error.")
    world: Literal["2d", "3d"] = option("2d", "Flat pieces, or wooden pieces on the stage `clevr`.", group="Images")
    size: int = option(224, "Width and height of images in pixels (2d only).", ge=16, le=4096, metavar="PIXELS")
    border: float = option(
        1.0, "Width of the white line between pieces in pixels (2d only).", ge=0, le=50, metavar="PIXELS"
    )
    published_border: bool = option(
        False, "Make that line 1 unit of the drawing wide, as in the published images, instead of --border."
    )
    margin: float = option(
        0.0, "White margin around the figure in pixels (2d only).", ge=0, le=1000, metavar="PIXELS", leaves="0.3"
    )
    sharp: bool = option(False, "Turn antialiasing off, so that pixels have only piece colors and white (2d only).")
    seed: Seed = 0
    split: Literal["train", "val", "dev", "heldout", "dense", "all"] = option(
        "dev",
        "Split to generate, named as in the published data. train and val have the same tangrams with different "
        "descriptions. dev, heldout (for tests) and dense (many descriptions each; not packaged) have tangrams that "
        "are not in train.",
    )

    @model_validator(mode="after")
    def _check(self) -> Options:
        for problem, holds, ignored in (
            ("--pictures makes no games", self.pictures, "targets contexts context_size unconstrained distinct"),
            ("--unconstrained allows equal names", self.unconstrained, "distinct"),
            ("--world 3d has no flat images", self.world == "3d", "size border published_border margin sharp"),
            ("--published-border replaces --border", self.published_border, "border"),
            ("without --svg, no files are checked", self.svg is None, "strict"),
        ):
            fields = {name: Options.model_fields[name] for name in ignored.split()}
            given = [name for name, field in fields.items() if getattr(self, name) != field.default]
            if holds and given:
                raise ValueError(f"{problem}; leave out --{', --'.join(given).replace('_', '-')}")
        if 2 * self.margin > self.size - 8:
            raise ValueError("--margin leaves less than 8 pixels of the image")
        if self.unconstrained and self.condition == "aug":
            raise ValueError("--condition aug has no unconstrained games: all tangrams of a game show as many parts")
        if self.targets == "subsets" and self.condition != "aug":
            raise ValueError("--targets subsets is for --condition aug: in other games, all parts are named")
        if self.svg is None and (self.annotations or self.splits):
            raise ValueError("--annotations and --splits are for your own drawings; give --svg DIR too")
        if self.svg is not None and not self.annotations:
            raise ValueError("--svg needs --annotations FILE, with descriptions of the drawings")
        return self


class Tangrams(Command, short_name="tangrams", run="grow:write_tangrams", writes=()):
    """Draw random tangrams as SVG files.

    The seven pieces of a tangram never overlap, and each piece touches another along an edge or at a corner. Any two
    tangrams of the output have different silhouettes.

    The drawings have no descriptions. To use the drawings with `render-specs kilogram --svg`, write a description of
    each drawing into a file for --annotations.

    Examples:
      render-specs kilogram tangrams --count 100 --out tangrams
      render-specs kilogram tangrams --count 500 --seed 1 --out tangrams
    """

    count: int = option(..., "Number of tangrams.", ge=1, le=100_000, group="Sampling")
    seed: Seed = 0
    corners: float = option(
        0.1, "Fraction of pieces that are attached only at a corner.", ge=0, le=1, metavar="FRACTION", leaves="0.3"
    )
    symmetric: float = option(
        0.5, "Fraction of tangrams that have symmetric pairs of pieces.", ge=0, le=1, metavar="FRACTION", leaves="0.3"
    )
    alike: float = option(
        0.7,
        "Maximum similarity of two silhouettes, from 0 to 1: their intersection over union after the reflection and "
        "the rotation by a multiple of 90 degrees for which it is greatest.",
        ge=0,
        le=1,
        metavar="FRACTION",
        leaves="0.3",
    )
    out: Path = option(..., "Folder for one SVG file per tangram.", metavar="DIR", group="Output")


class Drawings(Command, short_name="drawings", run="dataset:check_drawings", writes=("json", "out")):
    """Check tangram drawings and their descriptions.

    DIR has one file <tangram>.svg per drawing. The command measures the areas and angles of the seven pieces, their
    overlaps, the gaps between the pieces, and the margin between the figure and the edge of the drawing, its view box.
    The command reports each measurement that differs from that of a correct tangram without a margin.

    Examples:
      render-specs kilogram drawings tangrams
      render-specs kilogram drawings tangrams --annotations texts.json --strict
    """

    folder: Path = argument(path="folder")
    annotations: tuple[Path, ...] = option((), _ANNOTATIONS, path="file")
    splits: tuple[Path, ...] = option(
        (), f"File of splits to check, too: {_SPLITS} Needs --annotations.  [default: check no splits]", path="file"
    )
    strict: bool = option(False, "Exit with code 2 instead of 0 if there are errors.")

    @model_validator(mode="after")
    def _check(self) -> Drawings:
        if self.splits and not self.annotations:
            raise ValueError("--splits is checked against descriptions; give --annotations too")
        return self


class Naming(Command, short_name="naming", run="measures:naming", writes=("json", "out")):
    """Measure naming agreement on each tangram.

    FILES are JSON files of descriptions, in the format of the published KiloGram data [default: the packaged
    descriptions]. The command reports shape naming divergence (SND), part naming divergence (PND) and part segmentation
    agreement (PSA). SND compares the names of the whole tangram, and PND the names of its parts. SND and PND are 0 if
    all descriptions use the same words, and 1 if no two descriptions share a word. PSA ranges from 1 to 7 (the number
    of pieces). It is 7 if all descriptions divide the tangram into the same parts. Tangrams with a single description
    are left out.

    Examples:
      render-specs kilogram naming
      render-specs kilogram naming annotations.json --json --out naming.json
    """

    files: tuple[Path, ...] = argument(default=(), path="file", metavar="[FILES]...")


COMMANDS = (Tangrams, Drawings, Naming)
