"""What every stage promises: its own name, defaults that exist, and a scene that fits and is lit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from diorama.render.compiler import compile_episode
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.language.registry import plugin, plugins, shapes
from diorama.scene_specs.language.vocabulary import COLORS, SIZES
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import load_stage
from tests.acme import files
from tests.contracts.members import members
from tests.distributions import installed, write_distribution

# Where an object stands, on stages that do not sample locations.
PLACES: dict[str, dict[str, Any]] = {"studio": {"place": "center"}, "quadrants": {"place": "top_left"}}


@pytest.fixture(scope="module")
def renderer() -> Iterator[CyclesRenderer]:
    made = CyclesRenderer("cpu", threads=1)
    yield made
    made.close()


def scene_of(name: str) -> Scene:
    """A large red object, or the first of the stage's shapes and colors."""
    defaults = load_stage(name).defaults
    color = "red" if "red" in (load_stage(name).palette or COLORS) else "coral"
    item = {"shape": defaults.shapes[0], "color": color, "size": "large", **PLACES.get(name, {})}
    spec = {"version": 1, "id": "a", "stage": name, "frames": [{"objects": [item]}]}
    return compile_episode(EpisodeSpec.model_validate(spec), settings_for("draft", 64, 48))


def check_name(name: str, renderer: CyclesRenderer) -> None:
    path = plugin("stages", name).load()
    assert load_stage(name).name == name == path.stem
    # `mewl` is the file that was clevr.json in 0.1, byte for byte.
    assert json.loads(path.read_bytes())["name"] == {"mewl": "clevr"}.get(name, name)


def check_defaults(name: str, renderer: CyclesRenderer) -> None:
    stage = load_stage(name)
    assert stage.defaults.shapes and set(stage.defaults.shapes) <= set(shapes())
    assert stage.defaults.colors and set(stage.defaults.colors) <= set(stage.palette or COLORS)
    assert stage.defaults.materials and set(stage.defaults.materials) <= set(plugins("materials"))
    assert stage.defaults.sizes and set(stage.defaults.sizes) <= set(stage.sizes or SIZES)


def check_view(name: str, renderer: CyclesRenderer) -> None:
    scene = scene_of(name)
    passes = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0])
    assert (passes.ids == 1).sum() >= 8


def check_light(name: str, renderer: CyclesRenderer) -> None:
    scene = scene_of(name)
    passes = renderer.render(scene, scene.frames[0], scene.frames[0].views[0])
    red, green, blue = passes.color[passes.ids == 1].mean(axis=0)
    assert red > 40 and max(green, blue) < 0.9 * red, (red, green, blue)


CHECKS = (check_name, check_defaults, check_view, check_light)


@pytest.mark.parametrize("name", members("stages"))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_stage_keeps_its_contract(
    name: str, check: Callable[[str, CyclesRenderer], None], renderer: CyclesRenderer
) -> None:
    check(name, renderer)


EVENING: dict[str, Any] = json.loads(files()["acme/stages/evening.json"])
BROKEN: dict[str, tuple[dict[str, Any], Callable[[str, CyclesRenderer], None]]] = {
    "renamed": ({"name": "other"}, check_name),
    "odd-material": ({"defaults": {**EVENING["defaults"], "materials": ["felt"]}}, check_defaults),
    "odd-color": ({"defaults": {**EVENING["defaults"], "colors": ["reddish"]}}, check_defaults),
    "averted": ({"camera": {**EVENING["camera"], "look_at": [20, -20, 5]}}, check_view),
    "dark": ({"lights": []}, check_light),
    "blue": ({"lights": [{**light, "color": [0, 0, 1]} for light in EVENING["lights"]]}, check_light),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_stage_is_caught(name: str, tmp_path: Path, acme_folder: Path, renderer: CyclesRenderer) -> None:
    changes, check = BROKEN[name]
    written = {
        "broken_stages/__init__.py": "",
        f"broken_stages/{name}.json": json.dumps({**EVENING, "name": name, **changes}),
        "broken_stages/right.json": json.dumps({**EVENING, "name": "right"}),
    }
    write_distribution(tmp_path, "broken", {"stages": "* = broken_stages"}, written)
    with installed(tmp_path):
        check("right", renderer)
        with pytest.raises((AssertionError, DioramaError)):
            check(name, renderer)
