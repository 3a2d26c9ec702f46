"""One episode in several looks: the same layout, cameras, seeds and truth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diorama.render.compiler import compile_episode
from diorama.render.compiler.looks import with_look
from diorama.render.model.errors import UsageError
from diorama.scene_specs.language.look import PLAIN
from diorama.scene_specs.language.scene import Scene, Settings
from diorama.scene_specs.language.spec import EpisodeSpec


def look_scenes(
    spec: EpisodeSpec | Scene, settings: Settings, looks: Sequence[str], asset_roots: Sequence[Path] = ()
) -> list[Scene]:
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
    return [with_look(plain, look).model_copy(update={"id": f"{plain.id}+{look}"}) for look in looks]


def look_of_id(episode_id: str, look: str) -> str:
    """Return the id of the episode that one in a look was made of; "" for another id."""
    source, _, suffix = episode_id.rpartition("+")
    return source if suffix == look else ""
