"""Files of looks: what they may say, their variants, and the words that they keep."""

from __future__ import annotations

from collections import Counter

import pytest
from pydantic import ValidationError

from diorama.render.uses.rerender.looks import check_looks
from diorama.scene_specs.model.look import PLAIN, Look, LookError, load_look, look_names
from diorama.scene_specs.tasks.items import source_of_id


def test_a_variant_changes_what_it_names_alone() -> None:
    ground = {"name": "planks", "width": 0.5, "turn": 10}
    changes = [{"ground": {"turn": 70}}, {"exposure": 2, "white": [1, 0.9, 0.8]}]
    look = Look.model_validate_json('{"about": "-", "exposure": 0.5}').model_copy(update={"variants": tuple(changes)})
    look = Look.model_validate({**look.model_dump(mode="json"), "ground": ground}, strict=False)
    first, second = look.variant(0), look.variant(1)
    assert first.ground is not None and second.ground is not None
    assert (first.ground.parameters, first.exposure) == ({"width": 0.5, "turn": 70}, 0.5)
    assert (second.ground.parameters, second.exposure, second.white) == ({"width": 0.5, "turn": 10}, 2, (1, 0.9, 0.8))


def test_a_stage_changes_a_variant_once_more() -> None:
    lit = {"exposure": 2, "white": [1, 0.9, 0.8], "stages": {"clevr": {"exposure": 0.5}}}
    look = Look.model_validate(
        {"about": "-", "variants": [lit, {}], "stages": {"table": {"exposure": 3}}}, strict=False
    )
    for stage, exposures in {"": (2, 1), "mewl": (2, 1), "clevr": (0.5, 1), "table": (3, 3)}.items():
        assert (look.variant(0, stage).exposure, look.variant(1, stage).exposure) == exposures
    assert look.variant(0, "clevr").white == (1, 0.9, 0.8)


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ('{"about": "-", "ground": {"name": "planks", "width": 0}}', "greater than 0"),
        ('{"about": "-", "ground": {"name": "mud"}}', "mud"),
        ('{"about": "-", "patterns": [{"name": "dots", "spots": 1}]}', "spots"),
        ('{"about": "-", "variants": [{"ground": {"name": "planks", "turn": 999}}]}', "360"),
        ('{"about": "-", "exposure": 0}', "greater than 0"),
        ('{"about": "-", "variants": [{"stages": {"clevr": {"exposure": 0}}}]}', "greater than 0"),
        ('{"about": "-", "camera": {}}', "camera"),
        ('{"about": "-", "variants": [{}, {}, {}, {}, {}, {}, {}, {}, {}]}', "at most 8"),
    ],
)
def test_a_wrong_file_is_refused(file: str, problem: str) -> None:
    with pytest.raises((ValidationError, Exception), match=problem):
        Look.model_validate_json(file)


def test_the_looks_that_come_with_it_keep_most_words() -> None:
    names = look_names()
    assert names[0] == PLAIN and len(names) >= 9
    dim = 0
    for name in names[1:]:
        look = load_look(name)
        assert look.about.endswith(".") and 2 <= len(look.variants) <= 8
        assert len({repr(look.variant(number)) for number in range(len(look.variants))}) == len(look.variants)
        whole = [one for one in look.without if isinstance(one, str)]
        dim += bool(whole)
        assert "rubber" not in whole
        colors = Counter(one[0] for one in look.without if not isinstance(one, str))
        assert len(colors) <= 1, f"{name} leaves out more than one color: {look.without}"
    assert dim <= 2


def test_words_that_are_left_out() -> None:
    look = Look.model_validate({"about": "-", "without": ("glass", ("blue", "metal"))})
    assert [look.keeps_word(*pair) for pair in (("red", "glass"), ("blue", "metal"), ("red", "metal"))] == [
        False, False, True,
    ]  # fmt: skip
    assert look.keeps_word(None, "metal") and not look.keeps_word(None, "glass")


def test_names() -> None:
    assert check_looks(["wood", PLAIN, "wood"]) == ["wood", PLAIN]
    with pytest.raises(LookError, match="woo"):
        check_looks(["woo"])
    assert source_of_id("a/1+swap+wood", "wood") == "a/1+swap"
    assert source_of_id("a/1+wood", "tiles") == ""
