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
_FOILS_HELP = "Share of pairs with different identities that have one category [default: by chance]."


class Options(Command):
    """Generate iWISDM trials, one per line.

    A trial has frames, an instruction, and the correct action at every frame. Give one of --benchmark, --task,
    --config. `--first 42 --count 1` writes the same trial 42 as `--count 100`; if it depends on earlier trials
    (--balanced, --unique), these are planned too.

    Examples:
      render-specs iwisdm --benchmark low --count 100 --out specs.jsonl
      render-specs iwisdm --task n-back --set n=2 --count 100 --out specs.jsonl
    """

    benchmark: Literal["low", "medium", "high", "single-frame"] | None = option(None, "Published level.", group="Tasks")
    properties: Literal["all", "category", "location", "identity"] = option(
        "all", "Properties that a --benchmark asks about."
    )
    task: _Task | None = option(None, f"Classic task instead: {', '.join(get_args(_Task))}.", metavar="NAME")
    settings: dict[str, str] = option({}, "Setting of a --task; repeatable.", name="--set")
    config: Path | None = option(None, "Your own AutoTask configuration instead, as JSON.", path="file")
    count: int = option(..., "Number of trials; required without a subcommand.", ge=0, group="Sampling")
    first: First = 0
    trials_per_task: int = option(1, "Trials per task.", ge=1)
    unique: Literal["structure", "frames", "none"] = option(
        "frames", "Tasks differ in operators; or also frames; or may repeat."
    )
    balanced: bool = option(False, "Make all answers equally frequent, counted from trial 0.")
    split: Literal["train", "val", "test"] = option("train", "Split; each has its own views of the models.")
    seed: Seed = 0
    condition_matters: bool = option(False, "Give both branches of a Switch different answers.", group="Contents")
    foils: float | None = option(None, _FOILS_HELP, ge=0, le=1, metavar="SHARE")
    longest_delay: int | None = option(None, "Maximum number of empty frames in a row [default: 1].", ge=1)
    chain: int = option(1, "Number of tasks merged into one.", ge=1, le=10)
    distractor_frames: int = option(0, "Maximum empty frames with an object to ignore.", ge=0)
    distractors: int = option(0, "Maximum frames with a second object to ignore.", ge=0)
    fixation: Literal["hold", "action", "none"] = option(
        "hold", "Show the cross until the answer is due, only then, or never.", group="Images"
    )
    background: tuple[int, int, int] | None = option(None, "8-bit sRGB color [default: black].")
    stimuli: Path | None = option(
        None, 'JSON {"category": ["#1", "model id", ...], ...} [default: eight of each packaged category].', path="file"
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
    """Report how often each answer of iWISDM trials is due.

    Also reports the accuracy of a guesser that reads the instruction but sees no image, and, for tasks with a
    condition, how often the condition matters: both branches would give different answers.

    Examples:
      render-specs iwisdm balance specs.jsonl
      render-specs iwisdm balance specs.jsonl --json --out balance.json
    """


COMMANDS = (Balance,)
