"""`render-specs mewl | audit | captions`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from render.cli import options as opt
from render.cli.output import json_text, write_specs, write_text
from render.cli.verification import located, read_checked
from render.model.errors import SpecError

_TASKS = ["shape", "color", "material", "object", "composite", "relation", "bootstrap", "number", "pragmatic"]


@click.command()
@opt.choice("--task", [*_TASKS, "all"], "Task to generate.", "all")
@opt.choice("--split", ["train", "val", "test", "all"], "Split to generate.", "all")
@click.option("--count", type=opt.Number(0), help="Episodes per task and split [default: 3000, 600, 600].")
@opt.first
@opt.seed
@click.option("--balanced-options", is_flag=True, help="Omit options that can be ruled out without the images.")
@opt.out
def mewl(
    task: str, split: str, count: int | None, first: int, seed: int, balanced_options: bool, out: Path | None
) -> None:
    """Generate MEWL episodes, one per line.

    Each episode is verified before it is written. It depends only on its seed, split, task and number: `--first 42
    --count 1` writes the same episode 42 as `--count 100`.
    """
    from scene_specs.benchmarks.mewl.generate import COUNTS, TASKS, mewl_spec
    from scene_specs.benchmarks.mewl.words import SPLITS

    specs = (
        mewl_spec(seed, part, name, number, balanced_options)
        for part in (SPLITS if split == "all" else (split,))
        for name in (TASKS if task == "all" else (task,))
        for number in range(first, first + (COUNTS[part] if count is None else count))
    )
    write_specs(out, specs, "episodes")


@click.command(epilog=opt.FILES_HELP)
@opt.files
@opt.as_json
@opt.out
def audit(files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Audit MEWL episodes for answers that need no image.

    Reports the accuracy of blind strategies in percent, with chance and its standard error. Also reports chi-square
    probabilities of equal frequencies: answer position, attributes of the query's first object, topic of the answer.
    """
    from scene_specs.benchmarks.mewl.audit import audit as audit_episodes
    from scene_specs.benchmarks.mewl.audit import tables

    rows = audit_episodes(_read_mewl(files))
    write_text(out, json_text(rows) if as_json else tables(rows))


@click.command(epilog=opt.FILES_HELP)
@opt.files
@opt.out
def captions(files: tuple[str, ...], out: Path | None) -> None:
    """Write MEWL episodes as text, one per line.

    Each line has the captions, names, options, and prompts for models that read only text.
    """
    from scene_specs.benchmarks.mewl.captions import questions

    write_specs(out, (questions(data) for data in _read_mewl(files)), "episodes")


def _read_mewl(files: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Each episode as JSON data. Raises SpecError if files are wrong or hold other episodes than MEWL's."""
    from scene_specs.benchmarks.mewl.view import learner_view

    for item, data in read_checked(files):
        try:
            learner_view(data)
        except SpecError as error:
            raise located(error, item.file, item.line) from None
        yield data


COMMANDS = (mewl, audit, captions)
