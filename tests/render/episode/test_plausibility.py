"""Wrong results of a renderer are found in ids and in color apart, and honest ones pass."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diorama
from diorama.render.annotations.annotate import object_layers
from diorama.render.compiler import compile_episode
from diorama.render.episode import plausibility
from diorama.render.episode.canary import check_canary
from diorama.render.episode.make_record import make_record
from diorama.render.episode.plausibility import CYCLES, FAKE, check_on_cpu, find_doubt, unusual_images
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import ImplausibleError
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.source import SpecSource
from tests.factories import make_job
from tools.claims.plausibility import faults

EXAMPLES = Path(__file__).parents[3] / "scene_specs" / "examples"
CUBE: dict[str, Any] = {"objects": [{"shape": "cube", "material": "rubber"}]}


def scene_of(frame: Mapping[str, object], stage: str = "clevr") -> Scene:
    spec = {"version": 1, "id": "demo/a", "seed": 3, "stage": stage, "frames": [frame]}
    return compile_episode(EpisodeSpec.model_validate(spec), settings_for("draft", 64, 48))


def problem_of(scene: Scene, renderer: str = FAKE, **changes: object) -> str:
    """What is wrong with a render of the first image of a Scene, with other arrays; "" if nothing is."""
    frame, view = scene.frames[0], scene.frames[0].views[0]
    passes = FakeRenderer(device="GPU").render(scene, frame, view)
    passes = dataclasses.replace(passes, **changes)  # type: ignore[arg-type]
    try:
        doubt = find_doubt(scene, frame, view, passes, object_layers(scene, frame, view, 64, 48), renderer)
    except ImplausibleError as error:
        return str(error)
    return doubt.problem if doubt else ""


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
            passes = FakeRenderer(device="GPU").render(scene, frame, view)
            layers = object_layers(scene, frame, view, 96, 72)
            assert find_doubt(scene, frame, view, passes, layers, FAKE) is None
            for name, color, ids in faults(passes.color, passes.ids, rng):
                changed = int(((color != passes.color).any(axis=2) | (ids != passes.ids)).sum())
                if changed < plausibility.MIN_PIXELS:
                    continue
                made += 1
                wrong = dataclasses.replace(passes, color=color, ids=ids)
                # White could be a color of a renderer that does not simulate light.
                image = (scene, frame, view, wrong, layers, CYCLES if name == "color 0xff" else FAKE)
                if name.startswith("color"):
                    assert find_doubt(*image) is not None
                else:
                    with pytest.raises(ImplausibleError, match=f"episode {scene.id}: image"):
                        find_doubt(*image)
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


def test_a_record_says_what_is_unusual_unless_a_cpu_rendered_it() -> None:
    spec = {"version": 1, "id": "demo/a", "seed": 3, "frames": [CUBE]}
    episode, job, settings = EpisodeSpec.model_validate(spec), make_job(spec), settings_for("draft", 64, 48)
    black = make_record(Black(device="GPU"), episode, job, settings)
    (problem, *looks) = black.provenance.unusual["frame-0"]
    assert problem == "100 % of the pixels where light falls are black"
    assert "" in looks and any(look.startswith("black cube ") for look in looks), "the ground, and the cube"
    assert [*unusual_images(black)] == [f"image frame-0: {problem}; another device rendered the same"]
    kept = make_record(Black(device="GPU"), episode, job, settings, keep_implausible=True)
    assert not kept.provenance.unusual and [*unusual_images(kept)] == [f"image frame-0: {problem}"]
    for renderer in (Black(device="CPU"), FakeRenderer(device="GPU")):
        record = make_record(renderer, episode, job, settings)
        assert not record.provenance.unusual and not [*unusual_images(record)]


@pytest.fixture(scope="module")
def cycles() -> Iterator[CyclesRenderer]:
    renderer = CyclesRenderer("cpu")
    yield renderer
    renderer.close()


class Card:
    """Cycles on the CPU that calls itself a GPU, and may lie. ids, color: what it returns instead."""

    def __init__(self, inner: CyclesRenderer, **lies: Any) -> None:
        self._inner, self._lies = inner, lies
        self.info = {**inner.info, "device": "CUDA Card"}

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        passes = dataclasses.replace(self._inner.render(scene, frame, view), device="CUDA Card")
        lies: dict[str, Any] = {name: lie(passes) if callable(lie) else lie for name, lie in self._lies.items()}
        return dataclasses.replace(passes, **lies)

    def close(self) -> None:
        """Nothing: the renderer is everybody's."""


def card_record(
    cycles: CyclesRenderer, frame: Mapping[str, object], stage: str, roots: tuple[Path, ...] = (), **lies: object
) -> diorama.EpisodeRecord:
    """The record of a card, which may lie."""
    spec = {"version": 1, "id": "demo/a", "seed": 3, "stage": stage, "frames": [frame]}
    job = make_job(spec, renderer="cycles")
    settings = settings_for("draft", *((200, 200) if stage == "tangram" else (64, 48)))
    return make_record(Card(cycles, **lies), EpisodeSpec.model_validate(spec), job, settings, roots)


