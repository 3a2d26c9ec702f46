"""Diorama from Python."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import diorama
import diorama.render.api
import diorama.scene_specs.model.spec
from diorama.render.cli.specs import main as specs_main
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs import errors
from diorama.scene_specs.errors import SpecError, UsageError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.mesh_files import write_obj

SPEC = {"version": 1, "id": "api", "frames": [{"objects": [{"name": "a", "shape": "cube"}, {"name": "b"}]}]}


def test_a_spec_becomes_arrays_with_truth_in_two_lines() -> None:
    scene = diorama.compile_spec(SPEC, profile="draft", size=(64, 48))
    (image,) = diorama.render_scene(scene, renderer=FakeRenderer())
    assert image.name == "frame-0"
    assert image.passes.color.shape == (48, 64, 3)
    assert [item.name for item in image.truth.objects] == ["a", "b"]
    for item in image.truth.objects:
        assert item.visible_pixels == np.count_nonzero(image.passes.ids == item.index)


def test_all_forms_of_a_spec_give_the_same_scene() -> None:
    scene = diorama.compile_spec(SPEC)
    assert diorama.compile_spec(json.dumps(SPEC)) == scene
    assert diorama.compile_spec(EpisodeSpec.model_validate(SPEC)) == scene
    assert diorama.compile_spec(scene.to_json()) == diorama.compile_spec(scene) == scene


def test_a_scene_takes_another_profile_and_size_and_nothing_moves() -> None:
    scene = diorama.compile_spec(SPEC)
    small = diorama.compile_spec(scene.to_json(), "draft", (64, 48))
    assert small.settings == settings_for("draft", 64, 48)
    assert small.model_copy(update={"settings": scene.settings}) == scene
    wide = diorama.compile_spec(scene.to_json(), size=(64, 48))
    assert wide.settings == settings_for("standard", 64, 48)
    assert diorama.compile_spec(small.to_json(), "standard").settings == wide.settings
    with pytest.raises(UsageError, match="did you mean 'draft'"):
        diorama.compile_spec(scene.to_json(), "drafd")


def test_a_size_that_no_picture_has_is_refused() -> None:
    scene = diorama.compile_spec(SPEC)
    for spec in (SPEC, scene.to_json()):
        for size in ((0, 48), (64, 16385)):
            with pytest.raises(UsageError, match="from 4 to 16384"):
                diorama.compile_spec(spec, size=size)


@pytest.mark.parametrize("size", [(1, 2, 3), "ab", 64, (64.0, 48), (True, 48)])
def test_a_size_that_is_not_two_integers_is_refused(size: Any) -> None:
    with pytest.raises(UsageError, match="two integers from 4 to 16384"):
        diorama.compile_spec(SPEC, size=size)


@pytest.mark.parametrize(
    "spec", [{**SPEC, "seed": np.int64(3)}, {**SPEC, "frames": np.zeros(2)}, {(1, 2): 3}, [SPEC], [np.zeros(2)], 5]
)
def test_what_is_no_json_data_is_a_wrong_spec(spec: Any) -> None:
    with pytest.raises(SpecError, match=r"^spec(:1)?: (not a spec|found)"):
        diorama.compile_spec(spec)


def test_asset_roots_are_paths_or_strings_one_or_several(tmp_path: Path) -> None:
    write_obj(tmp_path / "block.obj", np.eye(3))
    spec = {**SPEC, "frames": [{"objects": [{"shape": {"mesh": "block.obj"}}]}]}
    scene = diorama.compile_spec(spec, "draft", (64, 48), asset_roots=[tmp_path])
    given: Any
    for given in (str(tmp_path), tmp_path, [str(tmp_path)]):
        assert diorama.compile_spec(spec, "draft", (64, 48), asset_roots=given) == scene
        (image,) = diorama.render_scene(scene, renderer=FakeRenderer(), asset_roots=given)
        assert image.truth.objects[0].visible_pixels
    for given in (5, [None]):
        with pytest.raises(UsageError, match="asset_roots: found"):
            diorama.compile_spec(spec, asset_roots=given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "nope"}, "device: found 'nope'; allowed: gpu, auto, cpu"),
        ({"threads": -1}, "threads: found -1"),
        ({"renderer": "fake"}, "renderer: found 'fake'; allowed: an object"),
        ({"scene": SPEC}, "scene: found {.*; allowed: a Scene; compile_spec makes one"),
    ],
)
def test_wrong_arguments_of_render_scene_are_named(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"scene": diorama.compile_spec(SPEC, "draft", (64, 48)), "renderer": FakeRenderer()}
    with pytest.raises(UsageError, match=message):
        diorama.render_scene(**{**given, **options})


def test_faults_are_named() -> None:
    wrong = {**SPEC, "frames": [{"objects": [{"colour": "red"}]}]}
    with pytest.raises(SpecError, match=r"frames\[0\]\.objects\[0\]\.colour.*color"):
        diorama.compile_spec(wrong)
    twice = EpisodeSpec.model_validate({**SPEC, "frames": [{"objects": [{"name": "a"}, {"name": "a"}]}]})
    with pytest.raises(SpecError, match=r"[\"']a[\"']"):
        diorama.compile_spec(twice)


def test_importing_it_is_light() -> None:
    code = "import sys, diorama; print([m for m in ('numpy', 'pydantic', 'bpy', 'ray', 'lance') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_generate_yields_what_the_command_writes(tmp_path: Path) -> None:
    file = tmp_path / "specs.jsonl"
    done = CliRunner().invoke(specs_main, ["clevr", "--count", "3", "--objects", "3-4", "--out", str(file)])
    assert done.exit_code == 0, done.output
    specs = diorama.generate("clevr", count=3, objects=(3, 4))
    assert next(specs) == json.loads(file.read_text().splitlines()[0])
    assert list(specs) == [json.loads(line) for line in file.read_text().splitlines()[1:]]
    again = diorama.generate("clevr", count=3, seed=2, objects=(3, 4))
    assert next(again) != json.loads(file.read_text().splitlines()[0])


@pytest.mark.parametrize(
    ("benchmark", "options", "message"),
    [
        ("clevr", {}, "benchmark clevr: count: Field required"),
        ("clevr", {"count": -1}, "count: found -1"),
        ("clevr", {"count": 1, "colour": "red"}, 'colour: found "red"'),
        ("views", {"shapenet": "models"}, "set the variable DIORAMA_SHAPENET"),
        ("iwisdm", {"count": 1, "benchmark": "none"}, "none"),
        ("clever", {"count": 1}, "did you mean 'clevr'"),
    ],
)
def test_generate_names_wrong_options_at_once(benchmark: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises((diorama.UsageError, diorama.PluginError), match=message):
        diorama.generate(benchmark, **options)


def test_every_public_name_is_there_typed_and_documented() -> None:
    others = {"Diagnostic", "Summary", "__version__"}
    tree = re.findall(r"(\w+Error) +\d", errors.__doc__ or "")
    assert (
        set(dir(diorama))
        == set(diorama.__all__)
        == {*diorama.render.api.__all__, *diorama.scene_specs.model.spec.__all__, *tree, *others}
    )
    for name in diorama.__all__:
        found = getattr(diorama, name)
        assert name.startswith("__") or (found.__doc__ and not found.__name__.startswith("_"))
        if inspect.isfunction(found):
            signature = inspect.signature(found)
            kinds = [signature.return_annotation, *(one.annotation for one in signature.parameters.values())]
            assert inspect.Signature.empty not in kinds
    assert (Path(diorama.__file__).parent / "py.typed").is_file()


def test_what_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = diorama.nonsense


def test_the_data_model_shows_nothing_in_a_notebook_without_the_api() -> None:
    code = (
        "import sys; from tests.factories import make_scene; scene = make_scene(); print(scene._repr_html_()); "
        "import diorama.render.api; print('<table' in scene._repr_html_(), 'ray' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "True", "False"]
