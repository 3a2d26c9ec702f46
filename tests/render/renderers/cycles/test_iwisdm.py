"""A trial in Cycles: objects in their quadrants and nothing elsewhere, the cross until the answer (I11 to I13)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.render.api import compile_spec, render_scene
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.benchmarks.iwisdm import Options
from diorama.scene_specs.benchmarks.iwisdm.generate import trial_specs
from diorama.scene_specs.benchmarks.iwisdm.stimuli import LOCATIONS
from diorama.scene_specs.model.profiles import settings_for

SIDE = 64
# Extent of the cross from the center, with half of its width, in pixels.
REACH = math.ceil((0.05 + 0.02) * SIDE)


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
        shown = {one["location"] for one in spec["task"]["objects"] if one["frame"] == number}
        lit = (image.passes.color > 0).any(axis=2)
        assert image.passes.color.shape == (SIDE, SIDE, 3)
        assert (image.passes.color[SIDE // 2, SIDE // 2] == 255).all() == (answer == "null")
        if answer == "null":
            lit[SIDE // 2 - REACH : SIDE // 2 + REACH, SIDE // 2 - REACH : SIDE // 2 + REACH] = False
        quadrants = zip(
            LOCATIONS, (half for rows in np.split(lit, 2) for half in np.split(rows, 2, axis=1)), strict=True
        )
        assert {place for place, part in quadrants if part.any()} == shown
