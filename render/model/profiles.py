"""Profiles: how much an image may cost. Their numbers are data, in `profiles.json` beside this file."""

from __future__ import annotations

import difflib
import json
from functools import lru_cache
from importlib import resources
from typing import Any

from render.model.errors import UsageError
from render.model.scene import Settings

DEFAULT_PROFILE = "standard"


@lru_cache(maxsize=1)
def profiles() -> dict[str, dict[str, Any]]:
    """Name -> the fields of Settings that the profile decides."""
    data: dict[str, dict[str, Any]] = json.loads((resources.files("render.model") / "profiles.json").read_text())
    return {name: entry["settings"] for name, entry in data.items()}


def changed(own: Settings, profile: str | None, size: tuple[int, int] | None) -> Settings:
    """A Scene's own settings, with another profile or size (width, height) where one is asked for.

    Raises UsageError for an unknown profile.
    """
    width, height = size or (own.width, own.height)
    if profile is not None:
        return settings_for(profile, width, height)
    return own.model_copy(update={"width": width, "height": height})


def settings_for(profile: str, width: int, height: int) -> Settings:
    """Settings of a profile at an image size in pixels. Raises UsageError for an unknown profile."""
    known = profiles()
    if profile not in known:
        near = difflib.get_close_matches(profile, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"unknown profile {profile!r}; there are: {', '.join(known)}{hint}")
    return Settings.model_validate({"profile": profile, "width": width, "height": height, **known[profile]})
