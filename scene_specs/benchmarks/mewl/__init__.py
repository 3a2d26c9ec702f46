"""MEWL (few-shot word learning, ICML 2023): nine tasks, each episode verified to be solvable. See docs/mewl.md."""

from __future__ import annotations

from typing import Literal

from scene_specs.language.benchmark import Command, First, Report, Seed, SpecsCommand, option


class Options(Command):
    """Generate MEWL episodes, one per line.

    Each episode is verified before it is written. Episode 42 depends only on --seed, --split, --task and
    --balanced-options: `--first 42 --count 1` writes the same episode 42 as `--count 100`.

    Tasks: shape, color, material, object, composite, relation, bootstrap, number, pragmatic, all.

    Examples:
      render-specs mewl --out mewl.jsonl
      render-specs mewl --task shape --split val --count 100 --out specs.jsonl
    """

    task: Literal[
        "shape", "color", "material", "object", "composite", "relation", "bootstrap", "number", "pragmatic", "all"
    ] = option("all", "Task to generate; see above.", metavar="NAME", group="Sampling")
    split: Literal["train", "val", "test", "all"] = option("all", "Split to generate.")
    count: int | None = option(
        None, "Episodes per task and split.  [default: 3000 for train, 600 for val, 600 for test]", ge=0
    )
    first: First = 0
    seed: Seed = 0
    balanced_options: bool = option(
        False,
        "In the four tasks where two of the five answers can be ruled out without the images, omit those two answers.",
        group="Contents",
    )


class Audit(Report, run="audit:audit", text="audit:tables", check="view:learner_view"):
    """Check whether MEWL answers can be guessed without images.

    For each task, the command reports in percent the accuracy of several guessers that see no image, and of random
    guessing with its standard error. Chi-square tests check whether answers are equally frequent at each position;
    whether the attributes of the query's first object are equally frequent; and whether the concepts that an answer
    names are. The command reports their p-values.

    Examples:
      render-specs mewl audit specs.jsonl
      render-specs mewl audit specs.jsonl --json --out audit.json
    """


class Captions(SpecsCommand, run="captions:generate", check="view:learner_view", writes=("out",)):
    """Write MEWL episodes as text, one per line.

    Each line is a JSON object for models that read only text. It has a caption for each image, the utterances of the
    context images, the answer options, the answer, and prompts.

    Examples:
      render-specs mewl captions specs.jsonl
      render-specs mewl captions specs.jsonl --out captions.jsonl
    """


COMMANDS = (Audit, Captions)
