from __future__ import annotations

import random
from functools import cache
from itertools import product
from typing import Any

import pytest
from pycocotools import mask

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.questions.generate import Questioner
from diorama.scene_specs.tasks.questions.grammar import default_grammar
from diorama.scene_specs.tasks.questions.lexicon import plural
from tests.factories import make_job
from tests.scene_specs.tasks.questions.images import ORIENTED, STACKED
from tools.claims.third_judge import is_judged, noticed
from tools.claims.third_judge.english import answers

FAMILIES = (*default_grammar().forms, *default_grammar().families)


@cache
def records() -> list[EpisodeRecord]:
    made = []
    specs: list[Any] = [*diorama.generate("clevr", count=3, seed=8, objects=(6, 9))]
    specs.append({"version": 1, "id": "stacked", "frames": [{"objects": STACKED}]})
    specs += [{"version": 1, "id": f"oriented/{seed}", "seed": seed, "frames": [ORIENTED]} for seed in range(3)]
    for spec in specs:
        scene = diorama.compile_spec(spec, profile="draft", size=(160, 120))
        made.append(make_record(diorama.FakeRenderer(), scene, make_job(), scene.settings))
    return made


@pytest.mark.slow
def test_the_judge_agrees_and_notices_what_is_tampered_with() -> None:
    rng, families, read = random.Random(0), set[str](), 0
    asker = Questioner(default_grammar(), 3, FAMILIES, 80)
    for record in records():
        annotation = record.images[0].annotation.model_dump(mode="json")
        for item in annotation["objects"]:
            assert mask.area(item["rle"]) == item["visible_pixels"]
        made = [one for view in store_views([record]) for one in asker.ask(view) if is_judged(one)]
        for one in made:
            assert answers(annotation, 0.2, one.data()) == {one.answer}, one.text
            assert noticed(annotation, 0.2, one.data(), made, rng)
            families.add(one.family)
            read += 1
    assert read > 150 and len(families & {*default_grammar().forms}) > 35
    assert families >= {"own", "seen"}


@pytest.mark.parametrize(
    ("op", "tampered"),
    [("own", "around"), ("own_side", "a quarter"), ("faces", "around"), ("color", "around"), ("seen", "around"),
     ("seen", "eye")],
)  # fmt: skip
def test_fronts_and_eyes_that_were_tampered_with_are_noticed(op: str, tampered: str) -> None:
    """Turned, every question has another answer, or none, except what is not faced; seen from elsewhere, some have."""
    found = asked = 0
    for record, seed in product(records()[-3:], range(12)):
        (view,) = store_views([record])
        annotation = record.images[0].annotation.model_dump(mode="json")
        (anna,) = annotation["observers"]
        if tampered == "eye":
            anna["eye"] = [-anna["eye"][0], -anna["eye"][1], anna["eye"][2]]
        else:
            by = {"around": -1, "a quarter": 1j}[tampered]
            turned = {name: complex(*front) * by for name, front in annotation["fronts"].items()}
            annotation["fronts"] = {name: [front.real, front.imag] for name, front in turned.items()}
        for one in Questioner(default_grammar(), seed, ("own", "seen")).ask(view):
            if one.program.op in (op, f"query_{op}") and (one.answer or op != "faces"):
                asked += 1
                found += answers(annotation, 0.2, one.data()) != {one.answer}
    assert found == asked > 0 if tampered != "eye" else found


@pytest.mark.parametrize("shape", ["cube", "box", "shelf", "open_cell"])
def test_plurals_of_all_shapes_are_read(shape: str) -> None:
    """Of "shelves", the judge once knew no singular."""
    annotation = records()[0].images[0].annotation.model_dump(mode="json")
    annotation["objects"][0]["shape"] = shape
    number = sum(item["shape"] == shape for item in annotation["objects"])
    assert answers(annotation, 0.2, {"question": f"How many {plural(shape)} are there?"}) == {number}


@pytest.mark.slow
@pytest.mark.parametrize("change", ["location", "color", "scale"])
def test_objects_that_were_tampered_with_are_noticed(change: str) -> None:
    """Of all questions about an image, some have another answer or none if one object is another one."""
    record = records()[0]
    made = [one for view in store_views([record]) for one in Questioner(default_grammar(), 3, FAMILIES, 80).ask(view)]
    found = 0
    for number in range(len(record.images[0].annotation.objects)):
        annotation = record.images[0].annotation.model_dump(mode="json")
        item = annotation["objects"][number]
        x, y, z = item["location"]
        item[change] = {"location": [-x, -y, z], "color": "orange", "scale": 2 - item["scale"]}[change]
        found += sum(answers(annotation, 0.2, one.data()) != {one.answer} for one in made)
    assert found
