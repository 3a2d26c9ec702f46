"""render-store stats, diff, ls --sort and the tables of show."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diorama.render.cli.store_stats import _nonempty_rows, bars
from diorama.render.store.analysis.stats import BINS, Distribution
from diorama.render.store.lance.lance_store import LanceStore
from tests.render.cli.test_store import call
from tests.render.store.rendered import rendered


@pytest.fixture
def store(tmp_path: Path) -> str:
    made = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made.put([rendered("demo/0"), rendered("demo/1", seed=4, split="val")])
    return made.url


def test_stats_as_text_and_json(store: str) -> None:
    text = call("stats", store).output
    assert "objects:   8" in text and "objects by shape (shape)" in text
    assert "  cube            4   50.0%  ####" in text
    facts = json.loads(call("stats", store, "--by", "split", "--json").output)
    assert facts["episodes"] == {"train": 1, "val": 1}
    assert facts["distributions"]["color"]["counts"]["val"] == {"blue": 2, "red": 2}
    table = call("stats", store, "--by", "split").output
    assert ["red", "50.0%", "50.0%"] in [line.split() for line in table.splitlines()]
    assert "objects:   4" in call("stats", store, "--where", "split = 'val'").output


@settings(max_examples=40)
@given(
    st.sampled_from(["words", "numbers", "bins"]),
    st.dictionaries(st.integers(0, 200), st.integers(1, 99), min_size=1, max_size=80),
)
def test_bars_lose_nothing(kind: Any, counts: dict[int, int]) -> None:
    keys = {key % BINS: n for key, n in counts.items()} if kind == "bins" else counts
    item = Distribution("x", "y", kind, {"g": Counter({str(k) if kind == "words" else k: n for k, n in keys.items()})})
    shown = bars(item)
    assert len(shown) <= 24
    assert sum(item.counts["g"][key] for _, keys_of in shown for key in keys_of) == item.counts["g"].total()
    assert len({label for label, _ in shown}) == len(shown)


def test_ls_by_what_is_extreme(store: str) -> None:
    lines = call("ls", store, "--sort", "visible_pixels", "--limit", "1").output.splitlines()
    assert len(lines) == 1 and lines[0].rsplit("\t", 1)[1].split(": ")[1].startswith("b in f")
    rows = [json.loads(line) for line in call("ls", store, "--sort", "box", "--reverse", "--json").output.splitlines()]
    assert rows[0]["box"] >= rows[1]["box"] and rows[0]["where"].startswith("a in")
    assert [line.split("\t")[0] for line in call("ls", store, "--reverse").output.splitlines()] == ["demo/1", "demo/0"]


def test_an_episode_is_shown_with_a_table_of_its_objects(store: str) -> None:
    lines = call("show", store, "demo/0").output.splitlines()
    head = next(k for k, line in enumerate(lines) if line.startswith("image  object"))
    assert [line.split()[:3] for line in lines[head + 1 :]] == [
        [image, name, shape] for image in ("f0", "f1") for name, shape in (("a", "cube"), ("b", "sphere"))
    ]
    assert "image  object" not in call("show", store).output


def test_diff_of_two_stores_and_of_two_times(store: str, tmp_path: Path) -> None:
    other = LanceStore.create(str(tmp_path / "o.lance"), fsync=False)
    other.put([rendered("demo/0"), rendered("demo/2")])
    text = call("diff", store, other.url, code=1).output
    assert "1 alike, 0 differ, 1 only in A, 1 only in B" in text and "only in B: demo/2" in text
    assert call("diff", store, store).output.startswith("2 alike, 0 differ")
    LanceStore.open(store).replace([rendered("demo/1", seed=9, split="val")])
    found = json.loads(call("diff", store, "--at", "2", "--json", code=1).output)
    assert [one["episode"] for one in found["differing"]] == ["demo/1"] and found["reasons"]["pictures"] == 1
    text = call("diff", store, "--at", "2", code=1).output
    assert "spec seed: A 4, B 9" in text and "pixels that differ: f0" in text
    assert "--at VERSION" in call("diff", store, code=2).output


def test_empty_bars_between_others_are_one_line() -> None:
    item = Distribution("visible", "objects", "bins")
    item.counts["all"] = Counter({0: 1, 2: 1, 6: 3})
    labels = [label for label, _ in _nonempty_rows(item)]
    assert labels == ["0.00 - 0.05", "0.05 - 0.10", "0.10 - 0.15", "...", "0.30 - 0.35"]


def test_what_is_missing_is_a_dash(tmp_path: Path) -> None:
    LanceStore.create(url := str(tmp_path / "n.lance")).put([rendered("demo/0", split=None)])
    text = call("show", url, "demo/0").output
    assert "split:      -\n" in text
    assert "None" not in text
