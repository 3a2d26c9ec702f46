"""What a Scene is made of: the SHA-256 of every file it needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path

from render.geometry.meshes import load_mesh
from render.geometry.shapenet import load_model
from render.model.errors import AssetError
from render.model.scene import Scene
from scene_specs.language.model_names import is_model
from scene_specs.language.stage import Stage, stage_digest

_stage_digest = lru_cache(maxsize=64)(stage_digest)


@lru_cache(maxsize=1)
def package_assets() -> Path:
    """The folder of our own assets."""
    return Path(str(resources.files("assets"))).resolve()


def resolve_blend(name: str, asset_roots: Sequence[Path] = ()) -> Path:
    """The .blend file called `name` in the first root that has it: the given ones, then the package's own assets.

    An absolute name is taken as it is. What lies outside every root, by `..` or by a symlink, is refused.
    Raises AssetError.
    """
    roots = [root.resolve() for root in asset_roots] + [package_assets()]
    shown = ", ".join(str(root) for root in roots)
    if "\0" in name or not name.endswith(".blend"):
        raise AssetError(f"asset {name!r}: not the name of a .blend file")
    outside = False
    for root in roots:
        path = (root / name).resolve()
        if not any(path.is_relative_to(allowed) for allowed in roots):
            outside = True
        elif path.is_file():
            return path
    if outside:
        raise AssetError(f"asset {name!r} lies outside the asset roots; name its folder as a root (roots: {shown})")
    raise AssetError(f"asset {name!r} is not there; looked in: {shown}")


@lru_cache(maxsize=256)
def _file_digest(path: Path, size: int, changed_ns: int) -> str:
    whole = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            whole.update(piece)
    return whole.hexdigest()


def blend_digest(name: str, asset_roots: Sequence[Path] = ()) -> str:
    """SHA-256 of a .blend file, hexadecimal; read again only when its size or date changed. Raises AssetError."""
    return file_digest(resolve_blend(name, asset_roots))


def file_digest(path: Path) -> str:
    """SHA-256 of a file, hexadecimal; read again only when its size or date changed. Raises AssetError."""
    try:
        state = path.stat()
        return _file_digest(path, state.st_size, state.st_mtime_ns)
    except OSError as error:
        raise AssetError(f"asset {path}: {error}") from error


def check_assets(scene: Scene, find: Callable[[str], Path]) -> None:
    """Every asset of a Scene is the one it was made with. find: .blend name -> file. Raises AssetError."""
    for name, made_with in scene.assets.items():
        kind, _, rest = name.partition(":")
        if kind == "mesh":
            now = load_mesh(rest).sha256
        elif kind == "shapenet":
            now = load_model(name).sha256
        elif kind == "stage":
            now = _stage_digest(rest)
        else:
            now = file_digest(find(rest))
        if now != made_with:
            raise AssetError(
                f"episode {scene.id}: asset {name}: the Scene was made with {made_with[:12]}, here is {now[:12]}; "
                "render with the version that made it, or compile the spec again"
            )


def shape_asset(name: str) -> tuple[str, str]:
    """Name among a Scene's assets, and SHA-256, of a mesh or model. Raises AssetError."""
    if is_model(name):
        model = load_model(name)
        return model.name, model.sha256
    return f"mesh:{name}", load_mesh(name).sha256


def scene_assets(
    stage_name: str, stage: Stage, shapes: Iterable[str], blends: Iterable[str], asset_roots: Sequence[Path]
) -> dict[str, str]:
    """`stage:<name>`, `mesh:<name>`, `shapenet:<folder>/<id>`, `blend:<name in the spec>` -> SHA-256, sorted.

    Raises AssetError.
    """
    meshes = {*shapes} | ({stage.ground.mesh} if stage.ground else set())
    found = {f"stage:{stage_name}": _stage_digest(stage_name)}
    found.update(shape_asset(name) for name in sorted(meshes))
    found.update((f"blend:{name}", blend_digest(name, asset_roots)) for name in sorted({*blends}))
    return {name: found[name] for name in sorted(found)}
