"""Pairs in a store: which changes can be seen, which pairs are complete."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from diorama.render.cli.store import main
from diorama.render.compiler import compile_episode
from diorama.render.episode.make_record import make_record
from diorama.render.geometry.camera import Camera
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.selection import chosen_ids
from diorama.render.uses.contrast.contrast import ContrastOptions, contrast_scenes
from diorama.render.uses.contrast.pairs import regions
from diorama.render.uses.export.protocol import ExportOptions
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.scene import Change
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.factories import make_job

SETTINGS = settings_for("draft", 64, 48)


def pair(number: int, change: Change, members: int = 2) -> list[EpisodeRecord]:
    data: dict[str, Any] = {"version": 1, "id": f"crowd/{number}", "frames": [{"random_objects": {"count": 3}}]}
    scenes = contrast_scenes(EpisodeSpec.model_validate(data), SETTINGS, ContrastOptions(change, members))
    return [make_record(FakeRenderer(), scene, make_job(json.loads(scene.to_json())), SETTINGS) for scene in scenes]


def test_pairs_whose_change_cannot_be_seen_are_named_and_deleted(tmp_path: Path) -> None:
    url = str(tmp_path / "pairs.lance")
    store = LanceStore.create(url, fsync=False)
    # The fake renderer draws all materials alike.
    store.put([*pair(0, "color"), *pair(1, "material")])
    result = CliRunner().invoke(main, ["contrast", url, "--twins", "1"])
    assert result.exit_code == 1
    assert "crowd/1+material: fewer than 20 pixels change" in result.output
    assert "crowd/0+color:" not in result.output
    assert CliRunner().invoke(main, ["contrast", url, "--twins", "1", "--delete"]).exit_code == 0
    assert sorted(key for key, _ in LanceStore.open(url).ids()) == ["crowd/0+color-0", "crowd/0+color-1"]


def test_a_limit_leaves_no_pair_apart_and_an_incomplete_one_is_an_error(tmp_path: Path) -> None:
    url = str(tmp_path / "pairs.lance")
    store = LanceStore.create(url, fsync=False)
    store.put([*pair(0, "color"), *pair(1, "color")])
    assert [len(chosen_ids(store, ExportOptions(limit=limit))) for limit in (1, 2, 3, 4)] == [0, 2, 2, 4]
    store.delete(["crowd/1+color-1"])
    result = CliRunner().invoke(main, ["contrast", url, "--twins", "1"])
    assert result.exit_code == 4
    assert "crowd/1+color: incomplete" in result.output


def test_twins_find_meshes_in_asset_roots(tmp_path: Path) -> None:
    corners, faces = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n", "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "ramp.obj").write_text(corners + faces, encoding="utf-8")
    item = {"shape": {"mesh": "ramp.obj"}, "size": "large", "color": "red", "material": "rubber"}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "ramp", "frames": [{"objects": [item]}]})
    scenes = contrast_scenes(spec, SETTINGS, ContrastOptions("color", asset_roots=[tmp_path]))
    url, job = str(tmp_path / "ramps.lance"), make_job(json.loads(spec.model_dump_json(exclude_none=True)))
    records = [make_record(FakeRenderer(), scene, job, SETTINGS, [tmp_path]) for scene in scenes]
    LanceStore.create(url, fsync=False).put(records)
    assert CliRunner().invoke(main, ["contrast", url]).exit_code != 0
    result = CliRunner().invoke(main, ["contrast", url, "--asset-root", str(tmp_path)])
    assert result.exit_code == 0, result.output


def test_chains_have_twins_too(tmp_path: Path) -> None:
    url = str(tmp_path / "chains.lance")
    LanceStore.create(url, fsync=False).put([*pair(0, "color", 3), *pair(1, "color", 3)])
    result = CliRunner().invoke(main, ["contrast", url, "--twins", "1", "--json"])
    assert result.exit_code == 0, result.output
    assert [step["members"] for step in json.loads(result.stdout)["steps"]] == 2 * [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    "light", [{"kind": "sun", "rotation_rad": (0.0, math.pi / 4, 0.0)}, {"kind": "area", "location": (2.5, 0.0, 4.6)}]
)
def test_the_region_that_may_change_has_the_shadow_and_the_mirrors(light: dict[str, Any]) -> None:
    shapes = [("tall", "rubber", 0.0), ("mirror", "metal", 2.5), ("dull", "rubber", -2.5)]
    objects = [
        {"name": name, "shape": "cube", "size": "large", "material": material, "location": [0, y], "rotation_deg": 0}
        for name, material, y in shapes
    ]
    scene = compile_episode(
        EpisodeSpec.model_validate({"version": 1, "id": "x", "frames": [{"objects": objects}]}), SETTINGS
    )
    lamp = scene.frames[0].lights[-1].model_copy(update=light)
    frame = scene.frames[0].model_copy(update={"lights": (lamp,)})
    record = make_record(FakeRenderer(), scene.model_copy(update={"frames": (frame,)}), make_job({}), SETTINGS)
    (image,) = record.images
    near, reached = regions([record], 0, ["tall"])
    masks = {item.name: item.rle.mask() for item in image.annotation.objects}
    assert (near & masks["tall"]).sum() == masks["tall"].sum()
    assert (reached & masks["mirror"]).sum() == masks["mirror"].sum()
    # The light falls towards -x, and the cube is 1.4 high and wide: its shadow ends at -2.1, its margin before -4.
    camera = Camera.of(frame.views[0].camera, image.width, image.height)
    x, y, _ = camera.project(np.array([[-2.0, 0, 0], [-4.5, 0, 0], [2.5, 0, 0]])).astype(int).T
    assert reached[y, x].tolist() == [True, False, False]
    assert not (near | reached).all() and not (reached & masks["dull"]).all()
