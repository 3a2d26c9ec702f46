"""Wrong results of a renderer are found in ids and in color apart, and honest ones pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

import diorama
from diorama.render.annotations.annotate import object_layers
from diorama.render.compiler import compile_episode
from diorama.render.episode import plausibility
from diorama.render.episode.canary import check_canary
from diorama.render.episode.make_record import make_record
from diorama.render.episode.plausibility import CYCLES, FAKE, check_image, image_problems
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import ImplausibleError
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.source import SpecSource
from tests.factories import make_job
from tools.claims.plausibility import faults

EXAMPLES = Path(__file__).parents[3] / "scene_specs" / "examples"
CUBE = {"objects": [{"shape": "cube", "material": "rubber"}]}


def scene_of(frame: Mapping[str, object], stage: str = "clevr") -> Scene:
    spec = {"version": 1, "id": "demo/a", "seed": 3, "stage": stage, "frames": [frame]}
    return compile_episode(EpisodeSpec.model_validate(spec), settings_for("draft", 64, 48))


def problem_of(scene: Scene, renderer: str = FAKE, **changes: object) -> str:
    """What is wrong with a render of the first image of a Scene, with other arrays; "" if nothing is."""
    frame, view = scene.frames[0], scene.frames[0].views[0]
    passes = dataclasses.replace(FakeRenderer().render(scene, frame, view), **changes)  # type: ignore[arg-type]
    try:
        check_image(scene, frame, view, passes, object_layers(scene, frame, view, 64, 48), renderer)
    except ImplausibleError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    settings = settings_for("draft", 96, 72)
    return [compile_episode(item.episode, settings) for item in SpecSource(sorted(EXAMPLES.glob("*.json")))]


def test_every_fault_in_every_example_is_found_in_ids_and_color_apart(scenes: list[Scene]) -> None:
    """With colors as FakeRenderer's, which are flat; `python -m tools plausibility` uses Cycles."""
    rng, made = np.random.default_rng(1), 0
    for scene in scenes:
        for frame in scene.frames:
            view = frame.views[0]
            passes = FakeRenderer().render(scene, frame, view)
            layers = object_layers(scene, frame, view, 96, 72)
            check_image(scene, frame, view, passes, layers, FAKE)
            for name, color, ids in faults(passes.color, passes.ids, rng):
                changed = int(((color != passes.color).any(axis=2) | (ids != passes.ids)).sum())
                if changed < plausibility.MIN_PIXELS:
                    continue
                made += 1
                with pytest.raises(ImplausibleError, match=f"episode {scene.id}: image"):
                    wrong = dataclasses.replace(passes, color=color, ids=ids)
                    # White could be a color of a renderer that does not simulate light.
                    check_image(scene, frame, view, wrong, layers, CYCLES if name == "color 0xff" else FAKE)
    assert made > 150


def test_a_white_or_black_image_of_a_lit_scene_is_found() -> None:
    scene = scene_of(CUBE)
    black, white = np.zeros((48, 64, 3), np.uint8), np.full((48, 64, 3), 255, np.uint8)
    assert "% of the pixels where light falls are black" in problem_of(scene, color=black)
    # A renderer of a plug-in may draw plans or silhouettes, in colors of its own.
    assert problem_of(scene, "fog", color=np.maximum(black, 1)) == problem_of(scene, "fog", color=white) == ""
    assert "all pixels are black" in problem_of(scene, "fog", color=black)
    assert "% of the shaded pixels are [255, 255, 255]" in problem_of(scene, CYCLES, color=white)


def test_an_object_that_is_elsewhere_is_found_by_name() -> None:
    scene = scene_of(CUBE)
    ids = FakeRenderer().render(scene, scene.frames[0], scene.frames[0].views[0]).ids
    found = problem_of(scene, ids=np.roll(ids, 20, axis=1))
    assert "object 'object-0' has" in found and "expected about" in found
    assert "ids from 0 to 7; expected 0 to 1" in problem_of(scene, ids=np.where(ids, np.uint16(7), ids))


@pytest.mark.parametrize("stage", ["flat", "pictures"])
def test_honest_empty_frames_pass_and_false_ones_do_not(stage: str) -> None:
    empty = scene_of({"objects": []}, stage)
    assert problem_of(empty) == ""
    assert "the background has the color [255, 255, 255]; expected [0, 0, 0]" in problem_of(
        empty, color=np.full((48, 64, 3), 255, np.uint8)
    )
    cross = scene_of({"objects": [], "fixation": True}, "pictures")
    assert problem_of(cross) == ""
    assert "the fixation cross has the color [0, 0, 0]" in problem_of(cross, color=np.zeros((48, 64, 3), np.uint8))


def test_black_objects_and_dark_ones_may_be_black() -> None:
    black = scene_of({"objects": [{"shape": "square", "color": [0, 0, 0], "size": 9}], "background": [9, 9, 9]}, "flat")
    assert problem_of(black) == ""


class Black(FakeRenderer):
    """Renders right ids in black."""

    def render(self, *what: object) -> Passes:
        passes = super().render(*what)  # type: ignore[arg-type]
        return dataclasses.replace(passes, color=np.zeros_like(passes.color))


def test_a_record_is_not_made_from_it_but_on_request() -> None:
    spec = {"version": 1, "id": "demo/a", "seed": 3, "frames": [CUBE]}
    episode, job, settings = EpisodeSpec.model_validate(spec), make_job(spec), settings_for("draft", 64, 48)
    with pytest.raises(diorama.GpuError, match="demo/a: image frame-0 was rendered on none without an error, but is"):
        make_record(Black(), episode, job, settings)
    kept = make_record(Black(), episode, job, settings, keep_implausible=True)
    (problem,) = image_problems(kept)
    assert problem.startswith("image frame-0: 100 % of the pixels where light falls are black")
    assert not [*image_problems(make_record(FakeRenderer(), episode, job, settings))]


def test_the_first_image_of_a_gpu_has_known_ids_and_colors() -> None:
    renderer = CyclesRenderer("cpu")
    check_canary(renderer)
    renderer.close()
    with pytest.raises(ImplausibleError, match=r"before its first episode: .* has the mean colors"):
        check_canary(FakeRenderer())
    with pytest.raises(ImplausibleError, match=r"before its first episode: .* are black"):
        check_canary(Black())
