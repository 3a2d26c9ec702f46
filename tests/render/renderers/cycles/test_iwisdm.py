"""A trial in Cycles: objects in their quadrants and nothing elsewhere, the cross until the answer (I11 to I13)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from render.api import compile_spec, render_scene
from render.model.profiles import settings_for
from render.renderers.cycles.cycles_renderer import CyclesRenderer
from scene_specs.benchmarks.iwisdm import Options
from scene_specs.benchmarks.iwisdm.generate import trial_specs
from tools.iwisdm_check import picture_problems

SIDE = 64


@pytest.fixture(scope="module")
def renderer() -> Iterator[CyclesRenderer]:
    made = CyclesRenderer("cpu", 2)
    yield made
    made.close()


@pytest.mark.parametrize("task", ["dms", "search-and-report"])
def test_pictures_of_a_trial(
    task: Any, renderer: CyclesRenderer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path))
    (spec,) = trial_specs(Options(task=task, settings={"delay": "1"}, seed=8, count=1))
    settings = settings_for("draft", SIDE, SIDE).model_copy(update={"samples": 4})
    scene = compile_spec(json.dumps(spec), "draft", (SIDE, SIDE)).model_copy(update={"settings": settings})
    images = render_scene(scene, renderer=renderer)
    assert len(images) == len(spec["task"]["answers"])
    for number, (image, answer) in enumerate(zip(images, spec["task"]["answers"], strict=True)):
        shown = [one["location"] for one in spec["task"]["objects"] if one["frame"] == number]
        spaces = [(int(place.endswith("right")), int(place.startswith("bottom"))) for place in shown]
        assert image.passes.color.shape == (SIDE, SIDE, 3)
        assert picture_problems(image.passes.color, spaces, answer == "null") == []
