"""Which benchmark an episode is of, and whether it has a verifier."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from diorama.scene_specs.tasks.benchmark import benchmark_of, verifier_of


@pytest.mark.parametrize("name", ["icca", "iwisdm", "kilogram", "malevic", "mewl"])
def test_every_benchmark_with_stored_answers_has_a_verifier(name: str) -> None:
    assert benchmark_of({"benchmark": name}) == name
    assert verifier_of({"benchmark": name}) is not None


@pytest.mark.parametrize("task", [None, {}, {"benchmark": "clevr"}, {"benchmark": "views"}, {"benchmark": ["mewl"]}])
def test_other_episodes_have_nothing_to_verify(task: Any) -> None:
    assert verifier_of(task) is None


@pytest.mark.parametrize("words", ["words", "lexicon"])
def test_a_task_with_options_and_words_is_one_of_mewl(words: str) -> None:
    assert benchmark_of({"name": "shape", "options": [], "answer": "", words: {}}) == "mewl"
    assert benchmark_of({"benchmark": "mine", "options": [], words: {}}) is None


def test_the_registry_imports_no_benchmark() -> None:
    code = "import sys, diorama.scene_specs.tasks.benchmark; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
