"""MALeViC (Pezzelle and Fernandez, EMNLP 2019): what "big" means among flat colored shapes."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from diorama.scene_specs.tasks.benchmark import Command, First, Report, Seed, option


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

    Groups of sets: main, hard, generalization, and all (all sets except sup1-hard). docs/malevic.md describes each.

    main: sup1 asks for the biggest or smallest object. pos1 and pos compare with all objects, set-pos with objects of
    the same shape. In sup1 and pos1, all objects have the same shape. hard: pos1-hard, pos-hard, set-pos-hard and
    set-pos-very-hard never ask about the largest or smallest of the compared objects. sup1-hard, which is in no group,
    asks for the biggest or smallest object of its shape, which is neither in the scene. In set-pos-compositional,
    test-unseen has pairs of shape and adjective that train lacks. generalization: training data with few to many of
    these pairs: generalization-B, generalization-C, generalization-D, generalization-E, generalization-F,
    generalization-G, generalization-H.

    Examples:
      render-specs malevic --set pos1 --split val --count 100 --out specs.jsonl
      render-specs malevic --set all --world 3d --out malevic.jsonl
    """

    # fmt: off
    name: Literal[
        "sup1", "pos1", "pos", "set-pos", "sup1-hard", "pos1-hard", "pos-hard", "set-pos-hard", "set-pos-very-hard",
        "set-pos-compositional", "generalization-B", "generalization-C", "generalization-D", "generalization-E",
        "generalization-F", "generalization-G", "generalization-H", "main", "hard", "generalization", "all",
    ] = option("main", "Set of MALeViC, or group of sets; see above.", name="--set", metavar="NAME", group="Sampling")
    # fmt: on
    split: Literal["train", "val", "test", "test-seen", "test-unseen", "raw", "all"] = option(
        "all", "Split to generate. raw: scenes without questions, as the published build_data.py makes them."
    )
    count: int | None = option(None, "Items per set and split.  [default: the published numbers, for raw 25,000]", ge=0)
    first: First = 0
    seed: Seed = 0
    variant: Literal["vague", "static"] = option(
        "vague", "Sample k for each scene (vague), or use its mean in every scene (static).", group="Contents"
    )
    reference_k: float = option(0.29, "Mean of k.", ge=0, le=1)
    reference_sigma: float = option(0.066, "Standard deviation of k.", ge=0.001, le=0.2)
    shapes: tuple[Literal["triangle", "circle", "square", "rectangle"], ...] = option(
        ("triangle", "circle", "square", "rectangle"), "Shapes of objects. Repeatable.  [default: all four]"
    )
    colors: tuple[Literal["red", "blue", "yellow", "green", "white"], ...] = option(
        ("red", "blue", "yellow", "green", "white"), "Colors of objects. Repeatable.  [default: all five]"
    )
    rads: tuple[int, ...] = option(
        (30, 40, 50, 60, 70, 80, 90, 100, 110, 120),
        "Size class: half the edge of a square, 5 to 190 units. Repeatable.  [default: 30, 40, ..., 120]",
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

    @model_validator(mode="after")
    def _check_possible(self) -> Self:
        if len({*self.rads}) < 3 or not all(5 <= radius <= 190 for radius in self.rads):
            raise ValueError(f"--rads {', '.join(map(str, self.rads))}: expected three or more numbers from 5 to 190")
        if self.areas == "true" and not {*self.rads} <= {*range(30, 121, 10)}:
            raise ValueError("--areas true has circles of the sizes 30, 40, ..., 120 only; omit --rads or --areas")
        if self.name.startswith("generalization") and (len({*self.shapes}) < 4 or len({*self.colors}) < 5):
            raise ValueError("generalization sets have all shapes and colors; omit --shapes and --colors")
        return self


class Statistics(Report, short_name="malevic-report", run="report:statistics", text="report:table"):
    """Report the statistics of MALeViC items.

    For each set, the command reports how often each class (shape, color, adjective, truth) and each number of objects
    occurs. It also reports the distribution of the fraction k, which decides how large a big object must be (see
    `render-specs malevic --help`), and the ceiling: the accuracy of a solver that assumes k = 0.29 in every scene.

    Examples:
      render-specs malevic statistics specs.jsonl
      render-specs malevic statistics specs.jsonl --json --out statistics.json
    """


COMMANDS = (Statistics,)
