"""`tools invented`: steps are monotone and visible, and no silhouette is near one that has a name."""

from __future__ import annotations

from argparse import ArgumentParser

import numpy as np
import pytest

from diorama.render.geometry.solid import solid
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from tools.claims import invented


def measure(*arguments: str) -> int:
    """Run the tool with command-line arguments."""
    parser = ArgumentParser()
    invented.add_options(parser)
    return invented.main(parser.parse_args(arguments))


@pytest.mark.slow
def test_steps_and_silhouettes_keep_their_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    assert measure("--seeds", "2", "--steps", "4") == 0
    assert "80 meshes, at most 11520 triangles" in capsys.readouterr().out


def test_a_silhouette_like_a_known_one_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(invented, "NEAREST", 0.9)
    monkeypatch.setattr(invented, "_known", lambda: invented.depths(solid("cube"), (0.0,)) < 99)
    assert measure("--seeds", "1", "--first", "7", "--steps", "2", "--families", "blob") == 1
    assert "blob squeeze: 1 series, failing seeds: 7; neighbors" in capsys.readouterr().out


@pytest.mark.slow
def test_cycles_shows_the_silhouette_that_the_rasterizer_draws() -> None:
    name = "invented:branch/1"
    renderer = CyclesRenderer()
    image = invented.rendered(renderer, name)
    renderer.close()
    assert invented.distance(image, invented.depths(solid(name), (0.0,))) < 0.03
    assert image[np.isfinite(image)].max() <= 1
