"""What every pass promises: a row that says what it holds, and the same values from Cycles and from the rasterizer.

tests/contracts/test_renderers.py has the forms of the arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.render.passes import row_of
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.contracts.members import members
from tests.distributions import installed, write_distribution


@pytest.fixture(scope="module")
def renderer() -> Iterator[CyclesRenderer]:
    made = CyclesRenderer("cpu", threads=1)
    yield made
    made.close()


def inside(ids: NDArray[np.uint16]) -> NDArray[np.bool_]:
    """Pixels that lie in one object with all their neighbors."""
    same = [ids == np.roll(ids, step, axis) for step in (-1, 1) for axis in (0, 1)]
    found: NDArray[np.bool_] = np.all([ids > 0, *same], axis=0)
    return found


def check_row(name: str, renderer: CyclesRenderer) -> None:
    row = row_of(name)
    assert row.unit and row.meaning
    assert (row.read is None) == (row.fake is None), "both renderers have it, or none"
    assert row.read is None or set(row.shape) <= {"H", "W", "N", 1, 2, 3, 4}
    assert row.read is None or row.dtype in ("float16", "float32")


def check_values(name: str, renderer: CyclesRenderer) -> None:
    """Inside objects: the median difference is below 2% of the values' spread."""
    # The rasterizer knows no normals: each points to the camera.
    if row_of(name).read is None or name == "normal":
        return
    objects = [
        {"shape": "cube", "color": "red", "material": "matte", "size": 1.0, "location": [0.5, 0.0]},
        {"shape": "sphere", "color": "cyan", "material": "matte", "size": 0.7, "location": [-1.5, 1.0]},
    ]
    frame = {"objects": objects, "passes": [name], "camera": {"jitter": 0}}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "a", "frames": [frame]})
    scene = compile_episode(spec, settings_for("draft", 96, 72))
    real, fake = (one.render(scene, scene.frames[0], scene.frames[0].views[0]) for one in (renderer, FakeRenderer()))
    chosen = inside(real.ids) & inside(fake.ids)
    assert chosen.sum() > 100
    first, second = values(real, name, chosen), values(fake, name, chosen)
    assert np.isfinite(first).all() and np.isfinite(second).all()
    assert np.median(np.abs(first - second)) <= 0.02 * max(float(np.ptp(first)), 1e-3), name


def values(passes: Passes, name: str, chosen: NDArray[np.bool_]) -> NDArray[np.float32]:
    """The values of a pass at some pixels."""
    array = passes.get(name)
    assert array is not None
    return array[:, chosen] if array.shape[1:] == chosen.shape else array[chosen]


@pytest.mark.parametrize("name", members("passes"))
@pytest.mark.parametrize("check", [check_row, check_values], ids=lambda check: check.__name__)
def test_a_pass_keeps_its_contract(
    name: str, check: Callable[[str, CyclesRenderer], None], renderer: CyclesRenderer
) -> None:
    check(name, renderer)


GOOD = """from diorama.render.passes import PassRow, depth
PASS = PassRow(
    shape=("H", "W"), dtype="float32", unit="Blender unit", meaning="twice the depth",
    read=lambda image, frame: 2 * depth.read(image, frame), fake=lambda view: 2 * view.depth,
)
"""
BROKEN = {
    "unitless": ("Blender unit", "", check_row),
    "one_sided": ("fake=lambda view: 2 * view.depth,", "", check_row),
    "whole": ("float32", "int16", check_row),
    "other": ("2 * view.depth", "2.1 * view.depth", check_values),
    "upside_down": ("2 * view.depth", "2 * view.depth[::-1]", check_values),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_pass_is_caught(name: str, tmp_path: Path, acme_folder: Path, renderer: CyclesRenderer) -> None:
    old, new, check = BROKEN[name]
    files = {f"broken_passes/{name}.py": GOOD.replace(old, new), "broken_passes/right.py": GOOD}
    write_distribution(tmp_path, "broken", {"passes": "* = broken_passes"}, files)
    with installed(tmp_path):
        check("right", renderer)
        with pytest.raises(AssertionError):
            check(name.replace("_", "-"), renderer)
