"""An exported folder in Inspect AI and lmms-eval, as installed from PyPI, and their result files scored here."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from diorama.scene_specs.tasks.answer_rule import LETTERS
from tests.compatibility.commands import run, run_json
from tests.render.uses.items.eval_stores import OPTIONS, eval_store

PLAYERS = Path(__file__).resolve().parents[3] / "harness"
Replies = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """store `eval.lance`, its export `out`, and `replies.json` of an oracle, a random and a blind player."""
    made = tmp_path_factory.mktemp("harness")
    eval_store(made, episodes_each=6).close()
    run("render-export", made / "eval.lance", "--format", "eval", "--out", made / "out")
    items = [
        json.loads(line)
        for file in sorted(made.glob("out/*/items.jsonl"))
        for line in file.read_text().strip().split("\n")
    ]
    (made / "replies.json").write_text(json.dumps(players(items)))
    yield made


def players(items: list[dict[str, Any]]) -> Replies:
    rng = random.Random(1)
    replies: Replies = {"oracle": {}, "random": {}, "blind": {}}
    tasks = defaultdict(list)
    for item in items:
        replies["oracle"][item["id"]] = item["label"]
        choices = LETTERS[: len(item["options"])] if item["lettered"] else item["options"]
        replies["random"][item["id"]] = rng.choice(choices)
        tasks[item["id"].partition("/")[0], item["task"]].append(item)
    for group in tasks.values():
        ((answer, times),) = Counter(item["answer"] for item in group).most_common(1)
        ((place, times_there),) = Counter(item["options"].index(item["answer"]) for item in group).most_common(1)
        for item in group:
            guess = answer if times >= times_there else item["options"][place % len(item["options"])]
            replies["blind"][item["id"]] = guess
    return replies


def in_harness(*command: str | Path, **environment: str) -> str:
    """Run Python in the environment of the harnesses, without a network and without this checkout."""
    own = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        [os.environ["DIORAMA_HARNESS"], *map(str, command)], capture_output=True, text=True, timeout=800, check=False,
        env={**own, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def check_scores(folder: Path, accuracies: dict[str, dict[str, float]], files: dict[str, list[Path]]) -> None:
    """Accuracies of the harness equal ours of its files; the oracle is right, the others are what they should be."""
    url = folder / "eval.lance"

    for player, found in accuracies.items():
        assert set(found) == set(OPTIONS)
        scored = run_json("render-eval", "score", *files[player], "--store", url)["rows"]
        by_task = {row["group"]: row for row in scored if row["by"] == "task"}
        for benchmark, accuracy in found.items():
            tasks = [row for name, row in by_task.items() if name.startswith(f"{benchmark}: ")]
            number = sum(row["items"] for row in tasks)
            assert accuracy == pytest.approx(sum(row["accuracy"] * row["items"] for row in tasks) / number)
        overall = scored[0]
        if player == "oracle":
            assert {row["accuracy"] for row in by_task.values()} == {1.0}
        elif player == "random":
            assert overall["low"] <= overall["chance"] <= overall["high"]
            # One interval in twenty misses; that of a single right answer always does.
            several = [row for row in by_task.values() if row["items"] > 1]
            assert sum(not row["low"] <= row["chance"] <= row["high"] for row in several) <= 1
        else:
            # It knows the most frequent answer, or place of the answer, of each task.
            assert all(row["accuracy"] * row["items"] >= 1 for row in by_task.values())


@pytest.mark.readers
@pytest.mark.timeout(900)
def test_inspect_ai(folder: Path) -> None:
    logs = folder / "logs"
    found = json.loads(in_harness(PLAYERS / "inspect_player.py", folder / "out", folder / "replies.json", logs))
    check_scores(folder, found, {name: sorted((logs / name).glob("*.eval")) for name in found})


@pytest.mark.readers
@pytest.mark.timeout(900)
def test_lmms_eval(folder: Path, tmp_path: Path) -> None:
    shutil.copy(PLAYERS / "lmms_player.py", tmp_path)
    about = tmp_path / "players-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: players\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[lmms_eval.models]\nplayer = lmms_player:MANIFEST\n")
    names = ("oracle", "random", "blind")
    tasks = ",".join(f"diorama_{name}" for name in OPTIONS)
    settings = [
        {"model": "player", "model_args": f"replies={folder / 'replies.json'},player={name}", "tasks": tasks,
         "include_path": str(folder / "out"), "log_samples": True, "output_path": str(tmp_path / name)}
        for name in names
    ]  # fmt: skip
    (tmp_path / "config.yaml").write_text(json.dumps(settings))
    command = ("-m", "lmms_eval", "--config", tmp_path / "config.yaml")
    in_harness(*command, PYTHONPATH=str(tmp_path), HF_HOME=str(tmp_path / "cache"))
    found = {}
    for name in names:
        (file,) = (tmp_path / name).rglob("*_results.json")
        results = json.loads(file.read_text())["results"]
        found[name] = {task.removeprefix("diorama_"): row["accuracy,none"] for task, row in results.items()}
    check_scores(folder, found, {name: sorted((tmp_path / name).rglob("*_samples_*.jsonl")) for name in names})
