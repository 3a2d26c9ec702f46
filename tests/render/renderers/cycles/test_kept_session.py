"""On a GPU, Cycles keeps its session between images, and yet no image depends on those before it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from diorama.render.compiler import compile_episode
from diorama.render.model.profiles import settings_for
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.language.scene import Scene
from diorama.scene_specs.language.spec import EpisodeSpec
from tests.render.renderers.cycles.test_cycles_renderer import TRIO, one

# More lights, fewer, one that is an object, another world, and other numbers of samples.
_FRAMES: list[dict[str, Any]] = [
    {"objects": TRIO},
    {"objects": TRIO[:1], "camera": {"jitter": 0}},
    {"objects": [{"shape": "sphere", "material": "emission"}, *TRIO[1:2]]},
    {"objects": TRIO[1:], "background": [32, 48, 64]},
]


def _scenes() -> list[Scene]:
    kinds = [
        ("draft", "clevr", None),
        ("standard", "clevr", None),
        ("draft", "studio", None),
        ("draft", "clevr", "daylight"),
    ]
    return [
        compile_episode(
            EpisodeSpec.model_validate(
                {"version": 1, "id": "kept", "stage": stage, "frames": [frame]} | ({"look": look} if look else {})
            ),
            settings_for(profile, 32, 24),
        )
        for profile, stage, look in kinds
        for frame in _FRAMES
        if look is None or "background" not in frame
    ]


def _differing(renderer: CyclesRenderer, scenes: list[Scene]) -> int:
    alone = [one(renderer, scene) for scene in scenes]
    # A CPU keeps nothing, and renders here as a GPU would.
    renderer._device = renderer._device._replace(kind="HIP")
    order = random.Random(1).choices(range(len(scenes)), k=4 * len(scenes))
    again = [one(renderer, scenes[index]) for index in order]
    return sum(
        not (np.array_equal(alone[k].color, x.color) and np.array_equal(alone[k].ids, x.ids))
        for k, x in zip(order, again, strict=True)
    )


def test_images_do_not_depend_on_those_before() -> None:
    assert _differing(CyclesRenderer("cpu", threads=1), _scenes()) == 0


def test_without_ending_it_they_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CyclesRenderer, "_end_session", lambda _self: None)
    assert _differing(CyclesRenderer("cpu", threads=1), _scenes()) > 5
