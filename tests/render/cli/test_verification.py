"""`render-specs check --prove`: which episodes are verified, and how the others are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.specs import main
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.benchmarks.mewl.generate import mewl_spec
from tests.render.store.rendered import rendered
from tests.scene_specs.reading.broken_cases import episode
from tests.scene_specs.tasks.importing.published import mewl_folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


def test_clevr_episodes_have_nothing_to_verify(tmp_path: Path) -> None:
    file = tmp_path / "clevr.jsonl"
    assert run("clevr", "--count", 3, "--out", file).exit_code == 0
    done = run("check", "--prove", file)
    assert (done.exit_code, done.stdout.split(" (")[0]) == (1, "3 episodes, no errors")
    assert "(3 unverified" in done.stdout
    data = json.loads(run("check", "--prove", "--json", file).stdout)
    assert data == {"episodes": 3, "unverified": 3, "faults": []}
    assert json.loads(run("check", "--json", file).stdout) == {"episodes": 3, "faults": []}


@pytest.mark.parametrize("task", [None, {}, {"benchmark": "mine", "answer": "a"}, {"benchmark": ["mewl"]}])
def test_episodes_of_no_or_another_benchmark_have_nothing_to_verify(tmp_path: Path, task: Any) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(episode() if task is None else episode(task=task)))
    data = json.loads(run("check", "--prove", "--json", file).stdout)
    assert data == {"episodes": 1, "unverified": 1, "faults": []}
    done = run("check", "--prove", file)
    assert done.exit_code == 1
    assert ("1 unverified: not installed: mine)" in done.stdout) == (task == {"benchmark": "mine", "answer": "a"})


def test_a_store_of_no_benchmark_has_nothing_to_verify(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered("demo/0"), rendered("demo/1")])
    done = run("check", "--prove", "--json", "--store", store.url)
    assert (done.exit_code, json.loads(done.stdout)) == (1, {"episodes": 2, "unverified": 2, "faults": []})


def test_imported_mewl_episodes_are_verified(tmp_path: Path) -> None:
    mewl_folder(tmp_path / "mewl", np.random.default_rng(5))
    file = tmp_path / "imported.jsonl"
    assert run("import", "--from", "mewl", tmp_path / "mewl", "--out", file).exit_code == 0
    done = run("check", "--prove", "--json", file)
    # The objects of this episode are random: the words can't mean what its map says.
    (found,) = json.loads(done.stdout)["faults"]
    assert (done.exit_code, found["line"], found["episode"]) == (2, 1, "mewl/train/shape/12")
    assert json.loads(done.stdout)["unverified"] == 0


@pytest.mark.parametrize("words", ["words", "lexicon"])
def test_mewl_episodes_without_a_benchmark_are_verified(tmp_path: Path, words: str) -> None:
    spec = mewl_spec(0, "test", "shape", 0)
    del spec["task"]["benchmark"]
    spec["task"][words] = spec["task"].pop("words", {})
    file = tmp_path / "a.json"
    file.write_text(json.dumps(spec))
    done = run("check", "--prove", file)
    assert (done.exit_code, "task.benchmark: required key" in done.stderr) == (2, True)
