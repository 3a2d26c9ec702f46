"""The identity of plug-in code: distribution, version and a digest, found without importing the code."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import util
from pathlib import Path

from diorama.render.model.errors import UsageError
from diorama.scene_specs.language.registry import Plugin, find_plugin, plugin, plugins

_CODE_SUFFIXES = (".py", ".so", ".pyd")


def plugin_assets(
    assets: Iterable[str], materials: Iterable[str], renderer: str, passes: Iterable[str]
) -> dict[str, str]:
    """Return the identity of each plug-in that an episode may use; nothing for what Diorama itself provides.

    assets: names as in Scene.assets; materials, passes: names; renderer: as in RunOptions. The keys are
    `plugin:stage:NAME`, and the same for `shape`, `material`, `renderer` and `pass`; a value is `<distribution>
    <version> <SHA-256>`, or the SHA-256 alone for code outside a distribution. Raises UsageError if code is missing,
    PluginError.
    """
    names = {name.replace("mesh:", "shape:", 1) for name in assets} | {f"material:{name}" for name in materials}
    used: dict[str, Plugin] = {}
    for name in sorted(names):
        noun, _, word = name.partition(":")
        if noun in ("material", "shape", "stage") and word in plugins(f"{noun}s"):
            used[name] = plugins(f"{noun}s")[word]
    used[f"renderer:{renderer}"] = find_plugin("renderers", renderer)
    used |= {f"pass:{name}": plugin("passes", name) for name in sorted({*passes})}
    # Our own code counts through IDENTITY_VERSION.
    return {
        f"plugin:{name}": _identity(found.module, f"{found.owner} {found.version}".strip())
        for name, found in used.items()
        if not found.own
    }


@lru_cache(maxsize=256)
def _identity(module: str, owner: str) -> str:
    try:
        digest = hashlib.sha256()
        for name, path in _code_files(module, bool(owner)):
            digest.update(os.fsencode(name) + b"\0" + _digest(path))
    except OSError as error:
        raise UsageError(f"plug-in {module}: its files can't be read: {error}") from error
    return f"{owner} {digest.hexdigest()}".lstrip()


def _code_files(module: str, installed: bool) -> list[tuple[str, Path]]:
    """List (name, path) of a plug-in's files: its top-level package, or the folder of a module that is not installed.

    An editable install lists no files of its own in its metadata, so the files are found where Python would import
    them. Only the top-level package is looked up, because looking up a module inside it would run the package.
    """
    top, *inner = module.split(".")
    try:
        spec = util.find_spec(top)
    except ModuleNotFoundError as error:  # a name that Diorama's own packages had
        raise UsageError(f"plug-in {module}: {error}") from error
    if spec is None:
        raise UsageError(f"plug-in {module}: there is no module {top!r} here; install it, or correct its name")
    if spec.submodule_search_locations is None:
        return [(top, Path(spec.origin or top))]
    folders = [Path(location, *([] if installed else inner[:-1])) for location in spec.submodule_search_locations]
    return [(path.relative_to(folder).as_posix(), path) for folder in folders for path in sorted(_paths(folder))]


def _paths(folder: Path) -> Iterator[Path]:
    """Yield the files and links below a folder that Python did not make. Raises OSError."""
    for parent, folders, files in sorted(os.walk(folder, onerror=_fail)):
        for path in (Path(parent, name) for name in (*folders, *files)):
            compiled = path.suffix == ".pyc" or "__pycache__" in path.relative_to(folder).parts
            if not compiled and (path.is_file() or path.is_symlink()):
                yield path


def _fail(error: OSError) -> None:
    raise error


def _digest(path: Path) -> bytes:
    """SHA-256 of a file. A link counts by its target's name, unless Python would import it; it may lead anywhere."""
    if path.is_symlink() and path.suffix not in _CODE_SUFFIXES:
        return hashlib.sha256(os.fsencode(path.readlink())).digest()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").digest()
