"""Equal frames of different trials are one picture to a renderer that remembers pictures by their content."""

from __future__ import annotations

import json

from diorama.render.api import compile_spec
from diorama.render.compiler.render_key import picture_key
from diorama.scene_specs.benchmarks.iwisdm import Options
from diorama.scene_specs.benchmarks.iwisdm.generate import trial_specs


def test_as_many_pictures_as_different_frames() -> None:
    pictures: dict[str, set[tuple[str, int]]] = {}
    frames = 0
    for spec in trial_specs(Options(benchmark="low", count=40, seed=3)):
        scene = compile_spec(json.dumps(spec), "draft", (224, 224))
        for frame, written in zip(scene.frames, spec["frames"], strict=True):
            shown = json.dumps(written.get("objects"))
            pictures.setdefault(shown, set()).add((picture_key(scene, frame, frame.views[0]), frame.seed))
            frames += 1
    assert {len(keys) for keys in pictures.values()} == {1}
    assert len({key for keys in pictures.values() for key in keys}) == len(pictures) < frames
