"""Installed packages with plug-ins, for tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from diorama.scene_specs.language import registry


def forget() -> None:
    """Clear what the registry knows."""
    registry.plugins.cache_clear()
    registry.find_plugin.cache_clear()


def write_distribution(
    folder: Path, name: str, entry_points: Mapping[str, str], files: Mapping[str, str | bytes], version: str = "0.1.0"
) -> None:
    """Write a package. entry_points: noun -> lines; files: path below the folder -> content."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"[diorama.{noun}]\n{points}\n" for noun, points in entry_points.items()]
    (info / "entry_points.txt").write_text("".join(lines))
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content if isinstance(content, bytes) else content.encode())


def _is_from(folder: Path, module: ModuleType) -> bool:
    """Return whether a module is from a folder; a namespace has folders and no file."""
    return str(folder) in f"{getattr(module, '__file__', '')} {list(getattr(module, '__path__', []))}"


@contextmanager
def installed(folder: Path) -> Iterator[None]:
    """Put the packages in a folder onto the path; afterwards, nothing of them is imported any longer."""
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        forget()
        try:
            yield
        finally:
            for module in [name for name in set(sys.modules) - before if _is_from(folder, sys.modules[name])]:
                del sys.modules[module]
    forget()
