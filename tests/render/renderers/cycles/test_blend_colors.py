"""Colors of .blend materials: what is stored is what shows, or null."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from diorama.render.api import compile_spec, render_scene
from diorama.render.cli.specs import main
from diorama.render.compiler import assets
from diorama.render.compiler.render_key import render_key_of
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.render.uses.rerender.pin_layout import pin_layout
from diorama.scene_specs.errors import AssetError, SpecError
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.reading.source import parse_episode
from tests.blend_groups import VERDICTS, write_groups

HIDDEN = [name for name, verdict in VERDICTS.items() if verdict == "hidden"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("groups")
    write_groups(folder / "groups.blend")
    (folder / "sheet.obj").write_text("v -1 0 1\nv 1 0 1\nv 1 0 -1\nv -1 0 -1\nf 1 2 3 4\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIORAMA_CACHE", str(folder / "cache"))
        yield folder


@pytest.fixture(scope="module")
def renderer(root: Path) -> Iterator[CyclesRenderer]:
    built = CyclesRenderer("cpu", 1, [root])
    yield built
    built.close()


def spec_of(group: str, *more: Any, **item: Any) -> dict[str, Any]:
    material = {"blend": "groups.blend", "group": group}
    return {
        "version": 1,
        "id": "a/1",
        "frames": [{"objects": [{"shape": "cube", "material": material, **item}, *more]}],
    }


def scene_of(root: Path, spec: dict[str, Any]) -> Scene:
    return compile_spec(spec, "draft", (64, 48), root)


@pytest.mark.parametrize("group", VERDICTS)
def test_whether_a_color_is_linked_stands_in_the_scene(group: str, root: Path) -> None:
    item = scene_of(root, spec_of(group)).frames[0].objects[0]
    linked = VERDICTS[group] != "null"
    assert item.material.takes_color is linked
    assert (item.color is not None) is linked
    if not linked:
        assert item.color_linear == (0.8, 0.8, 0.8)
        with pytest.raises(SpecError, match=r"objects\[0\].color: .*no input Color.*leave out the color"):
            scene_of(root, spec_of(group, color="red"))


@pytest.mark.parametrize("group", HIDDEN)
def test_a_color_that_does_not_show_fails_by_name(group: str, root: Path, renderer: CyclesRenderer) -> None:
    scene = scene_of(root, spec_of(group, color="red"))
    with pytest.raises(AssetError, match=f"a/1: frame frame-0: object 'object-0': group {group!r}.*\"color\": null"):
        render_scene(scene, renderer=renderer, asset_roots=root)
    named = scene_of(root, spec_of(group, color=None))
    assert named.frames[0].objects[0].color is None
    assert render_scene(named, renderer=renderer, asset_roots=root)[0].truth.objects[0].color is None


def test_backs_of_faces_count_where_they_are_seen(root: Path, renderer: CyclesRenderer) -> None:
    cube, sheet = ({"shape": shape, "color": "red"} for shape in ("cube", {"mesh": "sheet.obj"}))
    render_scene(scene_of(root, spec_of("Lined", **cube)), renderer=renderer, asset_roots=root)
    spec = spec_of("Lined", **sheet) | {"stage": "studio"}
    with pytest.raises(AssetError, match="does not show it on backs of faces"):
        render_scene(scene_of(root, spec), renderer=renderer, asset_roots=root)


def test_measuring_changes_no_byte(root: Path, renderer: CyclesRenderer) -> None:
    """A Scene of 0.1 has no such fact: it is rendered as before, with its color."""
    scene = scene_of(root, spec_of("Mottled", {"shape": "sphere", "material": "rubber"}, color="red"))
    frame = scene.frames[0]
    old = frame.objects[0].model_copy(
        update={"material": frame.objects[0].material.model_copy(update={"takes_color": None})}
    )
    assert "takes_color" not in old.material.model_dump()
    before = scene.model_copy(update={"frames": (frame.model_copy(update={"objects": (old, *frame.objects[1:])}),)})
    images = [render_scene(one, renderer=renderer, asset_roots=root)[0].passes.color for one in (before, scene, before)]
    assert np.array_equal(images[0], images[1]) and np.array_equal(images[0], images[2])
    hidden = scene_of(root, spec_of("Tint", color="red"))
    item = hidden.frames[0].objects[0]
    item = item.model_copy(update={"material": item.material.model_copy(update={"takes_color": None})})
    hidden = hidden.model_copy(update={"frames": (hidden.frames[0].model_copy(update={"objects": (item,)}),)})
    assert render_scene(hidden, renderer=renderer, asset_roots=root)[0].truth.objects[0].color == "red"


def test_null_is_part_of_the_identity_and_stays_in_specs(root: Path) -> None:
    keys = []
    for spec in (spec_of("Tint"), spec_of("Tint", color=None), spec_of("Tint", color="red")):
        episode = parse_episode(json.dumps(spec))
        scene = compile_spec(episode, "draft", (64, 48), root)
        keys.append(render_key_of(episode, scene.settings, "fake", [root]).hash())
        pinned = pin_layout(episode, scene, [root])
        again = compile_spec(pinned.model_dump(mode="json", exclude_none=True), "draft", (64, 48), root)
        assert again.frames[0].objects[0].color == scene.frames[0].objects[0].color
    assert len({*keys}) == 3
    plain = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube", "color": None, "material": "metal"}]}]}
    assert "color" not in parse_episode(json.dumps(plain)).model_dump(exclude_none=True)["frames"][0]["objects"][0]


def test_distinct_does_not_count_colors_that_nobody_sees(root: Path) -> None:
    twin = spec_of("Unlinked")["frames"][0]["objects"][0] | {"size": "large"}
    frame = {"objects": [twin, twin], "random_objects": {"count": 1, "distinct": True}}
    with pytest.raises(Exception, match="distinct"):
        scene_of(root, {"version": 1, "id": "a/1", "frames": [frame]})
    for distinct in (False, True):
        frame = {"objects": [twin], "random_objects": {"count": 2, "colors": ["red"], "distinct": distinct}}
        objects = scene_of(root, {"version": 1, "id": "a/1", "frames": [frame]}).frames[0].objects
        assert [item.color for item in objects] == [None, "red", "red"]


def test_one_process_reads_a_file_once(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIORAMA_CACHE", str(tmp_path))
    calls, run = [], subprocess.run

    def counted(*args: Any, **named: Any) -> Any:
        calls.append(args)
        return run(*args, **named)

    monkeypatch.setattr(subprocess, "run", counted)
    for _ in range(2):
        assets._groups_of.cache_clear()
        scene_of(root, spec_of("Plain"))
    assert len(calls) == 1
    (root / "broken.blend").write_bytes(b"BLENDER-v405 and no more")
    spec = spec_of("Plain", material={"blend": "broken.blend", "group": "Plain"})
    with pytest.raises(AssetError, match=r"broken.blend"):
        scene_of(root, spec)


def test_check_says_it_before_anything_is_rendered(root: Path, tmp_path: Path) -> None:
    def checked(spec: dict[str, Any], *options: str) -> tuple[int, str]:
        (tmp_path / "a.json").write_text(json.dumps(spec))
        result = CliRunner().invoke(main, ["check", *options, str(tmp_path / "a.json"), "--asset-root", str(root)])
        return result.exit_code, f"{result.output} {result.exception}"

    code, text = checked(spec_of("Unlinked", color="red"))
    assert code and "no input Color" in text and "objects[0].color" in text
    code, text = checked(spec_of("Missing"))
    assert code and "no node group 'Missing'" in text
    assert checked(spec_of("Tint", color="red"))[0] == 0
    code, text = checked(spec_of("Tint", color="red"), "--measure")
    assert code and '"color": null' in text
    assert checked(spec_of("Plain", color="red"), "--measure")[0] == 0
