"""`render-eval`: ask a model the questions of a store, and score replies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand, DioramaGroup, log
from diorama.render.cli.output import print_result, progress_bar, write_text
from diorama.scene_specs.errors import counted


@click.group(cls=DioramaGroup)
def main() -> None:
    """Evaluate models on a store.

    To ask the questions of a store with Inspect AI or lmms-eval instead, export it with `render-export --format eval`.

    Exit codes: 0: done; 1: the model gave no usable reply (`ask`), or is better on the first set (`compare`);
    2: invalid options or files; 4: the store can't be read.

    Examples:
      render-eval ask scenes.lance --model openai:gpt-5 --out predictions.jsonl
      render-eval score predictions.jsonl --store scenes.lance
    """


class _ModelCommand(DioramaCommand):
    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all options; those about models are added late, because `render-eval --help` must not wait for
        pydantic."""
        if all(param.name != "price" for param in self.params):
            from diorama.render.cli.benchmarks import parameter
            from diorama.scene_specs.tasks.benchmark import ModelCommand

            fields = ModelCommand.model_fields.items()
            # After --reply-tokens.
            self.params[4:4] = [parameter(name, field) for name, field in fields if name not in ("out", "resume")]
        return super().get_params(ctx)


@main.command(cls=_ModelCommand)
@click.argument("store", metavar="[STORE]", default=opt.default_store)
@click.option(
    "--model", required=True, metavar="NAME",
    help="Model: openai:NAME (any OpenAI-compatible server), hf:NAME_OR_FOLDER (transformers), or module:Class.",
)  # fmt: skip
@click.option("--out", required=True, type=opt.NEW_FILE, metavar="FILE", help="File to which replies are appended.")
@opt.number("--reply-tokens", "Maximum number of tokens per reply.", 1, default=256)
@opt.selection
def ask(
    store: str, model: str, out: Path, reply_tokens: int, parallel: int, parameters: dict[str, str], **settings: Any
) -> None:
    """Ask a model the questions of a store.

    The command appends each reply to the file of --out. After an error, Ctrl-C or an exhausted limit, repeat the
    command: it asks only the questions that have no reply yet. The key of an OpenAI-compatible server is in the
    environment variable OPENAI_API_KEY.

    Exit codes: 0: all asked; 1: the model failed, or a limit is reached; 2: invalid options; 4: the store can't be
    read.

    Examples:
      render-eval ask scenes.lance --model openai:gpt-5 --out predictions.jsonl
      render-eval ask --model hf:Qwen/Qwen3-VL-2B-Instruct --out qwen.jsonl
    """
    from diorama.render.cli.benchmarks import json_or_text
    from diorama.render.uses.chat import ChatSettings, open_models
    from diorama.render.uses.evaluation.ask import ask as ask_model

    reader, options = opt.open_selected(store, settings)
    chosen = ChatSettings(parameters={name: json_or_text(text) for name, text in parameters.items()}, **settings)
    with open_models(chosen) as models, progress_bar(reader.count(options.where), "episodes") as advance:
        count = ask_model(
            reader, options, models, model, out, parallel=parallel, reply_tokens=reply_tokens, progress=advance
        )
    requests, (read, written) = models.meter.requests, models.meter.tokens
    click.echo(
        f"asked {counted(count, 'item')}: {counted(requests, 'request')}, {read:,} tokens read, {written:,} written"
    )
    limits = {"questions": options.questions, "limit": options.limit}
    more = "".join(f" --{name} {number}" for name, number in limits.items() if number)
    more += "".join(f" --family {name}" for name in options.families)
    click.echo(f"next: render-eval score {out} --store {store}{more}, and the same --split, --where and --at, if any")


