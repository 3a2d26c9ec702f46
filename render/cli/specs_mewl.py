"""`render-specs mewl | audit | captions`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from render.cli.common import atomic_writer
from render.cli.proofs import checked, placed

_FILES = "FILES are .json and .jsonl files, folders, globs, and - for standard input."
_OUT = click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout.")
_TASKS = ["shape", "color", "material", "object", "composite", "relation", "bootstrap", "number", "pragmatic"]


@click.command()
@click.option("--task", type=click.Choice([*_TASKS, "all"]), default="all", show_default=True)
@click.option("--split", type=click.Choice(["train", "val", "test", "all"]), default="all", show_default=True)
@click.option("--count", type=click.IntRange(0), help="Episodes a task and split [default: 3000, 600, 600].")
@click.option("--first", type=click.IntRange(0), default=0, show_default=True, help="Number of the first episode.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option("--balanced-options", is_flag=True, help="Leave out options that are known to be wrong without looking.")
@_OUT
def mewl(
    task: str, split: str, count: int | None, first: int, seed: int, balanced_options: bool, out: Path | None
) -> None:
    """Generate MEWL episodes, one a line; each is proved before it is written.

    An episode depends on its seed, split, task and number only: `--first 42 --count 1` writes number 42 as
    `--count 100` does.
    """
    from scene_specs.benchmarks.mewl.generate import COUNTS, TASKS, mewl_spec
    from scene_specs.benchmarks.mewl.words import SPLITS

    with atomic_writer(out) as stream:
        for name in SPLITS if split == "all" else (split,):
            for one in TASKS if task == "all" else (task,):
                for number in range(first, first + (COUNTS[name] if count is None else count)):
                    spec = mewl_spec(seed, name, one, number, balanced_options)
                    stream.write(json.dumps(spec, separators=(",", ":")) + "\n")


@click.command(epilog=_FILES)
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="The numbers as JSON instead of tables.")
@_OUT
def audit(files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Say what a guesser gets of MEWL episodes that never sees a picture, and whether what is drawn is balanced.

    Percent of answers found, beside chance and its standard error; then chi-square probabilities of equal frequencies:
    position of the answer, attributes of the query's first object, what the answer is about.
    """
    from scene_specs.benchmarks.mewl.audit import audit as audited
    from scene_specs.benchmarks.mewl.audit import tables

    rows = audited(data for _, data in _mewl_data(files))
    with atomic_writer(out) as stream:
        stream.write(json.dumps(rows, indent=1) + "\n" if as_json else tables(rows))


@click.command(epilog=_FILES)
@click.argument("files", nargs=-1, required=True)
@_OUT
def captions(files: tuple[str, ...], out: Path | None) -> None:
    """Write MEWL episodes as text, one a line: captions, names, options, and prompts for models that read only text."""
    from scene_specs.benchmarks.mewl.captions import questions

    with atomic_writer(out) as stream:
        for _, data in _mewl_data(files):
            stream.write(json.dumps(questions(data), separators=(",", ":")) + "\n")


def _mewl_data(files: tuple[str, ...]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Each episode with its JSON data. Raises SpecError for specs that are wrong or no MEWL episodes."""
    from scene_specs.benchmarks.mewl.view import learner_view
    from scene_specs.language.errors import SpecError

    for item, data in checked(files):
        try:
            learner_view(data)
        except SpecError as error:
            raise SpecError([placed(diagnostic, item.file, item.line) for diagnostic in error.diagnostics]) from None
        yield item, data
