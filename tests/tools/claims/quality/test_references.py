"""The committed scenes show what they are to show."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from diorama.render.compiler import compile_episode
from diorama.scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.reading.source import parse_episode
from tools.claims.quality.references import FILE, scenes


@pytest.mark.parametrize("file", ["scenes.jsonl", "scenes-77.jsonl", "scenes-131.jsonl"])
def test_all_tasks_glass_much_and_none_the_hand_and_one_to_ten_objects(file: str) -> None:
    found = scenes(file=FILE.with_name(file))
    assert len(found) == 24
    assert len({scene.name for scene in found}) == 24
    for chosen in (found, found[:12]):
        compiled = [scene.compiled(settings_for("draft", 320, 240)).frames[0] for scene in chosen]
        counts = [len(frame.objects) - (frame.pointer is not None) for frame in compiled]
        assert min(counts) == 1 and max(counts) == 10
        glass = [sum(item.material.name == "glass" for item in frame.objects) for frame in compiled]
        assert glass.count(0) >= len(chosen) / 3
        assert sum(count >= 3 for count in glass) >= len(chosen) / 6
        assert sum(frame.pointer is not None for frame in compiled) >= len(chosen) / 12
        tasks = Counter(scene.spec.id.split("/")[2] for scene in chosen)
        assert set(TASKS) <= set(tasks)
    assert len({scene.digest() for scene in found}) == 24


@pytest.mark.parametrize(("file", "seed"), [("scenes.jsonl", 9), ("scenes-77.jsonl", 77), ("scenes-131.jsonl", 131)])
def test_a_scene_is_the_frame_of_the_episode_it_was_taken_from(file: str, seed: int) -> None:
    scene = next(each for each in scenes(file=FILE.with_name(file)) if "pragmatic" in each.name)
    number = int(scene.spec.id.rsplit("/", 1)[1])
    whole = mewl_spec(seed, "train", "pragmatic", number)
    parsed = parse_episode(json.dumps(whole))
    settings = settings_for("draft", 320, 240)
    frames = compile_episode(parsed, settings).frames
    ours = scene.compiled(settings).frames[0]
    (theirs,) = (frame for frame in frames if frame.name == ours.name)
    assert theirs.model_copy(update={"utterance": None, "truth": None}) == ours
