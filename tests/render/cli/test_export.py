from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.export import main
from diorama.render.store.lance.lance_store import LanceStore
from tests.factories import make_record
from tests.render.store.rendered import rendered


@pytest.fixture
def store(tmp_path: Path) -> str:
    made = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    made.put([make_record("demo/0"), make_record("demo/1")])
    return made.url


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_export_and_again(store: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    result = call(store, "--out", out)
    assert result.exit_code == 0, result.output
    assert f"exported 2 episodes to {out}" in result.output
    assert (tmp_path / "out/demo/1/frame-0.png").is_file()
    assert "exported 0 episodes" in call(store, "--out", out).output
    assert "skipped 2 already there" in call(store, "--out", out).output


def test_the_store_may_come_from_the_environment(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_STORE", store)
    assert call("--out", str(tmp_path / "out"), "--limit", "1").exit_code == 0
    assert [path.name for path in (tmp_path / "out/demo").iterdir()] == ["0"]


def test_exit_codes(store: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    assert call(store).exit_code == 2
    assert call(store, "--out", out, "--format", "foldr").exit_code == 2
    assert call(str(tmp_path / "none"), "--out", out).exit_code == 4
    assert not (tmp_path / "out").exists()
    assert call(store, "--out", out).exit_code == 0
    LanceStore.open(store).put([make_record("demo/1", attempt=2, seed=4)])
    refused = call(store, "--out", out)
    assert refused.exit_code == 2
    assert "demo/1" in refused.output
    assert call(store, "--out", out, "--overwrite").exit_code == 0


@pytest.mark.parametrize("name", ["folder", "coco", "clevr", "mewl", "clevr-masks"])
def test_a_shard_size_that_a_format_has_no_use_for_is_refused(store: str, tmp_path: Path, name: str) -> None:
    refused = call(store, "--out", str(tmp_path / "out"), "--format", name, "--shard-size", "2")
    assert refused.exit_code == 2
    assert f"--format {name} writes no shards" in refused.output
    assert not (tmp_path / "out").exists()
    assert call(store, "--out", str(tmp_path / "out"), "--format", "webdataset", "--shard-size", "2").exit_code == 0


def test_a_filter_that_fails_on_the_data_is_an_invalid_option(store: str, tmp_path: Path) -> None:
    refused = call(store, "--out", str(tmp_path / "out"), "--where", "CAST(episode_id AS INT) = 1")
    assert refused.exit_code == 2
    assert "can't apply the condition" in refused.output and "Cannot cast string 'demo/" in refused.output


def test_a_folder_stays_that_is_empty(store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path / "mine")
    assert call(store, "--format", "eval", "--out", ".").exit_code == 2
    assert (tmp_path / "mine").is_dir()
    (tmp_path / "mine").rmdir()
    refused = call("--init-about")
    assert refused.exit_code == 2 and "about.toml can't be written here: No such file" in refused.output


def test_formats_are_listed() -> None:
    assert "folder" in call("--list-formats").output.split()


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from diorama.render.cli.export import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "print('HEAVY', sorted({'lance', 'pyarrow', 'numpy', 'pydantic', 'bpy', 'ray'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--format" in done.stdout
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_an_unknown_split_is_an_error(tmp_path: Path) -> None:
    url = str(tmp_path / "s.lance")
    LanceStore.create(url).put([rendered("demo/0", split="train")])
    done = call(url, "--out", str(tmp_path / "out"), "--split", "train", "--split", "trian")
    assert done.exit_code == 2
    assert "no episode has the split 'trian'; did you mean 'train'?" in done.output
    assert not (tmp_path / "out").exists()
    assert call(url, "--out", str(tmp_path / "out"), "--split", "train").exit_code == 0
