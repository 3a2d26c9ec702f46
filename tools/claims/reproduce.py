"""Write docs/reproduce.md: figures of five papers, theirs and ours.

    python -m tools reproduce CHECKOUT... > docs/reproduce.md

CHECKOUT is a clone of a benchmark's repository, as for `python -m tools published`. A figure that can't be had has the
reason in its place; without a clone of its benchmark, so has a figure from published files.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import diorama
from diorama.scene_specs.benchmarks.icca.game_folders import game_folders, read_games
from diorama.scene_specs.benchmarks.icca.score import played_recording, scores
from diorama.scene_specs.benchmarks.kilogram.annotations import Annotations, read_annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import own_annotations
from diorama.scene_specs.benchmarks.kilogram.measures import measures
from diorama.scene_specs.benchmarks.malevic.importing import import_published
from diorama.scene_specs.benchmarks.malevic.report import statistics
from diorama.scene_specs.files.tables import markdown_table
from tools.claims.published import crosscheck_of, state_of, without_warnings

TEXT = """# Figures of the papers

Figures of five papers beside what Diorama's code computes from the published files, and from data that Diorama
generates. Figures from our data need not be equal, because the data are others. This command writes the page:

    python -m tools reproduce CHECKOUT... > docs/reproduce.md

The pages of [MEWL](mewl.md), [KiloGram](kilogram.md), [iWISDM](iwisdm.md), [MALeViC](malevic.md) and [ICCA](icca.md)
compare the files themselves, value by value.
"""
HEAD = ("figure", "published", "from their files", "from our data", "command")
ITEMS = 800


class Figure(NamedTuple):
    """A figure of a paper.

    Attributes:
        theirs: computes it from a checkout, or why it can't be had.
        ours: computes it from our data, or why it can't be had.
    """

    what: str
    published: str
    theirs: Callable[[Path], str] | str
    ours: Callable[[], str] | str
    command: str = ""


def _naming(found: Annotations) -> str:
    rows = [measures(items) for items in found.values() if len(items) > 1]
    return ", ".join(f"{mean(row[key] for row in rows):.3f}" for key in ("snd", "pnd", "psa"))


def _described(name: str, checkout: Path) -> str:
    return _naming(read_annotations((checkout / "dataset" / name).read_text("utf-8"), name)[0])


def _repetitions(measure: str, scale: float, checkout: Path) -> str:
    rows = scores(map(played_recording, read_games(game_folders([checkout / "src/ICCA_data"]))), "published", "all")
    return ", ".join(f"{scale * row.mean:.2f}" for row in rows if row.measure == measure)


def _ceiling(folder: str, split: str, checkout: Path) -> str:
    annotations = checkout / folder / f"annotation/{split}_annotation.json"
    asked = checkout / folder / f"dataset/{split}.json"
    if not annotations.is_file():
        return f"{annotations.relative_to(checkout)} is absent from the copy that was available"
    return _percent(one.model_dump(mode="json") for one in import_published(annotations, questions=asked))


def _own_ceiling(name: str) -> str:
    return _percent(diorama.generate("malevic", name=name, split="test", count=ITEMS, seed=1))


def _percent(items: Iterable[Any]) -> str:
    (row,) = statistics(items)
    return f"{100 * row['ceiling']:.1f} of {row['items']:,}"


def _answers(checkout: Path) -> str:
    """Return the share of questions with the answer yes, of all that are there."""
    files = sorted(checkout.glob("data*/*/dataset/*.json"))
    asked = [one for path in files if path.name != "vocab.json" for one in json.loads(path.read_text())["questions"]]
    return f"{100 * mean(one['answer'] == 'yes' for one in asked):.1f} of {len(asked):,}"


def _own_answers() -> str:
    items = [*diorama.generate("malevic", name="set-pos", split="test", count=ITEMS, seed=1)]
    return f"{100 * mean(item['task']['answer'] == 'yes' for item in items):.1f} of {ITEMS}"


def _chance() -> str:
    specs = [*diorama.generate("mewl", task="shape", split="test", count=20, seed=1)]
    return f"{100 * mean(1 / len(spec['task']['options']) for spec in specs):.1f}"


_REPLIES = "the repository has no replies of models or people"
_GENERATE = "`render-specs malevic --set {} --split test --count 800 --seed 1`, then `malevic statistics`"
_NAMING = "`render-specs kilogram naming`"
FIGURES = {
    "mewl": (
        Figure("chance, %", "20", "the repository has no episodes", _chance, "`render-specs mewl --split test`"),
        Figure("accuracy of models and people", "see the paper", _REPLIES, "ask a model", "`render-eval ask`, `score`"),
    ),
    "kilogram": (
        Figure("SND, PND, PSA, 74 tangrams (DENSE)", "0.93, 0.79, 5.09", partial(_described, "dense.json"),
               lambda: _naming(own_annotations()), _NAMING),
        Figure("SND, PND, PSA, the same, 10 descriptions each", "0.90, 0.73, 5.34", partial(_described, "dense10.json"),
               "as above", _NAMING),
        Figure("the same of all 1,016 tangrams (FULL)", "see the paper", "full.json is not in the repository",
               "as above", _NAMING),
        Figure("accuracy by condition", "see the paper", "the repository has no predictions", "fine-tune a model",
               "`render-eval score`"),
    ),
    "iwisdm": (
        Figure("accuracy of models and people", "see the paper", "the repository has no replies and no trials",
               "ask a model", "`render-specs iwisdm`, `render-eval ask`, `score`"),
    ),
    "malevic": (
        Figure("answers that k = 0.29 gets right, %, SET+POS", "97", partial(_ceiling, "data/set-pos", "test"),
               partial(_own_ceiling, "set-pos"), _GENERATE.format("set-pos")),
        Figure("the same, compositional subset of SET+POS", "not stated",
               partial(_ceiling, "data-compositional/set-pos-compositional", "test_seen"),
               "as above", _GENERATE.format("set-pos")),
        Figure("the same, POS-hard", "92", partial(_ceiling, "data-hard/pos-hard", "test"),
               partial(_own_ceiling, "pos-hard"), _GENERATE.format("pos-hard")),
        Figure("the same, SET+POS-hard", "not stated", partial(_ceiling, "data-hard/set-pos-hard", "test"),
               partial(_own_ceiling, "set-pos-hard"), _GENERATE.format("set-pos-hard")),
        Figure("answers that are yes, %", "50", _answers, _own_answers, _GENERATE.format("set-pos")),
        Figure("accuracy of FiLM and others", "see the paper", _REPLIES, "train a model",
               "`render-eval score`"),
    ),
    "icca": (
        Figure("people's accuracy in repetitions 1 to 6, %", "99.54 in the last",
               partial(_repetitions, "accuracy", 100), "let people play", "`render-specs icca score FOLDERS`"),
        Figure("people's words per message", "see the paper", partial(_repetitions, "words", 1), "let people play",
               "`render-specs icca score FOLDERS`"),
        Figure("people's WNR, all words, repetitions 2 to 6", "see the paper", partial(_repetitions, "wnr", 1),
               "let people play", "`render-specs icca score FOLDERS --computation published --words all`"),
        Figure("accuracy of models", "see the paper", _REPLIES, "let a model play",
               "`render-specs icca play`, `score`"),
    ),
}  # fmt: skip


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("checkouts", nargs="*", type=Path, metavar="CHECKOUT")


def cells(figure: Figure, checkout: Path | None) -> tuple[str, ...]:
    """Return a row of the table; what can be computed, is."""
    theirs = figure.theirs
    if not isinstance(theirs, str):
        theirs = theirs(checkout) if checkout else "not computed: no checkout was given"
    ours = figure.ours if isinstance(figure.ours, str) else figure.ours()
    return figure.what, figure.published, theirs, ours, figure.command


def main(options: Namespace) -> int:
    """Print the page. Raises UsageError for a folder that is no known checkout."""
    checkouts = {crosscheck_of(path)[0]: path for path in options.checkouts}
    sys.stdout.write(TEXT)
    for name, figures in FIGURES.items():
        checkout = checkouts.get(name)
        state = state_of(checkout).split()[1][:7] if checkout else ""
        with without_warnings():
            table = markdown_table(HEAD, [cells(figure, checkout) for figure in figures])
        sys.stdout.write(f"\n## {name}\n\n" + f"Commit {state}.\n\n" * bool(state) + table)
    return 0
