from __future__ import annotations

import re

import pytest

from diorama.scene_specs.benchmarks.mewl.captions import questions
from diorama.scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from diorama.scene_specs.benchmarks.mewl.view import learner_view


@pytest.mark.parametrize("task", TASKS)
def test_prompts(task: str) -> None:
    spec = mewl_spec(2, "test", task, 5)
    asked = questions(spec)
    assert asked["id"] == spec["id"]
    assert len(asked["captions"]) == 7
    assert asked["options"][asked["label"]] == asked["answer"] == spec["task"]["answer"]
    for option, prompt in zip(asked["options"], asked["prompts"], strict=True):
        blocks = prompt.split("\n\n")
        assert len(blocks) == 8
        for k, block in enumerate(blocks[1:7]):
            assert block == f"Context: {asked['captions'][k]}\nName: {spec['frames'][k]['utterance']}"
        assert blocks[7] == f"Context: {asked['captions'][6]}\nName: {option}"
    for letter, option in zip("ABCDE", asked["options"], strict=True):
        assert f"\n{letter}. {option}\n" in asked["prompt"]
    assert asked["prompt"].endswith("\nAnswer:")


def test_a_list_of_attributes() -> None:
    spec = mewl_spec(2, "test", "number", 5)
    for frame, caption in zip(spec["frames"], questions(spec)["captions"], strict=True):
        named = [" ".join((o["size"], o["color"], o["material"], o["shape"])) for o in frame["objects"]]
        assert caption == "A " + " and a ".join(named) + "."


def test_the_finger() -> None:
    spec = mewl_spec(2, "test", "pragmatic", 5)
    for frame, caption in zip(spec["frames"], questions(spec)["captions"], strict=True):
        listed, pointing, _ = caption.split(".")
        assert listed.endswith(" and a small yellow rubber arrow")
        assert listed.count(" and a ") == 3
        target = next(o for o in frame["objects"] if o["name"] == frame["pointer"]["target"])
        assert (
            pointing
            == f" And a finger is pointing to the {target['size']} {target['color']} {target['material']} "
            + (target["shape"])
        )


@pytest.mark.parametrize("task", ["relation", "bootstrap"])
def test_where_the_middle_objects_stand(task: str) -> None:
    spec = mewl_spec(2, "test", task, 5)
    for image, caption in zip(learner_view(spec).images, questions(spec)["captions"], strict=True):
        names = [" ".join((size, color, material, shape)) for shape, color, material, size in image.objects]
        depth, width = (
            "The (.*) is in front of the (.*) and behind the (.*)[.]",
            "left of the (.*) and on the right of the",
        )
        found = re.fullmatch(f"{depth} The (.*) is on the {width} (.*)[.]", caption)
        assert found is not None
        ranks = ([names.index(name) for name in found.groups()[k : k + 3]] for k in (0, 3))
        for (middle, last, first), relation in zip(ranks, ("front", "left"), strict=True):
            assert {middle, last, first} == {0, 1, 2}
            assert (relation, middle, last) in image.relations and (relation, first, middle) in image.relations


def test_an_open_order_is_left_out() -> None:
    spec = mewl_spec(2, "test", "relation", 5)
    for frame in spec["frames"]:
        frame["constraints"] = [one for one in frame["constraints"] if one["relation"] not in ("left", "right")]
    for caption in questions(spec)["captions"]:
        assert "behind the" in caption and "left" not in caption
