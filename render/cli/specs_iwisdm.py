"""`render-specs iwisdm | balance`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli import options as opt
from render.cli.output import json_text, write_specs, write_text
from render.cli.verification import read_benchmark
from render.model.errors import UsageError
from scene_specs.language.foreign import read_text

if TYPE_CHECKING:
    from scene_specs.benchmarks.iwisdm.generate import FramePlans, TrialSettings

_BANK = [
    "dms", "dnms", "dmc", "dnmc", "odr", "abba", "n-back", "dual-n-back", "go-no-go", "contextual-decision", "ax-cpt",
    "12-ax", "task-switching", "memory-scanning", "visual-search", "search-and-report",
]  # fmt: skip
_FOILS_HELP = "Share of pairs with different identities that have one category [default: by chance]."
_STIMULI_HELP = 'JSON {"category": ["#1", "model id", ...], ...} [default: eight of each packaged category].'


def _parse_settings(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Parse any number of `KEY=VALUE`. Raises BadParameter."""
    if any("=" not in value for value in values):
        raise click.BadParameter("expected KEY=VALUE, such as n=3 or delay=2-5")
    return {name: text for name, _, text in (value.partition("=") for value in values)}


@click.command()
@click.option("--benchmark", type=click.Choice(["low", "medium", "high", "single-frame"]), help="Published level.")
@opt.choice("--properties", ["all", "category", "location", "identity"], "Properties that a --benchmark asks about.")
@click.option("--task", type=click.Choice(_BANK), metavar="NAME", help=f"Classic task instead: {', '.join(_BANK)}.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_parse_settings,
    help="Setting of a --task; repeatable.",
)
@click.option("--config", type=opt.FILE, metavar="FILE", help="Your own AutoTask configuration instead, as JSON.")
@click.option("--count", type=opt.Number(0), required=True, help="Number of trials.")
@opt.first
@click.option("--trials-per-task", type=opt.Number(1), default=1, help="Trials per task.")
@opt.choice(
    "--unique", ["structure", "frames", "none"], "Tasks differ in operators; or also frames; or may repeat.", "frames"
)
@click.option("--balanced", is_flag=True, help="Make all answers equally frequent, counted from trial 0.")
@click.option("--condition-matters", is_flag=True, help="Give both branches of a Switch different answers.")
@click.option("--foils", type=opt.Number(0, 1, float), metavar="SHARE", help=_FOILS_HELP)
@click.option("--longest-delay", type=opt.Number(1), help="Maximum number of empty frames in a row [default: 1].")
@click.option("--chain", type=opt.Number(1, 10), default=1, help="Number of tasks merged into one.")
@click.option(
    "--distractor-frames", type=opt.Number(0), default=0, help="Maximum empty frames with an object to ignore."
)
@click.option("--distractors", type=opt.Number(0), default=0, help="Maximum frames with a second object to ignore.")
@opt.choice("--fixation", ["hold", "action", "none"], "Show the cross until the answer is due, only then, or never.")
@click.option("--background", metavar="R,G,B", callback=opt.parse_color, help="8-bit sRGB color [default: black].")
@click.option("--stimuli", type=opt.FILE, metavar="FILE", help=_STIMULI_HELP)
@opt.choice("--split", ["train", "val", "test"], "Split; each has its own views of the models.")
@opt.seed
@opt.out
def iwisdm(out: Path | None, count: int, first: int, **options: Any) -> None:
    """Generate iWISDM trials, one per line.

    A trial has frames, an instruction, and the correct action at every frame. Give one of --benchmark, --task,
    --config. `--first 42 --count 1` writes the same trial 42 as `--count 100`; if it depends on earlier trials
    (--balanced, --unique), these are planned too.
    """
    if sum(options[name] is not None for name in ("benchmark", "task", "config")) != 1:
        raise click.UsageError("give one of --benchmark, --task, --config")
    from scene_specs.benchmarks.iwisdm.generate import trial_specs

    setup = _read_setup(options)
    sessions, name = _plan_sessions(options, setup, first + count)
    write_specs(out, trial_specs(sessions, setup, name, first, count), "trials", count)


def _read_setup(options: dict[str, Any]) -> TrialSettings:
    from scene_specs.benchmarks.iwisdm.constraints import Options
    from scene_specs.benchmarks.iwisdm.generate import TrialSettings
    from scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, read_stimuli

    file = options["stimuli"]
    return TrialSettings(
        seed=options["seed"],
        split=options["split"],
        stimuli=read_stimuli(read_text(file), str(file)) if file else DEFAULT,
        trials_per_task=options["trials_per_task"],
        balanced=options["balanced"],
        options=Options(options["condition_matters"], options["foils"]),
        fillers=options["distractor_frames"],
        described=options["distractors"],
        fixation=options["fixation"],
        background=options["background"],
    )


def _plan_sessions(options: dict[str, Any], setup: TrialSettings, trials: int) -> tuple[FramePlans, str]:
    """Frame plans, and the name that ids contain. Raises SpecError, UsageError."""
    from scene_specs.benchmarks.iwisdm.autotask_config import benchmark, read_config
    from scene_specs.benchmarks.iwisdm.classic_tasks import read_settings
    from scene_specs.benchmarks.iwisdm.generate import auto_plans, classic_plans

    task, file, chain, delay = (options[name] for name in ("task", "config", "chain", "longest_delay"))
    if options["settings"] and not task:
        raise click.UsageError("--set is for --task")
    if task:
        if chain > 1 or delay or options["unique"] != "frames":
            raise click.UsageError(
                "--chain, --longest-delay and --unique are for benchmarks; use --set for the delays of a task"
            )
        return classic_plans(task, setup, read_settings(task, options["settings"])), task
    if file:
        config, name = read_config(read_text(file), str(file)), "auto"
    else:
        config = benchmark(options["benchmark"], options["properties"])
        name = f"{options['benchmark']}-{options['properties']}"
    if delay:
        config = config.model_copy(update={"longest_delay": delay})
    name += f"-x{chain}" if chain > 1 else ""
    return auto_plans(config, setup, name, trials, options["unique"], chain), name


@click.command(epilog=opt.FILES_HELP)
@opt.files
@opt.as_json
@opt.out
def balance(files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Report how often each answer of iWISDM trials is due.

    Also reports the accuracy of a guesser that reads the instruction but sees no image, and, for tasks with a
    condition, how often the condition matters: both branches would give different answers.
    """
    from scene_specs.benchmarks.iwisdm.answer_balance import audit, table
    from scene_specs.benchmarks.iwisdm.reader import UnreadableError

    try:
        rows = audit(read_benchmark(files, "iwisdm"))
    except UnreadableError as error:
        raise UsageError(str(error)) from error
    write_text(out, json_text(rows) if as_json else table(rows))


COMMANDS = (iwisdm, balance)
