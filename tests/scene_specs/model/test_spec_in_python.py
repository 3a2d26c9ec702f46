"""Specs written in Python: every field passes mypy, mistakes have the words of files, and Scenes are the same.

`make test` runs mypy on this file, so its calls show that type checkers accept every field.
"""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diorama
from diorama.scene_specs.checks.semantics import check_spec
from diorama.scene_specs.language.validation import annotation_at, models_in
from diorama.scene_specs.model import spec
from diorama.scene_specs.reading.source import SpecSource, parse_episode
from tests.scene_specs.reading.broken_cases import Broken
from tests.scene_specs.reading.broken_specs import BROKEN
from tests.test_docs import ROOT, blocks_of

EXAMPLES = sorted((ROOT / "scene_specs/examples").glob("*.json"))
PUBLIC = {name: model for name in spec.__all__ if (model := getattr(spec, name))}


def every_field() -> list[diorama.EpisodeSpec]:
    """Specs in which every field of every model has a value."""
    prism = diorama.OutlineSpec(polygon=[(0, 0), (1, 0), (0, 1)], outline=None, height=1)
    mesh = diorama.MeshSpec(mesh="mugs/red.blend", up="y", part="Mug")
    blob = diorama.InventedShape(invented=diorama.InventedSpec(family="blob", seed=1, axes={"roundness": 0.3}))
    glow = diorama.MaterialSpec(name="emission", strength=5)
    checker = diorama.MaterialSpec(blend="materials/checker.blend", group="Checker")
    objects = [
        diorama.ObjectSpec(
            name="a",
            shape=mesh,
            color=(255, 0, 0),
            material=checker,
            size=0.5,
            location=(1, -0.5),
            rotation_deg=30,
            normalize=True,
            front_deg=90,
            drop=True,
        ),
        diorama.ObjectSpec(name="b", shape=prism, color="red", material=glow, footprint=2, rotation_deg=(90, 0, 45)),
        diorama.ObjectSpec(shape=blob, material=diorama.MaterialSpec(name="glass", ior=1.5), size="large"),
        diorama.ObjectSpec(place="center", view=diorama.ObjectViewSpec(yaw_deg=30, elevation_deg=20)),
    ]
    constraints = [
        diorama.ConstraintSpec(relation="left", subject="a", of="b", margin=1, seen_from="Anna"),
        diorama.ConstraintSpec(relation="between", subject="a", of="b", other="c"),
        diorama.ConstraintSpec(min_visible_pixels=9, objects=["a"]),
        diorama.ConstraintSpec(min_distance=0.5, axis_margin=0.5, in_frame=True),
    ]
    camera = diorama.CameraSpec(
        location=(7, -6, 5),
        look_at=(0, 0, 0),
        lens=35,
        sensor_width=32,
        jitter=0.5,
        yaw_deg=0,
        elevation_deg=20,
        distance=9,
        framing=0.9,
        right=(1, 0),
        intrinsics=diorama.IntrinsicsSpec(fx=350, fy=350, cx=160, cy=120, width=320, height=240),
    )
    drawn = diorama.RandomObjectsSpec(
        count=(1, 3), shapes=["cube"], colors=["red"], materials=["metal"], sizes=["large"], distinct=True
    )
    frame = diorama.FrameSpec(
        name="first",
        utterance="a scene",
        objects=objects,
        random_objects=drawn,
        pointer=diorama.PointerSpec(
            target="a", kind="arrow", color="red", material="rubber", size=0.6, location=(0, 1, 1)
        ),
        observers=[diorama.ObserverSpec(name="Anna", looks_at="a", color="purple", size=1, location=(0, 2))],
        constraints=constraints,
        camera=camera,
        lights=[diorama.LightSpec(name="key", energy=200, color=(1, 0.9, 0.8), location=(1, 2, 3), jitter=0)],
        area=diorama.AreaSpec(x=(-3, 3), y=(-3, 3)),
        passes=["depth"],
        background=(255, 255, 255),
        fixation=True,
        antialias=True,
        truth={"answer": None},
    )
    pairs = diorama.RandomObjectsSpec(count=2, combinations=[("cube", "red")])
    views = diorama.FrameSpec(views=[diorama.ViewSpec(name="top", elevation_deg=90)], random_objects=pairs)
    return [
        diorama.EpisodeSpec(
            version=1,
            id="a/1",
            seed=3,
            stage="clevr",
            canvas=(640, 480),
            split="train",
            look=diorama.LookSpec(name="wood", variant=1),
            frames=[frame, views],
            task={"answer": [1, None]},
        ),
        diorama.EpisodeSpec(id="a/2", frames=(views,)),
    ]


