"""iWISDM (Lei, Gomez, Bai and Bashivan, CoLLAs 2024): tasks as graphs of operators over frames. See docs/iwisdm.md."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from pydantic import model_validator

from scene_specs.language.benchmark import Command, First, Report, Seed, option

# fmt: off
_Task = Literal[
    "dms", "dnms", "dmc", "dnmc", "odr", "abba", "n-back", "dual-n-back", "go-no-go", "contextual-decision",
    "ax-cpt", "12-ax", "task-switching", "memory-scanning", "visual-search", "search-and-report",
]
# fmt: on
_FOILS_HELP = (
    "Fraction of foils among the pairs of objects that must differ in identity. "
    "The two objects of a foil have the same category.  [default: left to chance]"
)


class Options(Command):
    """Generate iWISDM trials, one per line.

    A trial has frames, an instruction, and the correct answer at every frame that asks for one. A task is what the
    instruction asks about which frames; trials of the same task show different objects. Pass exactly one of
    --benchmark, --task and --config. Trials are numbered from 0, and `--first 42 --count 1` writes the same trial 42 as
    `--count 100`. With --balanced or --unique, trial 42 depends on the trials before it; the command computes those
    without writing them.

    Examples:
      render-specs iwisdm --benchmark low --count 100 --out specs.jsonl
      render-specs iwisdm --task n-back --set n=2 --count 100 --out specs.jsonl
    """

    benchmark: Literal["low", "medium", "high", "single-frame"] | None = option(
        None, "Published benchmark: low, medium or high complexity, or trials of a single frame.", group="Tasks"
    )
    properties: Literal["all", "category", "location", "identity"] = option(
        "all", "Properties that the questions of --benchmark ask about; identity is the model of an object."
    )
    task: _Task | None = option(
        None, f"Classic task, instead of --benchmark: {', '.join(get_args(_Task))}.", metavar="NAME"
    )
    settings: dict[str, str] = option(
        {}, "Setting of --task, such as n=2; docs/iwisdm.md lists them; repeatable.", name="--set"
    )
    config: Path | None = option(
        None, "JSON file with limits of random tasks, instead of --benchmark; see docs/iwisdm.md.", path="file"
    )
    count: int = option(..., "Number of trials; required without a subcommand.", ge=0, group="Sampling")
    first: First = 0
    trials_per_task: int = option(1, "Number of trials of each task.", ge=1)
    unique: Literal["structure", "frames", "none"] = option(
        "frames",
        "Do not repeat a task. Tasks are the same if they have the same operators (structure), or the same operators "
        "and frames (frames). none: tasks may repeat.",
    )
    balanced: bool = option(
        False, "Make all answers equally frequent among trials 0, 1, 2, ..., including those that --first skips."
    )
    split: Literal["train", "val", "test"] = option(
        "train", "Split to generate; each split shows the models from different angles."
    )
    seed: Seed = 0
    condition_matters: bool = option(
        False, "Give the two branches of each condition (if ... then ... else) different answers.", group="Contents"
    )
    foils: float | None = option(None, _FOILS_HELP, ge=0, le=1, metavar="FRACTION")
    longest_delay: int | None = option(None, "Maximum number of empty frames in a row.  [default: 1]", ge=1)
    chain: int = option(
        1, "Number of tasks to combine in each trial; a later task can use the frames of an earlier one.", ge=1, le=10
    )
    distractor_frames: int = option(
        0, "Maximum number of otherwise empty frames that show an object to be ignored.", ge=0
    )
    distractors: int = option(0, "Maximum number of frames that show a second object, to be ignored.", ge=0)
    fixation: Literal["hold", "action", "none"] = option(
        "hold",
        "Show a white cross in frames without an answer (hold), in frames with one (action), or never (none).",
        group="Images",
    )
    background: tuple[int, int, int] | None = option(None, "Background color, 8-bit sRGB.  [default: black]")
    stimuli: Path | None = option(
        None,
        'JSON file of models, {"category": ["#1", "model id", ...], ...}.  '
        "[default: eight models of each packaged category]",
        path="file",
    )

    @model_validator(mode="after")
    def _check(self) -> Options:
        if sum(one is not None for one in (self.benchmark, self.task, self.config)) != 1:
            raise ValueError("give one of --benchmark, --task, --config")
        if self.settings and not self.task:
            raise ValueError("--set is for --task")
        if self.task and (self.chain > 1 or self.longest_delay or self.unique != "frames"):
            raise ValueError(
                "--chain, --longest-delay and --unique are for benchmarks; use --set for the delays of a task"
            )
        return self


class Balance(Report, run="answer_balance:audit", text="answer_balance:table"):
    """Report how often each answer of iWISDM trials is correct.

    The command also reports the accuracy of a guesser that reads the instruction but sees no image. For tasks with a
    condition (if ... then ... else), it reports how often the condition matters, that is, how often the two branches
    have different answers.

    Examples:
      render-specs iwisdm balance specs.jsonl
      render-specs iwisdm balance specs.jsonl --json --out balance.json
    """


COMMANDS = (Balance,)
