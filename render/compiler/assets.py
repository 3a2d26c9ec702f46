"""The assets of a Scene: their files and SHA-256 digests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from diorama.render.geometry.meshes import load_mesh
from diorama.scene_specs.asset_roots import find_asset
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.files.foreign import file_state
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.model.look import look_digest
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.stage import Stage, stage_digest, stage_with
from diorama.scene_specs.shapes.shapenet import load_model


def resolve_blend(name: str, asset_roots: Sequence[Path] = ()) -> Path:
    """Find the .blend file `name`; see `find_asset`.

    Raises:
        AssetError: the name is wrong, or there is no such file below the roots.
    """
    if "\0" in name or not name.lower().endswith(".blend"):
        raise AssetError(f"asset {name!r}: not the name of a .blend file")
    return find_asset(name, asset_roots)[1]


@lru_cache(maxsize=256)
def _file_digest(path: Path, _state: tuple[int, ...]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def blend_digest(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a .blend file, read again only after its state changed.

    Raises:
        AssetError: the file can't be read.
    """
    try:
        return _file_digest(path, file_state(path))
    except OSError as error:
        raise AssetError(f"asset {path}: {error}") from error


def check_assets(scene: Scene, asset_roots: Sequence[Path]) -> None:
    """Check the digests of a Scene's assets. Those of looks don't matter: a Scene has all of their numbers.

    Raises:
        AssetError: an asset has changed or is missing.
    """
    for name, expected in scene.assets.items():
        if not name.startswith("look:") and (digest := _asset_digest(name, asset_roots, expected)) != expected:
            raise AssetError(
                f"episode {scene.id}: asset {name}: the Scene was made with {expected[:12]}, here is {digest[:12]}; "
                "render with the version that made it, or compile the spec again"
            )


def _asset_digest(asset: str, asset_roots: Sequence[Path], expected: str | None = None) -> str:
    """SHA-256 of an asset named as in a Scene. expected: that of a stored Scene. Raises AssetError."""
    kind, _, name = asset.partition(":")
    if is_model(asset):
        return load_model(asset).sha256
    if kind == "blend":
        return blend_digest(resolve_blend(name, asset_roots))
    if kind == "mesh":
        return load_mesh(name).sha256
    return look_digest(name) if kind == "look" else stage_digest(stage_with(name, expected))


def scene_assets(
    stage_name: str, stage: Stage, shapes: Iterable[str], blends: Iterable[str], asset_roots: Sequence[Path]
) -> dict[str, str]:
    """Return the SHA-256 of `stage:<name>`, `mesh:<name>`, `shapenet:<folder>/<id>`, `model:<path>`, `blend:<path>`.

    Raises:
        AssetError: an asset is missing.
    """
    meshes = {*shapes} | ({stage.ground.mesh} if stage.ground else set())
    names = [f"stage:{stage_name}"]
    names += [load_model(name).name if is_model(name) else f"mesh:{name}" for name in sorted(meshes)]
    names += [f"blend:{name}" for name in sorted({*blends})]
    return {name: _asset_digest(name, asset_roots) for name in sorted({*names})}
