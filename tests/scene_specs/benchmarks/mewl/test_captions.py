from __future__ import annotations

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
def test_every_pair_is_said_to_stand_as_it_stands(task: str) -> None:
    spec = mewl_spec(2, "test", task, 5)
    wording = {"in front of": "front", "behind": "behind", "on the left of": "left", "on the right of": "right"}
    for image, caption in zip(learner_view(spec)["images"], questions(spec)["captions"], strict=True):
        names = [" ".join((o["size"], o["color"], o["material"], o["shape"])) for o in image["objects"]]
        found = []
        for sentence in caption.rstrip(".").split(". "):
            subject, _, rest = sentence.removeprefix("The ").partition(" is ")
            for part in rest.split(" and "):
                text = next(text for text in wording if part.startswith(text))
                other = part.removeprefix(f"{text} the ")
                found.append([wording[text], names.index(subject), names.index(other)])
        assert len(found) == 6
        assert len({frozenset(pair) for _, *pair in found}) == 3
        assert all(relation in image["relations"] for relation in found)
