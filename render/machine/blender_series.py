"""The series of Blender that renders here, found without importing it, and its part in the identity of an image."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.record import RenderKey

# Series -> the only Python that its bpy runs on.
PYTHONS = {"4.5": "3.11", "5.2": "3.13"}
# Added to RenderKey.version for other series than the first, whose keys are those of Diorama 0.1.0.
_MARK = "+blender"
_FIRST, *_ = PYTHONS


@lru_cache(maxsize=1)
def installed_series() -> str:
    """Return the series of the installed bpy, such as "5.2"; "" without one."""
    try:
        return ".".join(version("bpy").split(".")[:2])
    except PackageNotFoundError:
        return ""


def key_suffix(renderer: str) -> str:
    """Return what RenderKey.version ends with. Plug-ins may use Blender, too: only `fake` surely does not."""
    series = installed_series()
    return "" if renderer == "fake" or series in ("", _FIRST) else _MARK + series


def series_of(key: RenderKey) -> str | None:
    """Return the series of Blender that an episode is rendered with; None for the renderer `fake`."""
    return None if key.renderer == "fake" else key.version.partition(_MARK)[2] or _FIRST


def require_module(name: str) -> None:
    """Raise UsageError that says what renders, if a module is missing that only rendering needs."""
    if find_spec(name) is None:
        known = ", ".join(f"Python {python} renders with Blender {series}" for series, python in PYTHONS.items())
        raise UsageError(
            f"rendering needs the package {name}, which Python {sys.version_info[0]}.{sys.version_info[1]} at "
            f"{sys.prefix} does not have. {known}; everything else works here"
        )
