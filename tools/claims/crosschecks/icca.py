"""ICCA (lil-lab/ICCA): games, arguments and measures."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator, Sequence
from glob import glob
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np

from diorama.scene_specs.benchmarks.icca import Presented, game_folders, score
from diorama.scene_specs.benchmarks.icca.game import LISTENER_VARIANTS, SPEAKER_VARIANTS, Game, read_listener
from diorama.scene_specs.benchmarks.icca.play import ListenerView, Setup, play
from diorama.scene_specs.benchmarks.icca.play_files import write_played
from diorama.scene_specs.benchmarks.icca.players import RecordedSpeaker
from diorama.scene_specs.benchmarks.icca.transcripts import lines_of, transcripts_of
from tools.claims.crosschecks import Row, read_json

MARK = "src/run_icca.py"
# Accuracy of people in the last repetition, in percent (Hua and Artzi 2024).
LAST_ACCURACY = 99.54


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield the comparisons of every file that is there."""
    folders = game_folders.game_folders([checkout / "src/ICCA_data"])
    games = game_folders.read_games(folders)
    pilots = f"{sum(game.iteration == 'pilot0' for game in games)} pilots"
    yield Row("game folders", len(folders), len(folders) - len(games), 0, pilots)
    file = checkout / "src/args/interaction_args_lsnr.json"
    yield Row("arguments", 1, int(read_listener(file.read_text(), "L3") != LISTENER_VARIANTS["L3"]))
    accuracy = [row.mean for row in score.scores(map(score.played_recording, games)) if row.measure == "accuracy"]
    wrong = round(100 * accuracy[-1], 2) != LAST_ACCURACY
    yield Row("people's accuracy, repetition 6", 1, int(wrong), 0, " ".join(f"{100 * one:.2f}" for one in accuracy))
    yield from _distances(checkout, games)
    with TemporaryDirectory() as folder:
        yield _notebook(checkout, games, Path(folder) / "played")


def _distances(checkout: Path, games: Sequence[Game]) -> Iterator[Row]:
    """Compare the notebook's functions between consecutive messages: of all words, and of those that it counts."""
    cells = _cells(checkout)
    found = {"np": np, **_tagger(cells["import spacy\nnlp = spacy.load"])}
    for name in ("editDistance", "get_msg_distance"):
        exec(cells[f"def {name}"], found)
    distance, seen = found["editDistance"], list[tuple[list[str], list[str], Any]]()

    def recorded(later: list[str], earlier: list[str]) -> Any:
        seen.append((earlier, later, distance(later, earlier)))
        return seen[-1][2]

    found["editDistance"] = recorded
    said = [
        [one.message for one, k in zip(game.recorded, game.targets, strict=True) if k == image]
        for game in games
        for image in range(4)
    ]
    pairs = [pair for messages in said for pair in itertools.pairwise(messages)]
    for words in ("all words", found["counted"]):
        seen.clear()
        for pair in pairs:
            if words == "all words":
                recorded(*map(score.plain_words, pair[::-1]))
            else:
                found["get_msg_distance"](pair)
        differ = 0
        for earlier, later, (wnd, wnr) in seen:
            own = score.novelty(earlier, later, published=True)
            differ += (own, score.rate(own, earlier, later, published=True)) != (int(wnd), float(wnr))
        means = np.reshape([wnr for *_, (_, wnr) in seen], (len(said), -1)).mean(axis=0)
        note = "WNR " + " ".join(f"{one:.3f}" for one in means)
        yield Row(f"WND and WNR of people's messages, {words}", len(seen), differ, 0, note)


def _cells(checkout: Path) -> dict[str, str]:
    cells = read_json(checkout / "src/collect_metrics.ipynb")["cells"]
    return {text.split("(")[0]: text for cell in cells if (text := "".join(cell["source"]).strip())}


def _notebook(checkout: Path, games: Sequence[Game], out: Path) -> Row:
    """What the notebook prints for records_*_output.csv of played games, without its tokenizer, against our scores."""
    title = "the notebook on our records: accuracy, words, WND, WNR"
    try:
        pandas = import_module("pandas")
    except ImportError:
        return Row(title, 0, 0, 0, "pandas is not installed")
    setup = Setup(Presented(), SPEAKER_VARIANTS["S1"], LISTENER_VARIANTS["L3"])
    lines = {}
    for game in games:
        trials = play(game, RecordedSpeaker(game, setup), _First(), setup)
        lines[game.name] = [*lines_of(game, setup, ("recorded", "first"), trials)]
    write_played(games, lines, out)
    cells, printed = _cells(checkout), io.StringIO()
    found: dict[str, Any] = {"np": np, "os": os, "pd": pandas, "glob": glob, "defaultdict": defaultdict}
    found |= {**_tagger(cells["import spacy\nnlp = spacy.load"]), "processor": SimpleNamespace(tokenize=str.split)}
    # scikit-learn's report has more, which the notebook does not print.
    found["classification_report"] = lambda gold, answers, **_: {"accuracy": np.mean(gold.values == answers.values)}
    for name in ("editDistance", "get_msg_distance", "get_speaker_metrics", "get_accuracies"):
        exec(cells[f"def {name}"], found)
    files = str(out / "*/records_*_output.csv")
    with contextlib.redirect_stdout(printed):
        found["get_accuracies"]("", "", files, "tgt_label_for_lsnr", "lsnr_pred", str(out))
        found["get_speaker_metrics"]("", "", files, "spkr_msg", str(out))
    theirs = [float(one) for one in re.findall(r"\d\.\d*", printed.getvalue().replace(files, ""))]
    played = (score.played_transcript(one) for game in games for one in transcripts_of("\n".join(lines[game.name])))
    own = [row.mean for row in score.scores(played, "published")]
    differ = sum(abs(one - other) > 1e-6 for one, other in zip(own, theirs, strict=False)) + abs(len(own) - len(theirs))
    return Row(title, len(own), differ, 0, str(found["counted"]))


def _tagger(cell: str) -> dict[str, Any]:
    """Return `nlp` of the notebook's cell, and what it counts; without spaCy's model, the content words of scores."""
    found: dict[str, Any] = {"counted": "parts of speech by spaCy"}
    try:
        exec(cell.split("processor")[0], found)
    except (ImportError, OSError):
        # OSError: spaCy has no model.
        found["counted"] = "content words (spaCy's en_core_web_sm is not installed)"
        found["nlp"] = lambda text: [SimpleNamespace(lemma_=word, pos_="NOUN") for word in score.content_words(text)]
    return found


class _First:
    def choose(self, view: ListenerView) -> str:
        return view.labels[0]
