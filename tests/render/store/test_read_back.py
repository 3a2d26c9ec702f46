"""An episode is rendered again from the exported Parquet alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from diorama.render.cli.episode import main as episode
from tests.render.uses.export.helpers import make_store, run


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export whose store is gone."""
    run(make_store(tmp_path), "huggingface", tmp_path / "out")
    shutil.rmtree(tmp_path / "s.lance")
    return tmp_path / "out"


def call(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(episode, [*map(str, arguments), "--device", "cpu"])
    assert done.exit_code == code, done.output
    return done.output


def test_an_exported_episode_is_identical_when_rendered_again(export: Path, tmp_path: Path) -> None:
    text = call("--from-export", export, "demo/b", "--out", tmp_path / "again", "--sheet", tmp_path / "sheet.png")
    assert text.splitlines()[1] == "identical"
    assert (tmp_path / "sheet.png").exists()
    changed = ("--set", "frames[0].objects[0].color=green")
    assert "edited: " in call("--from-export", export, "demo/b", *changed, "--compare", "--out", tmp_path / "c", code=1)


def test_what_is_no_export_is_refused(export: Path, tmp_path: Path) -> None:
    assert "episode demo/z is not in the export" in call("--from-export", export, "demo/z", code=2)
    assert "found no data/*.parquet" in call("--from-export", tmp_path, "demo/a", code=2)
    assert "--replace beside --from-export" in call("--from-export", export, "demo/a", "--replace", code=2)
    assert "give STORE and ID, --from SPEC, or --from-export DIR and ID" in call("--from-export", export, code=2)
    (shard,) = export.glob("data/val-*")
    shard.write_bytes(b"PAR1 broken PAR1")
    assert "can't be read as an export" in call("--from-export", export, "demo/b", code=4)
