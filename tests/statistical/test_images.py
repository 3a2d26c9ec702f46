"""Images of Cycles agree with references made from many seeds: a changed material, light, camera or color fails.

Seeds are fixed. On one machine the images, and so the results, are always the same. Another processor may round
differently, which sends some light paths elsewhere: that is other noise, and the tests allow for noise. See
docs/quality.md for what they notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.language.registry import plugins
from tests.marks import slow
from tests.statistical.scenes import folder_of, images_of_run, names, scenes
from tests.statistical.z_test import Comparison, Floats, Reference, compare


@pytest.fixture(scope="module")
def renderer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CyclesRenderer]:
    """Also keeps the cache of models, which compiling fills, out of the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIORAMA_CACHE", str(tmp_path_factory.mktemp("cache")))
        made = CyclesRenderer("cpu", threads=1)
        yield made
        made.close()


@pytest.mark.parametrize("name", [*names()[::2], *slow(*names()[1::2])])
def test_images_agree_with_the_reference(name: str, renderer: CyclesRenderer, tmp_path: Path) -> None:
    path = folder_of(renderer) / f"{name}.npz"
    assert path.is_file(), f"{path}: no reference; make it: python -m tools render-statistics references {name}"
    reference = Reference.load(path)
    images = images_of_run(renderer, scenes()[name], 0)
    found = compare(images, reference, len(scenes()))
    problems = found.problems()
    if problems:
        save_strip(images.mean(axis=0), reference.mean, found, tmp_path / f"{name}.png")
        pytest.fail(
            "\n".join(
                [
                    f"the image is not that of the reference ({reference.about}):",
                    *problems,
                    f"Image, reference, and significance: {tmp_path / name}.png. If the change is intended: "
                    f"python -m tools render-statistics references {name}",
                ]
            ),
            pytrace=False,
        )


def save_strip(image: Floats, reference: Floats, found: Comparison, path: Path) -> None:
    """Save image, reference and |Z|, white at the limit, four times as large."""
    parts = [image, reference, np.clip(255 * np.abs(found.pixel_z) / found.pixel_limit, 0, 255)]
    strip = np.concatenate(parts, axis=1).astype(np.uint8)
    Image.fromarray(np.kron(strip, np.ones((4, 4, 1), dtype=np.uint8))).save(path)


@pytest.mark.usefixtures("renderer")
def test_every_material_stage_look_and_pointer_is_tested() -> None:
    frames = {name: scene.frames[0] for name, scene in scenes().items()}
    materials = {item.material.name for frame in frames.values() for item in frame.objects}
    assert {name for name, found in plugins("materials").items() if found.own} <= materials
    assert {name for name, found in plugins("stages").items() if found.own} == {s.stage for s in scenes().values()}
    looks = [scene.look for scene in scenes().values() if scene.look is not None]
    assert {name for name, found in plugins("looks").items() if found.own} <= {look.name for look in looks}
    assert {name for name, found in plugins("grounds").items() if found.own} <= {
        look.ground.name for look in looks if look.ground
    }
    assert {name for name, found in plugins("patterns").items() if found.own} <= {
        item.material.pattern.name for frame in frames.values() for item in frame.objects if item.material.pattern
    }
    assert frames["hand"].pointer is not None
    assert frames["model"].objects[0].shape.startswith("shapenet:")


def test_there_is_no_reference_without_a_scene(renderer: CyclesRenderer) -> None:
    assert {path.stem for path in folder_of(renderer).iterdir()} == set(names())
