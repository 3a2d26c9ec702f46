"""The fake renderer keeps the contract of `diorama.scene_specs.model.passes`, and misbehaves on demand."""

from __future__ import annotations

import multiprocessing
import signal
import time

import numpy as np
import pytest

from diorama.render.compiler import compile_episode
from diorama.render.geometry.display import display
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import RenderError, UsageError
from diorama.scene_specs.model.passes import Passes, Renderer
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec


def scene_of(passes: list[str] | None = None) -> Scene:
    frame = {"random_objects": {"count": 3}, "passes": passes or []}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "fake/1", "frames": [frame]})
    return compile_episode(spec, settings_for("draft", 96, 72))


def render(renderer: Renderer, scene: Scene) -> Passes:
    return renderer.render(scene, scene.frames[0], scene.frames[0].views[0])


def test_passes_have_their_shapes_and_types() -> None:
    passes = render(FakeRenderer(), scene_of(["coverage"]))
    assert (passes.color.shape, str(passes.color.dtype)) == ((72, 96, 3), "uint8")
    assert (passes.ids.shape, str(passes.ids.dtype)) == ((72, 96), "uint16")
    assert (passes.depth.shape, str(passes.depth.dtype)) == ((72, 96), "float32")
    assert (passes.normal.shape, str(passes.normal.dtype)) == ((72, 96, 3), "float32")
    assert passes.coverage is not None
    assert (passes.coverage.shape, str(passes.coverage.dtype)) == ((3, 72, 96), "float32")
    assert render(FakeRenderer(), scene_of()).coverage is None


def test_every_object_is_painted_in_its_color() -> None:
    scene = scene_of()
    passes = render(FakeRenderer(), scene)
    assert set(np.unique(passes.ids).tolist()) == {0, 1, 2, 3}
    for item in scene.frames[0].objects:
        mask = passes.ids == item.index
        assert (passes.color[mask] == display(np.array(item.color_linear, np.float32))).all()
        assert np.isfinite(passes.depth[mask]).all()
        assert np.allclose(np.linalg.norm(passes.normal[mask], axis=1), 1)
    assert np.isinf(passes.depth[passes.ids == 0]).all()
    assert (passes.normal[passes.ids == 0] == 0).all()


def test_a_model_without_light_has_no_albedo() -> None:
    item = {"shape": "shapenet:chairs/#1", "place": "center", "material": "unlit"}
    frame = {"objects": [item], "passes": ["albedo"]}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "fake/1", "stage": "studio", "frames": [frame]})
    passes = render(FakeRenderer(), compile_episode(spec, settings_for("draft", 32, 32)))
    assert (passes.ids == 1).any() and not passes.extra["albedo"].any()


def test_it_takes_the_time_it_is_told() -> None:
    start = time.perf_counter()
    render(FakeRenderer(seconds=0.2), scene_of())
    assert time.perf_counter() - start >= 0.2


def test_it_fails_where_it_is_told() -> None:
    with pytest.raises(RenderError, match="fake/1"):
        render(FakeRenderer(fail_on=["fake/1"]), scene_of())
    with pytest.raises(UsageError, match=r"found 'fake/1'; allowed: several ids, such as \['fake/1'\]"):
        FakeRenderer(fail_on="fake/1")
    render(FakeRenderer(fail_on=["fake/2"], crash_on=["fake/3"], hang_on=["fake/4"]), scene_of())


def _crash() -> None:
    render(FakeRenderer(crash_on=["fake/1"]), scene_of())


def _hang() -> None:
    render(FakeRenderer(hang_on=["fake/1"]), scene_of())


@pytest.mark.slow
def test_it_crashes_and_hangs_where_it_is_told() -> None:
    context = multiprocessing.get_context("spawn")
    crashing, hanging = context.Process(target=_crash), context.Process(target=_hang)
    crashing.start()
    hanging.start()
    crashing.join(240)
    assert crashing.exitcode == -signal.SIGSEGV
    hanging.join(0.5)
    assert hanging.exitcode is None
    hanging.kill()
    hanging.join(100)
    assert hanging.exitcode == -signal.SIGKILL


def test_it_says_what_it_is() -> None:
    renderer = FakeRenderer()
    assert renderer.info["name"] == "fake"
    renderer.close()
    assert renderer.closed
