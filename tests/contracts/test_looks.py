"""What every look and each of its recipes promises: a manual, a name, nodes that Blender takes, and plain's truth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.render.cli.plugin_help import summary
from diorama.render.compiler import compile_episode
from diorama.render.compiler.looks import with_look
from diorama.render.compiler.render_key import recipes_of
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.cycles.node_tree import Tree, build_material
from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.model.look import LookError, Recipe, load_look
from diorama.scene_specs.model.materials import load_material
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.contracts.members import members
from tests.distributions import forget, installed, write_distribution

RECIPES = [(noun, name) for noun in ("grounds", "patterns") for name in members(noun)]
SPEC = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube", "color": "red", "material": "rubber"}]}]}
UNITS = ("(no unit)", "Blender unit", "degrees", "linear RGB", "halves of the object's height", "half of the object")


@pytest.fixture(scope="module")
def renderer() -> Iterator[CyclesRenderer]:
    made = CyclesRenderer("cpu", threads=1)
    yield made
    made.close()


def plain_scene() -> Scene:
    return compile_episode(EpisodeSpec.model_validate(SPEC), settings_for("draft", 64, 48))


def render(renderer: CyclesRenderer, scene: Scene) -> Passes:
    return renderer.render(scene, scene.frames[0], scene.frames[0].views[0])


@pytest.mark.parametrize("name", members("looks"))
def test_a_look_can_be_named_in_a_spec(name: str) -> None:
    assert load_look(name).about.endswith(".")
    assert not list(diagnostics_with_plugins(EpisodeSpec.model_validate({**SPEC, "look": name})))


@pytest.mark.parametrize(("noun", "name"), RECIPES)
def test_a_recipe_has_a_manual_and_builds(noun: str, name: str, renderer: CyclesRenderer) -> None:
    recipe: Any = load_material(name, noun)
    assert summary(plugin(noun, name)).startswith(f"`{name}`: ")
    for key, field in recipe.Parameters.model_json_schema()["properties"].items():
        assert field["type"] == "boolean" or any(unit in field["description"] for unit in UNITS), f"{key} has no unit"
    output = recipe.build(Tree("contract", ground=noun == "grounds"), recipe.Parameters())
    assert output.is_output and output.type in (("SHADER",) if noun == "grounds" else ("RGBA", "VECTOR"))


def test_the_look_of_the_page_keeps_the_truth_of_plain(renderer: CyclesRenderer) -> None:
    plain = plain_scene()
    first = render(renderer, plain)
    assert recipes_of("pinboard") == {"ground:cork"}
    images = []
    for variant in (0, 1):
        found = render(renderer, with_look(plain, "pinboard", variant))
        assert np.array_equal(found.ids, first.ids) and np.array_equal(found.depth, first.depth)
        images.append(found.color.astype(int))
    red, _, blue = images[0][first.ids == 0].mean(axis=0)
    assert red > blue + 30, "cork is brown"
    assert np.abs(images[0] - images[1])[first.ids == 0].mean() > 2


@pytest.fixture(scope="module")
def broken(acme_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A package with a ground that raises, a look on a ground that nobody has, and one that is no JSON."""
    folder = tmp_path_factory.mktemp("broken")
    files = {
        "broken_grounds/mud.py": (acme_folder / "acme/grounds/cork.py")
        .read_text()
        .replace("tree.shade(", "tree.shad("),
        "broken_looks/swamp.json": '{"about": "Wet.", "ground": {"name": "corkk"}}',
        "broken_looks/torn.json": '{"about": ',
    }
    write_distribution(folder, "broken", {"grounds": "* = broken_grounds", "looks": "* = broken_looks"}, files)
    with installed(folder):
        yield
    forget()


@pytest.mark.parametrize(("name", "problem"), [("swamp", "did you mean 'cork'"), ("torn", "torn.json")])
def test_a_wrong_file_of_a_look_is_named(name: str, problem: str, broken: None) -> None:
    with pytest.raises(LookError, match=problem) as caught:
        load_look(name)
    assert repr(name) in str(caught.value)


def test_a_ground_that_fails_is_named_with_its_package(broken: None, renderer: CyclesRenderer) -> None:
    with pytest.raises(RenderError, match=r"ground 'mud' of broken.*AttributeError"):
        build_material(Recipe(name="mud"), "grounds")
