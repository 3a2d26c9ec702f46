"""Render profiles: presets of `Settings`. Their numbers are data, in `profiles.json` beside this file."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import resources
from typing import Any, cast

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.model.scene import Scene, Settings
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import stage_of

DEFAULT_PROFILE = "standard"
# Pixels of an image whose size a file decides: 3840 x 2160 and a little more. `--size` may say more.
_MOST_PIXELS = 1 << 23
# What can be rendered.
Episode = EpisodeSpec | Scene


@lru_cache(maxsize=1)
def profiles() -> dict[str, dict[str, Any]]:
    """Return profile name -> the fields of Settings that the profile sets."""
    file = resources.files("diorama.scene_specs.model") / "profiles.json"
    return cast("dict[str, dict[str, Any]]", json.loads(file.read_text()))


def episode_settings(episode: Episode, profile: str | None = None, size: tuple[int, int] | None = None) -> Settings:
    """Return the settings that an episode is rendered with.

    Args:
        profile: None for DEFAULT_PROFILE, or for a Scene's own sampling.
        size: (width, height) in pixels, None for the stage's size, or for a Scene's own.

    Raises:
        UsageError: for an unknown profile, and a larger image than a file may ask for.
        StageError: the stage is unknown, or its file is wrong.
    """
    width, height = size or _size_of(episode)
    if profile is None and isinstance(episode, Scene):
        return episode.settings.model_copy(update={"width": width, "height": height})
    settings = settings_for(profile or DEFAULT_PROFILE, width, height)
    # As when the contrast was made: rectangles around objects would follow the layout, and the noise with them.
    return settings.without_rectangles() if isinstance(episode, Scene) and episode.contrast else settings


def _size_of(episode: Episode) -> tuple[int, int]:
    if isinstance(episode, EpisodeSpec):
        width, height = stage_of(episode).size
    else:
        width, height = episode.settings.width, episode.settings.height
    if width * height > _MOST_PIXELS:
        raise UsageError(
            f"episode {episode.id}: images of {width} x {height} pixels; allowed: at most {_MOST_PIXELS:,} pixels, "
            f"unless you pass --size {width}x{height}"
        )
    return width, height


@lru_cache(maxsize=64)
def settings_for(profile: str, width: int, height: int) -> Settings:
    """Return the settings of a profile at an image size in pixels. Raises UsageError for an unknown profile."""
    known = profiles()
    if profile not in known:
        hint = did_you_mean(profile, known)
        raise UsageError(f"unknown profile {profile!r}; allowed: {', '.join(known)}" + (f"; {hint}" if hint else ""))
    return Settings.model_validate({"profile": profile, "width": width, "height": height, **known[profile]})
