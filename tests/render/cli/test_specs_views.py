"""`render-specs views`, and `--shapenet` where it is taken."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from diorama.render.cli.batch import main as batch
from diorama.render.cli.specs import main
from diorama.render.store import open_store
from diorama.scene_specs.reading.source import parse_episode
from tests.scene_specs.shapes.shapenet.trees import Tree, obj


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))


def run(*arguments: object, **options: Any) -> Result:
    return CliRunner().invoke(main, ["views", *map(str, arguments)], catch_exceptions=False, **options)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    root = tmp_path / "library"
    for identity in ("a", "b", "c"):
        Tree(root, obj() if identity != "b" else "v 0 0 0\n", identity=identity).write()
    return root


def test_one_episode_a_model_and_every_view_named() -> None:
    result = run("chairs", "tables/#2", "--views", 5, "--elevation", "0:40", "--limit", 9, "--framing", 0.8)
    assert result.exit_code == 0, result.stderr
    specs = [parse_episode(line) for line in result.stdout.splitlines()]
    assert len(specs) == 9
    assert len({spec.id for spec in specs}) == 9
    views = specs[0].frames[0].views
    assert [view.name for view in views] == ["000", "001", "002", "003", "004"]
    assert [view.yaw_deg for view in views] == [0.0, 72.0, 144.0, 216.0, 288.0]
    assert [view.elevation_deg for view in views] == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert specs[8].task["name"] == "04379243"


def test_random_views_come_from_the_seed() -> None:
    drawn = [run("chairs/#1", "--yaw", "random", "--elevation", "-30:60", "--seed", seed).stdout for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    ups = [view["elevation_deg"] for view in json.loads(drawn[0])["frames"][0]["views"]]
    assert len(set(ups)) > 20
    assert -30 <= min(ups) < max(ups) <= 60


def test_broken_models_are_an_error_or_left_out(library: Path, tmp_path: Path) -> None:
    out = tmp_path / "specs.jsonl"
    result = run("chairs", "--shapenet", library, "--out", out)
    assert result.exit_code == 2
    assert "1 of 3 models can't be read" in result.stderr and "b/models/model_normalized.obj" in result.stderr
    assert not out.exists()
    result = run("chairs", "--shapenet", library, "--out", out, "--skip-broken")
    assert result.exit_code == 0
    assert "left out: model" in result.stderr
    assert len(out.read_text().splitlines()) == 2
    assert "DIORAMA_SHAPENET" not in os.environ


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "no models are named"),
        (("chairz",), "did you mean"),
        (("chairs/#99",), "has 8 models"),
        (("chairs", "--elevation", "50:20"), "least first"),
        (("chairs", "--elevation", "x"), "MIN:MAX"),
        (("chairs", "--distance", 3, "--framing", 0.5), "one of them"),
        (("chairs", "--background", "1,2"), "R,G,B"),
        (("chairs", "--distance", "nan"), "distance nan"),
        (("chairs", "--distance", 1e9), "distance 1e+09"),
        (("chairs", "--framing", "nan"), "framing nan"),
        (("chairs", "--start", "inf"), "first yaw inf"),
        (("chairs", "--color", "rde"), "did you mean 'red'"),
        (("chairs", "--stage", "clevr", "--background", "1,2,3"), "has none"),
    ],
)
def test_wrong_options_are_named(arguments: tuple[object, ...], part: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert part in result.stderr
    assert not result.stdout


@pytest.mark.slow
def test_a_run_takes_another_library_and_leaves_out_what_is_broken(library: Path, tmp_path: Path) -> None:
    """Through workers, which are other processes, and with camera matrices in the record."""
    specs = tmp_path / "specs.jsonl"
    run("chairs", "--shapenet", library, "--skip-broken", "--views", 2, "--out", specs)
    broken = {"version": 1, "id": "e/b", "frames": [{"objects": [{"shape": "shapenet:chairs/b"}]}]}
    specs.write_text(specs.read_text() + json.dumps(broken) + "\n")
    store = str(tmp_path / "s.lance")
    arguments = [str(specs), "--out", store, "--renderer", "fake", "--workers", "1", "--size", "48x48"]
    for more, part in (((), "no model"), (("--shapenet", str(library)), "has no faces")):
        refused = CliRunner().invoke(batch, [*arguments, *more], catch_exceptions=False)
        assert refused.exit_code == 2
        assert "episode " in refused.stderr and part in refused.stderr
        assert not Path(store).exists()
    done = CliRunner().invoke(
        batch, [*arguments, "--shapenet", str(library), "--skip-broken", "--json"], catch_exceptions=False
    )
    assert done.exit_code == 1, done.stderr
    assert [failure["episode"] for failure in json.loads(done.stdout)["failed"]] == ["e/b"]
    record = open_store(store).get("views/03001627/a")
    assert [image.name for image in record.images] == ["model.000", "model.001"]
    camera = record.images[1].annotation.camera
    assert camera.projection == "perspective"
    rows = [row[:3] for row in camera.extrinsics[:3]]
    assert all(abs(sum(v * v for v in row) - 1) < 1e-6 for row in rows)


def test_a_list_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    listed = tmp_path / "names.txt"
    listed.write_bytes(b"\xff\xfechairs")
    result = run("--list", listed)
    assert result.exit_code == 2
    assert "names.txt: byte 0: not UTF-8" in result.stderr
    listed.write_text("\ufeffchairs/#1\n\ntables/#2\n", encoding="utf-8")
    assert len(run("--list", listed, "--views", 1).stdout.splitlines()) == 2
