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
        UsageError: for an unknown profile.
        StageError: the stage is unknown, or its file is wrong.
    """
    if isinstance(episode, EpisodeSpec):
        return settings_for(profile or DEFAULT_PROFILE, *(size or stage_of(episode).size))
    own = episode.settings
    width, height = size or (own.width, own.height)
    if profile is None:
        return own.model_copy(update={"width": width, "height": height})
    settings = settings_for(profile or DEFAULT_PROFILE, width, height)
    # As when the contrast was made: rectangles around objects would follow the layout, and the noise with them.
    return settings.without_rectangles() if episode.contrast else settings


@lru_cache(maxsize=64)
def settings_for(profile: str, width: int, height: int) -> Settings:
    """Return the settings of a profile at an image size in pixels. Raises UsageError for an unknown profile."""
    known = profiles()
    if profile not in known:
        hint = did_you_mean(profile, known)
        raise UsageError(f"unknown profile {profile!r}; allowed: {', '.join(known)}" + (f"; {hint}" if hint else ""))
    return Settings.model_validate({"profile": profile, "width": width, "height": height, **known[profile]})
