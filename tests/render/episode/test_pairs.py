"""Pairs in a store: which changes can be seen, which pairs are complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from render.cli.store import main
from render.episode.contrast import ContrastOptions, contrast_scenes
from render.episode.make_record import make_record
from render.export.protocol import ExportOptions, chosen_ids
from render.model.profiles import settings_for
from render.model.record import EpisodeRecord
from render.renderers.fake import FakeRenderer
from render.store.lance.lance_store import LanceStore
from scene_specs.language.scene import Change
from scene_specs.language.spec import EpisodeSpec
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


def test_chains_have_twins_too(tmp_path: Path) -> None:
    url = str(tmp_path / "chains.lance")
    LanceStore.create(url, fsync=False).put([*pair(0, "color", 3), *pair(1, "color", 3)])
    result = CliRunner().invoke(main, ["contrast", url, "--twins", "1", "--json"])
    assert result.exit_code == 0, result.output
    assert [step["members"] for step in json.loads(result.stdout)["steps"]] == 2 * [[0, 1], [1, 2]]
