"""`python -m tools published` on a small checkout in the form of ICCA's: the functions of its notebook."""

from __future__ import annotations

import itertools
import json
import sys
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.scene_specs.benchmarks.icca.test_game_folders import human
from tools.claims.crosschecks.icca import check

TAGGER = """
import spacy
nlp = spacy.load("a model")
nlp.remove_pipe("lemmatizer")
nlp.add_pipe("lemmatizer", config={"mode": "lookup"}).initialize()
processor=AutoProcessor.from_pretrained("a model")
"""
DISTANCE = """def editDistance(h, r):
    added = sum(word not in r for word in h)
    return added, added / len(r)
"""
PAIR = """
def get_msg_distance(sentences):
    words = [[word.lemma_ for word in nlp(one.lower()) if word.pos_ == "NOUN"] for one in sentences]
    return editDistance(words[1], words[0])
"""


def rows(folder: Path, distance: str = DISTANCE) -> list[Any]:
    """The first rows of the comparison, with the messages `the "red" one, number 5`."""
    human(folder / "src/ICCA_data")
    (folder / "src/args").mkdir()
    arguments: dict[str, Any] = dict.fromkeys(("do_shuffle", "no_history", "img_mask"), False)
    arguments |= {"has_intro": True, "img_once": True, "misleading_trials": []}
    for name, data in (("intro_texts_spkr", {}), ("intro_texts_lsnr", {}), ("interaction_args_lsnr", arguments)):
        (folder / f"src/args/{name}.json").write_text(json.dumps(data))
    cells = [{"cell_type": "code", "source": text.splitlines(keepends=True)} for text in (TAGGER, distance, PAIR)]
    (folder / "src/collect_metrics.ipynb").write_text(json.dumps({"cells": cells}))
    return list(itertools.islice(check(folder, Namespace()), 5))[3:]


class Tagger:
    """spaCy's pipeline: only words of letters are nouns."""

    def remove_pipe(self, name: str) -> None:
        assert name == "lemmatizer"

    def add_pipe(self, name: str, config: Any) -> Any:
        return SimpleNamespace(initialize=lambda: None)

    def __call__(self, text: str) -> list[Any]:
        return [SimpleNamespace(lemma_=one, pos_="NOUN" if one.isalpha() else "NUM") for one in text.split()]


def test_all_words_and_content_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    every, content = rows(tmp_path)
    assert (every.compared, every.differ, every.note) == (20, 0, "WNR 0.200 0.200 0.200 0.200 0.200")
    assert (content.compared, content.differ, content.note) == (20, 0, "WNR 0.250 0.250 0.250 0.250 0.250")
    assert "not installed" in content.what


def test_the_notebooks_tagger_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=lambda name: Tagger()))
    tagged = rows(tmp_path)[1]
    # The numbers are left out, so equal words stay.
    assert (tagged.differ, tagged.note) == (0, "WNR 0.000 0.000 0.000 0.000 0.000")
    assert tagged.what.endswith("parts of speech by spaCy")


def test_another_distance_is_found(tmp_path: Path) -> None:
    every, content = rows(tmp_path, DISTANCE.replace("added = ", "added = 1 + "))
    assert every.differ == content.differ == 20
