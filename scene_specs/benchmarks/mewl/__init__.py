"""MEWL (few-shot word learning, ICML 2023): nine tasks, each episode verified to be solvable. See docs/mewl.md."""

from __future__ import annotations

from typing import Literal

from scene_specs.language.benchmark import Command, First, Report, Seed, SpecsCommand, option


class Options(Command):
    """Generate MEWL episodes, one per line.

    Each episode is verified before it is written. It depends only on its seed, split, task and number: `--first 42
    --count 1` writes the same episode 42 as `--count 100`.

    Tasks: shape, color, material, object, composite, relation, bootstrap, number, pragmatic, all.

    Examples:
      render-specs mewl --out mewl.jsonl
      render-specs mewl --task shape --split val --count 100 --out specs.jsonl
    """

    task: Literal[
        "shape", "color", "material", "object", "composite", "relation", "bootstrap", "number", "pragmatic", "all"
    ] = option("all", "Task to generate; see above.", metavar="NAME", group="Sampling")
    split: Literal["train", "val", "test", "all"] = option("all", "Split to generate.")
    count: int | None = option(None, "Episodes per task and split [default: 3000, 600, 600].", ge=0)
    first: First = 0
    seed: Seed = 0
    balanced_options: bool = option(False, "Omit options that can be ruled out without the images.", group="Contents")


class Audit(Report, run="audit:audit", text="audit:tables", check="view:learner_view"):
    """Audit MEWL episodes for answers that need no image.

    Reports the accuracy of blind strategies in percent, with chance and its standard error. Also reports chi-square
    probabilities of equal frequencies: answer position, attributes of the query's first object, topic of the answer.

    Examples:
      render-specs mewl audit specs.jsonl
      render-specs mewl audit specs.jsonl --json --out audit.json
    """


class Captions(SpecsCommand, run="captions:generate", check="view:learner_view", writes=("out",)):
    """Write MEWL episodes as text, one per line.

    Each line has the captions, names, options, and prompts for models that read only text.

    Examples:
      render-specs mewl captions specs.jsonl
      render-specs mewl captions specs.jsonl --out captions.jsonl
    """


COMMANDS = (Audit, Captions)
