"""`render-specs iwisdm | balance`, and iWISDM's part of `render-specs check --prove`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli.common import atomic_writer, rgb_value
from render.cli.proofs import data_of

if TYPE_CHECKING:
    from render.model.record import EpisodeRecord
    from scene_specs.benchmarks.iwisdm.generate import FramePlans, TrialSettings

_FILES = "FILES are .json and .jsonl files, folders, globs, and - for standard input."
_OUT = click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout.")
_BANK = [
    "dms", "dnms", "dmc", "dnmc", "odr", "abba", "n-back", "dual-n-back", "go-no-go", "contextual-decision", "ax-cpt",
    "12-ax", "task-switching", "memory-scanning", "visual-search", "search-and-report",
]  # fmt: skip
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_SOURCES = ("benchmark", "task", "config")


def _pairs(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """`KEY=VALUE`, any number of them."""
    if any("=" not in value for value in values):
        raise click.BadParameter("write KEY=VALUE, such as n=3 or delay=2-5")
    return {name: text for name, _, text in (value.partition("=") for value in values)}


_OPTIONS: list[Callable[[Any], Any]] = [
    click.option("--benchmark", type=click.Choice(["low", "medium", "high", "single-frame"]), help="Published level."),
    click.option("--properties", type=click.Choice(["all", "category", "location", "identity"]), default="all",
                 show_default=True, help="What a benchmark asks about."),
    click.option("--task", type=click.Choice(_BANK), help="A classic task instead."),
    click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", callback=_pairs,
                 help="Setting of a classic task; may be given again."),
    click.option("--config", type=_FILE, metavar="FILE", help="Your own AutoTask configuration instead, as JSON."),
    click.option("--count", type=click.IntRange(0), required=True, help="How many trials."),
    click.option("--first", type=click.IntRange(0), default=0, show_default=True, help="Number of the first trial."),
    click.option("--trials-per-task", type=click.IntRange(1), default=1, show_default=True),
    click.option("--unique", type=click.Choice(["structure", "frames", "none"]), default="frames", show_default=True,
                 help="Tasks differ in operators; or in operators or frames; or need not."),
    click.option("--balanced", is_flag=True, help="Each answer exactly as often, counted from trial 0."),
    click.option("--condition-matters", is_flag=True, help="Both branches of a Switch give different answers."),
    click.option("--foils", type=click.FloatRange(0, 1), metavar="SHARE",
                 help="Share of objects that must differ in identity to be of one category [default: chance]."),
    click.option("--longest-delay", type=click.IntRange(1), help="Empty frames in a row [default: 1]."),
    click.option("--chain", type=click.IntRange(1, 10), default=1, show_default=True, help="Tasks merged into one."),
    click.option("--distractor-frames", type=click.IntRange(0), default=0, show_default=True,
                 help="At most so many empty frames show an object to be ignored."),
    click.option("--distractors", type=click.IntRange(0), default=0, show_default=True,
                 help="At most so many frames show a second object to be ignored."),
    click.option("--fixation", type=click.Choice(["hold", "action", "none"]), default="hold", show_default=True,
                 help="The cross is there until the answer is due, only then, or never."),
    click.option("--background", metavar="R,G,B", callback=rgb_value, help="8-bit sRGB [default: black]."),
    click.option("--stimuli", type=_FILE, metavar="FILE",
                 help='JSON {"category": ["#1", "model id", ...], ...} [default: eight of each packaged category].'),
    click.option("--split", type=click.Choice(["train", "val", "test"]), default="train", show_default=True,
                 help="Splits see the models from views of their own."),
    click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True),
    _OUT,
]  # fmt: skip


def _options(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@_options
def iwisdm(out: Path | None, count: int, first: int, **given: Any) -> None:
    """Generate iWISDM trials, one a line: frames, the instruction, and the right action at every frame.

    Give one of --benchmark, --task, --config. `--first 42 --count 1` writes number 42 as `--count 100` does: where it
    depends on those before it (--balanced, tasks that differ), they are planned too.
    """
    if sum(given[name] is not None for name in _SOURCES) != 1:
        raise click.UsageError("give one of --benchmark, --task, --config")
    from tqdm import tqdm

    from scene_specs.benchmarks.iwisdm.generate import trial_specs

    setup = _setup(given)
    sessions, name = _sessions(given, setup, first + count)
    specs = trial_specs(sessions, setup, name, first, count)
    with atomic_writer(out) as stream:
        for spec in tqdm(specs, total=count, unit=" trials", delay=2, disable=None):
            stream.write(json.dumps(spec, separators=(",", ":")) + "\n")


def _setup(given: dict[str, Any]) -> TrialSettings:
    from scene_specs.benchmarks.iwisdm.constraints import Options
    from scene_specs.benchmarks.iwisdm.generate import TrialSettings
    from scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, read_stimuli

    file = given["stimuli"]
    return TrialSettings(
        seed=given["seed"],
        split=given["split"],
        stimuli=read_stimuli(_text(file), str(file)) if file else DEFAULT,
        trials_per_task=given["trials_per_task"],
        balanced=given["balanced"],
        options=Options(given["condition_matters"], given["foils"]),
        fillers=given["distractor_frames"],
        described=given["distractors"],
        fixation=given["fixation"],
        background=given["background"],
    )


def _text(file: Path) -> str:
    from render.model.errors import UsageError

    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: can't be read as text: {error}") from error


def _sessions(given: dict[str, Any], setup: TrialSettings, trials: int) -> tuple[FramePlans, str]:
    """Frame plans, and the name that ids have. Raises SpecError, UsageError."""
    from scene_specs.benchmarks.iwisdm.autotask_config import benchmark, read_config
    from scene_specs.benchmarks.iwisdm.classic_tasks import read_settings
    from scene_specs.benchmarks.iwisdm.generate import auto_plans, classic_plans

    task, file = given["task"], given["config"]
    if given["settings"] and not task:
        raise click.UsageError("--set is for --task")
    if task:
        if given["chain"] > 1 or given["longest_delay"] or given["unique"] != "frames":
            raise click.UsageError(
                "--chain, --longest-delay and --unique are for benchmarks; see --set for a task's delays"
            )
        return classic_plans(task, setup, read_settings(task, given["settings"])), task
    if file:
        config, name = read_config(_text(file), str(file)), "auto"
    else:
        config = benchmark(given["benchmark"], given["properties"])
        name = f"{given['benchmark']}-{given['properties']}"
    if given["longest_delay"]:
        config = config.model_copy(update={"longest_delay": given["longest_delay"]})
    name += f"-x{given['chain']}" if given["chain"] > 1 else ""
    return auto_plans(config, setup, name, trials, given["unique"], given["chain"]), name


@click.command(epilog=_FILES)
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="The numbers as JSON instead of a table.")
@_OUT
def balance(files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Say how often each answer of iWISDM trials is due, and what a guesser gets that reads but sees nothing.

    Also, of tasks with a condition, how often it decides: both branches would give different answers.
    """
    from render.model.errors import UsageError
    from scene_specs.benchmarks.iwisdm.answer_balance import audit, table
    from scene_specs.benchmarks.iwisdm.reader import UnreadableError

    try:
        rows = audit(data_of(files, "iwisdm"))
    except UnreadableError as error:
        raise UsageError(str(error)) from error
    with atomic_writer(out) as stream:
        stream.write(json.dumps(rows, indent=1) + "\n" if as_json else table(rows))


def verify_spec(data: dict[str, Any]) -> str:
    """Why a spec's stored answers are wrong; "" if they are right. Raises SpecError for what can't be read."""
    from scene_specs.benchmarks.iwisdm import verify

    return verify.verify_spec(data)


def verify_record(record: EpisodeRecord) -> str:
    """The same from what was rendered: categories and models as loaded, places as measured."""
    from scene_specs.benchmarks.iwisdm import verify

    return verify.verify_record(record)
