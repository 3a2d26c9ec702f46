"""`python -m tools published` on a small checkout in the form of iWISDM's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diorama.scene_specs.benchmarks.iwisdm import Options
from diorama.scene_specs.benchmarks.iwisdm.autotask_config import benchmark_limits, published_form
from diorama.scene_specs.benchmarks.iwisdm.generate import trial_specs
from tests.scene_specs.benchmarks.iwisdm.test_importing import OLD, TASK
from tests.tools.claims.conftest import git
from tools.__main__ import main
from tools.claims.crosschecks.iwisdm import measures, mix


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """One configuration, and in an older commit a task file and a trial."""
    folder = tmp_path / "checkout"
    files = {
        "benchmarking/create_bench.py": "",
        "benchmarking/configs/low.json": published_form(benchmark_limits("low")).model_dump_json(),
        "benchmarking/tasks/two/0.json": json.dumps(TASK),
        "datasets/trials/trial1/trial_info": json.dumps(OLD),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(tmp_path, "init", "-q", str(folder))
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    git(folder, "rm", "-qr", "benchmarking/tasks", "datasets")
    git(folder, "commit", "-qm", "less")
    return folder


def test_a_checkout_is_compared(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["published", str(checkout)]) == 0
    text = capsys.readouterr().out
    assert "| benchmarking/configs: read, 20 tasks each | 1 | 0 | 0 |" in text
    assert "| task files and trials of older commits | 2 | 0 | 0 |" in text
    (checkout / "benchmarking/configs/low.json").write_text('{"op_dict": {}}')
    assert main(["published", str(checkout)]) == 1
    assert "| benchmarking/configs: read, 20 tasks each | 1 | 1 | 0 |" in capsys.readouterr().out


def test_measures_of_a_trial() -> None:
    text = (
        "observe object 1, delay, observe object 2, if location of object 1 equals top left and cars not equals "
        "category of object 2, then category of object 1 equals category of object 2? else location of object 2?"
    )
    assert [dict(one) for one in measures([(text, 5)]).values()] == [{3: 1}, {2: 1}, {2: 1}, {2: 1}, {1: 1}]


@pytest.mark.slow
def test_another_mix_is_found() -> None:
    def theirs(level: str) -> list[tuple[str, int]]:
        fields = {"benchmark": level, "count": 70, "seed": 5, "unique": "none"}
        return [(one["task"]["instruction"], len(one["frames"])) for one in trial_specs(Options.model_validate(fields))]

    (same,) = mix([("high", "all", 5, theirs("high"))], 70)
    (other,) = mix([("high", "all", 5, theirs("medium"))], 70)
    assert same.differ == 0 and "total variation at most 0.000" in same.note
    assert other.differ >= 2