WHITE = "newmtl white\nKd 1 1 1\n"


def white_box(folder: Path) -> dict[str, object]:
    """A box of 12 triangles whose material is white, as many programs write it."""
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1, 1, 1))
    lines = [f"v {x} {y} {z}" for x, y, z in box.vertices] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in box.faces]
    (folder / "white.mtl").write_text(WHITE)
    (folder / "white.obj").write_text("\n".join(["mtllib white.mtl", "usemtl white", *lines]) + "\n")
    return {"objects": [{"shape": {"mesh": "white.obj"}, "material": "original"}]}


def test_a_white_model_is_what_it_looks_like(cycles: CyclesRenderer, tmp_path: Path) -> None:
    """The first fault of its kind: 18 of 248 real models failed, because most of their pixels are 255."""
    honest = card_record(cycles, white_box(tmp_path), "studio", (tmp_path,))
    (problem, look) = honest.provenance.unusual["frame-0"]
    assert "% of the shaded pixels are [255, 255, 255]" in problem and look.startswith("constant model:white.obj ")
    check_on_cpu(honest, asset_roots=(tmp_path,))
    for color in (np.full((48, 64, 3), 255, np.uint8), np.zeros((48, 64, 3), np.uint8)):
        lie = card_record(cycles, white_box(tmp_path), "studio", (tmp_path,), color=color)
        with pytest.raises(ImplausibleError, match="the CPU renders another one"):
            check_on_cpu(lie, asset_roots=(tmp_path,))


@pytest.mark.parametrize("where", ["camera", "second view"])
def test_the_ground_hides_what_is_behind_it(cycles: CyclesRenderer, where: str) -> None:
    below = {"elevation_deg": -10.0, "yaw_deg": 20.0, "distance": 9.0}
    free = {"constraints": [{"in_frame": False}, {"min_visible_pixels": 0}]}
    frame = {**CUBE, "views": [{"name": "usual"}, {"name": "below", **below}]}
    frame = frame if where == "second view" else {**CUBE, **free, "camera": below}
    record = card_record(cycles, frame, "clevr")
    assert record.images[-1].annotation.objects[0].visible_pixels < 20
    check_on_cpu(record)
    # What is in view from above is not where a GPU says it is.
    with pytest.raises(ImplausibleError, match="of them where it is"):
        card_record(cycles, {**CUBE}, "clevr", ids=lambda passes: np.roll(passes.ids, 20, axis=1))


def test_an_antialiased_drawing_that_fills_its_canvas_is_honest(cycles: CyclesRenderer) -> None:
    """What is behind the pieces is lines of a pixel, which have the colors of both sides."""
    tile = {"shape": {"polygon": [[-33, -33], [33, -33], [33, 33], [-33, 33]]}, "rotation_deg": 0, "color": "coral"}
    places = [(33.3 + 66.6 * x, 33.3 + 66.6 * y) for x in range(3) for y in range(3)]
    frame = {"antialias": True, "objects": [{**tile, "location": list(place)} for place in places]}
    record = card_record(cycles, frame, "tangram")
    assert not record.provenance.unusual
    white = np.full((200, 200, 3), 255, np.uint8)
    (doubt, *_) = card_record(cycles, frame, "tangram", color=white).provenance.unusual["frame-0"]
    assert doubt == "object 'object-0' has the color [255, 255, 255]; expected [255, 127, 80]"


def test_an_image_may_be_dark(cycles: CyclesRenderer) -> None:
    """Lights that are almost out."""
    lights = [{"name": name, "energy": 1e-6} for name in ("key", "fill", "back", "sun")]
    frame = {"objects": [{"shape": "cube", "material": "metal", "location": [0, 0]}], "lights": lights}
    honest = card_record(cycles, frame, "clevr")
    assert "black" in honest.provenance.unusual["frame-0"][0]
    check_on_cpu(honest)


def test_one_steady_card_does_not_get_through_with_another_object(cycles: CyclesRenderer) -> None:
    place = {"constraints": [{"min_visible_pixels": 0}, {"axis_margin": 0}]}
    sphere = {"shape": "sphere", "material": "metal", "size": "large", "location": [2, 2]}
    other = scene_of({"objects": [sphere], **place})
    old = cycles.render(other, other.frames[0], other.frames[0].views[0])
    frame = {"objects": [{**CUBE["objects"][0], "size": "large", "location": [-1, -1]}], **place}
    with pytest.raises(ImplausibleError, match="object 'object-0' has"):
        card_record(cycles, frame, "clevr", color=old.color, ids=old.ids)


def test_the_first_image_of_a_gpu_has_known_ids_and_colors(cycles: CyclesRenderer) -> None:
    check_canary(cycles)
    with pytest.raises(ImplausibleError, match=r"before its first episode: .* has the mean colors"):
        check_canary(FakeRenderer())
    with pytest.raises(ImplausibleError, match=r"before its first episode: .* mean colors \[\[0, 0, 0\]"):
        check_canary(Black())
