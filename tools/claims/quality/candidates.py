"""Candidates for measuring: profiles by name, and `published-512`: the published renderer with 512 samples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Settings


def published_samples(candidate: str) -> int:
    """Return the samples of the published renderer (tools/claims/quality/published.py); 0 for a profile."""
    return int(match[1]) if (match := re.fullmatch(r"published-([1-9]\d{0,5})", candidate)) else 0


def candidate_settings(candidate: str, width: int, height: int) -> Settings:
    """Return a candidate's settings at a size in pixels. Raises UsageError for an unknown profile."""
    if samples := published_samples(candidate):
        return settings_for("clevr-512", width, height).with_samples(samples)
    return settings_for(candidate, width, height)


def candidate_key(candidate: str) -> dict[str, Any]:
    """Return everything that decides images and times."""
    if samples := published_samples(candidate):
        return {"published": samples}
    return {"settings": candidate_settings(candidate, 320, 240).model_dump(exclude={"profile"})}


def check_candidates(names: Sequence[str]) -> None:
    """Raise UsageError for an unknown candidate, and for one that is named twice."""
    for name in names:
        candidate_settings(name, 320, 240)
    if len(set(names)) < len(names):
        raise UsageError(f"{' '.join(names)}: a candidate is named twice")
