"""The assets of a Scene: their files and SHA-256 digests."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter

from diorama.render.geometry.meshes import load_mesh
from diorama.scene_specs.asset_roots import find_asset
from diorama.scene_specs.errors import AssetError, spec_error
from diorama.scene_specs.files.atomic import write_atomic
from diorama.scene_specs.files.foreign import file_state, is_of_others, read_foreign
from diorama.scene_specs.language.diagnostics import path_text
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.model.look import look_digest
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import ColoredPart, EpisodeSpec
from diorama.scene_specs.model.stage import Stage, stage_digest, stage_with
from diorama.scene_specs.shapes.shapenet import load_model
from diorama.scene_specs.shapes.shapenet.loading import cache_folder

# Reads groups in a process of its own. The first start of Blender takes longest.
_READER, _READING_SECONDS = "diorama.render.renderers.cycles.blend_material", 100.0
# What is wrong with a color of a .blend material, and what to do.
NO_COLOR = ("the material's group has no input Color that is linked on to its surface", "leave out the color")


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


@lru_cache(maxsize=256)
def _groups_of(path: Path, digest: str) -> dict[str, bool]:
    """Shader groups of a .blend file -> whether their input `Color` is linked on to their surface.

    One process of Blender reads the file, once for its contents: the cache folder keeps the result.

    Raises:
        AssetError: the file can't be read.
    """
    entry, form = cache_folder() / "blend-colors" / f"{digest}.json", TypeAdapter(dict[str, bool])
    with suppress(OSError, ValueError):
        if not is_of_others(entry):
            return form.validate_json(read_foreign(entry))
    command, error = [sys.executable, "-m", _READER, str(path)], ""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_READING_SECONDS, check=False)
        # The last line; Blender may have reported something before. Of an error, it says what is wrong.
        error = answer.stderr.strip().rpartition("\n")[2]
        groups = form.validate_json(answer.stdout.strip().rpartition("\n")[2])
    except (OSError, ValueError, subprocess.TimeoutExpired) as cause:
        raise AssetError(f"{path}: can't be read, to find which materials show a color: {error or cause}") from cause
    with suppress(OSError):
        write_atomic(entry, form.dump_json(groups), fsync=False)
    return groups


def is_linked(blend: tuple[str, str], asset_roots: Sequence[Path]) -> bool:
    """Return whether the input `Color` of a .blend file's group is linked on to its surface.

    Raises:
        AssetError: the file can't be read, or has no such group.
    """
    path = resolve_blend(blend[0], asset_roots)
    groups = _groups_of(path, blend_digest(path))
    if blend[1] not in groups:
        listed = ", ".join(sorted(groups)) or "none"
        raise AssetError(f"{path}: no node group {blend[1]!r} with a shader output; there are: {listed}")
    return groups[blend[1]]


def colored_parts(spec: EpisodeSpec) -> Iterator[tuple[tuple[str | int, ...], ColoredPart, tuple[str, str]]]:
    """Yield location, value, file and group of each object and pointer of a spec that has a .blend material."""
    for number, frame in enumerate(spec.frames):
        listed = ((("objects", k), item) for k, item in enumerate(frame.objects))
        for path, part in (*listed, (("pointer",), frame.pointer)):
            if part is not None and (blend := part.blend()) is not None:
                yield ("frames", number, *path), part, blend


def linked_colors(spec: EpisodeSpec, asset_roots: Sequence[Path]) -> dict[tuple[str, str], bool]:
    """Return file and group of each .blend material of a spec -> whether its color is linked on to its surface.

    Raises:
        AssetError: a file can't be read, or has no such group.
        SpecError: the spec names a color of a material that shows none.
    """
    linked = {}
    for path, part, blend in colored_parts(spec):
        linked[blend] = is_linked(blend, asset_roots)
        if part.color is not None and not linked[blend]:
            raise spec_error(*NO_COLOR, episode=spec.id, path=path_text((*path, "color")))
    return linked


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