@main.command(cls=DioramaCommand)
@click.argument("files", nargs=-1, required=True, type=opt.FILE)
@click.option(
    "--store", metavar="STORE", default=opt.default_store, show_default=False,
    help="Store with the answers.  [default: $DIORAMA_STORE or ./diorama.lance]",
)  # fmt: skip
@opt.flag("--allow-missing", "Count items without a prediction as wrong.")
@opt.selection
@opt.as_json
def score(files: tuple[Path, ...], store: str, allow_missing: bool, as_json: bool, **selected: Any) -> None:
    """Score replies of a model.

    FILES are predictions of `render-eval ask`, logs of Inspect AI (.eval), or samples of lmms-eval
    (*_samples_*.jsonl). The command reports accuracy with a 95% interval by benchmark and task, and by group of
    questions, such as those with the same number of objects. It compares with chance, with a guesser that sees neither
    text nor images (blind), and with a guesser that sees no images (text only).

    Exit codes: 0: scored; 2: invalid options, or predictions that are invalid, of unknown items, duplicate or missing;
    4: the store can't be read.

    Examples:
      render-eval score predictions.jsonl --store scenes.lance
      render-eval score logs/*.eval --store scenes.lance --split test --json
    """
    from itertools import chain

    from diorama.render.uses.evaluation.predictions import match, read_predictions
    from diorama.render.uses.items.scores import GUESSERS, LEAST, no_items, read_entries, rows, table
    from diorama.scene_specs.tasks.answer_rule import VERSION

    reader, options = opt.open_selected(store, selected)
    with progress_bar(reader.count(options.where), "episodes") as advance:
        entries = read_entries(reader, options, advance)
    if not entries:
        raise no_items(options)
    match(entries, chain.from_iterable(map(read_predictions, files)), allow_missing)
    scored = rows(entries.values())
    about = {"store": store, "version": reader.version, "files": list(map(str, files)), "answer_rule": VERSION}
    print_result(as_json, {**about, "rows": scored}, table(scored), ascii_only=False)
    if any(row[guesser] is None for row in scored for guesser in GUESSERS):
        log.info("no figure of the guessers (-): a task has fewer than %d items, or too few episodes", LEAST)
    if 0 < scored[0]["items"] - scored[0]["missing"] == scored[0]["invalid"]:
        log.warning("no reply is valid: in none of %d was one of the item's answers found", scored[0]["invalid"])


@main.command(cls=DioramaCommand)
@click.argument("store", metavar="[STORE]", default=opt.default_store)
@opt.value(
    "--prune", "FILE", "Also write the ids of items to leave out, one per line.  [default: no file]", opt.NEW_FILE
)
@opt.selection
@opt.as_json
def stress(store: str, prune: Path | None, as_json: bool, **selected: Any) -> None:
    """Find out what can be answered without looking.

    Learners that never see an image (the text alone, the options alone, statistics of the layout, positions of the
    options) learn from nine tenths of the episodes and answer the items of the rest. For each task, the command prints
    their accuracy with a 95% interval, and whether it is more than chance after a correction for all learners and
    tasks. With --json, it also prints the items that give themselves away, with a score each. Needs scikit-learn
    (`pip install '.[stress]'`).

    Exit codes: 0: done, shortcuts or not; 2: invalid options; 4: the store can't be read.

    Examples:
      render-eval stress scenes.lance
      render-eval stress scenes.lance --questions 5 --prune leave-out.txt --json
    """
    from diorama.render.uses.items import stress as learners
    from diorama.render.uses.items.scores import LEAST, iter_items, no_items

    reader, options = opt.open_selected(store, selected)
    with progress_bar(reader.count(options.where), "episodes") as advance:
        cases = [learners.Case.of(*case) for case in iter_items(reader, options, advance)]
    if not cases:
        raise no_items(options)
    findings = learners.stress(cases)
    if not findings:
        log.warning(
            "nothing to learn from: no task has %d items from several episodes; found %d items", LEAST, len(cases)
        )
    if prune is not None:
        write_text(prune, "".join(f"{name}\n" for name in learners.ids_to_prune(findings, cases)), "--prune")
    data = {"store": store, "rows": [finding.data() for finding in findings], "items": learners.giveaways(findings)}
    print_result(as_json, data, learners.table(findings), ascii_only=False)


@main.command(cls=DioramaCommand)
@click.argument("first", type=opt.FILE)
@click.argument("second", type=opt.FILE)
@opt.as_json
def compare(first: Path, second: Path, as_json: bool) -> None:
    """Compare the scores of a model on two sets.

    FIRST and SECOND are outputs of `render-eval score --json`: on a published set, and on a fresh one of the same
    kind. The command prints the gap with a 95% interval, for all items and by task. A model that is better on the
    first set may have seen it in training.

    Exit codes: 0: no significant gap; 1: better on the first set; 2: invalid files.

    Examples:
      render-eval compare published.json fresh.json
      render-eval compare published.json fresh.json --json
    """
    from diorama.render.uses.evaluation import compare as scores

    rows = scores.gaps(scores.read_rows(first), scores.read_rows(second))
    print_result(as_json, {"rows": rows, "memorized": scores.memorized(rows)}, scores.table(rows))
    if scores.memorized(rows):
        click.get_current_context().exit(1)
