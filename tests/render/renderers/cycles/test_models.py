"""Models in Cycles: the right picture of every faulty tree, their truth, places, views, and what is kept of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from numpy.typing import NDArray

from diorama.render.api import RenderedImage, compile_spec, render_scene
from diorama.render.renderers.cycles.blend_material import append_blocks
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.renderers.cycles.model_objects import ModelStore
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.shapes.shapenet import load_model
from tests.mesh_files import MTL, glb, write_obj
from tests.scene_specs.shapes.shapenet.trees import CASES, Case, Tree, obj

RIGHT = [case for case in CASES if case.expect in ("right", "grey", "green", "half")]
PLACES = ("top_left", "top_right", "bottom_left", "bottom_right")


@pytest.fixture(scope="module")
def renderer() -> Iterator[CyclesRenderer]:
    made = CyclesRenderer("cpu", 2)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path / "cache"))


def scene_of(frames: list[dict[str, Any]], stage: str, size: tuple[int, int], samples: int = 4, **more: Any) -> Scene:
    text = json.dumps({"version": 1, "id": "models/test", "stage": stage, "frames": frames, **more})
    scene = compile_spec(text, "draft", size)
    return scene.model_copy(update={"settings": settings_for("draft", *size).model_copy(update={"samples": samples})})


def views_of(shape: str, size: int = 48, **item: Any) -> Scene:
    views = [{"name": "front", "yaw_deg": 25, "elevation_deg": 15}, {"name": "back", "yaw_deg": 200}]
    frame = {"objects": [{"shape": shape, "rotation_deg": 0, **item}], "views": views}
    return scene_of([frame], "studio", (size, size), samples=8)


def agree(real: RenderedImage, fake: RenderedImage, most: int = 3) -> None:
    """Masks of Cycles and of the software id buffer differ by a few pixels of the edges at most."""
    assert int((real.passes.ids != fake.passes.ids).sum()) <= most
    both = np.isfinite(real.passes.depth) & np.isfinite(fake.passes.depth)
    assert not both.any() or np.median(np.abs(real.passes.depth[both] - fake.passes.depth[both])) < 1e-3


def mean_color(image: RenderedImage) -> NDArray[np.float64]:
    shown: NDArray[np.float64] = image.passes.color[image.passes.ids == 1].astype(np.float64).mean(axis=0)
    return shown


@pytest.fixture(scope="module")
def sound(renderer: CyclesRenderer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[RenderedImage]]:
    """A library with the model as it should be, and its pictures."""
    tree = Tree(tmp_path_factory.mktemp("reference") / "library", obj()).write()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIORAMA_SHAPENET", str(tree.root))
        patch.setenv("DIORAMA_CACHE", str(tree.root.parent / "cache"))
        return tree.root, render_scene(views_of(tree.shape), renderer=renderer)


@pytest.fixture
def reference(sound: tuple[Path, list[RenderedImage]], monkeypatch: pytest.MonkeyPatch) -> list[RenderedImage]:
    """The right pictures; their library is the one in force."""
    monkeypatch.setenv("DIORAMA_SHAPENET", str(sound[0]))
    return sound[1]


@pytest.mark.alike
@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_the_right_picture(
    case: Case,
    renderer: CyclesRenderer,
    reference: list[RenderedImage],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = tmp_path / "library"
    root.mkdir()
    tree = case.build(root)
    monkeypatch.setenv("DIORAMA_SHAPENET", str(root))
    scene = views_of(tree.shape)
    images = render_scene(scene, renderer=renderer)
    for image, fake, usual in zip(images, render_scene(scene, renderer=FakeRenderer()), reference, strict=True):
        agree(image, fake, 0)
        assert int((image.passes.ids != usual.passes.ids).sum()) <= 2
        red, green, blue = mean_color(image)
        if case.expect == "right":
            difference = np.abs(image.passes.color.astype(int) - usual.passes.color)
            # Without Ks, a material of an .obj file has no highlights, and one of glTF has.
            assert difference.mean() < (6 if "glb" in case.name else 4)
            assert red > 2 * green
        elif case.expect == "grey":
            assert max(red, green, blue) - min(red, green, blue) < 12
        elif case.expect == "green":
            assert green > 1.5 * red


def test_rubber_shows_its_color_on_both_faces(renderer: CyclesRenderer, tmp_path: Path) -> None:
    """On back faces, Cycles divides 1 by the index of a Fresnel node: rubber was gray there, and a mirror at edges."""
    sheet = "v -1 0 1\nv 1 0 1\nv 1 0 -1\nv -1 0 -1\n"
    colors = []
    for name, faces in (("up", "f 1 2 3 4\n"), ("down", "f 4 3 2 1\n")):
        (tmp_path / f"{name}.obj").write_text(sheet + faces)
        for elevation in (60, 20):
            views = [{"name": "a", "yaw_deg": 20, "elevation_deg": elevation}]
            item = {"shape": {"mesh": f"{name}.obj"}, "color": "red", "material": "rubber", "rotation_deg": 0}
            with searching([tmp_path]):
                scene = scene_of([{"objects": [item], "views": views}], "studio", (48, 48))
                colors.append(mean_color(render_scene(scene, renderer=renderer, asset_roots=[tmp_path])[0]))
    for front, back in zip(colors[:2], colors[2:], strict=True):
        assert np.abs(front - back).max() < 4, (front, back)
        assert back[0] > 1.5 * back[1:].max()


def test_shading_follows_the_faces_and_not_the_files_normals(renderer: CyclesRenderer, reference: Any) -> None:
    """A box's sides are flat: along a side the normal is the same up to its edge."""
    normals = reference[0].passes.normal[reference[0].passes.ids == 1]
    kinds = np.unique(np.round(normals, 1) + 0.0, axis=0, return_counts=True)
    assert np.sort(kinds[1])[::-1][:3].sum() > 0.85 * len(normals)


