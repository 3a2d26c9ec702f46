"""An episode that `render-batch` stored with a renderer of another package, rendered again by `render-episode`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.batch import main as batch
from diorama.render.cli.episode import main as episode
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store import open_store
from diorama.render.uses.rerender.rerender import Replaced
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView

ROOT = Path(__file__).resolve().parents[4]
RENDERER = "tests.render.uses.rerender.test_rerender:Negative"


class Negative(FakeRenderer):
    """Inverts the colors of the fake renderer."""

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        passes = super().render(scene, frame, view)
        return Passes(**{**vars(passes), "color": 255 - passes.color})


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    specs = tmp_path / "specs.json"
    specs.write_text(json.dumps({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]}))
    url = str(tmp_path / "s.lance")
    options = ["--renderer", RENDERER, "--size", "64x48", "--device", "cpu", "--workers", "1", "--out", url]
    done = CliRunner().invoke(batch, [str(specs), *options])
    assert done.exit_code == 0, done.output
    return url


def call(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(episode, [*map(str, arguments), "--device", "cpu"])
    assert done.exit_code == code, done.output
    return done


@pytest.mark.slow
def test_a_renderer_of_another_package_renders_its_stored_episodes_again(store: str, tmp_path: Path) -> None:
    record = open_store(store).get("a")
    assert record.job.renderer == RENDERER
    assert np.array_equal(np.unique(record.images[0].color()[0, 0]), [127])
    done = call(store, "a", "--renderer", RENDERER, "--out", tmp_path / "same")
    assert done.stdout.splitlines()[1] == "identical"
    done = call(store, "a", "--renderer", RENDERER, "--replace", "--out", tmp_path / "again")
    assert "nothing to replace" in done.stdout
    edit = ("--set", "frames[0].objects[0].rotation_deg=10")
    done = call(store, "a", *edit, "--renderer", RENDERER, "--replace", "--out", tmp_path / "turned")
    assert "replaced in" in done.stdout
    replaced = open_store(store).get("a")
    assert replaced.job.renderer == RENDERER and replaced.provenance.attempt == 2
    assert call(store, "a", "--renderer", RENDERER, "--out", tmp_path / "last").stdout.splitlines()[1] == "identical"


@pytest.mark.slow
def test_a_call_leaves_nothing_of_an_earlier_one_that_it_would_contradict(store: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    again = ("--renderer", RENDERER, "--out", out)
    call(store, "a", *again)
    alone = {path.name for path in out.iterdir()}
    image = open_store(store).get("a").images[0].name
    edit = ("--set", "frames[0].objects[0].rotation_deg=10")
    call(store, "a", *edit, "--compare", *again, code=1)
    more = {"spec.json", *(f"{image}_{kind}.png" for kind in ("stored", "difference", "compare"))}
    assert {path.name for path in out.iterdir()} == alone | more
    (out / "notes.txt").touch()
    call(store, "a", *again)
    assert {path.name for path in out.iterdir()} == {*alone, "notes.txt", "spec.json"}
    call(store, "a", *edit, *again)
    assert {path.name for path in out.iterdir()} == {*alone, "notes.txt", "spec.json"} - {"comparison.json"}
    # In a folder of something else, such files are the user's.
    (out / "scene.json").write_text("{}")
    (out / "comparison.json").write_text("mine")
    call("--from", out / "spec.json", *again)
    assert (out / "spec.json").exists() and (out / "comparison.json").read_text() == "mine"


def test_the_commands_that_undo_a_replacement_are_quoted() -> None:
    lines = Replaced("my store.lance", "a", 1, 2).lines()
    assert all("'my store.lance'" in line for line in lines[1:])
