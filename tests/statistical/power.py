"""Make references of the statistical tests, or measure what they catch.

    python -m tools render-statistics references               # all scenes; 4 CPU minutes
    python -m tools render-statistics references hand model    # after an intended change of these
    python -m tools render-statistics power                    # 6 CPU minutes

`references` writes tests/statistical/references/blender-<series> for the installed Blender; before that, look at what
the tests found. `power` runs the tests with seeds that neither they nor the references use: with each of the changes
that must be noticed, then with unchanged scenes. It prints what docs/quality.md shows. Exit code 1 if an unchanged run
fails or a change is caught in fewer than nine tenths of the runs.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, NamedTuple, TypeAlias
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from diorama.render.geometry.camera import Camera
from diorama.render.geometry.display import display
from diorama.render.renderers.cycles import exr_passes
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.language.vocabulary import linear_of_srgb
from diorama.scene_specs.model.materials import load_material
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneObject
from tests.statistical.scenes import folder_of, images_of_run, render, scenes
from tests.statistical.z_test import FALSE_ALARMS, Comparison, Reference, compare
from tools.programs import positive, threads

# Share of the runs in which a change must be noticed.
CAUGHT = 0.9
# Linear Rec. 709 to linear Rec. 2020 (ITU-R BT.2087).
_REC2020 = np.array([[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]], np.float32)

Linear: TypeAlias = NDArray[np.float32]
Bytes: TypeAlias = NDArray[np.uint8]


class Change(NamedTuple):
    """A mistake that a test must notice. frame: fields that it sets in a frame. display: replaces the display curve."""

    frame: Callable[[Scene, SceneFrame], dict[str, Any]] = lambda scene, frame: {}
    display: Callable[[Linear], Bytes] = display

    def scene(self, scene: Scene) -> Scene:
        """Return the scene with the mistake."""
        frame = scene.frames[0]
        return scene.model_copy(update={"frames": (frame.model_copy(update=self.frame(scene, frame)),)})


def _parameter(material: str, name: str, before: float, after: float) -> Change:
    """A parameter of a material has another value; a default that is not in the Scene counts as given."""

    def changed(item: SceneObject) -> SceneObject:
        default = load_material(material).Parameters.model_fields[name].default
        if item.material.name != material or item.material.parameters.get(name, default) != before:
            return item
        return item.model_copy(update={"material": item.material.model_copy(update={name: after})})

    return Change(lambda _, frame: {"objects": tuple(map(changed, frame.objects))})


def _light(name: str, factor: float) -> Change:
    def changed(_: Scene, frame: SceneFrame) -> dict[str, Any]:
        lights = [
            light.model_copy(update={"energy": light.energy * (factor if light.name == name else 1)})
            for light in frame.lights
        ]
        return {"lights": tuple(lights)}

    return Change(changed)


def _camera(pixels: float) -> Change:
    """The camera moves to its right, by so many pixels at the distance that it looks at."""

    def changed(scene: Scene, frame: SceneFrame) -> dict[str, Any]:
        view = frame.views[0]
        camera = Camera.of(view.camera, scene.settings.width, scene.settings.height)
        distance = (
            1.0 if camera.orthographic else float(np.linalg.norm(np.subtract(view.camera.look_at, camera.location)))
        )
        step = np.multiply(camera.right, pixels * distance / camera.focal)
        points = {key: tuple(np.add(getattr(view.camera, key), step).tolist()) for key in ("location", "look_at")}
        return {"views": (view.model_copy(update={"camera": view.camera.model_copy(update=points)}),)}

    return Change(changed)


def _decoded(_: Scene, frame: SceneFrame) -> dict[str, Any]:
    """Linear colors are taken for sRGB and decoded once more."""

    def changed(item: SceneObject) -> SceneObject:
        red, green, blue = (round(255 * part) for part in item.color_linear)
        return item.model_copy(update={"color_linear": linear_of_srgb((red, green, blue))})

    return {"objects": tuple(map(changed, frame.objects))}


def _gamma(linear: Linear) -> Bytes:
    encoded: Bytes = np.rint(255 * np.clip(linear, 0, 1) ** (1 / 2.2)).astype(np.uint8)
    return encoded


CHANGES: Mapping[str, Change] = {
    "glass: IOR 1.10 to 1.15": _parameter("glass", "ior", 1.1, 1.15),
    "metal: roughness 0.20 to 0.25": _parameter("metal", "roughness", 0.2, 0.25),
    "metal: published roughness 0.20 to 0.25, ours 0.447 to 0.5": _parameter("metal", "roughness", 0.447, 0.5),
    "light `key`: 5 % stronger": _light("key", 1.05),
    "camera: half a pixel aside": _camera(0.5),
    "color space: gamma 2.2 for the sRGB curve": Change(display=_gamma),
    "color space: Rec. 2020 for Rec. 709": Change(display=lambda linear: display(linear @ _REC2020.T)),
    "color space: colors of objects decoded twice": Change(_decoded),
}


def make_references(options: Namespace) -> int:
    """Render the references of the named scenes, or of all."""
    unknown = sorted(set(options.scenes) - set(scenes()))
    if unknown:
        raise UsageError(f"unknown scenes: {', '.join(unknown)}; there are: {', '.join(scenes())}")
    with closing(CyclesRenderer("cpu", options.threads)) as renderer:
        folder, info = folder_of(renderer), renderer.info
        about = f"bpy {info['bpy']}, {info['device']}, {info['cpu']}"
        for name in tqdm(options.scenes or scenes(), unit="scene"):
            passes = [render(renderer, scenes()[name], seed) for seed in range(options.seeds)]
            images = np.stack([one.color for one in passes])
            Reference.of(images, passes[0].ids, about).save(folder / f"{name}.npz")
    return 0


class Series:
    """Runs of the tests with one renderer. A scene that a change leaves as it is isn't rendered again."""

    def __init__(self, renderer: CyclesRenderer) -> None:
        self._renderer = renderer
        folder = folder_of(renderer)
        self._references = {name: Reference.load(folder / f"{name}.npz") for name in scenes()}

    def unchanged(self, number: int) -> dict[str, Comparison]:
        """Return what the tests find, by scene. number: decides the seeds, from 1; the tests themselves use 0."""
        return {name: self._test(name, scene, number) for name, scene in scenes().items()}

    def caught(self, number: int, change: Change) -> str:
        """Return the first scene whose test notices a change, "" if none does."""
        with patch.object(exr_passes, "display", change.display):
            for name, scene in scenes().items():
                changed = change.scene(scene)
                same = changed == scene and change.display is display
                if not same and not self._test(name, changed, number).passes:
                    return name
        return ""

    def _test(self, name: str, scene: Scene, number: int) -> Comparison:
        return compare(images_of_run(self._renderer, scene, number), self._references[name], len(scenes()))


