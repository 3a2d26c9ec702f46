"""Stores of 0.1 stay what they were, although the stage `clevr` has other lights since.

stages-517db003.tar.xz has a store that commit 517db003 of 0.1 rendered from specs.jsonl: scenes on `clevr` with
and without looks and changed lights, Scenes in looks, and an episode of MEWL. None of its specs names the stage `mewl`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import diorama
from diorama.render.uses.rerender.find import episodes_of
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.stage import load_stage, scene_stage, stage_digest
from tests.compatibility.commands import command, run, run_json
from tests.compatibility.contents import unpack
from tests.compatibility.test_archive import MIXING, same_making, strays

ARCHIVE = Path(__file__).with_name("stages-517db003.tar.xz")
RENDERING = ("--size", "64x48", "--profile", "draft", "--device", "cpu")
# Of assets/stages/clevr.json in 0.1, now mewl.json.
DIGEST = "87aebb19085ff558eadf52cfc32b1acbb589852e954716f1a52abbc9"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The unpacked archive."""
    unpack(ARCHIVE, tmp_path)
    return tmp_path


def test_the_stage_mewl_is_the_former_stage_clevr() -> None:
    assert stage_digest("mewl").startswith(DIGEST)
    was, now = load_stage("mewl"), load_stage("clevr")
    assert (was.name, now.name) == ("mewl", "clevr")
    assert [light.energy for light in was.lights] == [235.62, 62.83, 117.81, 0.45]
    # Of the published base_scene.blend of CLEVR, in watts.
    assert [light.energy for light in now.lights] == [78.54, 23.56, 39.27, 0.45]
    lights = [light.model_copy(update={"energy": 0.0}) for light in was.lights]
    assert was.model_copy(update={"lights": ()}) == now.model_copy(update={"name": "mewl", "lights": ()})
    assert lights == [light.model_copy(update={"energy": 0.0}) for light in now.lights]


@pytest.mark.slow
def test_stored_scenes_render_to_the_same_bytes(root: Path) -> None:
    store = diorama.open_store(str(root / "store.lance"))
    names = [name for name, _ in store.ids()]
    assert len(names) == 7
    for number, name in enumerate(names):
        record = store.get(name)
        assert (record.scene.stage, scene_stage(record.scene)) == ("clevr", load_stage("mewl"))
        out = ("--device", "cpu", "--compare", "--out", root / str(number))
        again = run_json("render-episode", root / "store.lance", name, *out, exit_codes=(0, 1))
        if same_making(record.provenance.model_dump(), again["provenance"]):
            assert again["comparison"]["identical"], f"{name}: {again['comparison']}"
        else:
            assert strays(again["comparison"]) == [], name


def test_resuming_names_the_stage_and_is_refused_or_keeps_everything(root: Path) -> None:
    arguments = [str(root / "specs.jsonl"), "--out", str(root / "store.lance"), *RENDERING]
    refused = CliRunner().invoke(command("render-batch"), arguments)
    assert refused.exit_code == 2
    assert "stage 'clevr' has changed; what was stored is stage 'mewl'" in refused.output
    assert "--replace" in refused.output and "--keep" in refused.output
    summary = run_json("render-batch", *arguments, "--keep", *MIXING)
    assert (summary["rendered"], summary["kept"]) == (0, 7)


def test_specs_of_the_store_mean_the_stage_that_they_meant(root: Path) -> None:
    episodes = [*episodes_of((), str(root / "store.lance"))]
    assert {episode.stage for episode in episodes if not isinstance(episode, Scene)} == {"mewl"}
    assert {scene_stage(episode).name for episode in episodes if isinstance(episode, Scene)} == {"mewl"}


@pytest.mark.slow
def test_a_spec_of_0_1_renders_to_the_same_bytes_on_the_stage_mewl(root: Path) -> None:
    """What 0.1 rendered from a spec without a stage, 0.2 renders from the same spec with the stage `mewl`."""
    before = diorama.open_store(str(root / "store.lance"))
    lines = (json.loads(line) for line in (root / "specs.jsonl").read_text().splitlines())
    specs = [{**spec, "stage": "mewl"} for spec in lines if "frames" in spec and "scene_version" not in spec]
    (root / "again.jsonl").write_text("".join(json.dumps(spec) + "\n" for spec in specs[:2]))
    run("render-batch", root / "again.jsonl", "--out", root / "again.lance", "--workers", "1", *RENDERING)
    after = diorama.open_store(str(root / "again.lance"))
    for name, _ in after.ids():
        old, new = before.get(name), after.get(name)
        if same_making(old.provenance.model_dump(), new.provenance.model_dump()):
            assert new.digest() == old.digest(), name
