"""MALeViC (Pezzelle and Fernandez, EMNLP 2019): what "big" means among flat colored shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from diorama.scene_specs.language.benchmark import Command, First, Report, Seed, SpecsCommand, option


class Options(Command):
    """Generate MALeViC items, one per line.

    An item is a scene of flat shapes, a sentence such as "The red circle is a big object", and whether the sentence is
    true. An object is compared with all objects of the scene, or with those of its shape, depending on the set. Max and
    Min are the largest and the smallest area among the compared objects. The object is big if its area is above Max - k
    (Max - Min). The fraction k is sampled for each scene, with a mean of 0.29.

    Item 42 depends only on --seed, --set, --split and the options under Contents: `--first 42 --count 1` writes the
    same item 42 as `--count 100`. A table on stderr reports how often each class (shape, color, adjective, truth) and
    each number of objects occurs. The table also has the ceiling: the accuracy of a solver that assumes k = 0.29 in
    every scene.

    Groups of sets: main, hard, generalization, and all (every set). docs/malevic.md describes each set.

    main: sup1 asks for the biggest or smallest object. pos1 and pos compare with all objects, set-pos with objects of
    the same shape. In sup1 and pos1, all objects have the same shape. hard: pos1-hard, pos-hard, set-pos-hard and
    set-pos-very-hard never ask about the largest or smallest of the compared objects. In set-pos-compositional,
    test-unseen has pairs of shape and adjective that train lacks. generalization: training data with few to many of
    these pairs: generalization-B, generalization-C, generalization-D, generalization-E, generalization-F,
    generalization-G, generalization-H.

    Examples:
      render-specs malevic --set pos1 --split val --count 100 --out specs.jsonl
      render-specs malevic --set all --world 3d --out malevic.jsonl
    """

    # fmt: off
    name: Literal[
        "sup1", "pos1", "pos", "set-pos", "pos1-hard", "pos-hard", "set-pos-hard", "set-pos-very-hard",
        "set-pos-compositional", "generalization-B", "generalization-C", "generalization-D", "generalization-E",
        "generalization-F", "generalization-G", "generalization-H", "main", "hard", "generalization", "all",
    ] = option("main", "Set of MALeViC, or group of sets; see above.", name="--set", metavar="NAME", group="Sampling")
    # fmt: on
    split: Literal["train", "val", "test", "test-seen", "test-unseen", "all"] = option("all", "Split to generate.")
    count: int | None = option(None, "Items per set and split.  [default: the published numbers]", ge=0)
    first: First = 0
    seed: Seed = 0
    variant: Literal["vague", "static"] = option(
        "vague", "Sample k for each scene (vague), or use k = 0.29 in every scene (static).", group="Contents"
    )
    areas: Literal["published", "true"] = option(
        "published",
        "Areas of circles. published: 21.5% smaller than other shapes of the same size class, as in the published "
        "sets. true: equal to other shapes of the same size class.",
    )
    kept: Literal["last", "any"] = option(
        "last",
        "Which scenes to keep. any: every scene with an object that the set can ask about. last: as published: one "
        "random object with a unique color and shape is chosen, and the scene is dropped if the set can't ask about "
        "it.",
    )
    uniform_count: bool = option(False, "Make all numbers of objects per scene, from 5 to 9, equally frequent.")
    # At distances below 4.6, objects can merge in an image of 224 x 224 pixels.
    gap: float = option(
        5.0,
        "Minimum distance between two objects of the same color, in units of the 1024 x 1024 canvas. In the published "
        "sets, the minimum is 0.",
        ge=0,
        le=50,
    )
    world: Literal["flat", "3d"] = option("flat", "Flat shapes, or prisms on a table.")


class Statistics(Report, run="report:statistics", text="report:table"):
    """Report the statistics of MALeViC items.

    For each set, the command reports how often each class (shape, color, adjective, truth) and each number of objects
    occurs. It also reports the distribution of the fraction k, which decides how large a big object must be (see
    `render-specs malevic --help`), and the ceiling: the accuracy of a solver that assumes k = 0.29 in every scene.

    Examples:
      render-specs malevic statistics specs.jsonl
      render-specs malevic statistics specs.jsonl --json --out statistics.json
    """


class Accuracy(SpecsCommand, run="report:accuracy"):
    """Score answers to MALeViC items.

    The command reports the accuracy and the ceiling, which is the accuracy of a solver that assumes k = 0.29 in every
    scene. It reports both for all items, for each class (shape, color, adjective, truth), for ranges of k, and for
    ranges of distance. The distance is the difference between the area of the object that the sentence names and the
    threshold Max - k (Max - Min), divided by Max - Min. `render-specs malevic --help` explains k, Max and Min.

    Examples:
      render-specs malevic accuracy specs.jsonl
      render-specs malevic accuracy specs.jsonl --predictions answers.json --json
    """

    predictions: Path | None = option(
        None,
        'JSON object {"<episode id>": "yes" or "no"}.  [default: report only the ceiling]',
        path="file",
    )


COMMANDS = (Statistics, Accuracy)