@pytest.mark.parametrize(
    ("item", "check"),
    [
        ({"color": [250, 10, 10]}, lambda r, g, b: r > 1.5 * b),
        ({"material": "rubber", "color": "green"}, lambda r, g, b: g > 1.5 * r),
        ({"material": "painted", "color": [10, 10, 250]}, lambda r, g, b: b > 1.5 * r),
    ],
)
def test_colors_and_materials_can_be_given(
    item: dict[str, Any], check: Any, renderer: CyclesRenderer, reference: Any
) -> None:
    shape = f"shapenet:chairs/{'a' * 32}"
    image = render_scene(views_of(shape, **item), renderer=renderer)[0]
    assert check(*mean_color(image))
    # And what came before leaves no trace.
    again = render_scene(views_of(shape), renderer=renderer)[0]
    assert np.array_equal(again.passes.color, reference[0].passes.color)


def test_a_mixed_scene_on_the_table(renderer: CyclesRenderer) -> None:
    chairs = [{"name": f"c{k}", "shape": f"shapenet:chairs/#{k}", "size": "large"} for k in (1, 4)]
    glass = {"name": "glass", "shape": "cube", "material": "glass"}
    scene = scene_of([{"objects": [*chairs, glass, {"name": "ball", "shape": "sphere"}]}], "clevr", (160, 120))
    (real,), (fake,) = render_scene(scene, renderer=renderer), render_scene(scene, renderer=FakeRenderer())
    agree(real, fake, 8)
    for measured, guessed in zip(real.truth.objects, fake.truth.objects, strict=True):
        assert measured.amodal_bbox == guessed.amodal_bbox
        assert measured.visible_pixels > 0
        assert measured.bbox is not None
    standing = [item for item in scene.frames[0].objects if item.shape.startswith("shapenet:")]
    assert len(standing) == 2
    assert all(name in scene.assets for name in {item.shape for item in standing})


