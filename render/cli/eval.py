"""`render-eval`: ask a model the questions of a store, and score replies."""

from __future__ import annotations

from pathlib import Path

import click

from render.cli import options as opt
from render.cli.command import DioramaCommand, DioramaGroup
from render.cli.output import print_json, progress_bar, write_text


@click.group(cls=DioramaGroup)
def main() -> None:
    """Evaluate models on a store.

    `render-export --format eval` writes the same questions as tasks for Inspect AI and lmms-eval.

    Examples:
      render-eval ask scenes.lance --model openai:gpt-5 --out predictions.jsonl
      render-eval score predictions.jsonl --store scenes.lance
    """


_store = click.option("--store", metavar="STORE", default=opt.default_store, help="Store with the answers.")


@main.command(cls=DioramaCommand)
@click.argument("files", nargs=-1, required=True, type=opt.FILE)
@_store
@click.option("--allow-missing", is_flag=True, help="Count items without a prediction as wrong.")
@opt.splits
@opt.where
@opt.at
@opt.as_json
@click.option("--plot", type=opt.NEW_FILE, metavar="FILE.svg", help="Also draw the scores as SVG.")
def score(
    files: tuple[Path, ...], store: str, allow_missing: bool, splits: tuple[str, ...], where: str | None,
    at: str | None, as_json: bool, plot: Path | None,
) -> None:  # fmt: skip
    """Score replies of a model.

    FILES are predictions of `render-eval ask`, logs of Inspect AI (.eval), or samples of lmms-eval
    (*_samples_*.jsonl). The command reports accuracy with a 95% interval by benchmark and task, and by each group of
    items. It compares with chance, with a guesser that sees neither text nor images (blind), and with a guesser that
    sees no images (text only).

    Exit codes: 0: scored; 2: invalid options, or predictions that are invalid, of unknown items, duplicate or missing;
    4: the store can't be read.

    Examples:
      render-eval score predictions.jsonl --store scenes.lance
      render-eval score logs/*.eval --store scenes.lance --split test --json
    """
    from itertools import chain

    from render.evaluation.chart import chart
    from render.evaluation.predictions import read_predictions
    from render.evaluation.score import match, read_entries, rows, table
    from render.export.protocol import ExportOptions
    from render.store.episode_store import condition
    from scene_specs.language.answer_rule import VERSION

    reader = opt.open_reader(store, at, splits)
    options = ExportOptions(where=condition(where, splits=splits))
    with progress_bar(reader.count(options.where), "episodes") as advance:
        entries = read_entries(reader, options, advance)
    match(entries, chain.from_iterable(map(read_predictions, files)), allow_missing)
    found = rows(entries.values())
    if plot is not None:
        write_text(plot, chart(found, Path(store).name), "--plot")
    if as_json:
        about = {"store": store, "version": reader.version, "files": list(map(str, files)), "answer_rule": VERSION}
        print_json({**about, "rows": found}, ascii_only=False)
    else:
        click.echo(table(found), nl=False)
