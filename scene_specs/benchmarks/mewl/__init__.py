"""MEWL (few-shot word learning, ICML 2023): nine tasks, each episode verified to be solvable. See docs/mewl.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from diorama.scene_specs.tasks.benchmark import Command, First, Report, Seed, SpecsCommand, option

TaskName = Literal[
    "shape", "color", "material", "object", "composite", "relation", "bootstrap", "number", "pragmatic"
]  # fmt: skip


class Options(Command):
    """Generate MEWL episodes, one per line.

    An episode has six context images with utterances, a query image, and answer options. Each episode is verified
    before it is written. Episode 42 depends only on --seed, --split, --task, --objects and --balanced-options:
    `--first 42 --count 1` writes the same episode 42 as `--count 100`.

    Tasks: shape, color, material, object, composite, relation, bootstrap, number, pragmatic, all.

    Examples:
      render-specs mewl --out mewl.jsonl
      render-specs mewl --task shape --split val --count 100 --out specs.jsonl
    """

    task: Literal[TaskName, "all"] = option("all", "Task to generate; see above.", metavar="NAME", group="Sampling")
    split: Literal["train", "val", "test", "all"] = option("all", "Split to generate.")
    count: int | None = option(
        None, "Episodes per task and split.  [default: 3000 for train, 600 for val, 600 for test]", ge=0
    )
    first: First = 0
    seed: Seed = 0
    objects: Literal["clevr", "invented"] = option(
        "clevr",
        "Shapes: those of CLEVR, or three invented ones per episode that nobody has a word for.",
        group="Contents",
    )
    balanced_options: bool = option(
        False,
        "In some tasks (shape, color, material, composite), two of the five options can be ruled out without the "
        "images. Omit these two options.",
    )


class Audit(Report, short_name="audit", run="audit:audit", text="audit:tables", check="view:learner_view"):
    """Check whether MEWL answers can be guessed without images.

    The command compares guessers that see the utterances of the context images and the answer options, but no image.
    For each task, it reports in percent the accuracy of each guesser, the accuracy of random guessing, and the standard
    error of random guessing.

    The command also reports p-values of chi-square tests. Each test checks whether all values of one variable are
    equally frequent. The variables are the position of the correct answer among the options; the shape, color, material
    and size of the first object in the query image; and the concept that the correct answer stands for, such as red or
    left.

    Examples:
      render-specs mewl audit specs.jsonl
      render-specs mewl audit specs.jsonl --json --out audit.json
    """


class Captions(
    SpecsCommand, short_name="captions", run="captions:generate", check="view:learner_view", writes=("out",)
):
    """Write MEWL episodes as text, one per line.

    Each line is a JSON object for models that read only text. The object has a caption for each image, the utterances
    of the context images, the answer options, the answer, and prompts.

    Examples:
      render-specs mewl captions specs.jsonl
      render-specs mewl captions specs.jsonl --out captions.jsonl
    """


COMMANDS = (Audit, Captions)


def claims(task: Mapping[str, Any]) -> bool:
    """Whether a task that names no benchmark is one of MEWL: it has options and a map of words."""
    return "options" in task and ("words" in task or "lexicon" in task)
