"""The scenes whose images are compared with references: small, and together they show everything that Cycles draws.

There is one scene for each material, stage and look that Diorama provides, found through the registry: a new one
without a reference fails a test. The others show what those leave out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.render.compiler.looks import with_look
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model.look import Recipe
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import load_stage
from tests.statistical.z_test import RENDERS

REFERENCES = Path(__file__).with_name("references")
# Width and height in pixels, and those of a stage for square images.
SIZE, SQUARE = (32, 24), (28, 28)
SAMPLES = 16
# Seeds of Cycles from here on belong to tests, those below to references.
_TEST_SEEDS = 1_000_000

Item = dict[str, Any]
_CORNERS = [[0, 0], [20, 0], [20, 7], [7, 7], [7, 17], [0, 17]]
_FLAT: list[Item] = [
    {"shape": "circle", "color": [230, 60, 20], "size": 4.9, "location": [7.4, 7.2]},
    {"shape": "triangle", "color": [20, 90, 200], "size": 4, "location": [18, 20], "rotation_deg": 20},
    {"shape": {"polygon": _CORNERS}, "color": [120, 200, 70], "location": [6, 5.5]},
]
_STAGES: dict[str, dict[str, Any]] = {
    "studio": {"objects": [{"shape": "cube", "material": "metal", "rotation_deg": 30}]},
    "quadrants": {
        "fixation": True,
        "background": [32, 48, 64],
        "objects": [
            {"shape": "sphere", "color": "red", "material": "rubber", "place": "top_left"},
            {"shape": "cube", "color": "cyan", "material": "metal", "place": "bottom_right", "rotation_deg": 25},
        ],
    },
}
_CAMERA = {"location": [6.2, -5.4, 4.4], "look_at": [0.1, -0.1, 0.6], "lens": 50}
_BLEND = {"blend": "materials/checker.blend", "group": "Checker"}


def _table(*materials: Any) -> dict[str, Any]:
    """A frame with a cube, a sphere and a cylinder of these materials in turn, which fill half of the image."""
    given: list[Item] = [
        {"shape": "cube", "color": "red", "location": [-1.3, -0.9], "rotation_deg": 20},
        {"shape": "sphere", "color": "cyan", "location": [1.2, -0.8]},
        {"shape": "cylinder", "color": "yellow", "location": [0.2, 1.4]},
    ]
    items = [{**item, "size": 0.9, "material": materials[k % len(materials)]} for k, item in enumerate(given)]
    return {"objects": items, "camera": _CAMERA}


def _frames() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(name of the scene, stage, frame)."""
    for name in _own("materials"):
        yield f"material-{name}", "mewl", _table(name)
    for name in _own("stages"):
        if load_stage(name).pixels == "center":
            yield f"stage-{name}", name, {"objects": _FLAT}
            yield f"stage-{name}-antialias", name, {"objects": _FLAT, "antialias": True}
        else:
            # With the stage's own camera.
            yield (
                f"stage-{name}",
                name,
                {"objects": _table("rubber", "metal", "glass")["objects"], **_STAGES.get(name, {})},
            )
    yield "parameters-metal", "mewl", _table({"name": "metal", "roughness": 0.2})
    yield "parameters-glass", "mewl", _table({"name": "glass", "ior": 1.5, "roughness": 0.3})
    yield "parameters-emission", "table", _table("matte", {"name": "emission", "strength": 3})
    yield "blend-file", "mewl", _table(_BLEND, "rubber")
    yield "model", "studio", {"objects": [{"shape": "shapenet:cars/#4", "rotation_deg": 30}]}
    target = {"name": "a", "shape": "cube", "color": "blue", "material": "rubber", "size": 0.6, "location": [-1.2, 0.6]}
    hand = {"target": "a", "size": 1.2, "location": [1.2, -0.6]}
    yield "hand", "mewl", {"objects": [target], "pointer": hand, "camera": _CAMERA}
    for name in _looks():
        yield name, "mewl", _table("rubber", "metal")


def _looks() -> dict[str, tuple[str, int, list[Recipe]]]:
    """Name of a scene -> its look, the variant, and patterns of its objects."""
    found: dict[str, tuple[str, int, list[Recipe]]] = {f"look-{name}": (name, 0, []) for name in _own("looks")}
    patterns = [Recipe(name=name) for name in _own("patterns")]
    found |= {f"patterns-{k}": ("patterns", 0, patterns[k : k + 3]) for k in range(0, len(patterns), 3)}
    return found | {"ground-sand": ("daylight", 3, [])}


def _in_look(scene: Scene, name: str, variant: int, patterns: list[Recipe]) -> Scene:
    scene = with_look(scene, name, variant, words=False)
    frame = scene.frames[0]
    items = (
        [
            item.model_copy(update={"material": item.material.model_copy(update={"pattern": pattern})})
            for item, pattern in zip(frame.objects, patterns, strict=True)
        ]
        if patterns
        else frame.objects
    )
    return scene.model_copy(update={"frames": (frame.model_copy(update={"objects": tuple(items)}),)})


def names() -> list[str]:
    """Return the names of all scenes. Compiles nothing."""
    return [name for name, _, _ in _frames()]


def _own(noun: str) -> list[str]:
    return [name for name, found in plugins(noun).items() if found.own]


@lru_cache(maxsize=1)
def scenes() -> dict[str, Scene]:
    """Return name -> compiled scene, with the settings of `standard` except its denoiser and the extra samples."""
    found, looks = {}, _looks()
    for name, stage, frame in _frames():
        about = load_stage(stage)
        size = SQUARE if about.size[0] == about.size[1] else SIZE
        flat: dict[str, Any] = {"canvas": size} if about.pixels == "center" else {}
        # The stage `mewl` has the reference of what it was called before.
        identity = "statistical/" + name.replace("mewl", "clevr")
        spec = {"version": 1, "id": identity, "stage": stage, "frames": [frame], **flat}
        settings = settings_for("standard", *size)
        settings = settings.with_samples(SAMPLES).model_copy(update={"denoise": False})
        found[name] = compile_episode(EpisodeSpec.model_validate(spec), settings)
        if name in looks:
            found[name] = _in_look(found[name], *looks[name])
    return found


def render(renderer: CyclesRenderer, scene: Scene, seed: int) -> Passes:
    """Render a scene with one seed of Cycles."""
    frame = scene.frames[0]
    return renderer.render(scene, frame.model_copy(update={"seed": seed}), frame.views[0])


def images_of_run(renderer: CyclesRenderer, scene: Scene, run: int) -> NDArray[np.uint8]:
    """Return the images of one test, (RENDERS, H, W, 3) display values. run: decides the seeds, from 0."""
    first = _TEST_SEEDS + RENDERS * run
    return np.stack([render(renderer, scene, first + k).color for k in range(RENDERS)])


def folder_of(renderer: CyclesRenderer) -> Path:
    """Return the folder of the references that apply to this series of Blender, such as `blender-4.5`."""
    return REFERENCES / ("blender-" + ".".join(renderer.info["bpy"].split(".")[:2]))
