"""Tables, plot and references from pictures made here; nothing is rendered."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from diorama.render.annotations.encode import encode_png
from diorama.scene_specs.errors import AssetError, UsageError
from diorama.scene_specs.model.profiles import settings_for
from tools.claims.quality import references, report, results
from tools.claims.quality.measure import divide_seconds, mean_samples
from tools.claims.quality.metrics import errors
from tools.claims.quality.references import TestScene, scenes, write_png16
from tools.claims.quality.report import Point, front, svg

SIZE = (32, 24)


def picture(seed: int, noise: float) -> NDArray[np.uint16]:
    """A ramp, and noise of a size that `seed` draws."""
    ramp = np.linspace(8000, 50000, 24 * 32 * 3).reshape(24, 32, 3)
    drawn = np.random.Generator(np.random.Philox(seed)).normal(0, 65535 * noise, ramp.shape)
    return np.clip(ramp + drawn, 0, 65535).astype(np.uint16)


def lay_reference(folder: Path, scene: TestScene, digest: str | None = None, **settings: object) -> None:
    facts: dict[str, object] = {
        "scene": digest or scene.digest(),
        "size": list(SIZE),
        "samples": 4096,
        "own_psnr": 60.0,
    }
    facts["settings"] = {"denoise": False, "bounces": [12, 4, 4, 12], **settings}
    write_png16(folder / f"{scene.name}.png", picture(0, 0.0))
    (folder / f"{scene.name}.json").write_text(json.dumps(facts), "utf-8")


def lay_result(folder: Path, name: str, scene: TestScene, noise: float, seconds: float, truth: str = "t") -> None:
    png = encode_png((picture(1, noise) >> 8).astype(np.uint8))
    steps = {"sampling": seconds, "denoising": 0.5, "render": 0.25}
    results.keep(folder, name, scene.name, "key", results.Measured(steps, 2 * seconds, png, truth))


@pytest.fixture
def measured(tmp_path: Path) -> tuple[Path, Path]:
    """Two scenes by three candidates, and their references."""
    done, known = tmp_path / "results", tmp_path / "references"
    for scene in scenes(2):
        known.mkdir(exist_ok=True)
        lay_reference(known, scene)
        lay_result(done, "standard", scene, 0.01, 1.0)
        lay_result(done, "try", scene, 0.005, 2.0)
        lay_result(done, "clevr-512", scene, 0.002, 20.0)
    return done, known


def test_the_summary_has_each_candidate_with_its_figures(measured: tuple[Path, Path]) -> None:
    made = report.rows(*measured, scenes(2))
    assert [row.name for row in made] == ["standard", "try", "clevr-512"]
    assert [row.seconds() for row in made] == [1.75, 2.75, 20.75]
    assert [row.other for row in made] == pytest.approx([0.25] * 3)
    # Noise of a hundredth is 40 dB, but for rounding to 8 bits.
    assert made[0].median("psnr") == pytest.approx(40, abs=0.5)
    assert made[0].worst("flip") > made[1].worst("flip") > made[2].worst("flip")
    assert made[0].worst("tile") < made[0].worst("psnr")
    lines = report.summary(made).splitlines()
    assert "| 11.9 x | 20.0 x |" in lines[2]
    assert len({line.count("|") for line in lines}) == 1
    assert len(report.by_scene(made, "psnr").splitlines()) == 4


def test_only_scenes_that_all_have_are_compared(measured: tuple[Path, Path]) -> None:
    done, known = measured
    (done / "try" / f"{scenes(1)[0].name}.json").unlink()
    assert all(len(row.results) == 1 for row in report.rows(done, known, scenes(2)))
    assert report.rows(done, known, scenes(2), ["standard", "never-run"]) == []


def test_pictures_of_another_size_are_an_error_that_says_which(measured: tuple[Path, Path]) -> None:
    done, known = measured
    scene = scenes(1)[0]
    small = encode_png(np.zeros((12, 16, 3), np.uint8))
    results.keep(done, "try", scene.name, "key", results.Measured({"sampling": 1.0}, 1.0, small))
    with pytest.raises(UsageError, match=rf"candidate try, scene {scene.name}: .*\(12, 16, 3\).*\(24, 32, 3\)"):
        report.rows(done, known, scenes(2))


def test_another_truth_is_found(measured: tuple[Path, Path]) -> None:
    done, known = measured
    assert report.truths_differ(report.rows(done, known, scenes(2))) == []
    second = scenes(2)[1]
    lay_result(done, "try", second, 0.01, 1.0, truth="other")
    (said,) = report.truths_differ(report.rows(done, known, scenes(2)))
    assert said.startswith(second.name) and "against" in said and "try" in said


def test_a_kept_result_is_taken_only_for_the_same_question(tmp_path: Path) -> None:
    scene = scenes(1)[0]
    assert not results.is_kept(tmp_path, "a", scene.name, "key")
    lay_result(tmp_path, "a", scene, 0.01, 1.0)
    assert results.is_kept(tmp_path, "a", scene.name, "key")
    assert not results.is_kept(tmp_path, "a", scene.name, "other")
    (tmp_path / "a" / f"{scene.name}.png").unlink()
    assert not results.is_kept(tmp_path, "a", scene.name, "key")
    assert results.key_of({"a": 1}) != results.key_of({"a": 2})


@pytest.mark.parametrize("text", ["{", "[]", "{}", "null", "3", '{"seconds": {}, "cpu": 1.0}'])
def test_a_damaged_result_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.json").write_text(text)
    with pytest.raises(AssetError, match=r"x\.json: damaged"):
        results.results_in(tmp_path, "a")


def test_references_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    scene = scenes(1)[0]
    with pytest.raises(AssetError, match="no reference of scene"):
        references.load_reference(tmp_path, scene)
    assert not references.have_reference(tmp_path, scene, 10, SIZE)
    lay_reference(tmp_path, scene)
    assert references.load_reference(tmp_path, scene).picture.shape == (24, 32, 3)
    assert references.have_reference(tmp_path, scene, 4096, SIZE)
    assert not references.have_reference(tmp_path, scene, 8192, SIZE)
    with pytest.raises(UsageError, match=r"\[32, 24\].*\[64, 48\]"):
        references.have_reference(tmp_path, scene, 10, (64, 48))
    lay_reference(tmp_path, scene, "of another version")
    assert not references.have_reference(tmp_path, scene, 10, SIZE)
    with pytest.raises(AssetError, match="made from another version"):
        references.load_reference(tmp_path, scene)
    lay_reference(tmp_path, scene, filter_glossy=0.5)
    assert not references.have_reference(tmp_path, scene, 10, SIZE)
    with pytest.raises(AssetError, match=r"other settings .* filter_glossy 0\.5, now 2\.0"):
        references.load_reference(tmp_path, scene)
    (tmp_path / f"{scene.name}.json").write_text("{}")
    with pytest.raises(AssetError, match=r"damaged: missing scene, size, .*delete it"):
        references.load_reference(tmp_path, scene)


def test_committed_references_are_of_these_scenes_and_settings() -> None:
    known = {scene.name: scene for scene in scenes()}
    there = sorted(references.FOLDER.glob("*.json"))
    assert there
    for path in there:
        assert references.load_reference(references.FOLDER, known[path.stem]).picture.shape == (240, 320, 3)


def test_the_halves_tell_the_error_of_their_mean() -> None:
    rng = np.random.Generator(np.random.Philox(7))
    truth = rng.random((200, 200, 3)) * 0.5 + 0.2
    first, second = ((truth + rng.normal(0, 0.01, truth.shape)).astype(np.float32) for _ in range(2))
    mean, true = (references.display16(each.astype(np.float32)) / 65535 for each in ((first + second) / 2, truth))
    assert references.own_mse([first, second]) == pytest.approx(np.mean((mean - true) ** 2), rel=0.03)


def test_seeds_differ_from_each_other_and_from_the_scenes_own() -> None:
    found = [references.seed_of(scene, half) for scene in scenes() for half in range(2)]
    found += [scene.compiled(settings_for("draft", 32, 24)).frames[0].seed for scene in scenes()]
    assert len(set(found)) == 72
    assert all(0 <= seed < 2**31 for seed in found)


def test_sixteen_bits_of_the_display_curve() -> None:
    shown = references.display16(np.array([-1, 0, 0.001, 0.5, 1, 7], np.float32))
    assert shown.tolist() == [
        0,
        0,
        round(0.01292 * 65535),
        round((1.055 * 0.5 ** (1 / 2.4) - 0.055) * 65535),
        65535,
        65535,
    ]


@given(*[st.floats(0, 10)] * 3, st.integers(1, 512), st.booleans())
def test_the_parts_of_a_render_add_up(whole: float, plain: float, denoised: float, samples: int, denoise: bool) -> None:
    parts = divide_seconds(whole, plain, denoised, samples, denoise)
    assert sum(parts.values()) == pytest.approx(whole)
    assert min(parts.values()) >= -1e-12


def test_the_parts_of_a_render_are_found() -> None:
    # A sample takes 0.1, the denoiser 0.4, everything else 0.05.
    parts = divide_seconds(24 * 0.1 + 0.4 + 0.05, 0.15, 0.55, 24, True)
    assert parts == pytest.approx({"sampling": 2.4, "denoising": 0.4, "render": 0.05})


def test_the_front_is_what_nothing_beats() -> None:
    points = [
        Point("slow", 9, 50),
        Point("fast", 1, 40),
        Point("beaten", 2, 39),
        Point("middle", 3, 45),
        Point("same", 3, 44),
    ]
    assert [point.name for point in front(points)] == ["fast", "middle", "slow"]


def test_the_plot_holds_every_candidate_and_its_text_is_text() -> None:
    points = [Point("a<b>&", 0.2, 41.0), Point("c", 30.0, 52.5)]
    root = ET.fromstring(svg(points))
    names = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a<b>&", "c", "1", "10"} <= set(names)
    dots = list(root.iter("{http://www.w3.org/2000/svg}circle"))
    assert float(dots[0].attrib["cx"]) < float(dots[1].attrib["cx"])
    assert float(dots[0].attrib["cy"]) > float(dots[1].attrib["cy"])
    assert svg([Point("alone", 1.0, 40.0)])
    with pytest.raises(ValueError):
        svg([])


def test_names_without_room_are_left_to_the_tooltip() -> None:
    crowd = [Point(f"candidate-{k}", 1.0 + k / 1000, 40.0 - k / 100) for k in range(9)]
    root = ET.fromstring(svg([*crowd, Point("far", 9.0, 50.0)]))
    names = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert {"candidate-0", "far"} <= set(names) and len({f"candidate-{k}" for k in range(9)} & set(names)) < 9
    assert set(titles) == {point.name for point in crowd} | {"far", "Error over time"}


def test_equal_pictures_do_not_break_the_table(measured: tuple[Path, Path]) -> None:
    made = report.rows(*measured, scenes(2))
    equal = report.Row("equal", made[0].results, tuple(errors(*[np.ones((24, 32, 3))] * 2) for _ in range(2)))
    assert math.isinf(equal.median("psnr"))
    assert "| inf | inf |" in report.summary([equal])


def test_samples_of_rectangles_count_by_their_share_of_the_image() -> None:
    (scene,) = scenes(1)
    settings = settings_for("standard", 320, 240)
    ids = np.zeros((240, 320), np.uint16)
    ids[100:128, 50:78] = 1
    compiled = scene.compiled(settings)
    # 8 samples as there is glass, and 16 in the rectangle, 6 pixels larger on each side.
    assert mean_samples(compiled, settings, ids) == pytest.approx(8 + 16 * 40**2 / (320 * 240))
    assert mean_samples(compiled, settings.with_samples(5), ids) == 5
