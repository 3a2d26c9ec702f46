"""Read the file of a model: its parts and its license."""

from __future__ import annotations

from collections.abc import Iterator

from render.geometry.shapenet.glb_parts import glb_parts, header_of
from render.geometry.shapenet.obj_parts import obj_parts
from render.geometry.shapenet.sources import Part, Sources
from render.model.errors import AssetError
from scene_specs.language.foreign import read_foreign

_LICENSES = ("{file}.license", "{name}.license", "LICENSE", "LICENSE.txt", "LICENSE.md")
_SPDX = "SPDX-License-Identifier:"
# Bytes of a license file, and characters of it in a note.
_MOST_LICENSE, _SHOWN = 1 << 20, 200


def read_parts(sources: Sources) -> list[Part]:
    """The parts of a model's main file (.obj or .glb), in order. Raises AssetError naming the file."""
    path = sources.main
    try:
        data = sources.read(path)
        parts = list(obj_parts(data, sources) if path.suffix.lower() == ".obj" else glb_parts(data, sources))
    except AssetError:
        raise
    except OSError as error:
        raise AssetError(f"model {path}: can't be read: {error.strerror or error}") from error
    except IndexError as error:
        raise AssetError(f"model {path}: a face names a corner that does not exist: {error}") from error
    except Exception as error:  # the parsers of trimesh raise many types
        kind = path.suffix[1:].upper()
        raise AssetError(f"model {path}: can't be read as {kind}: {type(error).__name__}: {error}") from error
    if not sum(len(part.triangles) for part in parts):
        raise AssetError(f"model {path}: it has no faces")
    return parts


def note_license(sources: Sources) -> None:
    """Note the license of a model that was read: of the first file beside it that has one, or as its .glb header says.

    Of a file, the line with the SPDX identifier counts, else the first. It does not change the model's digest.
    """
    found = next(_licenses(sources), "")
    if found:
        sources.note(f"license: {found[:_SHOWN]}")


def _licenses(sources: Sources) -> Iterator[str]:
    main = sources.main
    for pattern in _LICENSES:
        path = main.with_name(pattern.format(file=main.name, name=main.stem))
        if not path.is_file() or not path.resolve().is_relative_to(sources.root):
            sources.missing.append(path)
            continue
        sources.unhashed.append(path)
        try:
            text = read_foreign(path, _MOST_LICENSE).decode("utf-8", "replace")
        except OSError as error:
            sources.note(f"{path.name} can't be read: {error.strerror or error}")
            continue
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        yield from [line.partition(_SPDX)[2].strip() for line in lines if _SPDX in line] or lines[:1]
    asset = header_of(sources.files[main]).get("asset") if main.suffix.lower() == ".glb" else None
    if isinstance(asset, dict):
        extras = asset.get("extras")
        said = [extras.get("license") if isinstance(extras, dict) else None, asset.get("copyright")]
        yield "; ".join(text for text in said if isinstance(text, str) and text)
