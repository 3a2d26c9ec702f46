"""Asset roots: the folders that a spec's own files (.blend materials, meshes) may come from.

`searching` names the roots for what runs inside it, so that a shape's name is enough to find its mesh in the compiler,
the annotations and the renderer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from importlib import resources
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import ParamSpec, TypeVar

from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.language.diagnostics import did_you_mean

P = ParamSpec("P")
R = TypeVar("R")

_current: ContextVar[Sequence[Path]] = ContextVar("asset roots", default=())
# Folders per root that are read for the name of a similar file.
_FOLDERS = 1000


@contextmanager
def searching(asset_roots: Sequence[Path]) -> Iterator[None]:
    """Find meshes in these roots; without any, in those of the caller."""
    token = _current.set(asset_roots or _current.get())
    try:
        yield
    finally:
        _current.reset(token)


def in_asset_roots(function: Callable[P, R]) -> Callable[P, R]:
    """Make a function find meshes in its argument `asset_roots`."""
    parameters = signature(function)

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with searching(parameters.bind(*args, **kwargs).arguments.get("asset_roots", ())):
            return function(*args, **kwargs)

    return run


@lru_cache(maxsize=1)
def package_assets() -> Path:
    """Return the folder of the built-in assets."""
    return Path(str(resources.files("diorama.assets"))).resolve()


def all_roots(asset_roots: Sequence[Path] = ()) -> list[Path]:
    """Return the resolved folders that assets and the files they refer to may come from."""
    return [root.resolve() for root in asset_roots] + [package_assets()]


def find_asset(name: str, asset_roots: Sequence[Path] | None = None) -> tuple[Path, Path]:
    """Root and path of the file `name` in the first root that has it: `asset_roots`, then the built-in assets.

    Args:
        asset_roots: default those of `searching`. An absolute path is accepted inside a root.

    Raises:
        AssetError: for a missing file, and for one outside of all roots, also by `..` or a symlink.
    """
    roots = all_roots(_current.get() if asset_roots is None else asset_roots)
    listed = ", ".join(str(root) for root in roots)
    outside = False
    for root in roots:
        try:
            path = (root / name).resolve()
            owner = next((allowed for allowed in (root, *roots) if path.is_relative_to(allowed)), None)
            if owner is None:
                outside = True
            elif path.is_file():
                return owner, path
            elif path.exists():
                raise AssetError(f"asset {name!r}: {path} is not a regular file")
        except (OSError, RuntimeError, ValueError) as error:  # a name too long, a loop of links, a null character
            raise AssetError(f"asset {name!r}: can't be looked up in {root}: {error}") from error
    if outside:
        raise AssetError(f"asset {name!r} lies outside the asset roots; name its folder as a root (roots: {listed})")
    hint = did_you_mean(name, [similar for root in roots for similar in _file_names(root, Path(name).suffix)])
    hint = hint or "name one that is there, or the folder that has it with --asset-root"
    raise AssetError(f"asset {name!r}: file not found; looked in: {listed}; {hint}")


def _file_names(root: Path, suffix: str) -> list[str]:
    """Names of the files of a kind below a root."""
    return sorted(
        (Path(folder) / file).relative_to(root).as_posix()
        for folder, _, files in sorted(islice(os.walk(root), _FOLDERS))
        for file in files
        if file.endswith(suffix)
    )
