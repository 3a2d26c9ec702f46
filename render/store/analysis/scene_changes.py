"""Differences of two Scenes in words."""

from __future__ import annotations

from itertools import chain
from typing import Any

from diorama.render.annotations.compare import diff_lines, first_lines
from diorama.scene_specs.language.json_diff import MISSING
from diorama.scene_specs.model.scene import Scene, SceneFrame


def scene_changes(old: Scene, new: Scene) -> tuple[str, ...]:
    """Differences of two Scenes except settings and assets, one line each, at most 20.

    Frames, objects and lights are paired by name.
    """
    before = {frame.name: _by_name(frame) for frame in old.frames}
    was, now = (scene.model_dump(mode="json", exclude={"frames", "settings", "assets"}) for scene in (old, new))
    walks = [diff_lines(was, now)]
    walks += [
        diff_lines(before.pop(frame.name, MISSING), _by_name(frame), f"frames[{number}]")
        for number, frame in enumerate(new.frames)
    ]
    # A removed frame by its name, because another frame may have its number now.
    walks += [diff_lines(frame, MISSING, f"frames[{name}]") for name, frame in before.items()]
    return first_lines(chain(*walks), "and {} more places")


def _by_name(frame: SceneFrame) -> dict[str, Any]:
    """Return a frame's JSON data with objects and lights by name, so that a removed one leaves the others' paths."""
    data = frame.model_dump(mode="json")
    return {**data, **{key: {item["name"]: item for item in data[key]} for key in ("objects", "lights")}}
