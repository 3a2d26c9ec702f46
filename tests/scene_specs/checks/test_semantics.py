"""What must not be called a diagnostic: only what is certain without a search is one."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from diorama.render.compiler import compile_episode
from diorama.scene_specs.checks.semantics import check_spec, diagnostics_with_plugins
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import load_stage
from diorama.scene_specs.reading.source import parse_episode

PLACE = st.floats(-3, 3)
EYE = load_stage("clevr").camera.location


def spec_of(**frame: Any) -> EpisodeSpec:
    return EpisodeSpec.model_validate({"version": 1, "id": "a", "frames": [frame]})


def paths(**frame: Any) -> list[tuple[str | int, ...]]:
    return [issue.path[2:] for issue in diagnostics_with_plugins(spec_of(**frame))]


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"objects": [{"name": "object-1"}, {"name": "x"}]},
        {
            "objects": [
                {"shape": "cube", "size": 1, "location": [0, 0, 1]},
                {"shape": "cube", "size": 0.5, "location": [0, 0, 2.5]},
            ]
        },
        {"objects": [{"location": [3, -3]}]},
        {"objects": [{"location": [5, 5]}], "area": {"x": [4, 6], "y": [4, 6]}},
        {"constraints": [{"min_visible_pixels": 5}, {"min_distance": 0}, {"axis_margin": 0}, {"in_frame": False}]},
        {"random_objects": {"count": [0, 0]}},
        {
            "random_objects": {
                "count": 2,
                "shapes": ["cube"],
                "colors": ["red"],
                "materials": ["metal"],
                "distinct": True,
            }
        },
        {"views": [{"name": "a"}, {"name": "b", "location": [1, 2, 3]}]},
        {"camera": {"look_at": EYE, "yaw_deg": 30, "distance": 2}},
        {"objects": [{"material": {"name": "emission", "strength": 3}}]},
        {"objects": [{"material": {"blend": "a/b.blend", "group": "G"}}]},
        {"lights": [{"name": "sun", "energy": 1, "jitter": 0}]},
    ],
)
def test_right_frames_have_no_issue(frame: dict[str, Any]) -> None:
    assert not paths(**frame)


@given(st.lists(st.tuples(PLACE, PLACE), min_size=2, max_size=8))
def test_relations_read_off_a_layout_are_never_contradictory(places: list[tuple[float, float]]) -> None:
    """Whatever stands somewhere gives relations that can be fulfilled: by standing there."""
    names = [f"o{k}" for k in range(len(places))]
    constraints = []
    for k, (x, y) in enumerate(places):
        for j, (u, v) in enumerate(places):
            constraints += [{"relation": "right", "subject": names[k], "of": names[j]}] if x > u + 0.2 else []
            constraints += [{"relation": "front", "subject": names[k], "of": names[j]}] if y > v + 0.2 else []
    assert not paths(objects=[{"name": name} for name in names], constraints=constraints)


@given(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=6, unique=True), st.sampled_from(["left", "behind"]))
def test_a_circle_is_always_found_once(names: list[str], relation: str) -> None:
    circle = [{"relation": relation, "subject": a, "of": b} for a, b in zip(names, [*names[1:], names[0]], strict=True)]
    found = paths(objects=[{"name": name} for name in "abcdef"], constraints=circle)
    assert found == [("constraints", len(names) - 1)]


@given(st.tuples(PLACE, PLACE), st.tuples(PLACE, PLACE), st.floats(0.1, 1), st.floats(0.1, 1))
def test_overlap_of_two_spheres_is_exact(a: tuple[float, float], b: tuple[float, float], r: float, s: float) -> None:
    gap = math.hypot(math.dist(a, b), r - s) - (r + s)
    assume(abs(gap) > 2e-3)
    spheres = [{"shape": "sphere", "location": place, "size": size} for place, size in ((a, r), (b, s))]
    assert bool(paths(objects=spheres)) == (gap < 0)


@given(st.integers(2, 60), st.floats(0.05, 1))
def test_a_row_too_long_for_the_area(count: int, margin: float) -> None:
    need, room = (count - 1) * margin, math.dist((-3, -3), (3, 3))
    assume(abs(need - room) > 1e-6)
    names = [f"o{k}" for k in range(count)]
    row = [{"relation": "left", "subject": a, "of": b, "margin": margin} for a, b in pairwise(names)]
    assert bool(paths(objects=[{"name": name} for name in names], constraints=[*row, {"axis_margin": 0}])) == (
        need > room
    )


def test_check_spec_raises_all_issues_of_a_spec_made_in_python() -> None:
    with pytest.raises(SpecError) as caught:
        check_spec(spec_of(objects=[{"shape": "cone", "color": "pink"}]))
    assert [diagnostic.path for diagnostic in caught.value.diagnostics] == [
        "frames[0].objects[0].shape",
        "frames[0].objects[0].color",
    ]


@pytest.mark.parametrize("kind", ["hand", "hand-left", "arrow"])
def test_a_scene_with_a_pointer_can_be_given_as_it_was_compiled(kind: str) -> None:
    frame = {"objects": [{"name": "a"}], "pointer": {"target": "a", "kind": kind}}
    spec = EpisodeSpec.model_validate({"version": 1, "id": "pointing", "frames": [frame]})
    scene = compile_episode(spec, settings_for("draft", 320, 240))
    assert parse_episode(scene.to_json()) == scene


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (
            "mugs/red.glb",
            'shape: found "mugs/red.glb"; allowed: a name (bowl, box, closed_cell,HINT(write {"mesh": "mugs/red.glb"})',
        ),
        ("Mug.OBJ", '(write {"mesh": "Mug.OBJ"})'),
        ({"mesh": "../mug.glb"}, "shape: found \"../mug.glb\"; allowed: a path below an asset root, with '/', without"),
        ({"mesh": "/mug.glb"}, "allowed: a path below an asset root"),
        ({"mesh": "a\\\\mug.glb"}, "allowed: a path below an asset root"),
        ({"mesh": "mug.3ds"}, 'shape: found "mug.3ds"; allowed: a file that ends in .glb'),
        ("model:mug.txt", "allowed: a file that ends in .glb"),
        ({"mesh": 3}, "shape.mesh: found 3; allowed: a string"),
        ({"mesh": ""}, 'shape.mesh: found ""; allowed: no empty text'),
        ({"mesh": "mug.glb", "up": "x"}, 'shape.up: found "x"; allowed: "y", "z"'),
        ({"mesh": "mug.glb", "upp": "z"}, "unknown key \"upp\"; allowed: mesh, up, part (did you mean 'up'?)"),
        ({"mesh": "mug.glb", "part": "Mug"}, 'found "mug.glb"; allowed: a file that ends in .blend'),
        ({"plygon": [[0, 0]]}, "unknown key \"plygon\"; allowed: polygon, outline, height (did you mean 'polygon'?)"),
        (["mug.glb"], 'a file of your own, HINT or {"mesh": "mugs/red.glb"} or'),
    ],
)
def test_a_wrong_mesh_is_named_with_what_is_allowed(shape: Any, said: str) -> None:
    spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": shape}]}]}
    with pytest.raises(SpecError) as caught:
        parse_episode(json.dumps(spec))
    (found,) = (str(diagnostic) for diagnostic in caught.value.diagnostics)
    assert all(part in found for part in said.split("HINT")), found


@pytest.mark.parametrize("material", ["original", "painted", "unlit"])
def test_a_mesh_has_the_materials_of_models(material: str) -> None:
    color = {"color": "red"} if material == "painted" else {}
    item = {"shape": {"mesh": "mug.glb"}, "material": material, "normalize": False, **color}
    assert not paths(objects=[item])
    assert paths(objects=[{**item, "shape": "cube"}])


def test_a_name_in_a_frame_without_objects_is_told_so() -> None:
    constraint = {"relation": "left", "subject": "a", "of": "b"}
    found = [str(issue.problem) for issue in diagnostics_with_plugins(spec_of(constraints=[constraint]))]
    assert len(found) == 2 and all("this frame names no object" in problem for problem in found)
    found = [
        str(issue.problem)
        for issue in diagnostics_with_plugins(spec_of(objects=[{"name": "c"}], constraints=[constraint]))
    ]
    assert len(found) == 2 and all("the name of an object of this frame: c" in problem for problem in found)


def test_a_blend_file_of_a_scene_is_checked_at_its_place() -> None:
    spec = EpisodeSpec.model_validate({"version": 1, "id": "blend", "frames": [{"objects": [{"name": "a"}]}]})
    scene = compile_episode(spec, settings_for("draft", 32, 24))
    data = json.loads(scene.to_json())
    data["frames"][0]["objects"][0]["material"] = {"name": "blend", "blend": "../b.txt"}
    with pytest.raises(SpecError) as caught:
        parse_episode(json.dumps(data))
    assert {issue.path for issue in caught.value.diagnostics} == {"frames[0].objects[0].material.blend"}


def test_an_unknown_place_and_two_places_of_a_camera_are_told() -> None:
    (found,) = diagnostics_with_plugins(spec_of(objects=[{"place": "atlantis"}]))
    assert 'found "atlantis"' in found.problem and "none, stage clevr has no places" in found.problem
    (found,) = diagnostics_with_plugins(spec_of(camera={"location": [1, 2, 3], "yaw_deg": 4}))
    assert found.path[-1] == "yaw_deg" and "location, or yaw_deg" in found.problem and found.hint == ""


def test_an_unknown_material_and_antialiasing_are_told_at_their_keys() -> None:
    assert paths(objects=[{"material": {"name": "emision"}}]) == [("objects", 0, "material", "name")]
    assert paths(objects=[{"material": "emision"}]) == [("objects", 0, "material")]
    assert paths(antialias=True) == [("antialias",)]
