"""iWISDM (Lei, Gomez, Bai and Bashivan, CoLLAs 2024): tasks as graphs of operators over frames. See docs/iwisdm.md."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from scene_specs.language.benchmark import Command, First, Report, Seed

_TASK_HELP = (
    "Classic task instead: dms, dnms, dmc, dnmc, odr, abba, n-back, dual-n-back, go-no-go, contextual-decision, "
    "ax-cpt, 12-ax, task-switching, memory-scanning, visual-search, search-and-report."
)


class Options(Command):
    """Generate iWISDM trials, one per line.

    A trial has frames, an instruction, and the correct action at every frame. Give one of --benchmark, --task,
    --config. `--first 42 --count 1` writes the same trial 42 as `--count 100`; if it depends on earlier trials
    (--balanced, --unique), these are planned too.
    """

    # fmt: off
    benchmark: Literal["low", "medium", "high", "single-frame"] | None = Field(None, description="Published level.")
    properties: Literal["all", "category", "location", "identity"] = Field(
        "all", description="Properties that a --benchmark asks about."
    )
    task: Literal[
        "dms", "dnms", "dmc", "dnmc", "odr", "abba", "n-back", "dual-n-back", "go-no-go", "contextual-decision",
        "ax-cpt", "12-ax", "task-switching", "memory-scanning", "visual-search", "search-and-report",
    ] | None = Field(None, description=_TASK_HELP, json_schema_extra={"metavar": "NAME"})
    # fmt: on
    settings: dict[str, str] = Field(
        {}, description="Setting of a --task; repeatable.", json_schema_extra={"option": "--set"}
    )
    config: Path | None = Field(
        None,
        description="Your own AutoTask configuration instead, as JSON.",
        json_schema_extra={"path": "file", "metavar": "FILE"},
    )
    count: int = Field(ge=0, description="Number of trials; required without a subcommand.")
    first: First = 0
    trials_per_task: int = Field(1, ge=1, description="Trials per task.")
    unique: Literal["structure", "frames", "none"] = Field(
        "frames", description="Tasks differ in operators; or also frames; or may repeat."
    )
    balanced: bool = Field(False, description="Make all answers equally frequent, counted from trial 0.")
    condition_matters: bool = Field(False, description="Give both branches of a Switch different answers.")
    foils: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Share of pairs with different identities that have one category [default: by chance].",
        json_schema_extra={"metavar": "SHARE"},
    )
    longest_delay: int | None = Field(None, ge=1, description="Maximum number of empty frames in a row [default: 1].")
    chain: int = Field(1, ge=1, le=10, description="Number of tasks merged into one.")
    distractor_frames: int = Field(0, ge=0, description="Maximum empty frames with an object to ignore.")
    distractors: int = Field(0, ge=0, description="Maximum frames with a second object to ignore.")
    fixation: Literal["hold", "action", "none"] = Field(
        "hold", description="Show the cross until the answer is due, only then, or never."
    )
    background: tuple[int, int, int] | None = Field(None, description="8-bit sRGB color [default: black].")
    stimuli: Path | None = Field(
        None,
        description='JSON {"category": ["#1", "model id", ...], ...} [default: eight of each packaged category].',
        json_schema_extra={"path": "file", "metavar": "FILE"},
    )
    split: Literal["train", "val", "test"] = Field("train", description="Split; each has its own views of the models.")
    seed: Seed = 0

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


class Balance(Report):
    """Report how often each answer of iWISDM trials is due.

    Also reports the accuracy of a guesser that reads the instruction but sees no image, and, for tasks with a
    condition, how often the condition matters: both branches would give different answers.
    """

    run: ClassVar[str] = "answer_balance:report"


COMMANDS = (Balance,)
