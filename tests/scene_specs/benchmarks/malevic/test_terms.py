"""Sets with other terms than the published ones, scenes without questions, and sets that say one thing only."""

from __future__ import annotations

import json
from typing import Any

import pytest

import diorama
from diorama.render.episode.make_record import make_record
from diorama.scene_specs.benchmarks.malevic import Options
from diorama.scene_specs.benchmarks.malevic.generate import generate
from diorama.scene_specs.benchmarks.malevic.items import items
from diorama.scene_specs.benchmarks.malevic.shapes import CLASSES, COLORS
from diorama.scene_specs.benchmarks.malevic.verify import verify_spec
from diorama.scene_specs.errors import SpecError
from tests.factories import make_job


@pytest.mark.parametrize(
    "options",
    [
        {"name": "sup1-hard", "count": 3, "split": "test"},
        {"name": "set-pos-hard", "count": 3, "split": "raw"},
        {
            "name": "pos", "count": 8, "split": "test", "colors": ("red", "blue"), "shapes": ("circle", "square"),
            "rads": (20, 45, 90, 130), "reference_k": 0.4, "reference_sigma": 0.05,
        },
    ],
)  # fmt: skip
def test_terms_of_the_published_scripts(options: dict[str, Any]) -> None:
    for spec in generate(Options.model_validate(options)).items:
        data = json.loads(json.dumps(spec))
        assert verify_spec(data) == ""
        task = data["task"]
        assert ("question" in task) == (options["split"] != "raw")
        assert {item["color"] for item in task["objects"]} <= {*options.get("colors", COLORS)}
        assert {item["radius"] for item in task["objects"]} <= {*options.get("rads", CLASSES)}
        if "rads" in options:
            # Without them, the same claims are refused.
            for key in ("colors", "rads", "reference_k"):
                del task[key]
            assert verify_spec(data)


def test_equal_answers_warn(caplog: pytest.LogCaptureFixture) -> None:
    assert len([*generate(Options(name="pos", split="test", count=10)).items]) == 10
    assert "pos test: all answers are equal" in caplog.text


def test_a_scene_without_a_question_has_no_item() -> None:
    spec = next(iter(generate(Options(name="set-pos-hard", count=3, split="raw")).items))
    scene = diorama.compile_spec(spec, profile="draft", size=(64, 48))
    record = make_record(diorama.FakeRenderer(), scene, make_job(), scene.settings)
    with pytest.raises(SpecError, match="it has no question"):
        next(items(record))
