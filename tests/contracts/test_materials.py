"""What every material promises: a manual, parameters that show, a shader in Cycles, and a true TRANSMISSIVE."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from diorama.render.cli.plugin_help import summary
from diorama.render.compiler import compile_episode
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.cycles.node_tree import Tree
from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.model.materials import load_material
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.contracts.members import members
from tests.distributions import forget, installed, write_distribution

SIZE = (96, 72)
RESERVED = {"name", "blend", "group"}
ALL = pytest.mark.parametrize("name", members("materials"))


@pytest.fixture(scope="module")
def renderer() -> Iterator[CyclesRenderer]:
    made = CyclesRenderer("cpu", threads=1)
    yield made
    made.close()


def parameters(name: str) -> dict[str, dict[str, Any]]:
    """Parameter -> its JSON schema."""
    found: dict[str, dict[str, Any]] = load_material(name).Parameters.model_json_schema()["properties"]
    return found


def check_manual(name: str, renderer: CyclesRenderer) -> None:
    material = load_material(name)
    assert summary(plugin("materials", name)).startswith(f"`{name}`: ")
    assert isinstance(material.TRANSMISSIVE, bool)
    assert material.Parameters() == material.Parameters.model_validate({}), "each parameter has a default"
    for key, field in parameters(name).items():
        assert key not in RESERVED
        assert "(no unit)" in field["description"], f"{name}.{key} has no unit"
        assert field["default"] == 1 or key != "strength"


def check_imports(name: str, renderer: CyclesRenderer) -> None:
    """Checks of specs import the module on machines without Blender."""
    tree = ast.parse(Path(load_material(name).__file__).read_text())  # type: ignore[attr-defined]
    assert not [
        node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom) and "bpy" in ast.unparse(node)
    ]


def check_build(name: str, renderer: CyclesRenderer) -> None:
    material, tree = load_material(name), Tree("contract")
    surface = material.build(tree, material.Parameters())
    assert (surface.is_output, surface.type) == (True, "SHADER")
    assert tree.finish(surface).node_tree.links[-1].from_socket == surface


def picture(renderer: CyclesRenderer, material: Any, behind: int = 255) -> NDArray[np.float64]:
    """Color of the inside of a sphere, (N, 3). behind: gray of the cube behind it, which glows."""
    near = {"name": "x", "shape": "sphere", "color": "blue", "material": material, "size": 0.7, "location": [1.5, -1.5]}
    far = {"name": "wall", "color": [behind] * 3, "material": "emission", "size": 0.8, "location": [0, 0]}
    frame = {"objects": [near, {"shape": "cube", **far}], "camera": {"jitter": 0}}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "a", "frames": [frame]})
    scene = compile_episode(spec, settings_for("draft", *SIZE))
    passes = renderer.render(scene, scene.frames[0], scene.frames[0].views[0])
    inside = passes.ids == 1
    for axis in (0, 1):
        inside &= np.roll(inside, 1, axis) & np.roll(inside, -1, axis)
    assert inside.sum() > 100
    found: NDArray[np.float64] = passes.color[inside].astype(np.float64)
    return found


def check_transmission(name: str, renderer: CyclesRenderer) -> None:
    """What glows behind it shows in it: by 65 of 255 in glass, by 12 in metal, which mirrors the ground."""
    change = np.abs(picture(renderer, name, 255) - picture(renderer, name, 0)).mean()
    assert (change > 30) == load_material(name).TRANSMISSIVE


def check_parameters_show(name: str, renderer: CyclesRenderer) -> None:
    plain = picture(renderer, name)
    for key, field in parameters(name).items():
        ends = [field[end] for end in ("minimum", "maximum") if end in field]
        other = next(value for value in (*ends, 2 * field["default"]) if value != field["default"])
        assert np.abs(picture(renderer, {"name": name, key: other}) - plain).mean() > 0.5, f"{key} does not show"
        assert np.array_equal(picture(renderer, {"name": name, key: field["default"]}), plain)


CHECKS = (check_manual, check_imports, check_build, check_transmission, check_parameters_show)


@pytest.mark.alike
@pytest.mark.parametrize("name", members("materials"))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_material_keeps_its_contract(
    name: str, check: Callable[[str, CyclesRenderer], None], renderer: CyclesRenderer
) -> None:
    check(name, renderer)


GOOD = '''"""`NAME`: dull."""
from pydantic import Field
from diorama.scene_specs.model.spec import SpecModel
TRANSMISSIVE = False
class Parameters(SpecModel):
    glow: float = Field(0.0, ge=0, le=1, description="share of the light (no unit)")
def build(tree, parameters):
    light = tree.add("Emission", Color=tree.color).outputs[0]
    return tree.mix(parameters.glow, tree.add("BsdfDiffuse", Color=tree.color).outputs[0], light)
'''
BROKEN = {
    "silent": ("`NAME`: dull.", "Dull.", check_manual),
    "unitless": (" (no unit)", "", check_manual),
    "demanding": ("Field(0.0, ", "Field(", check_manual),
    "early": ("TRANSMISSIVE = False", "import bpy\nTRANSMISSIVE = False", check_imports),
    "node": ("tree.color).outputs[0], light)", "tree.color).outputs[0], light).node", check_build),
    "liar": ("TRANSMISSIVE = False", "TRANSMISSIVE = True", check_transmission),
    "window": ('"BsdfDiffuse"', '"BsdfTransparent"', check_transmission),
    "idle": ("mix(parameters.glow", "mix(0.0", check_parameters_show),
}


@pytest.fixture(scope="module")
def broken(acme_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A package with a right material, and with one for each way to be wrong."""
    folder = tmp_path_factory.mktemp("broken")
    texts = {"dull": GOOD, **{name: GOOD.replace(old, new) for name, (old, new, _) in BROKEN.items()}}
    files = {f"broken_materials/{name}.py": text.replace("NAME", name) for name, text in texts.items()}
    write_distribution(folder, "broken", {"materials": "* = broken_materials"}, files)
    with installed(folder):
        yield
    forget()


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_material_is_caught(name: str, renderer: CyclesRenderer) -> None:
    check = BROKEN[name][2]
    check("dull", renderer)
    with pytest.raises((AssertionError, AttributeError, TypeError, ValueError, DioramaError)):
        check(name, renderer)
