"""Masks of scene files whose camera was hidden: where they ought to be, within a pixel."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from pycocotools import mask as coco

from diorama.render.cli.export import main
from diorama.render.geometry.raster import Pose, compose, rasterize
from diorama.render.geometry.solid import solid
from diorama.render.uses.export.formats.clevr_masks import export
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.language.vocabulary import SIZES
from diorama.scene_specs.model.stage import load_stage
from tests.scene_specs.tasks.importing.published import camera_at, clevr_file, jittered, scene

SIZE = (480, 320)


def apart(rng: np.random.Generator, location: tuple[float, float, float]) -> dict[str, Any]:
    """A scene of 3 to 10 objects that don't touch, as in CLEVR: where two tops meet, rounding decides who is seen."""
    while True:
        one = scene(rng, location, 24, SIZE)
        kept: list[dict[str, Any]] = []
        for item in one["objects"]:
            if all(math.dist(item["3d_coords"][:2], k["3d_coords"][:2]) > reach(item) + reach(k) for k in kept):
                kept.append(item)
        if len(kept) >= 3:
            return {**one, "objects": kept[:10]}


def reach(item: dict[str, Any]) -> float:
    return float(SIZES[item["size"]]) * math.sqrt(2)


def run(file: Path, out: Path, options: ExportOptions | None = None) -> ExportReport:
    return export(file, out, options or ExportOptions(), lambda done: None)


def true_masks(one: dict[str, Any], location: tuple[float, float, float]) -> list[NDArray[np.bool_]]:
    """From the camera that the file doesn't tell."""
    camera = camera_at(location, SIZE)
    layers = []
    for item in one["objects"]:
        x, y, z = item["3d_coords"]
        pose = Pose((0.0, 0.0, math.degrees(item["rotation"])), SIZES[item["size"]], (x, y, z))
        layers.append(rasterize(solid(item["shape"]), pose, camera, load_stage("clevr").ground))
    order, _ = compose(layers, *SIZE)
    return [order == number for number in range(1, len(layers) + 1)]


def grown(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Every pixel within one of the mask, diagonals included."""
    padded = np.pad(mask, 1)
    height, width = mask.shape
    around = [padded[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    near: NDArray[np.bool_] = np.logical_or.reduce(around)
    return near


def test_masks_lie_where_the_hidden_camera_saw_the_objects(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    places = [jittered(rng) for _ in range(12)]
    scenes = [apart(rng, place) for place in places]
    file = clevr_file(tmp_path / "CLEVR_val_scenes.json", scenes)
    assert run(file, tmp_path / "out").exported == 12
    result = json.loads((tmp_path / "out/CLEVR_val_masks.json").read_text())
    wrong = total = 0
    for one, place, found in zip(scenes, places, result["scenes"], strict=True):
        assert found["camera"]["size"] == list(SIZE)
        assert np.abs(np.array(found["camera"]["location"]) - place).max() < 1e-4
        for truth, item in zip(true_masks(one, place), found["objects"], strict=True):
            mask = coco.decode(item["mask"]).astype(bool)
            assert not (mask & ~grown(truth)).any()
            assert not (truth & ~grown(mask)).any()
            wrong, total = wrong + int((mask ^ truth).sum()), total + int(truth.sum())
            assert item["visible_pixels"] == mask.sum()
            if item["bbox"] is not None:
                assert item["bbox"] == [int(value) for value in coco.toBbox(item["mask"])]
    # Rounding flips a pixel here and there; were the camera off by a hundredth of a unit, it would be hundreds.
    assert wrong <= total * 1e-4


def test_twice_and_again(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    file = clevr_file(tmp_path / "CLEVR_val_scenes.json", [scene(rng, jittered(rng), 4, SIZE) for _ in range(5)])
    run(file, tmp_path / "one")
    run(file, tmp_path / "two")
    first = (tmp_path / "one/CLEVR_val_masks.json").read_bytes()
    assert (tmp_path / "two/CLEVR_val_masks.json").read_bytes() == first
    assert run(file, tmp_path / "one").skipped == 5
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["CLEVR_val_masks.json"]
    limited = run(file, tmp_path / "three", ExportOptions(limit=2))
    assert limited.exported == 2
    assert run(file, tmp_path / "three").error() is not None
    assert run(file, tmp_path / "three", ExportOptions(overwrite=True)).exported == 5
    assert (tmp_path / "three/CLEVR_val_masks.json").read_bytes() == first
    # The journal of a conflict has all scenes.
    run(file, tmp_path / "four", ExportOptions(limit=2))
    assert run(file, tmp_path / "four").error() is not None
    assert run(file, tmp_path / "four", ExportOptions(limit=3, overwrite=True)).exported == 3


def test_stopped_in_the_middle_it_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    file = clevr_file(tmp_path / "CLEVR_val_scenes.json", [scene(rng, jittered(rng), 3, SIZE) for _ in range(7)])
    run(file, tmp_path / "whole")
    monkeypatch.setattr("diorama.render.uses.export.formats.clevr_masks._FLUSH", 2)

    done: list[int] = []

    def stop(count: int) -> None:
        done.append(count)
        if len(done) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(file, tmp_path / "out", ExportOptions(), stop)
    (partial,) = (tmp_path / "out").iterdir()
    with partial.open("a") as stream:
        stream.write('{"cut off')
    done.clear()
    export(file, tmp_path / "out", ExportOptions(), done.append)
    assert sum(done) == 2
    whole = (tmp_path / "whole/CLEVR_val_masks.json").read_bytes()
    assert (tmp_path / "out/CLEVR_val_masks.json").read_bytes() == whole


def test_scenes_without_a_camera_are_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    scenes = [scene(rng, jittered(rng), count, SIZE) for count in (4, 2, 5, 3, 3)]
    scenes[2]["objects"][1]["pixel_coords"][2] += 0.5
    del scenes[3]["objects"][0]["pixel_coords"]
    scenes[4]["objects"][0]["shape"] = "cone"
    file = clevr_file(tmp_path / "CLEVR_val_scenes.json", scenes)
    report = run(file, tmp_path / "out")
    assert report.exported == 1
    two, odd, bare, cone = report.failed
    assert "scenes[1]: 2 objects" in two
    assert "scenes[2]" in odd and "camera" in odd
    assert "scenes[3]" in bare and "pixel_coords" in bare
    assert "scenes[4].objects[0].shape" in cone


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name a CLEVR scene file"):
        run(tmp_path / "none.json", tmp_path / "out")
    (tmp_path / "x.json").write_text('{"a": 1}')
    result = CliRunner().invoke(
        main, [str(tmp_path / "x.json"), "--format", "clevr-masks", "--out", str(tmp_path / "o")]
    )
    assert result.exit_code == 2
    assert "not a CLEVR scene file" in result.output
    assert CliRunner().invoke(main, ["--format", "clevr-masks", "--out", str(tmp_path / "o")]).exit_code == 2


@pytest.mark.parametrize("name", [".CLEVR_val_masks.jsonl", "CLEVR_val_masks.json"])
@pytest.mark.parametrize("text", ["mine", "mine\n", '{"mine": 1}\n'])
def test_a_file_of_the_user_stays(tmp_path: Path, name: str, text: str) -> None:
    rng = np.random.default_rng(8)
    file = clevr_file(tmp_path / "CLEVR_val_scenes.json", [scene(rng, jittered(rng), 3, SIZE)])
    mine = tmp_path / "out" / name
    mine.parent.mkdir()
    mine.write_text(text)
    with pytest.raises(UsageError, match=re.escape(str(mine))):
        raise run(file, tmp_path / "out").error() or AssertionError
    assert mine.read_text() == text
