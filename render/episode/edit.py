"""Edits of a stored episode: the Scene that --set, --unset, --set-scene, --recompile and --seed produce.

An edit of a spec compiles the spec again. An edit of a Scene changes the Scene alone: nothing is compiled, and only the
form is checked. In a Scene, an object also accepts the words of a spec (`color=blue`, `size=large`, `material=metal`);
the fields that depend on them (linear color, scale, height) follow.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from diorama.render.compiler import compile_episode
from diorama.render.episode.json_edit import REMOVED, Step, changed, hinted, parse_assignment, parse_path
from diorama.render.episode.pin_layout import pin_layout
from diorama.render.episode.request import EpisodeRequest
from diorama.render.geometry.rotation import rounded3
from diorama.render.model.errors import SpecError, UsageError
from diorama.scene_specs.language.scene import Scene
from diorama.scene_specs.language.spec import EpisodeSpec
from diorama.scene_specs.language.stage import Stage, load_stage
from diorama.scene_specs.language.vocabulary import linear_of_srgb
from diorama.scene_specs.reading.source import parse_episode

Assignment = tuple[tuple[Step, ...], Any]


def apply_edits(request: EpisodeRequest, source: EpisodeSpec | Scene, scene: Scene) -> tuple[Scene, EpisodeSpec | None]:
    """Apply the edits of a request.

    Args:
        request: with the edits.
        source: the spec or Scene that the episode was made from.
        scene: the Scene before the edits, with the settings to render with.

    Returns:
        The edited Scene and its spec; the spec is None where no spec describes the Scene.

    Raises:
        UsageError: an edit names what does not exist, or changes the id or the settings.
        SpecError: an edit made the spec or Scene wrong.
        CompileError: no layout is found.
    """
    if request.scene_sets or isinstance(source, Scene):
        if request.seed is not None or request.recompile:
            raise UsageError(
                f"episode {scene.id} was made from a Scene, which leaves nothing open: --seed and --recompile would "
                "change nothing; change a field of the Scene with --set"
            )
        changes = [parse_assignment(text, "--set-scene") for text in (*request.sets, *request.scene_sets)]
        changes += [_removal(text) for text in request.unsets]
        edited = change_scene(scene, changes, "--set-scene" if request.scene_sets else "--set")
        return _check_identity(edited, scene), None
    base = source
    if request.seed is not None:
        base = source.model_copy(update={"seed": request.seed})
    elif not request.recompile:
        base = pin_layout(source, scene, request.asset_roots)
    spec = _change_spec(base, request)
    return _check_identity(compile_episode(spec, scene.settings, request.asset_roots), scene), spec


def _check_identity(edited: Scene, before: Scene) -> Scene:
    """Return the edited Scene. Raises UsageError where an edit changed the id or the settings."""
    if edited.id != before.id:
        raise UsageError(f"--set id: would be another episode, {edited.id!r}; write a spec file and use --from")
    if edited.settings != before.settings:
        raise UsageError(
            "--set-scene settings: the numbers of a profile can't be changed; pass --profile, --size, --samples"
        )
    return edited


def _removal(text: str) -> Assignment:
    path, rest = parse_path(text, "--unset")
    if rest:
        raise UsageError(f"--unset {text}: takes a path only, without {rest!r}")
    return path, REMOVED


def _change_spec(spec: EpisodeSpec, request: EpisodeRequest) -> EpisodeSpec:
    """Return the spec with --set and then --unset applied, in their order. Raises UsageError, SpecError."""
    document = spec.model_dump(mode="json")
    for text in request.sets:
        document, _ = changed(document, *parse_assignment(text))
    for text in request.unsets:
        document, _ = changed(document, *_removal(text), "--unset")
    options = " and ".join(name for name, texts in (("--set", request.sets), ("--unset", request.unsets)) if texts)
    found = _parse_edited(document, options) if options else spec
    if not isinstance(found, EpisodeSpec):
        raise UsageError(f"{options}: the result is a Scene instead of a spec; use --set-scene")
    return found


def change_scene(scene: Scene, changes: Sequence[Assignment], option: str = "--set-scene") -> Scene:
    """Return the Scene with the changes applied in their order.

    Args:
        scene: left as it is.
        changes: path and value; REMOVED removes what is at the path.
        option: that gives the changes, for messages.

    Raises:
        UsageError: a path or value does not exist.
        SpecError: the result is not a valid Scene.
    """
    document = scene.model_dump(mode="json")
    for steps, value in changes:
        edited, path = changed(document, steps, value, option)
        if len(path) == 5 and (path[0], path[2]) == ("frames", "objects"):
            before = document["frames"][path[1]]["objects"][path[3]]
            item = edited["frames"][path[1]]["objects"][path[3]]
            # An earlier change may have left another type there; parsing reports it below.
            if isinstance(before, dict) and isinstance(item, dict):
                _update_dependents(item, before, str(path[4]), load_stage(scene.stage), option)
        _renumber(edited)
        document = edited
    found = _parse_edited(document, option)
    if not isinstance(found, Scene):
        raise UsageError(f"{option}: the result is not a Scene; leave scene_version unchanged")
    return found


def _parse_edited(document: Any, option: str) -> Any:
    """Parse an edited document as an EpisodeSpec or Scene. Raises SpecError; its diagnostics name the option."""
    try:
        return parse_episode(json.dumps(document))
    except SpecError as error:
        diagnostics = [replace(diagnostic, file=f"after {option}", line=0) for diagnostic in error.diagnostics]
        raise SpecError(diagnostics) from error


def _renumber(document: dict[str, Any]) -> None:
    """Number instance ids from 1 in the order of the objects, also after an object was added or removed."""
    for frame in _dicts(document.get("frames")):
        pointer = frame.get("pointer")
        old = pointer.get("index") if isinstance(pointer, dict) else None
        for number, item in enumerate(_dicts(frame.get("objects")), start=1):
            if isinstance(pointer, dict) and item.get("index") == old:
                frame["pointer"] = {**pointer, "index": number}
            item["index"] = number


def _dicts(value: Any) -> list[dict[str, Any]]:
    """Return the JSON objects of a list. Parsing reports other types later, with better messages."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _update_dependents(item: dict[str, Any], before: dict[str, Any], field: str, stage: Stage, option: str) -> None:
    """Update the fields of an object that depend on a changed one; names of colors and sizes are the stage's."""
    match field, item.get(field):
        case "color", str(name):
            item["color_linear"] = rounded3(stage.linear_of(_check_name(name, stage.color_names(), "color", option)))
        case "color", [_, _, _] as parts:
            red, green, blue = (_byte(part, option) for part in parts)
            item |= {"color": None, "color_linear": rounded3(linear_of_srgb((red, green, blue)))}
        case "size", str(name):
            sizes = stage.size_names()
            item["scale"] = sizes[_check_name(name, sizes, "size", option)]
        case "size", int() | float() as scale:
            item |= {"size": None, "scale": scale}
        case "material", str(name):
            item["material"] = {"name": name}
        case "rotation_deg", int() | float() as degrees:
            item["rotation_deg"] = [0.0, 0.0, degrees]
    match field, item.get(field), before.get("location"):
        case "location", [x, y], [_, _, z]:
            item["location"] = [x, y, z]
        # An object that stood on the ground also stands on it in its new size.
        case "size", _, [x, y, z] if z is not None and z == before.get("scale"):
            item["location"] = [x, y, item["scale"]]


def _check_name(name: str, known: Iterable[str], kind: str, option: str) -> str:
    if name not in known:
        raise UsageError(hinted(f"{option}: unknown {kind} {name!r}; there are: {', '.join(known)}", name, known))
    return name


def _byte(value: Any, option: str) -> int:
    if isinstance(value, int) and 0 <= value <= 255:
        return value
    raise UsageError(f"{option}: a color is a name or three integers from 0 to 255; found {value!r}")
