"""What the tests of runs share: small specs, and render-batch in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from diorama.render.cli.batch import main
from diorama.render.store import open_or_create


class Farm:
    """A folder with specs and a store, and `render-batch --json` with the fake renderer on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = str(folder / "out.lance")

    def write(self, *names: str) -> str:
        """One-object episodes of these ids in a file; its path."""
        path = self.folder / "specs.jsonl"
        frame = {"objects": [{"shape": "cube"}]}
        lines = [json.dumps({"version": 1, "id": name, "seed": 3, "frames": [frame]}) for name in names]
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    def run(self, specs: str, *options: str, renderer: str = "fake", code: int = 0) -> dict[str, Any]:
        """The summary, with what went to standard error as `stderr`. renderer: a class in .renderers, or fake."""
        name = renderer if renderer == "fake" else f"tests.render.run.renderers:{renderer}"
        common = ["--renderer", name, "--json", "--size", "32x24", "--out", self.store]
        done = CliRunner().invoke(main, [specs, *common, *options])
        assert done.exit_code == code, f"{done.exit_code}: {done.stderr} {done.exception}"
        summary: dict[str, Any] = json.loads(done.stdout) if done.stdout.startswith("{") else {}
        return {**summary, "stderr": done.stderr}

    def stored(self) -> list[str]:
        """Ids in the store, sorted."""
        return sorted(name for name, _ in open_or_create(self.store).ids())


@pytest.fixture
def farm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Farm:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))
    return Farm(tmp_path)
