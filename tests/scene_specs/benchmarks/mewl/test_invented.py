"""MEWL over invented objects, by the prover that knows only the rules."""

from __future__ import annotations

import json
from typing import Any

import pytest

from diorama.scene_specs.benchmarks.mewl.captions import questions
from diorama.scene_specs.benchmarks.mewl.generate import mewl_spec
from diorama.scene_specs.benchmarks.mewl.verify import verify_spec
from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.scene_specs.benchmarks.mewl.brute_force import RULES, brute_force


def as_clevr(spec: Any) -> Any:
    """The episode with one of CLEVR's shapes for each invented one: the prover knows three shapes by name.

    Where a sentence names an object by its color alone, that object's shape is put in, which may be read off its image.
    """
    text = json.dumps(spec)
    for name, plain in zip(spec["task"]["shapes"], ("cube", "sphere", "cylinder"), strict=True):
        text = text.replace(name, plain)
    plain_spec: Any = json.loads(text)
    *contexts, query = plain_spec["frames"]
    for frame in contexts:
        frame["utterance"] = with_shapes(frame["utterance"], frame)
    task = plain_spec["task"]
    task["options"] = [with_shapes(option, query) for option in task["options"]]
    task["answer"] = with_shapes(task["answer"], query)
    return plain_spec


def with_shapes(text: str, frame: Any) -> str:
    shapes = {item["color"]: item["shape"] for item in frame["objects"]}
    assert "object" not in text.split() or len(shapes) == len(frame["objects"])
    words = text.split(" ")
    return " ".join(shapes[words[k - 1]] if word == "object" else word for k, word in enumerate(words))


@pytest.mark.parametrize("task", RULES)
def test_episodes_are_proved_by_both(task: str) -> None:
    for number in range(5):
        spec = mewl_spec(1, "test", task, number, invented=True)
        assert spec["id"] == f"mewl/invented/test/{task}/{number:06d}"
        assert diagnostics_with_plugins(EpisodeSpec.model_validate(spec)) == []
        assert verify_spec(spec) == ""
        verdict = brute_force(as_clevr(spec))
        assert verdict.accepted, verdict.reason
        assert {item["shape"] for frame in spec["frames"] for item in frame["objects"]} <= {*spec["task"]["shapes"]}
        for option in spec["task"]["options"]:
            assert not {"cube", "sphere", "cylinder"} & {*option.split()}
            if option != spec["task"]["answer"]:
                assert verify_spec({**spec, "task": {**spec["task"], "answer": option}})


def test_captions_are_refused_because_nothing_names_the_shapes() -> None:
    with pytest.raises(SpecError, match=r"mewl/invented/test/shape/000000.*no caption describes these images"):
        questions(mewl_spec(1, "test", "shape", 0, invented=True))
