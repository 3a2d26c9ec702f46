"""MALeViC (Pezzelle and Fernandez, EMNLP 2019): what "big" means among flat colored shapes."""

from __future__ import annotations

from typing import Literal

from scene_specs.language.benchmark import Command, First, Report, Seed, option


class Options(Command):
    """Generate MALeViC items, one per line.

    An item is a scene, a sentence about it, and whether the sentence is true. It depends only on its seed, set, split,
    number and options: `--first 42 --count 1` writes the same item 42 as `--count 100`. A table on stderr reports
    classes, object counts, and the ceiling: the accuracy of a solver that assumes k = 0.29.

    Sets: sup1, pos1, pos, set-pos, pos1-hard, pos-hard, set-pos-hard, set-pos-very-hard, set-pos-compositional,
    generalization-B, generalization-C, generalization-D, generalization-E, generalization-F, generalization-G,
    generalization-H. Groups: main, hard, generalization, all.

    Examples:
      render-specs malevic --set pos1 --split val --count 100 --out specs.jsonl
      render-specs malevic --set all --world 3d --out malevic.jsonl
    """

    # fmt: off
    name: Literal[
        "sup1", "pos1", "pos", "set-pos", "pos1-hard", "pos-hard", "set-pos-hard", "set-pos-very-hard",
        "set-pos-compositional", "generalization-B", "generalization-C", "generalization-D", "generalization-E",
        "generalization-F", "generalization-G", "generalization-H", "main", "hard", "generalization", "all",
    ] = option("main", "Data set or group of sets; see above.", name="--set", metavar="NAME", group="Sampling")
    # fmt: on
    split: Literal["train", "val", "test", "test-seen", "test-unseen", "all"] = option("all", "Split to generate.")
    count: int | None = option(None, "Items per set and split [default: as published].", ge=0)
    first: First = 0
    seed: Seed = 0
    variant: Literal["vague", "static"] = option("vague", "k: sampled per scene, or always 0.29.", group="Contents")
    areas: Literal["published", "true"] = option(
        "published", "Area of circles: 21.5 % below that of their class, or equal to it."
    )
    uniform_count: bool = option(False, "Make all object counts from 5 to 9 equally frequent.")
    # At distances below 4.6, objects can merge in an image of 224 x 224 pixels.
    gap: float = option(5.0, "Minimum distance of objects of one color, canvas units; 0 as published.", ge=0, le=50)
    world: Literal["flat", "3d"] = option("flat", "Flat shapes, or prisms on a table.")


class Statistics(Report, run="report:statistics", text="report:table"):
    """Report the statistics of MALeViC items.

    Per set: classes, object counts, k, and the ceiling: the accuracy of a solver that assumes k = 0.29.

    Examples:
      render-specs malevic statistics specs.jsonl
      render-specs malevic statistics specs.jsonl --json --out statistics.json
    """


COMMANDS = (Statistics,)
