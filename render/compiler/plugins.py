"""The identity of plug-in code: distribution, version and a digest, found without importing the code."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from importlib import metadata, util
from pathlib import Path

from render.geometry.asset_roots import package_assets
from render.model.errors import UsageError
from scene_specs.language.vocabulary import MATERIALS

# Our own code counts through IDENTITY_VERSION.
_OWN_PACKAGES = ("render", "scene_specs", "assets", "diorama")
_CODE_SUFFIXES = (".py", ".so", ".pyd")


def plugin_assets(assets: Iterable[str], materials: Iterable[str], renderer: str) -> dict[str, str]:
    """Return the identity of each plug-in that an episode may use; nothing for what Diorama itself provides.

    assets: names as in Scene.assets; materials: names; renderer: as in RunOptions. The keys are `plugin:stage:NAME`,
    `plugin:shape:NAME`, `plugin:material:NAME` and `plugin:renderer:package.module:Class`; a value is
    `<distribution> <version> <SHA-256>`, or the SHA-256 alone for code outside a distribution.
    Raises UsageError if the code is missing.
    """
    plugins = _plugins()
    used = {name.replace("mesh:", "shape:", 1) for name in assets} | {f"material:{name}" for name in materials}
    found = {f"plugin:{name}": _entry_point_identity(plugins[name]) for name in sorted(used & plugins.keys())}
    module, colon, _ = renderer.partition(":")
    if colon and module.split(".")[0] not in _OWN_PACKAGES:
        found[f"plugin:renderer:{renderer}"] = _renderer_identity(module)
    return found


@lru_cache(maxsize=1)
def _plugins() -> dict[str, metadata.EntryPoint]:
    """Map `<kind>:<name>` to its entry point, without names of Diorama's own, which no package can replace."""
    folder = package_assets()
    own = {f"material:{name}" for name in MATERIALS}
    own |= {f"shape:{path.stem}" for path in sorted((folder / "meshes").glob("*.npz"))}
    own |= {f"stage:{path.stem}" for path in sorted((folder / "stages").glob("*.json"))}
    found: dict[str, metadata.EntryPoint] = {}
    for kind in ("material", "shape", "stage"):
        for point in metadata.entry_points(group=f"diorama.{kind}s"):
            found.setdefault(f"{kind}:{point.name}", point)
    return {name: point for name, point in found.items() if name not in own}


def _entry_point_identity(point: metadata.EntryPoint) -> str:
    owner = point.dist
    return _identity(point.module, "" if owner is None else f"{owner.name} {owner.version}")


@lru_cache(maxsize=16)
def _renderer_identity(module: str) -> str:
    owners = metadata.packages_distributions().get(module.split(".")[0])
    return _identity(module, f"{owners[0]} {metadata.version(owners[0])}" if owners else "")


@lru_cache(maxsize=256)
def _identity(module: str, owner: str) -> str:
    try:
        digest = hashlib.sha256()
        for name, path in _code_files(module, bool(owner)):
            digest.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    except OSError as error:
        raise UsageError(f"plug-in {module}: its code can't be read: {error}") from error
    return f"{owner} {digest.hexdigest()}".lstrip()


def _code_files(module: str, installed: bool) -> list[tuple[str, Path]]:
    """List (name, path) of a plug-in's code: its top-level package, or the folder of a module that is not installed.

    An editable install lists no files of its own in its metadata, so the files are found where Python would import
    them. Only the top-level package is looked up, because looking up a module inside it would run the package.
    """
    top, *inner = module.split(".")
    spec = util.find_spec(top)
    if spec is None:
        raise UsageError(f"plug-in {module}: there is no module {top!r} here; install it, or correct its name")
    if spec.submodule_search_locations is None:
        return [(top, Path(spec.origin or top))]
    folders = [Path(location, *([] if installed else inner[:-1])) for location in spec.submodule_search_locations]
    return [
        (path.relative_to(folder).as_posix(), path)
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.suffix in _CODE_SUFFIXES
    ]
