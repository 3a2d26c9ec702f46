"""Mistakes in the file of a stage are reported before anything is drawn from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from diorama.scene_specs.asset_roots import package_assets
from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.model import stage
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.distributions import installed, write_distribution


@pytest.fixture
def dusk(tmp_path: Path) -> Iterator[Path]:
    """The file of an installed stage, `dusk`, to be written before it is read."""
    write_distribution(tmp_path, "acme", {"stages": "* = acme.stages"}, {"acme/__init__.py": ""})
    (tmp_path / "acme/stages").mkdir()
    (tmp_path / "acme/stages/__init__.py").touch()
    file = tmp_path / "acme/stages/dusk.json"
    file.write_text("{}")
    with installed(tmp_path):
        yield file
    stage.load_stage.cache_clear()


@pytest.mark.parametrize(
    ("where", "value", "found"),
    [
        ("defaults.materials", ["velvett"], "file of stage 'dusk': found \"velvett\"; allowed: emission, glass"),
        ("defaults.shapes", ["cubee"], "did you mean 'cube'"),
        ("defaults.colors", ["red", "reddish"], "defaults.colors: found 'reddish'; allowed: "),
        ("defaults.colors", [], "defaults.colors"),
        ("defaults.sizes", ["huge"], "defaults.sizes: found 'huge'; allowed: large, small"),
        ("pointer.material", "rubbber", "did you mean 'rubber'"),
        ("camera.look_at", [7.4811, -6.5076, 5.3437], "location is the point"),
        ("camera.clip", [100, 0.1], "found clip [100.0, 0.1]; expected [nearest, farthest]"),
        ("placement.min_visible_pixels", -5, "placement.min_visible_pixels"),
        ("placement.tries", 10**8, "placement.tries"),
        ("size", [0, 240], "size.0"),
        ("size", [100_000, 240], "size.0"),
    ],
)
def test_a_mistake_in_a_stage_is_reported(dusk: Path, where: str, value: object, found: str) -> None:
    data = json.loads((package_assets() / "stages/clevr.json").read_text())
    spec = EpisodeSpec.model_validate({"version": 1, "id": "a", "stage": "dusk", "frames": [{}]})
    dusk.write_text(json.dumps({**data, "name": "dusk"}))
    assert diagnostics_with_plugins(spec) == []
    stage.load_stage.cache_clear()
    *outer, field = where.split(".")
    (data[outer[0]] if outer else data)[field] = value
    dusk.write_text(json.dumps({**data, "name": "dusk"}))
    (diagnostic,) = diagnostics_with_plugins(spec)
    assert diagnostic.path == ("stage",) and found in f"{diagnostic.problem} ({diagnostic.hint})"
