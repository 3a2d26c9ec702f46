"""`settle`: what drops comes to rest, the same each time; what does not is named; the others stay."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from diorama.render.cli.specs import main
from diorama.render.compiler import compile_episode
from diorama.render.geometry.contact import body_of, floor_of
from diorama.render.uses.rerender.settle import settle, simulate
from diorama.scene_specs.errors import CompileError, UsageError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.scene_specs.strategies import EXAMPLES
from tools.claims.check_contacts import BOUND, Contacts, Measured

DROPPED = next(file for file in EXAMPLES if file.stem == "dropped")
SETTINGS = settings_for("draft", 64, 48)


def spec_of(**item: Any) -> EpisodeSpec:
    objects = [{"shape": "cube", "location": [2, 2]}, {"name": "ball", "shape": "sphere", "drop": True, **item}]
    frame = {"objects": objects, "constraints": [{"min_visible_pixels": 0}, {"in_frame": False}]}
    return EpisodeSpec.model_validate({"version": 1, "id": "drop", "frames": [frame]})


def test_the_example_rests_where_nothing_floats_or_sinks() -> None:
    spec = EpisodeSpec.model_validate_json(DROPPED.read_text())
    done = settle(spec, SETTINGS)
    assert settle(spec, SETTINGS) == done
    assert (done.frames[0].truth or {})["settled"]["objects"] == ["ball", "tilted"]
    assert not any(item.drop for item in done.frames[0].objects)
    before, after = (compile_episode(one, SETTINGS).frames[0].objects for one in (spec, done))
    assert before[0] == after[0] and before[1].location[2] - after[1].location[2] > 0.2
    bowl, ball = body_of(after[0]), body_of(after[1])
    assert floor_of(ball, bowl) is not None, "in the bowl, not on a lid"
    contacts = Contacts({item.name: Measured(item) for item in after})
    assert not contacts.overlaps and not list(contacts.unsupported(set()))
    assert abs(contacts.bodies["tilted"].low - contacts.bodies["base"].high) < BOUND


def test_what_does_not_rest_is_named() -> None:
    with pytest.raises(CompileError, match=r"^episode drop: frame frame-0: ball did not come to rest in 10 s; start"):
        settle(spec_of(location=[0, 0, 900]), SETTINGS)


def test_what_stops_for_a_moment_does_not_rest() -> None:
    item = compile_episode(spec_of(location=[0, 0, 3]), SETTINGS).frames[0].objects[1]
    assert simulate([item], {"ball": (0, 0, 9.81 * 0.05)}, 0.05).restless == ("ball",), "at the top of a throw"


def test_a_constraint_that_does_not_hold_at_rest_is_not_dropped() -> None:
    objects = [
        {"shape": "cube", "size": 0.9, "location": [1, -1]},
        {"shape": "cube", "size": 0.2, "drop": True, "location": [-0.6, 0.6, 2.6]},
    ]
    camera = {"location": [7, -7, 1.2], "look_at": [0, 0, 1]}
    frame = {"objects": objects, "camera": camera, "constraints": [{"min_visible_pixels": 5}]}
    with pytest.raises(UsageError, match=r"^at rest: episode x: frame frame-0: .* min_visible_pixels 5 of object-1"):
        settle(EpisodeSpec.model_validate({"version": 1, "id": "x", "frames": [frame]}), SETTINGS)


def test_what_can_not_fall_is_refused() -> None:
    spec = spec_of(location=[0, 0, 2])
    for wrong, said in (
        (compile_episode(spec, SETTINGS), "found a resolved scene"),
        (spec_of(location=[0, 0, 2], drop=False), 'no object drops; give those that should fall `"drop": true`'),
        (spec.model_copy(update={"stage": "quadrants"}), "stage 'quadrants' has no ground"),
    ):
        with pytest.raises(UsageError, match=said):
            settle(wrong, SETTINGS)


def test_the_command_writes_specs_and_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "settled.jsonl"
    done = CliRunner().invoke(main, ["settle", str(DROPPED), "--out", str(out), "--size", "64x48"])
    assert done.exit_code == 0, done.output
    assert json.loads(out.read_text())["frames"][0]["truth"]["settled"]["seed"] == 4
    (file := tmp_path / "high.json").write_text(spec_of(location=[0, 0, 900]).to_json())
    assert CliRunner().invoke(main, ["settle", str(file)]).exit_code == 1
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert CliRunner().invoke(main, ["settle", str(DROPPED)]).exit_code == 2
