"""iWISDM (Lei, Gomez, Bai and Bashivan, CoLLAs 2024): tasks as graphs of operators over frames. See docs/iwisdm.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, get_args

from pydantic import model_validator

from diorama.scene_specs.tasks.benchmark import Command, First, Report, Seed, argument, option

# fmt: off
_Task = Literal[
    "dms", "dnms", "dmc", "dnmc", "odr", "abba", "n-back", "dual-n-back", "go-no-go", "contextual-decision",
    "ax-cpt", "12-ax", "task-switching", "memory-scanning", "visual-search", "search-and-report",
]
# fmt: on
_FOILS_HELP = (
    "Some questions compare the identities of two objects. If the intended answer requires different identities, the "
    "two objects have the same category with this probability. Such a pair is a foil.  [default: left to chance]"
)


class Options(Command):
    """Generate iWISDM trials, one per line.

    A trial has frames, an instruction, and the correct answers. The instruction asks questions about objects in the
    frames. A question is built from operators, such as `equals`, `and` and `if`. A task fixes the operators and the
    frames that a question refers to; trials of the same task show different objects.

    Pass one of --benchmark, --task and --config. One exception: with --config, also pass
    --benchmark to accept only tasks with its numbers of frames and of joins (`and` and `or`).
    Trials are numbered from 0, and `--first 42 --count 1` writes the same trial 42 as `--count 100` if all other
    options are the same. The command also computes earlier trials, because a trial must differ from earlier trials of
    its task, a task from earlier tasks (--unique), and --balanced counts earlier answers.

    Examples:
      render-specs iwisdm --benchmark low --count 100 --out specs.jsonl
      render-specs iwisdm --task n-back --set n=2 --count 100 --out specs.jsonl
    """

    benchmark: Literal["low", "medium", "high", "single-frame"] | None = option(
        None, "Published benchmark: low, medium or high complexity, or trials of a single frame.", group="Tasks"
    )
    properties: Literal["all", "category", "location", "identity"] = option(
        "all",
        "Properties that the questions of --benchmark ask about, also with --config. The identity of an object is its "
        "3D model.",
    )
    task: _Task | None = option(
        None,
        f"Classic task of cognitive science, instead of --benchmark: {', '.join(get_args(_Task))}.",
        metavar="NAME",
    )
    settings: dict[str, str] = option(
        {}, "Setting of --task, such as n=2; docs/iwisdm.md lists all settings; repeatable.", name="--set"
    )
    config: Path | None = option(
        None, "JSON file that describes tasks to sample: a published configuration.", path="file"
    )
    count: int = option(..., "Number of trials; required without a subcommand.", ge=0, group="Sampling")
    first: First = 0
    trials_per_task: int = option(1, "Number of trials of each task.", ge=1, leaves="0.3")
    unique: Literal["structure", "frames", "none"] = option(
        "frames",
        "How any two tasks of --benchmark or --config must differ. structure: in their operators. frames: in their "
        "operators or in the frames that these refer to, which allows more tasks. none: tasks may repeat.",
    )
    balanced: bool = option(
        False, "Make all correct answers equally frequent. The trials that --first skips are counted, too."
    )
    split: Literal["train", "val", "test"] = option(
        "train", "Split to generate. The 3D models are seen from other angles than in the other splits."
    )
    hold_out: Literal["none", "structures", "compositions"] = option(
        "none",
        "What belongs to one split only. structures: each structure of tasks, so no instruction of val or test occurs "
        "in train. compositions: each pair of comparisons that `and` or `or` joins; train has each comparison, but "
        "only in other pairs.",
    )
    name: str | None = option(
        None,
        "Name of the set in ids.  [default: benchmark or task, seed, and a digest of other options]",
        metavar="NAME",
    )
    seed: Seed = 0
    condition_matters: bool = option(
        False, "Give the two branches of each condition (if ... then ... else) different answers.", group="Contents"
    )
    foils: float | None = option(None, _FOILS_HELP, ge=0, le=1, metavar="FRACTION")
    longest_delay: int | None = option(None, "Maximum number of consecutive empty frames.  [default: 1]", ge=1, le=64)
    chain: int = option(
        1, "Number of tasks to combine in each trial; a later task can use the frames of an earlier one.", ge=1, le=10
    )
    distractor_frames: int = option(
        0, "Maximum number of otherwise empty frames that get a distractor: an object that no question is about.", ge=0
    )
    distractors: int = option(0, "Maximum number of frames with an object to which a distractor is added.", ge=0)
    fixation: Literal["hold", "action", "none"] = option(
        "hold",
        "Show a white cross in frames without an answer (hold), in frames with an answer (action), or never (none).",
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
        given = [option is not None for option in (self.benchmark, self.task, self.config)]
        if sum(given) != 1 and given != [True, False, True]:
            raise ValueError("give one of --benchmark, --task, --config")
        if self.name is not None and not re.fullmatch("[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}", self.name):
            raise ValueError("--name: expected up to 100 letters, digits, _, ., + and -")
        if self.properties != "all" and not self.benchmark:
            raise ValueError("--properties is for --benchmark")
        if self.settings and not self.task:
            raise ValueError("--set is for --task")
        if self.task and (self.chain > 1 or self.longest_delay or self.unique != "frames" or self.hold_out != "none"):
            raise ValueError(
                "--chain, --longest-delay, --unique and --hold-out are for benchmarks; "
                "use --set for the delays of a task"
            )
        return self


class Balance(Report, short_name="balance", run="answer_balance:audit", text="answer_balance:table"):
    """Count the correct answers of iWISDM trials by value.

    The command reports how often each value, such as true or false, is a correct answer, and the p-value of a
    chi-square test for equal frequencies. The command also reports the accuracy of a guesser that reads the instruction
    but sees no image. For tasks with a condition (if ... then ... else), it reports how often the condition matters:
    how often the two branches have different answers.

    Examples:
      render-specs iwisdm balance specs.jsonl
      render-specs iwisdm balance specs.jsonl --json --out balance.json
    """


class Stimuli(Command, run="generate:stimulus_specs"):
    """Generate specs that show every view of every model.

    Render them and export them with `--format iwisdm-stimuli`: the stimulus set for the published code.

    Examples:
      render-specs iwisdm stimuli --split train --out stimuli.jsonl
      render-specs iwisdm stimuli --split val --stimuli models.json
    """

    split: Literal["train", "val", "test"] = option("train", "Split, which has views of its own.", group="Sampling")
    stimuli: Path | None = option(
        None, "JSON file of models, as for trials.  [default: eight models of each packaged category]", path="file"
    )


class Pictures(Command, run="pictures:write_models", writes=()):
    """Make models of the pictures of a stimulus set.

    STIMULI is a published stimulus set, or one from `--format iwisdm-stimuli`: <split>/<ref>/image.png and
    <split>_meta.csv. A model is a box with four pictures of an object, one on each side. If several pictures show the
    same side, the model has the one with the smallest number.

    The pictures are shown by trials from `render-specs import --from iwisdm --images DIR` and from `render-specs iwisdm
    --stimuli DIR/stimuli.json`. Pass `--shapenet DIR` when you check or render these.

    Examples:
      render-specs iwisdm pictures STIMULI --split train --out pictures
      render-specs iwisdm pictures STIMULI --split val --out pictures-val
    """

    folder: Path = argument(path="folder", metavar="STIMULI")
    split: Literal["train", "val", "test"] = option("train", "Split of the set.", group="Input")
    out: Path = option(..., "New folder for the models, a table and stimuli.json.", metavar="DIR", group="Output")


class Answer(Command, run="verify:answer", writes=("json",)):
    """Answer INSTRUCTION from what frames show.

    FILE is JSON: a list of frames, each a list of objects with their properties in words, [] for an empty frame:
    [[{"category": "cars", "location": "top left"}], [], [{"category": "boats"}]]. Or it is a spec of `render-specs
    iwisdm`, whose frames are used.

    Examples:
      render-specs iwisdm answer "observe object 1, exists object 1?" --frames F
      render-specs iwisdm answer "observe object 1, loc of object 1?" --frames F
    """

    instruction: str = argument()
    frames: Path = option(..., "Frames, as above.", path="file", group="Input")


COMMANDS = (Balance, Stimuli, Pictures, Answer)
