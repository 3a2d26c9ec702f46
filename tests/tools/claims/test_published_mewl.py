"""`python -m tools published` on a small checkout in the form of MEWL's: its captioner."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

from tools.claims.crosschecks import Row, mewl

CAPTIONER = """
import json
from pathlib import Path

import openai
from model.consts import task_names


class MewlCaptioner:
    def bootstarp(self, folder):
        info = json.loads((Path(folder) / "info.json").read_text())
        question = info["question"]
        contexts = [(self.caption(panel), panel["name"]) for panel in info["context_panels"]]
        return contexts, (self.caption(question), question["choices"], question["answer"])

    def caption(self, panel):
        return "A scene."

    def shape(self, folder):
        contexts, question = self.bootstarp(folder)
        return [(text, name.split(" #")[0]) for text, name in contexts], question
"""
ATTRIBUTES = """
    def caption(self, panel):
        return "A " + " and a ".join(" ".join((o[3], o[1], o[2], o[0])) for o in panel["objects"]) + "."
"""


@pytest.mark.slow
@pytest.mark.parametrize(("more", "differ"), [("", [2, 2]), (ATTRIBUTES, [0, 2])])
def test_prompts_that_differ(more: str, differ: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mewl, "TASKS", ("shape", "bootstrap"))
    (tmp_path / "baselines").mkdir()
    (tmp_path / "baselines/gpt3.py").write_text(CAPTIONER + more)
    rows = [*mewl.check(tmp_path, Namespace(items=2))]
    tasks = ("shape", "bootstrap")
    assert rows == [Row(f"captions and prompts of {task}", 2, n) for task, n in zip(tasks, differ, strict=True)]
