"""Parameters of materials: what a spec states, what a Scene keeps, and what counts for identities."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from diorama.render.api import compile_spec
from diorama.render.compiler.render_key import content_seed, picture_key, render_key_of
from diorama.scene_specs.errors import PluginError, SpecError
from diorama.scene_specs.model.materials import changed_parameters, transmits
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.schema import spec_schema
from tests.distributions import installed, write_distribution

VELVET = """
from pydantic import Field
from diorama.scene_specs.model.spec import SpecModel
TRANSMISSIVE = True
class Parameters(SpecModel):
    pile: float = Field(0.5, ge=0, le=3, description="length of the pile, mm")
    words: tuple[str, ...] = Field((), description="free words")
def build(tree, parameters): ...
"""


def compiled(material: Any, stage: str = "clevr") -> Scene:
    placed = {"place": "center"} if stage == "studio" else {"location": [0, 0]}
    item = {"shape": "cube", "color": "red", "size": "large", "rotation_deg": 0, "material": material, **placed}
    return compile_spec(json.dumps({"version": 1, "id": "a", "stage": stage, "frames": [{"objects": [item]}]}))


def problems(material: Any) -> list[str]:
    with pytest.raises(SpecError) as caught:
        compiled(material)
    return [f"{found.path}: {found.problem}" for found in caught.value.diagnostics]


@pytest.fixture
def velvet(tmp_path: Path) -> Iterator[None]:
    points = "* = lab_cloth\nold = lab_old:build\nworn = lab_gone:x"
    files = {"lab_cloth/velvet.py": VELVET, "lab_old.py": "def build(material): ..."}
    write_distribution(tmp_path, "lab", {"materials": points}, files)
    with installed(tmp_path):
        yield


def test_a_default_is_left_out_of_a_scene() -> None:
    plain = compiled("glass").to_json()
    assert compiled({"name": "glass", "ior": 1.1, "roughness": 0}).to_json() == plain
    assert '"material":{"name":"glass","strength":1.0,"blend":null,"group":null}' in plain


def test_a_parameter_is_kept_in_the_scene_and_read_back() -> None:
    scene = compiled({"name": "glass", "ior": 1.5})
    material = scene.frames[0].objects[0].material
    assert material.parameters == {"ior": 1.5}
    again = compile_spec(scene.to_json())
    assert again.frames[0].objects[0].material == material
    assert compiled({"name": "emission", "strength": 3}).frames[0].objects[0].material.parameters == {"strength": 3.0}


def test_a_parameter_changes_the_identity_the_seed_and_the_key_of_an_image() -> None:
    plain, changed = (compiled(given, "studio") for given in ("glass", {"name": "glass", "ior": 1.5}))
    frames = plain.frames[0], changed.frames[0]
    assert content_seed(frames[0]) != content_seed(frames[1])
    same_seed = frames[1].model_copy(update={"seed": frames[0].seed})
    assert picture_key(plain, frames[0], frames[0].views[0]) != picture_key(plain, same_seed, frames[0].views[0])
    hashes = {render_key_of(scene, scene.settings, "fake").hash() for scene in (plain, changed)}
    assert len(hashes) == 2


def test_what_relations_call_right_changes_neither_the_seed_nor_the_key_of_an_image() -> None:
    scene = compiled("glass", "studio")
    frame, view = scene.frames[0], scene.frames[0].views[0]
    other = view.model_copy(update={"camera": view.camera.model_copy(update={"right": (0.6, 0.8)})})
    turned = frame.model_copy(update={"views": (other,)})
    assert content_seed(turned) == content_seed(frame)
    assert picture_key(scene, turned, other) == picture_key(scene, frame, view)
    hashes = {
        render_key_of(it, scene.settings, "fake").hash()
        for it in (scene, scene.model_copy(update={"frames": (turned,)}))
    }
    assert len(hashes) == 2


def test_a_scene_with_a_wrong_parameter_is_refused() -> None:
    text = compiled({"name": "glass", "ior": 1.5}).to_json()
    for wrong, problem in (("0.5", "at least 1"), ('"x"', "a number")):
        with pytest.raises(SpecError, match=rf"objects\[0\]\.material\.ior: .*{problem}"):
            compile_spec(text.replace('"ior":1.5', f'"ior":{wrong}'))
    with pytest.raises(SpecError, match="allowed: name, blend, group"):
        compile_spec(text.replace('"name":"glass"', '"name":"blend"'))


def test_the_pointer_has_parameters_too() -> None:
    frame = {"objects": [{"name": "x"}], "pointer": {"target": "x", "material": {"name": "metal", "rougness": 0.2}}}
    with pytest.raises(SpecError, match=r"pointer\.material\.rougness: .*did you mean 'roughness'"):
        compile_spec({"version": 1, "id": "a", "frames": [frame]})


@pytest.mark.usefixtures("velvet")
def test_a_material_of_a_package() -> None:
    assert compiled({"name": "velvet", "pile": 1}).frames[0].objects[0].material.parameters == {"pile": 1.0}
    assert changed_parameters("velvet", {"pile": 0.5, "words": ["a"]}) == {"words": ["a"]}
    (problem,) = problems({"name": "velvet", "pile": 4})
    assert problem == "frames[0].objects[0].material.pile: found 4; allowed: at most 3"
    assert transmits("velvet") and not transmits("rubber") and not transmits("original")


@pytest.mark.usefixtures("velvet")
def test_a_material_that_is_none_is_a_diagnostic() -> None:
    (old,), (worn,) = problems({"name": "old", "pile": 1}), problems({"name": "worn", "pile": 1})
    assert old.startswith("frames[0].objects[0].material.name: material 'old' of lab: has no Parameters, TRANSMISSIVE")
    assert "can't import lab_gone:x" in worn
    with pytest.raises(PluginError, match="has no Parameters"):
        transmits("old")


def test_materials_are_checked_without_blender() -> None:
    code = "import sys; sys.modules['bpy'] = None; from diorama.scene_specs.model.materials import transmits, plugins; "
    done = subprocess.run(
        [sys.executable, "-c", code + "print([name for name in plugins('materials') if transmits(name)])"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ast.literal_eval(done.stdout) == ["glass"]


def test_the_schema_has_the_parameters_of_each_material() -> None:
    all_of = spec_schema()["$defs"]["MaterialSpec"]["allOf"]
    rules = {rule["if"]["properties"]["name"]["const"]: rule for rule in all_of}
    assert {"emission", "glass", "matte", "metal", "rubber"} <= set(rules)
    then = rules["glass"]["then"]
    assert then["additionalProperties"] is False
    assert then["properties"]["ior"]["default"] == 1.1 and "name" in then["properties"]
