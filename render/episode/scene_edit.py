"""A compiled Scene changed in one place; nothing is compiled again and nothing checked but form.

An object's look may be said in the words of a spec (`color=blue`, `size=large`, `material=metal`): what the Scene has
beside them (linear color, scale, height) follows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from render.compiler.attributes import rounded3
from render.episode.json_edit import Step, changed
from render.model.errors import SpecError, UsageError
from render.model.scene import Scene
from scene_specs.language.diagnostics import did_you_mean
from scene_specs.language.stage import Stage, load_stage
from scene_specs.language.vocabulary import linear_of_srgb
from scene_specs.reading.source import parse_episode

Assignment = tuple[Sequence[Step], Any]


def change_scene(scene: Scene, changes: Sequence[Assignment], option: str = "--set-scene") -> Scene:
    """The Scene with places changed, in their order. Raises UsageError, SpecError."""
    document = scene.model_dump(mode="json")
    for path, value in changes:
        edited, place = changed(document, path, value, option)
        if _is_of_object(place):
            before = document["frames"][place[1]]["objects"][place[3]]
            item = edited["frames"][place[1]]["objects"][place[3]]
            # What an earlier change left there may be anything; what has not the form of an object is said below.
            if isinstance(before, dict) and isinstance(item, dict):
                _follow(item, before, str(place[4]), load_stage(scene.stage), option)
        _renumber(edited)
        document = edited
    found = parse_after(document, option)
    if not isinstance(found, Scene):
        raise UsageError(f"{option}: what comes out is no Scene any more; leave scene_version as it is")
    return found


def parse_after(document: Any, option: str) -> Any:
    """Parse an edited document as an EpisodeSpec or Scene. Raises SpecError; its diagnostics name the option."""
    try:
        return parse_episode(json.dumps(document))
    except SpecError as error:
        diagnostics = [replace(diagnostic, file=f"after {option}", line=0) for diagnostic in error.diagnostics]
        raise SpecError(diagnostics) from error


def _renumber(document: dict[str, Any]) -> None:
    """Instance ids count from 1 in the order of the objects, also after one was taken out or put in."""
    for frame in _dicts(document.get("frames")):
        pointer = frame.get("pointer")
        old = pointer.get("index") if isinstance(pointer, dict) else None
        for number, item in enumerate(_dicts(frame.get("objects")), start=1):
            if isinstance(pointer, dict) and item.get("index") == old:
                frame["pointer"] = {**pointer, "index": number}
            item["index"] = number


def _dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; form is checked later, and said better."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_of_object(place: Sequence[Step]) -> bool:
    return len(place) == 5 and (place[0], place[2]) == ("frames", "objects")


def _follow(item: dict[str, Any], before: dict[str, Any], field: str, stage: Stage, option: str) -> None:
    """Bring what belongs to a changed field of an object in line with it; words are the stage's."""
    value, scale, location = item.get(field), before.get("scale"), before.get("location")
    place = location if isinstance(location, list) and len(location) == 3 else None
    if field == "color" and isinstance(value, str):
        item["color_linear"] = rounded3(stage.linear_of(_known(value, stage.color_names(), "color", option)))
    elif field == "color" and isinstance(value, list) and len(value) == 3:
        red, green, blue = (_byte(part, option) for part in value)
        item |= {"color": None, "color_linear": rounded3(linear_of_srgb((red, green, blue)))}
    elif field == "size" and isinstance(value, str):
        sizes = stage.size_names()
        item["scale"] = sizes[_known(value, sizes, "size", option)]
    elif field == "size" and isinstance(value, int | float):
        item |= {"size": None, "scale": value}
    elif field == "material" and isinstance(value, str):
        item["material"] = {"name": value}
    elif field == "location" and isinstance(value, list) and len(value) == 2 and place is not None:
        item["location"] = [*value, place[2]]
    elif field == "rotation_deg" and isinstance(value, int | float):
        item["rotation_deg"] = [0.0, 0.0, value]
    # What stood on the ground stands on it in its new size.
    if field == "size" and place is not None and scale is not None and place[2] == scale:
        item["location"] = [*place[:2], item["scale"]]


def _known(word: str, known: Any, kind: str, option: str) -> str:
    if word in known:
        return word
    hint = did_you_mean(word, known)
    raise UsageError(
        f"{option}: unknown {kind} {word!r}; there are: {', '.join(known)}" + (f" ({hint})" if hint else "")
    )


def _byte(value: Any, option: str) -> int:
    if isinstance(value, int) and 0 <= value <= 255:
        return value
    raise UsageError(f"{option}: a color is a name or three integers from 0 to 255; found {value!r}")
