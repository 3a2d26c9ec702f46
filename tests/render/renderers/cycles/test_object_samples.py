"""Frames whose objects get samples of their own: the same truth, no seams, no bias, and the denoiser of Cycles."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import pytest
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.render.geometry.sampling_plan import Box, Layers, Part, is_costly, rectangles, whole_frame
from diorama.render.renderers.cycles import cycles_renderer, denoiser, render_settings
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.cycles.exr_passes import Exr
from diorama.render.renderers.cycles.render_settings import apply_part
from diorama.scene_specs.errors import DeviceError
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.marks import slow
from tests.render.renderers.cycles.test_cycles_renderer import TRIO, one, scene_of


class Watched(CyclesRenderer):
    """Keeps the passes of the last image."""

    exr: Exr

    def _final_color(self, exr: Exr, scene: Scene, frame: Any) -> NDArray[np.uint8]:  # type: ignore[override]
        self.exr = exr
        return CyclesRenderer._final_color(exr, scene, frame)


@pytest.fixture(scope="module")
def renderer() -> Watched:
    return Watched("cpu", threads=1)


def sampled(scene: Scene, **settings: Any) -> Scene:
    return scene.model_copy(update={"settings": scene.settings.model_copy(update=settings)})


def seeded(renderer: CyclesRenderer, scene: Scene, seed: int) -> Passes:
    frame = scene.frames[0].model_copy(update={"seed": seed})
    return renderer.render(scene, frame, frame.views[0])


def test_truth_is_that_of_one_render(renderer: Watched) -> None:
    scene = scene_of(TRIO)
    plain, refined = one(renderer, scene), one(renderer, sampled(scene, object_samples=8))
    assert np.array_equal(plain.ids, refined.ids) and np.array_equal(plain.depth, refined.depth)
    assert not np.array_equal(plain.color, refined.color)
    # What comes after is not cut to the last rectangle.
    assert np.array_equal(one(renderer, scene).color, plain.color)


@pytest.mark.slow
def test_passes_that_are_means_over_samples_are_merged(renderer: Watched) -> None:
    scene = scene_of(TRIO, passes=["coverage", "albedo"])
    few, refined, many = (
        one(renderer, sampled(scene, samples=samples, object_samples=more, denoise=False))
        for samples, more in ((2, 0), (2, 30), (256, 0))
    )
    for name in ("coverage", "albedo", "normal"):
        truth = cast(Any, many.get(name))
        errors = [float(np.sqrt(np.mean((cast(Any, passes.get(name)) - truth) ** 2))) for passes in (refined, few)]
        assert 0 < errors[0] < 0.7 * errors[1], name
    assert np.array_equal(few.depth, refined.depth)


def test_threads_and_earlier_images_change_no_pixel(renderer: Watched) -> None:
    scene = sampled(scene_of(TRIO), object_samples=8)
    first = one(renderer, scene).color
    seeded(renderer, scene, 5)
    assert np.array_equal(one(renderer, scene).color, first)
    assert np.array_equal(one(CyclesRenderer("cpu", threads=2), scene).color, first)


def test_a_rectangle_shows_exactly_its_part_of_the_frame(renderer: Watched) -> None:
    scene = scene_of(TRIO, width=67, height=49)
    whole = one(renderer, scene).ids
    for part in rectangles(sampled(scene, object_samples=4096).settings, Part(4, 1), whole):
        assert part.box is not None
        apply_part(renderer._scene, part._replace(samples=1))
        path = renderer._render_to_file()
        assert np.array_equal(Exr(path).ids(), whole[part.box.slices])
        path.unlink()


def test_a_plain_background_stays_plain(renderer: Watched) -> None:
    spec = {
        "version": 1,
        "id": "a",
        "stage": "studio",
        "frames": [{"objects": [{"shape": "cube", "material": "metal"}]}],
    }
    plain = compile_episode(EpisodeSpec.model_validate(spec), settings_for("draft", 64, 64))
    passes = one(renderer, sampled(plain, object_samples=8))
    shown = passes.ids > 0
    # Samples reach into neighboring pixels.
    near = np.any([np.roll(shown, (y, x), (0, 1)) for y in (-2, 0, 2) for x in (-2, 0, 2)], axis=0)
    assert 0.2 < near.mean() < 0.9
    assert (passes.color[~near] == plain.frames[0].background).all()


def test_our_call_of_the_denoiser_is_that_of_cycles(renderer: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    apply = render_settings.apply_settings

    def storing(scene: Any, *arguments: Any) -> None:
        apply(scene, *arguments)
        scene.view_layers[0].cycles.denoising_store_passes = True

    monkeypatch.setattr(cycles_renderer, "apply_settings", storing)
    for quality in ("FAST", "HIGH"):
        one(renderer, sampled(scene_of(TRIO), denoising_quality=quality))
        theirs = renderer.exr.stack("Combined", "RGB")
        layers = renderer.exr.sampled()
        assert np.allclose(denoiser._denoise_layers(layers, quality, 1, "CPU"), theirs, rtol=1e-4, atol=1e-5)
        # Not so for an image that is upside down, nor for the one before the denoiser.
        assert not np.allclose(layers["color"], theirs, rtol=0.01)
        flipped = {name: layer[::-1] for name, layer in layers.items()}
        assert not np.allclose(denoiser._denoise_layers(flipped, quality, 1, "CPU")[::-1], theirs, rtol=1e-4, atol=1e-5)


def test_mirror_images_are_denoised_where_samples_cost_far_more(renderer: Watched) -> None:
    one(renderer, sampled(scene_of(TRIO), object_samples=8))
    layers, ids = renderer.exr.sampled(), renderer.exr.ids()
    once, four = (denoiser.denoise(layers, ids, "FAST", 1, mirrored, "CPU") for mirrored in (False, True))
    turned = {name: layer[::-1, ::-1] for name, layer in layers.items()}
    again = denoiser.denoise(turned, ids[::-1, ::-1], "FAST", 1, True, "CPU")[::-1, ::-1]
    assert np.allclose(again, four, atol=2e-3) and not np.allclose(once, four, atol=2e-3)
    assert [is_costly(Part(samples, 1)) for samples in (4, 8, 31, 32)] == [False, False, False, True]


def test_the_tint_of_the_ground_is_taken_back_and_objects_are_left() -> None:
    ids = np.zeros((96, 128), np.uint16)
    ids[40:60, 50:90] = 1
    noise = np.random.Generator(np.random.Philox(1)).standard_normal((96, 128, 3)) * 0.05
    denoised = np.full((96, 128, 3), 0.5, np.float32)
    restored = denoiser._restore_ground(denoised, (0.51 + noise).astype(np.float32), ids)
    assert np.array_equal(restored[ids > 0], denoised[ids > 0])
    assert np.abs(restored[ids == 0] - 0.51).mean() < 0.004
    assert np.abs(np.diff(restored[:38], axis=0)).max() < 0.001


@pytest.mark.parametrize("value", [100, math.inf, math.nan])
def test_a_single_bright_pixel_does_not_lighten_the_ground(value: float) -> None:
    denoised = np.full((96, 128, 3), 0.5, np.float32)
    noisy = denoised.copy()
    noisy[48, 64] = value
    restored = denoiser._restore_ground(denoised, noisy, np.zeros((96, 128), np.uint16))
    assert np.abs(restored - denoised).max() < 0.005


@pytest.mark.slow
def test_the_mean_over_seeds_is_that_of_one_render(renderer: Watched) -> None:
    def means(scene: Scene) -> NDArray[np.float64]:
        found = []
        for seed in range(24):
            ids = seeded(renderer, scene, seed).ids
            linear = renderer.exr.stack("Combined", "RGB").clip(0, 4)
            found.append([linear[ids == index].mean(axis=0) for index in range(4)])
        return np.array(found, np.float64)

    scene = sampled(scene_of(TRIO, width=48, height=36), denoise=False)
    plain, refined = means(scene), means(sampled(scene, object_samples=12))
    error = np.sqrt((plain.var(axis=0) + refined.var(axis=0)) / 23)
    assert (np.abs(plain.mean(axis=0) - refined.mean(axis=0)) < 4 * error + 1e-4).all()
    # The objects' noise is smaller: the samples were used.
    assert (refined.std(axis=0)[1:] < plain.std(axis=0)[1:]).mean() > 0.8


def steps(error: NDArray[np.float64], box: Box, away: int) -> list[float]:
    """Steps of an error, (H, W), across the edges of a box, or across lines so many pixels outside of them."""
    found = []
    for plane, (low, high, first, last) in ((error, box), (error.T, (*box[2:], *box[:2]))):
        for line in (low - away, high + away):
            if 2 <= line <= len(plane) - 2:
                near = plane[line - 2 : line + 2, first:last].mean(axis=1)
                found.append(float(near[2:].mean() - near[:2].mean()))
    return found


def errors_of(renderer: Watched, count: int) -> list[tuple[NDArray[np.float64], list[Part]]]:
    """Differences to an image without rectangles, (H, W) of 255, and the rectangles, of random scenes."""
    found = []
    for number in range(count):
        frame = {"random_objects": {"count": [2, 5]}}
        spec = EpisodeSpec.model_validate({"version": 1, "id": f"seams/{number}", "frames": [frame]})
        scene = sampled(compile_episode(spec, settings_for("draft", 128, 96)), samples=16, denoising_quality="HIGH")
        refined = sampled(scene, samples=8, object_samples=16, opaque_samples=4)
        plain, passes = seeded(renderer, scene, 1).color, seeded(renderer, refined, 2)
        error = passes.color.astype(np.float64) - plain
        whole = whole_frame(refined.settings, scene.frames[0], scene.frames[0].views[0])
        found.append((error.mean(axis=2), rectangles(refined.settings, whole, passes.ids)))
    return found


def seam(errors: list[tuple[NDArray[np.float64], list[Part]]], tint: float = 0.0) -> float:
    """How much larger steps are at the edges of rectangles than 3 pixels inside and outside. tint: added inside."""
    squares: dict[int, list[float]] = {-3: [], 0: [], 3: []}
    for error, parts in errors:
        for part in parts:
            assert part.box is not None
            tinted = error.copy()
            tinted[part.box.slices] += tint
            for away, found in squares.items():
                found += np.square(steps(tinted, part.box, away)).tolist()
    return float(np.sqrt(np.mean(squares[0]) / np.mean(squares[-3] + squares[3])))


# Few scenes have few edges: the limit allows for their noise, and yet half a level of 255 would be noticed.
@pytest.mark.slow
@pytest.mark.parametrize(("count", "most"), [(5, 2.0), *slow((60, 1.15))])
def test_rectangles_have_no_seams(count: int, most: float, renderer: Watched) -> None:
    errors = errors_of(renderer, count)
    assert seam(errors) < most < seam(errors, tint=0.5)


def test_a_missing_or_unusable_denoiser_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    layers: Layers = {name: np.zeros((4, 4, 3), np.float32) for name in ("color", "albedo", "normal")}
    monkeypatch.setattr(bpy.utils, "resource_path", lambda _kind: str(tmp_path / "4.5"))
    for cached in (denoiser._load_library, denoiser._open_device):
        monkeypatch.setattr(denoiser, cached.__name__, cached.__wrapped__)
    with pytest.raises(DeviceError, match="no OpenImageDenoise, which profiles with `object_samples` need"):
        denoiser.denoise(layers, np.zeros((4, 4), np.uint16), "HIGH", 1, False, "CPU")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libOpenImageDenoise.so.2").write_text("no library")
    with pytest.raises(DeviceError, match="unusable OpenImageDenoise"):
        denoiser.denoise(layers, np.zeros((4, 4), np.uint16), "HIGH", 1, False, "CPU")