def test_each_of_four_stays_in_its_place(renderer: CyclesRenderer) -> None:
    side = 96
    objects: list[dict[str, Any]] = [
        {"shape": f"shapenet:chairs/#{k + 1}", "place": place, "view": {"yaw_deg": 50 * k, "elevation_deg": 30}}
        for k, place in enumerate(PLACES)
    ]
    frames: list[dict[str, Any]] = [
        {"objects": objects},
        *({"objects": [item], "fixation": True} for item in objects),
        {"fixation": True},
    ]
    scene = scene_of(frames, "quadrants", (side, side))
    images = render_scene(scene, renderer=renderer)
    half = side // 2
    for index, (image, fake) in enumerate(zip(images, render_scene(scene, renderer=FakeRenderer()), strict=True)):
        agree(image, fake, 2)
        for item in image.truth.objects:
            row, column = divmod(index - 1 if index else item.index - 1, 2)
            x, y, width, height = item.bbox or (0, 0, 0, 0)
            assert column * half < x < x + width < (column + 1) * half
            assert row * half < y < y + height < (row + 1) * half
            assert not item.truncated
    for index, image in enumerate(images[1:5]):
        row, column = divmod(index, 2)
        outside = np.ones((side, side), dtype=bool)
        outside[row * half : (row + 1) * half, column * half : (column + 1) * half] = False
        lit = (image.passes.color > 0).any(axis=2) & outside
        cross = (images[5].passes.color > 0).any(axis=2)
        assert not (lit & ~cross).any()
        assert (image.passes.color[half, half] == 255).all()
    arm, width = int(0.05 * side), int(0.02 * side) // 2
    lit_at = np.argwhere((images[5].passes.color > 0).any(axis=2))
    assert set(np.unique(images[5].passes.color)) == {0, 255}
    assert (int(lit_at.min()), int(lit_at.max())) == (half - arm - width, half + arm + width)


def test_an_object_is_seen_from_where_its_view_says(renderer: CyclesRenderer) -> None:
    """Turned before a fixed camera, or with the camera moved about it: the same outline."""
    shape, side = "shapenet:chairs/#6", 64
    view = {"yaw_deg": 70, "elevation_deg": 35}
    turned = {"objects": [{"shape": shape, "view": view}], "camera": {"yaw_deg": 0, "elevation_deg": 0}}
    moved = {"objects": [{"shape": shape, "rotation_deg": 0}], "camera": view}
    scene = scene_of([turned, moved], "studio", (side, side))
    first, second = render_scene(scene, renderer=renderer)
    assert int((first.passes.ids != second.passes.ids).sum()) <= 2
    assert int((first.passes.ids == 1).sum()) > 300


def test_the_same_things_are_the_same_picture(renderer: CyclesRenderer) -> None:
    item = {"shape": "shapenet:chairs/#2", "place": "top_right", "view": {"yaw_deg": 10}}
    frames: list[dict[str, Any]] = [
        {"name": "a", "objects": [item]},
        {"objects": []},
        {"name": "b", "objects": [{"name": "other", **item}]},
    ]
    scene = scene_of(frames, "quadrants", (64, 64))
    first, _, second = render_scene(scene, renderer=renderer)
    assert scene.frames[0].seed == scene.frames[2].seed != scene.frames[1].seed
    assert np.array_equal(first.passes.color, second.passes.color)