def test_every_field_has_a_value_above() -> None:
    tree = ast.parse(inspect.getsource(every_field))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    given = {(call.func.attr, keyword.arg) for call in calls for keyword in call.keywords}  # type: ignore[attr-defined]
    camera = {("ViewSpec", key) for key in diorama.CameraSpec.model_fields}
    assert {(name, key) for name, model in PUBLIC.items() for key in model.model_fields} - camera <= given


def test_parts_are_kept_as_they_are_given() -> None:
    first, second = every_field()
    assert parse_form(first) == first and parse_form(second) == second
    frame = first.frames[0]
    assert (first.version, second.version) == (1, 1)
    assert frame.truth == {"answer": None} and first.task == {"answer": [1, None]}
    assert (
        frame.objects[0].shape == "model:mugs/red.blend?part=Mug"
        and frame.objects[2].shape == "invented:blob/1?roundness=0.3"
    )
    assert isinstance(frame.objects, tuple) and isinstance(frame.objects[0], diorama.ObjectSpec)
    assert dict(frame.objects[2].material or ()) == {
        "name": "glass",
        "ior": 1.5,
        "strength": None,
        "blend": None,
        "group": None,
    }


def parse_form(episode: diorama.EpisodeSpec) -> diorama.EpisodeSpec:
    """Read the JSON of a spec, without the checks of several fields."""
    return diorama.EpisodeSpec.model_validate_json(episode.to_json(), strict=True)


def test_specs_as_data_take_every_field() -> None:
    data = next(diorama.generate("clevr", count=1, seed=1))
    data["frames"][0]["objects"][0]["front_deg"] = 90
    assert diorama.compile_spec(data).frames[0].objects[0].front_deg == 90


def in_python(model: type[spec.SpecPart], data: dict[str, Any]) -> spec.SpecPart:
    """Return JSON data as what a caller in Python writes: each object in it is made with its model."""
    values: dict[str, Any] = {}
    for key, value in data.items():
        models: list[Any] = models_in(annotation_at(model, (key,)))
        fits = [each for each in models if isinstance(value, dict) and (value.keys() <= each.model_fields.keys())]
        of_items = isinstance(value, list) and models and all(isinstance(item, dict) for item in value)
        if fits or (models == [spec.MaterialSpec] and isinstance(value, dict)):
            values[key] = in_python((fits or models)[0], value)
        else:
            values[key] = [in_python(models[0], item) for item in value] if of_items else value
    return model(**values)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_in_python_is_its_file(file: Path) -> None:
    assert in_python(spec.EpisodeSpec, json.loads(file.read_text())) == parse_episode(file.read_text())


def test_the_page_shows_a_scene_in_python_and_the_same_in_json() -> None:
    (python, *_) = (block.text for block in blocks_of(ROOT / "docs/python.md") if "ObjectSpec" in block.text)
    (data,) = (block.text for block in blocks_of(ROOT / "docs/python.md") if block.words == ("json",))
    assert len(list(filter(None, python.splitlines()))) <= 10
    names: dict[str, Any] = {}
    lines, _, rest = python.partition("image = ")
    exec(compile(lines, "python.md", "exec"), names)
    assert names["scene"] == diorama.compile_spec(data, profile="draft", size=(160, 120))
    assert "bbox" in rest


