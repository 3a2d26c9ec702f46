"""The Scene that --set, --unset, --set-scene, --recompile and --seed make of a stored one."""

from __future__ import annotations

from typing import Any

from render.compiler import compile_episode
from render.episode.json_edit import REMOVED, Step, changed, parse_assignment, parse_path
from render.episode.pin_layout import pin_layout
from render.episode.request import EpisodeRequest
from render.episode.scene_edit import change_scene, parse_after
from render.model.errors import UsageError
from render.model.scene import Scene
from scene_specs.language.spec import EpisodeSpec


def apply_edits(request: EpisodeRequest, source: EpisodeSpec | Scene, scene: Scene) -> tuple[Scene, EpisodeSpec | None]:
    """The Scene that the edits give, and its spec; None where only the Scene says it.

    scene: the one before, with the settings to render with.
    """
    if request.scene_sets or isinstance(source, Scene):
        if request.seed is not None or request.recompile:
            raise UsageError(
                f"episode {scene.id} was made from a Scene, in which everything is decided already: --seed and "
                "--recompile would change nothing; --set changes a place of it"
            )
        texts = [*request.sets, *request.scene_sets]
        changes: list[tuple[tuple[Step, ...], Any]] = [parse_assignment(text, "--set-scene") for text in texts]
        changes += [_removal(text) for text in request.unsets]
        return _same_episode(
            change_scene(scene, changes, "--set-scene" if request.scene_sets else "--set"), scene
        ), None
    base = source
    if request.seed is not None:
        base = source.model_copy(update={"seed": request.seed})
    elif not request.recompile:
        base = pin_layout(source, scene, request.asset_roots)
    spec = _change_spec(base, request)
    return _same_episode(compile_episode(spec, scene.settings, request.asset_roots), scene), spec


def _same_episode(now: Scene, before: Scene) -> Scene:
    """The edited Scene. Raises UsageError for edits that have options of their own, or make another episode."""
    if now.id != before.id:
        raise UsageError(f"--set id: would be another episode, {now.id!r}; write a spec file and use --from")
    if now.settings != before.settings:
        raise UsageError(
            "--set-scene settings: a profile's name stands for its numbers; give --profile, --size, --samples"
        )
    return now


def _removal(text: str) -> tuple[tuple[Step, ...], Any]:
    path, rest = parse_path(text, "--unset")
    if rest:
        raise UsageError(f"--unset {text}: takes a path only, without {rest!r}")
    return path, REMOVED


def _change_spec(spec: EpisodeSpec, request: EpisodeRequest) -> EpisodeSpec:
    """The spec with --set and then --unset applied, in their order. Raises UsageError, SpecError."""
    document = spec.model_dump(mode="json")
    for text in request.sets:
        document, _ = changed(document, *parse_assignment(text))
    for text in request.unsets:
        document, _ = changed(document, *_removal(text), "--unset")
    options = " and ".join(name for name, given in (("--set", request.sets), ("--unset", request.unsets)) if given)
    found = parse_after(document, options) if options else spec
    if not isinstance(found, EpisodeSpec):
        raise UsageError(f"{options}: what comes out is a Scene and no spec; use --set-scene")
    return found