def measure_power(options: Namespace) -> int:
    """Run the tests with and without changes; 1 if they say the wrong thing too often."""
    with closing(CyclesRenderer("cpu", options.threads)) as renderer:
        series = Series(renderer)
        rows, missed = [], False
        for name, change in tqdm(CHANGES.items(), unit="change"):
            caught = [scene for k in range(options.runs) if (scene := series.caught(k + 1, change))]
            rows.append((name, f"{len(caught)} of {options.runs}", ", ".join(sorted(set(caught)))))
            missed |= len(caught) < CAUGHT * options.runs
        print(markdown_table(("change", "caught", "first noticed in"), rows), flush=True)
        unchanged = [series.unchanged(k + 1) for k in tqdm(range(options.unchanged), unit="unchanged run")]
        print(_noise(unchanged))
    return int(missed or not all(one.passes for run in unchanged for one in run.values()))


def _noise(runs: list[dict[str, Comparison]]) -> str:
    """What the statistics of unchanged scenes are like, against what is expected."""
    found = [one for run in runs for one in run.values()]
    z = np.concatenate([one.region_z.ravel() for one in found if one.pixel_z.any()])
    failed = sum(not all(one.passes for one in run.values()) for run in runs)
    return (
        f"{len(runs)} unchanged runs of {len(runs[0])} scenes: {failed} failed; expected rate {FALSE_ALARMS:g}.\n"
        f"Regions: largest |Z| {max(one.region_excess for one in found):.2f} of the limit; deviation of all "
        f"{z.size:,} Z {z.std():.3f} (1 expected); |Z| > 3 in {(np.abs(z) > 3).mean():.2%} (0.27% expected).\n"
        f"Pixels: largest share {max(one.pixel_excess for one in found):.2f} of what is allowed.\n"
    )


def add_options(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    make = commands.add_parser("references", help="render references")
    make.add_argument("scenes", nargs="*", help="names of scenes; default: all")
    make.add_argument("--seeds", type=positive, default=256, help="renders per scene")
    make.set_defaults(run=make_references)
    power = commands.add_parser("power", help="measure false alarms and what is noticed")
    power.add_argument("--runs", type=positive, default=10, help="of each change")
    power.add_argument("--unchanged", type=positive, default=20, help="runs without a change")
    power.set_defaults(run=measure_power)
    for command in (make, power):
        command.add_argument("--threads", type=threads, default=1, help="of the CPU, 0 for all")


def main(options: Namespace) -> int:
    """Run the command that was chosen."""
    return int(options.run(options))
