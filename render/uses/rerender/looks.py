"""One episode in several looks: the same layout, cameras, seeds and truth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diorama.render.compiler import compile_episode
from diorama.render.compiler.looks import with_look
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.look import PLAIN, load_look
from diorama.scene_specs.model.profiles import Episode
from diorama.scene_specs.model.scene import Scene, Settings


def check_looks(names: Sequence[str]) -> list[str]:
    """Return the names of looks, each once. Raises LookError for one that does not exist or can't be read."""
    for name in names:
        if name != PLAIN:
            load_look(name)
    return [*dict.fromkeys(names)]


def look_scenes(spec: Episode, settings: Settings, looks: Sequence[str], asset_roots: Sequence[Path]) -> list[Scene]:
    """Return a Scene for each look, with the id `<id>+<look>`.

    Raises:
        UsageError: the episode has a look already.
        LookError: a look does not exist, or doesn't keep the words of the episode.
        CompileError: no layout is found.
    """
    plain = compile_episode(spec, settings, asset_roots)
    if plain.look is not None:
        raise UsageError(f"episode {plain.id}: has the look {plain.look.name!r}; start from {PLAIN} episodes")
    # Looks are drawn for the source's id, so that what differs is the look alone.
    return [_with_ids(with_look(plain, look), f"+{look}") for look in looks]


def _with_ids(scene: Scene, suffix: str) -> Scene:
    """Return a Scene with other ids, also of the contrast that it belongs to."""
    contrast = scene.contrast and scene.contrast.model_copy(update={"pair": scene.contrast.pair + suffix})
    return scene.model_copy(update={"id": scene.id + suffix, "contrast": contrast})
