"""One run reports errors of every level: no error of form hides what is wrong elsewhere in its episode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diorama.scene_specs.reading.source import SpecSource
from tests.scene_specs.reading.broken_cases import episode

SAME = [{"name": "a", "location": [0, 0]}, {"name": "b", "location": [0, 0]}]
OVERLAP = "frames[0].objects[1].location"
RED = {"objects": [{"color": "redd"}]}
COLOR = "frames[0].objects[0].color"
LEFT = {"relation": "left", "subject": "a", "of": "b"}

CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown key": (episode(seeds=3, frames=[{"objects": SAME}]), ["seeds", OVERLAP]),
    "no version": (episode(version=None, frames=[RED]), ["version", COLOR]),
    "version 1.0": (episode(version=1.0, frames=[RED]), ["version", COLOR]),
    "wrong id": (episode(id="../x", frames=[RED]), ["id", COLOR]),
    "stage a number": (episode(stage=3, frames=[RED]), ["stage", COLOR]),
    "stage misspelled": (episode(stage="clevrr", frames=[{"objects": SAME}]), ["stage", OVERLAP]),
    "canvas": (episode(stage="tangram", canvas=3, frames=[{"objects": [{"location": [900, 0], "color": "redd"}]}]),
               ["canvas", COLOR]),
    "frame a number": (episode(frames=[RED, 3]), [COLOR, "frames[1]"]),
    "objects of one frame": (
        episode(frames=[RED, {"objects": {}, "constraints": [LEFT]}]), [COLOR, "frames[1].objects"]),
    "misspelled name": (episode(frames=[{"objects": [{"nmae": "a", "color": "redd"}], "pointer": {"target": "a"}}]),
                        ["frames[0].objects[0].nmae", COLOR]),
    "name of another kind": (episode(frames=[{"objects": [{"label": "a"}], "pointer": {"target": "b"}}]),
                             ["frames[0].objects[0].label", "frames[0].pointer.target"]),
    "misspelled shape": (episode(frames=[{"objects": [{"shpe": "cube", **SAME[0]}, SAME[1]]}]),
                         ["frames[0].objects[0].shpe", OVERLAP]),
    "unknown shape": (episode(frames=[{"objects": [{"shape": "cubes", **SAME[0]}, SAME[1]]}]),
                      ["frames[0].objects[0].shape", OVERLAP]),
    "unknown size": (episode(frames=[{"objects": [{"size": "big", **SAME[0]}, SAME[1]]}]),
                     ["frames[0].objects[0].size", OVERLAP]),
    "size of another kind": (episode(frames=[{"objects": [{"size": [1], **SAME[0]}, SAME[1]]}]),
                             ["frames[0].objects[0].size", OVERLAP]),
    "size that may be small": (
        episode(frames=[{"objects": [{"size": ["0.1"], **SAME[0]}, {"location": [0.5, 0.5], "size": 0.3}]}]),
        ["frames[0].objects[0].size"]),
    "constraints": (
        episode(frames=[{"objects": [{"name": "a"}], "constraints": [{**LEFT, "object": "b"}, {**LEFT, "of": "q"}]}]),
        ["frames[0].constraints[0].object", "frames[0].constraints[1].of"]),
    "pointer": (episode(frames=[{"pointer": {"object": "a", "color": "redd"}}]),
                ["frames[0].pointer.color", "frames[0].pointer.object", "frames[0].pointer.target"]),
    "area": (episode(frames=[{"area": {"x": [0]}, "objects": [{"location": [9, 9], "color": "redd"}]}]),
             ["frames[0].area.x", "frames[0].area.y", COLOR]),
    "views": (episode(frames=[{"views": [{"nam": "v"}], "lights": [{"name": "fil"}]}]),
              ["frames[0].lights[0].name", "frames[0].views[0].nam", "frames[0].views[0].name"]),
    "camera turned": (
        episode(frames=[{"objects": [{"name": "a", "location": [1, 0]}, {"name": "b", "location": [-1, 0]}],
                         "camera": {"loction": [0, 9, 5]}, "constraints": [LEFT]}]),
        ["frames[0].camera.loction"]),
    "place": (
        episode(stage="quadrants", frames=[{"objects": [{"place": "top_left"}, {"plce": "x"}, {}, {}, {}, {}]}]),
        ["frames[0].objects[1].plce"]),
    "schema": (episode(**{"$schema": 3}, seeds=1, frames=[RED]), ["$schema", COLOR, "seeds"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_all_levels_in_one_run(name: str, tmp_path: Path) -> None:
    spec, paths = CASES[name]
    file = tmp_path / "spec.json"
    file.write_text(json.dumps(spec, indent=1))
    diagnostics, count = SpecSource([file]).check()
    assert sorted(diagnostic.path for diagnostic in diagnostics) == sorted(paths), "\n".join(map(str, diagnostics))
    assert count == 0
    lines = file.read_text().splitlines()
    for diagnostic in diagnostics:
        key = diagnostic.path.rpartition(".")[2].partition("[")[0]
        assert (
            f'"{key}"' in lines[diagnostic.line - 1] or "missing" in diagnostic.problem or key in ("frames", "location")
        )
