"""Commands on simulated GPUs, each in a process of its own, since the loader reads its variables at the start."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tools import programs
from tools.simulated_gpu import environment


class Machine:
    """A machine with simulated cards. variables: of the environment. calls: the driver's log."""

    def __init__(self, folder: Path, cards: int, **options: Any) -> None:
        self.folder, self.log = folder, folder / "calls.log"
        self.limit = 850.0 if options.get("level") == 2 else 280.0
        self.variables = environment(cards, log=self.log, **options)
        # After the driver was built, which other tests share.
        self.variables |= {"DIORAMA_CACHE": str(folder), "PYTHONPATH": str(programs.ROOT)}

    def run(self, command: list[str], code: int = 0, **variables: str) -> str:
        """Run a command and return what it prints, of both streams if it fails as it should."""
        env = {**os.environ, **self.variables, **variables}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=self.limit, check=False)
        assert done.returncode == code, f"{done.returncode}: {done.stdout}\n{done.stderr}"
        return done.stdout if code == 0 else done.stdout + done.stderr

    def python(self, text: str, **variables: str) -> Any:
        """Run lines that call the driver as `cuda`; return the value that the last line passes to `show`."""
        start = "import ctypes, json; cuda = ctypes.CDLL('libcuda.so'); show = lambda value: print(json.dumps(value))\n"
        return json.loads(self.run([sys.executable, "-c", start + text], 0, **variables))

    def batch(self, *arguments: object, code: int = 0, **variables: str) -> str:
        """Run render-batch on small images; return what it prints."""
        # Level 1 renders black images.
        options = (
            "--keep-implausible",
            "--size",
            "32x24",
            "--profile",
            "draft",
            "--json",
            "--out",
            self.folder / "out.lance",
        )
        return self.run(programs.command("render-batch", *arguments, *options), code, **variables)

    def calls(self, text: str) -> Counter[tuple[int, int]]:
        """Count the lines with `text` in the driver's log: (process, card) -> number."""
        lines = [line.split(" ", 3) for line in self.log.read_text().splitlines()] if self.log.exists() else []
        return Counter((int(pid), int(card)) for pid, _, card, event in lines if text in event)


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    """Eight episodes of one object."""
    frame = {"objects": [{"shape": "cube"}]}
    episodes = ({"version": 1, "id": f"e{k}", "seed": k, "frames": [frame]} for k in range(8))
    return programs.write_specs(tmp_path / "specs.jsonl", episodes)
