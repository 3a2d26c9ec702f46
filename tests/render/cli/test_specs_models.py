"""`render-specs models` on small libraries with models of all verdicts, and that no model stops a library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from PIL import Image

from diorama.render.cli.specs import main
from diorama.scene_specs.shapes.shapenet import loading
from tests.mesh_files import glb
from tests.scene_specs.shapes.shapenet.trees import Tree, obj

# What a PLY file may say of itself that ends Blender by a signal.
CRASH = b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nend_header\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def library(tmp_path: Path) -> Path:
    root = tmp_path / "library"
    Tree(root, obj(), identity="good").write()
    Tree(root, obj(), mtl=None, identity="grey").write()
    Tree(root, obj(), category="my_things", identity="other").write()
    return root


def run(command: str, *arguments: object) -> Result:
    return CliRunner().invoke(main, [command, *map(str, arguments)], catch_exceptions=False)


def test_every_model_is_read_and_counted(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("models", library).exit_code == 0
    Tree(library, "v 0 0 0\n", identity="broken").write()
    # What was read is not read again.
    asked, read = list[str](), loading.ReadingProcess.read
    loading._held.clear()

    def noted(self: loading.ReadingProcess, reading: loading.Reading) -> None:
        asked.append(reading.path.parts[-3])
        read(self, reading)

    monkeypatch.setattr(loading.ReadingProcess, "read", noted)
    result = run("models", library)
    assert asked == ["broken"]
    assert result.exit_code == 1
    head, chairs, others, *_, last = result.stdout.splitlines()
    assert head.split() == ["category", "as", "it", "is", "noted", "repaired", "refused"]
    assert chairs.split() == ["03001627", "chair", "1", "1", "0", "1"]
    assert others.split() == ["my_things", "my_things", "1", "0", "0", "0"]
    assert last == "3 of 4 models can be read"
    assert "refused: shapenet:03001627/#1: model" in result.stdout


def test_json_has_verdicts_notes_and_licenses_of_own_files(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "mug.glb").write_bytes(glb())
    (folder / "mug.glb.license").write_text("SPDX-License-Identifier: CC0-1.0\n")
    (folder / "crash.ply").write_bytes(CRASH)
    (folder / "notes.txt").write_text("no model")
    result = run("models", folder, "--own", "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["licenses"] == {"SPDX-License-Identifier: CC0-1.0": 1}
    assert (report["as it is"] + report["noted"] + report["repaired"], report["refused"]) == (1, 1)
    crash, mug = report["models"]
    assert mug["name"] == "model:mug.glb"
    assert crash["verdict"] == "refused" and "crash of Blender" in crash["notes"][0]


def test_no_model_stops_a_library(library: Path) -> None:
    """An empty folder, names that no spec can have, capital letters and an error: each is one line."""
    (library / "03001627/empty").mkdir()
    (library / "03001627/X.GLB").write_bytes(glb())
    (library / "bare").mkdir()
    for category in ("my things", "Stühle"):
        Tree(library, obj(), category=category, identity="model").write()
    result = run("models", library)
    assert result.exit_code == 1 and "4 of 7 models can be read" in result.stdout
    for text in ("/empty holds no model", "'shapenet:my things/#1'", "'shapenet:Stühle/#1'"):
        assert text in result.stdout
    for words in (["all"], ["chairs"]):
        assert run("views", *words, "--shapenet", library).exit_code == 2
    views = run("views", "all", "--shapenet", library, "--skip-broken")
    assert views.exit_code == 0
    assert len(views.stdout.splitlines()) == 4 and '"shapenet:03001627/X"' in views.stdout
    assert views.stderr.count("left out: ") == 3 and "left out 3 of 7 models" in views.stderr


@pytest.mark.slow
def test_a_sheet_shows_all_models(library: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.png"
    assert run("models", library, "--limit", 1, "--sheet", sheet).exit_code == 0
    with Image.open(sheet) as image:
        assert image.width > 2 * 128


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = run("models", tmp_path / "gone")
    assert result.exit_code == 2 and "gone" in result.stderr


@pytest.mark.parametrize(
    ("own", "advice"), [([], "there are no models; --own reads any"), (["--own"], "there are no models")]
)
def test_a_folder_without_models_is_an_error(tmp_path: Path, own: list[str], advice: str) -> None:
    (tmp_path / "bare").mkdir()
    result = run("models", tmp_path / "bare", *own)
    assert result.exit_code == 2 and advice in result.stderr


def test_a_name_that_is_no_text_is_shown(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.glb")).write_bytes(glb())
    (folder / os.fsdecode(b"caf\xe9.obj")).write_bytes(b"no model")
    script = Path(sys.executable).with_name("render-specs")
    for option in ("--json", "--own"):
        done = subprocess.run([script, "models", folder, "--own", option], capture_output=True, timeout=120)
        assert (done.returncode, done.stderr.count(b"Traceback")) == (1, 0), done.stderr
        assert (b"caf" in done.stdout and b"1 of 2 models" in done.stdout) or b'"refused": 1' in done.stdout
