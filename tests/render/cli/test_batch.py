"""Numbers that `render-batch` cannot obey are refused with exit code 2, before anything is rendered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from render.cli.batch import main

FAR = "9" * 400


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--timeout", "nan"), "'--timeout': found nan"),
        (("--timeout", "inf"), "'--timeout': found inf"),
        (("--store-wait", "nan"), "'--store-wait': found nan"),
        (("--limit", "99999999999999999999"), "'--limit': found 99999999999999999999"),
        (("--worker-memory", FAR), "not an amount of memory"),
        (("--worker-memory", "0"), "not an amount of memory"),
        (("--worker-memory", "0.0GB"), "not an amount of memory"),
        (("--workers-per-gpu", "9" * 5000), "from 1 to 64"),
        (("--device", "cpu", "--workers-per-gpu", "4"), "--workers-per-gpu 4 is for GPUs"),
        (("--workers", "2", "--workers-per-gpu", "1"), "--workers-per-gpu 1 is for GPUs"),
        (("--device", "cuda", "--workers", "4"), "--workers 4 is for CPU workers"),
        (("--gpus", "1", "--threads", "2"), "--threads 2 is for CPU workers"),
    ],
)
def test_what_cannot_be_obeyed_is_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    specs = tmp_path / "specs.json"
    specs.write_text(json.dumps({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]}))
    done = CliRunner().invoke(main, [str(specs), "--renderer", "fake", "--out", str(tmp_path / "s.lance"), *options])
    assert done.exit_code == 2, done.output
    assert words in done.stderr
    assert not (tmp_path / "s.lance").exists()