# Without what a text can be and Python data can't, the version, which Python may leave out, and True, which is 1 there.
TEXTS = {"overflowing number", "too deep", "deep duplicate key", "half a surrogate"}
SAME = [
    case
    for case in BROKEN
    if case.suffix == ".json" and case.content.startswith(b'{"') and case.line == 1 and not case.good
    if case.name not in {*TEXTS, "no version", "version true", "schema a number", "broken scene"}
]


def problems(error: diorama.SpecError) -> list[tuple[str, str, str]]:
    return [(each.path, each.problem, each.hint) for each in error.diagnostics]


def data_of(case: Broken) -> dict[str, Any] | None:
    try:
        data: dict[str, Any] = json.loads(case.content)
    except ValueError:
        return None
    return data if "version" in data else None


@pytest.mark.parametrize("case", [case for case in SAME if data_of(case)], ids=lambda case: case.name)
def test_a_mistake_has_the_words_of_a_file(case: Broken, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(case.content)
    in_file, _ = SpecSource([tmp_path / "a.json"]).check()
    with pytest.raises(diorama.SpecError) as caught:
        check_spec(diorama.EpisodeSpec(**(data_of(case) or {})))
    assert problems(caught.value) == problems(diorama.SpecError(in_file))
    assert "pydantic" not in str(caught.value) and "http" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "key", "value", "place"),
    [
        (diorama.ObjectSpec, "colour", "red", "objects"),
        (diorama.ObjectSpec, "utterance", "a", "objects"),
        (diorama.ObjectSpec, "front_deg", "90", "objects"),
        (diorama.ObjectSpec, "shape", 3, "objects"),
        (diorama.ObjectSpec, "name", "../a", "objects"),
        (diorama.CameraSpec, "location", [1, 2], "camera"),
        (diorama.CameraSpec, "lens", 0, "camera"),
        (diorama.RandomObjectsSpec, "count", 1000, "random_objects"),
        (diorama.LightSpec, "color", "red", "lights"),
    ],
)
def test_a_part_has_the_words_of_a_file(model: type[spec.SpecPart], key: str, value: Any, place: str) -> None:
    needed = {key: spec_value for key, spec_value in model.EXAMPLE.items() if model.model_fields.get(key)}
    data = {name: needed[name] for name, field in model.model_fields.items() if field.is_required()} | {key: value}
    inside = [data] if place in ("objects", "lights") else data
    with pytest.raises(diorama.SpecError) as in_file:
        parse_episode(json.dumps({"version": 1, "id": "a", "frames": [{place: inside}]}))
    with pytest.raises(diorama.SpecError) as in_part:
        model(**data)
    ((path, problem, hint),) = problems(in_part.value)
    assert path == key
    assert (problem, hint) in [(text, more) for _, text, more in problems(in_file.value)]


def test_numbers_of_numpy_are_refused_with_what_to_do() -> None:
    with pytest.raises(diorama.SpecError, match=r"int64 is not JSON serializable \(.*write int\(x\), float\(x\)"):
        diorama.ObjectSpec(size=np.int64(1))  # type: ignore[arg-type]


def test_a_missing_id_is_named() -> None:
    with pytest.raises(diorama.SpecError, match='required key "id" is missing'):
        diorama.EpisodeSpec(frames=[diorama.FrameSpec()])  # type: ignore[call-arg]


@pytest.mark.parametrize("name", PUBLIC)
def test_completion_knows_every_field(name: str) -> None:
    assert name in diorama.__all__ and getattr(diorama, name) is PUBLIC[name]
    assert set(inspect.signature(PUBLIC[name]).parameters) >= set(PUBLIC[name].model_fields)
    assert "Attributes:" in (inspect.getdoc(PUBLIC[name]) or "")