def test_another_model_under_the_same_name_is_refused(
    renderer: CyclesRenderer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = Tree(tmp_path / "one", obj()).write()
    monkeypatch.setenv("DIORAMA_SHAPENET", str(tree.root))
    scene = views_of(tree.shape)
    other = Tree(tmp_path / "two", obj(), mtl="newmtl red\nKd 0.1 0.9 0.1\n").write()
    monkeypatch.setenv("DIORAMA_SHAPENET", str(other.root))
    with pytest.raises(AssetError, match="the Scene was made with"):
        render_scene(scene, renderer=renderer)


def test_no_more_models_are_kept_than_the_bound_says() -> None:
    import bpy

    pool: list[Any] = []
    store = ModelStore(pool, kept=2)
    before = [len(kind) for kind in (bpy.data.meshes, bpy.data.materials, bpy.data.images)]
    for number in (1, 2, 3, 4, 1):
        data = store.get(f"shapenet:chairs/#{number}")
        if not pool:
            pool.append(bpy.data.objects.new("~test", data.mesh))
        pool[0].data = data.mesh
        store.trim(1)
    assert len(store) == 2
    store.trim(0)
    assert len(store) == 2
    # Large models go sooner, but never one of those asked for last.
    store._faces = 1
    store.trim(1)
    assert [kept.mesh == data.mesh for kept in store._models.values()] == [True]
    for name in list(store._models):
        store._remove_model(name)
    after = [len(kind) for kind in (bpy.data.meshes, bpy.data.materials, bpy.data.images)]
    # The empty mesh that stands in for what was given up stays.
    assert after == [before[0] + 1, *before[1:]]
    bpy.data.objects.remove(pool[0])


@pytest.mark.parametrize("name", ["mug.glb", "mug.obj", "mug.obj?up=z"])
def test_a_mesh_of_ones_own_agrees_with_the_fake_renderer(tmp_path: Path, name: str) -> None:
    (tmp_path / "mug.glb").write_bytes(glb())
    axes = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]) if name.endswith("z") else np.eye(3)
    write_obj(tmp_path / "mug.obj", axes, MTL)
    own = CyclesRenderer("cpu", 2, [tmp_path])
    with searching([tmp_path]):
        scene = views_of(f"model:{name}", material="original")
        painted = views_of(f"model:{name}", color=[0, 255, 0])
        fakes = render_scene(scene, renderer=FakeRenderer())
    images = [render_scene(each, renderer=own, asset_roots=[tmp_path]) for each in (scene, painted)]
    for real, fake in zip(images[0], fakes, strict=True):
        agree(real, fake, most=6)
    red, green, _ = mean_color(images[0][0])
    assert red > 1.5 * green
    # Red times green; its white handle is green now.
    red, green, _ = mean_color(images[1][0])
    assert green > 1.5 * red


def test_a_mesh_that_changed_since_its_scene_was_made_is_refused(tmp_path: Path) -> None:
    write_obj(tmp_path / "mug.obj", np.eye(3), MTL)
    with searching([tmp_path]):
        scene = views_of("model:mug.obj")
    (tmp_path / "mug.mtl").write_text(MTL + "#\n")
    own = CyclesRenderer("cpu", 2, [tmp_path])
    with pytest.raises(AssetError, match=r"asset model:mug.obj: the Scene was made with"):
        render_scene(scene, renderer=own, asset_roots=[tmp_path])


@pytest.mark.parametrize("fault", ["path", "driver", "script"])
def test_a_blend_that_reads_or_runs_something_is_refused(tmp_path: Path, fault: str) -> None:
    """Whatever has written it: the process that reads models could have been taken over by one."""
    tree = Tree(tmp_path / "library", obj()).write()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIORAMA_SHAPENET", str(tree.root))
        model = load_model(tree.shape)
        mesh = append_blocks(model.blend, "meshes")[0][0]
        nodes = mesh.materials[0].node_tree.nodes
        if fault == "path":
            nodes.new("ShaderNodeTexImage").image = bpy.data.images.new("secret", 4, 4)
            nodes[-1].image.filepath_raw = "/etc/passwd"
        elif fault == "driver":
            nodes["Principled BSDF"].inputs["Roughness"].driver_add("default_value")
        else:
            nodes.new("ShaderNodeScript")
        bpy.data.libraries.write(str(model.blend), {mesh}, fake_user=True)
        with pytest.raises(AssetError, match="which moves, reads a file or is no part of a mesh"):
            ModelStore([]).get(tree.shape)
