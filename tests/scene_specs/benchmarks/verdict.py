"""What verifications say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from diorama.scene_specs.errors import SpecError


def verdict(verify: Callable[[Any], str], episode: object) -> str:
    """Why a verification refuses an episode or can't read it; "" if it does neither."""
    try:
        return verify(episode)
    except SpecError as error:
        return str(error)
