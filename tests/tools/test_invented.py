"""`tools invented`: steps are monotone and visible, and no silhouette is near one that has a name."""

from __future__ import annotations

from argparse import Namespace

import pytest

from diorama.render.geometry.solid import solid
from tools import invented


def test_steps_and_silhouettes_keep_their_bounds(capsys: pytest.CaptureFixture[str]) -> None:
    options = Namespace(seeds=2, first=0, steps=4, families="blob,lathe,branch")
    assert invented.main(options) == 0
    assert "80 meshes, at most 11520 triangles" in capsys.readouterr().out


def test_a_silhouette_like_a_known_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invented, "NEAREST", 0.9)
    monkeypatch.setattr(invented, "_known", lambda: invented.depths(solid("cube"), (0.0,)) < 99)
    assert invented.main(Namespace(seeds=1, first=0, steps=2, families="blob")) == 1
