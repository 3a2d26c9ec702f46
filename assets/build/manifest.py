"""Write `assets/manifest.json`: builder, license and SHA-256 of every asset. `python -m diorama.assets.build.manifest`.

`diagnostics()` compares the manifest with the files; a test calls it, so an asset can't change without its entry.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[1]
MANIFEST = ASSETS / "manifest.json"

# Folder or file in assets/ -> its builder: a module here, or a person. The first match counts.
BUILDERS = (
    ("shapes/bowl.npz", "diorama.assets.build.containers"),
    ("shapes/box.npz", "diorama.assets.build.containers"),
    ("shapes/closed_cell.npz", "diorama.assets.build.containers"),
    ("shapes/open_cell.npz", "diorama.assets.build.containers"),
    ("shapes/shelf.npz", "diorama.assets.build.containers"),
    ("shapes/", "diorama.assets.build.shapes"),
    ("meshes/clevr_ground.npz", "diorama.assets.build.shapes"),
    ("meshes/hand.npz", "diorama.assets.build.hand"),
    ("meshes/hand_left.npz", "diorama.assets.build.hand"),
    ("meshes/person.npz", "diorama.assets.build.person"),
    ("meshes/arrow.npz", "diorama.assets.build.arrow"),
    ("materials/checker.blend", "diorama.assets.build.checker"),
    ("materials/wood.blend", "diorama.assets.build.wood"),
    ("tangrams/", "diorama.assets.build.tangrams"),
    ("shapenet_mini/", "diorama.assets.build.shapenet_mini"),
    ("looks/", "written by hand"),
    ("stages/", "written by hand"),
)
# The license of all assets; an asset with another license needs a new column above.
LICENCE = "MIT"
ASSET_TYPES = frozenset({".npz", ".json", ".blend", ".obj", ".mtl"})


def asset_files() -> list[str]:
    """Return every asset in `assets/` as a sorted POSIX path relative to it, without code and the manifest."""
    found = sorted(path for path in ASSETS.rglob("*") if path.suffix in ASSET_TYPES and path != MANIFEST)
    return [path.relative_to(ASSETS).as_posix() for path in found]


def builder_of(name: str) -> str | None:
    """Return the module that builds the asset, "written by hand", or None if it has no entry."""
    for place, builder in BUILDERS:
        if name == place or (place.endswith("/") and name.startswith(place)):
            return builder
    return None


def sha256(name: str) -> str:
    return hashlib.sha256((ASSETS / name).read_bytes()).hexdigest()


def entries() -> dict[str, dict[str, str]]:
    """Return the manifest of the current files: path -> builder, license, sha256.

    Raises ValueError for an asset without a builder.
    """
    made = {}
    for name in asset_files():
        builder = builder_of(name)
        if builder is None:
            raise ValueError(f"assets/{name}: has no builder; add it to BUILDERS in assets/build/manifest.py")
        made[name] = {"builder": builder, "licence": LICENCE, "sha256": sha256(name)}
    return made


def diagnostics(manifest: Path = MANIFEST) -> list[str]:
    """Return each difference between the manifest and the files, with what to do."""
    written: dict[str, dict[str, str]] = json.loads(manifest.read_text("utf-8"))["assets"]
    there = entries()
    remedy = "run `python -m diorama.assets.build.manifest` if that is meant"
    missing = [f"assets/{name}: in the manifest but not there; {remedy}" for name in sorted(written.keys() - there)]
    unknown = [f"assets/{name}: there but not in the manifest; {remedy}" for name in sorted(there.keys() - written)]
    changed = [
        f"assets/{name}: the file is {there[name]}, the manifest says {written[name]}; {remedy}"
        for name in sorted(there.keys() & written)
        if there[name] != written[name]
    ]
    return missing + unknown + changed


def write() -> None:
    """Write the manifest of the current files."""
    text = json.dumps({"version": 1, "assets": entries()}, indent=2)
    MANIFEST.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
