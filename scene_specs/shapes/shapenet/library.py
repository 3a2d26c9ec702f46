"""Model libraries: folders in the layout of ShapeNetCore, chosen by option, environment or `assets.toml`.

    <root>/<synset>/<id>/models/model_normalized.obj     version 2
    <root>/<synset>/<id>/model.obj                       version 1
    <root>/<synset>/<id>.glb, or <root>/<synset>/<id>/<any>.glb (one)

The environment holds the setting of a process: `DIORAMA_SHAPENET` names the root, `DIORAMA_SHAPENET_UP` and
`DIORAMA_SHAPENET_FRONT` the axes of its models (default +y and -z, those of ShapeNetCore). Without it, `assets.toml` in
the working directory or in `$XDG_CONFIG_HOME/diorama/` is read. The first may come with a download, so it can only name
folders below itself. Without both, Diorama's own small library is used.

A model file below an asset root, `model:<path>`, is a library of its own: see `MeshFolder`.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from diorama.scene_specs.asset_roots import find_asset, package_assets
from diorama.scene_specs.errors import AssetError, UsageError, counted
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.language.model_names import SYNSETS, ModelName, parse_mesh, parse_model, word_of

ROOT, UP, FRONT = "DIORAMA_SHAPENET", "DIORAMA_SHAPENET_UP", "DIORAMA_SHAPENET_FRONT"
AXES = ("+x", "-x", "+y", "-y", "+z", "-z")
_OBJ = ("models/model_normalized.obj", "model.obj", "model_normalized.obj")
_SHOWN = 8
_LONGEST = 100
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Library:
    """A folder of models, by category.

    Attributes:
        root: absolute path.
        up: axis of the models, such as "+y"; .glb files always have glTF's.
        front: axis of the models' fronts, such as "-z".
        part: the one of a .blend file that is read; "" for all.
        own: whether its one model is a user's own file, which may say its license.
    """

    own: ClassVar[bool] = False
    root: Path
    up: str = "+y"
    front: str = "-z"
    part: str = ""

    def axes(self, path: Path) -> tuple[str, str]:
        """Up and front of a file's model. In glTF, Y is up whatever the axes of the library."""
        if path.suffix.lower() == ".glb" and self.up != "+y":
            return "+y", "-z" if self.front[1] == "y" else self.front
        return self.up, self.front

    def categories(self) -> list[str]:
        """Names of the category folders, sorted. Raises AssetError if the root can't be read."""
        return list(_list_folders(self.root, _changed_ns(self.root)))

    def models(self, category: str) -> list[str]:
        """Ids of the models of a category (synset or word), sorted. Raises AssetError."""
        folder = self.root / self._folder(category)
        return list(_list_ids(folder, _changed_ns(folder)))

    def _folder(self, category: str) -> str:
        for name in (SYNSETS.get(category.lower(), category), category):
            if name in self.categories():
                return name
        words = sorted({word_of(name) for name in self.categories()})
        hint = did_you_mean(category, [word for word in (*words, *SYNSETS) if word != category.lower()])
        known = ", ".join(words[:_SHOWN]) + (", ..." if len(words) > _SHOWN else "") + (f"; {hint}" if hint else "")
        raise AssetError(f"no category {category[:_LONGEST]!r} in the model library {self.root}; there are: {known}")

    def find(self, shape: str) -> tuple[str, Path]:
        """Canonical name (`shapenet:<folder>/<id>`) and file of a model named in a spec. Raises AssetError."""
        name = parse_model(shape)
        if name is None:
            raise AssetError(
                f"{shape!r} is not the name of a model; write shapenet:<category>/<id> or shapenet:<category>/#3"
            )
        category = self._folder(name.category)
        model = self._id(shape, name)
        folder = self.root / category
        files = [path for path in _candidate_files(folder, model) if path.is_file()]
        if not files:
            raise AssetError(
                f"model {shape!r}: {folder / model} holds no model; looked for {', '.join(_OBJ)} and one .glb file"
            )
        path = files[0].resolve()
        if not path.is_relative_to(self.root):
            hint = "a link may lead to the root, not out of it"
            raise AssetError(f"model {shape!r}: {files[0]} lies outside the model library {self.root}; {hint}")
        return f"shapenet:{category}/{model}", path

    def _id(self, shape: str, name: ModelName) -> str:
        ids = self.models(name.category)
        if name.number:
            if name.number > len(ids):
                raise AssetError(
                    f"model {shape!r}: the category has {counted(len(ids), 'model')} in {self.root}, #1 to #{len(ids)}"
                )
            return ids[name.number - 1]
        if name.model not in ids:
            hint = did_you_mean(name.model, ids) or f"there are {len(ids)}, such as {', '.join(ids[:2])}"
            raise AssetError(f"no model {shape!r} in the model library {self.root}; {hint}")
        return name.model


@dataclass(frozen=True)
class MeshFolder(Library):
    """An asset root with one model file in it.

    Attributes:
        file: its absolute path.
        root: where the files it names may lie.
    """

    own = True
    file: Path = Path()

    def axes(self, path: Path) -> tuple[str, str]:
        """Up and front, as the spec says."""
        return self.up, self.front

    def find(self, shape: str) -> tuple[str, Path]:
        """Return the name in the spec, and the file."""
        return shape, self.file


def source_of(shape: str) -> Library:
    """Return the library of a model named in a spec.

    Raises:
        UsageError: an argument, option or name is wrong.
        AssetError: for a missing folder or file.
    """
    mesh = parse_mesh(shape)
    if mesh is None:
        return library()
    root, file = find_asset(mesh.path)
    # Y up with +z in front is what glTF says and what Blender writes into .obj files.
    return MeshFolder(root, *(("+z", "-y") if mesh.z_up else ("+y", "+z")), mesh.part, file)


def _candidate_files(folder: Path, model: str) -> list[Path]:
    inside = folder / model
    others = [*sorted(inside.glob("*")), *sorted(inside.glob("models/*"))]
    listed = [folder / f"{model}.glb", folder / f"{model}.GLB", *others]
    return [*(inside / name for name in _OBJ), *(path for path in listed if path.suffix.lower() == ".glb")]


def _changed_ns(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError as error:
        raise AssetError(f"model library: {folder}: {error.strerror or error}") from error


@lru_cache(maxsize=8)
def _list_folders(root: Path, _changed: int) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")))


@lru_cache(maxsize=256)
def _list_ids(folder: Path, _changed: int) -> tuple[str, ...]:
    shown = {path: path.is_dir() for path in sorted(folder.iterdir()) if not path.name.startswith(".")}
    names = {
        path.name if is_dir else path.stem for path, is_dir in shown.items() if is_dir or path.suffix.lower() == ".glb"
    }
    return tuple(sorted(names))


def settings_file() -> Path | None:
    """Return the `assets.toml` to read, an absolute path; None if there is none."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser())
    for path in (Path("assets.toml"), home / "diorama" / "assets.toml"):
        if path.is_file():
            return path.absolute()
    return None


def _from_file(path: Path) -> tuple[str, str, str] | None:
    try:
        table = tomllib.loads(read_foreign(path, _MOST_BYTES).decode()).get("shapenet")
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: can't be read: {error}") from error
    if table is None:
        return None
    keys = {"root", "up", "front"}
    if not isinstance(table, dict) or not all(k in keys and isinstance(v, str) for k, v in table.items()):
        expected = 'root, up and front, each a string, such as root = "ShapeNetCore.v2"'
        raise UsageError(f"{path}: [shapenet] takes {expected}")
    if "root" not in table:
        raise UsageError(f"{path}: [shapenet] has no root")
    here = path == Path("assets.toml").absolute()
    # The folder of the user's own file may be a link, as in many collections of settings.
    root = (path if here else path.resolve()).parent / Path(table["root"]).expanduser()
    if here and not root.resolve().is_relative_to(path.parent.resolve()):
        hint = "pass --shapenet, or use ~/.config/diorama/assets.toml"
        raise UsageError(f"{path}: root is {table['root'][:_LONGEST]!r}; allowed: a folder below this file; {hint}")
    return str(root), table.get("up", "+y"), table.get("front", "-z")


def library_setting() -> tuple[str, str, str] | None:
    """Root (absolute), up and front of the chosen library; None if none is chosen. Raises UsageError."""
    root = os.environ.get(ROOT)
    if root:
        return str(Path(root).expanduser().absolute()), os.environ.get(UP) or "+y", os.environ.get(FRONT) or "-z"
    settings = settings_file()
    return _from_file(settings) if settings is not None else None


def set_library_environment(setting: tuple[str, str, str] | None) -> None:
    """Set the library of this process and its child processes; None leaves the setting unchanged."""
    if setting is not None:
        os.environ.update(zip((ROOT, UP, FRONT), setting, strict=True))


def library() -> Library:
    """Return the library in use.

    Raises:
        UsageError: for wrong settings.
        AssetError: for a missing folder.
    """
    setting = library_setting()
    return _checked_library(*setting) if setting else packaged_library()


def packaged_library() -> Library:
    """Return the library that comes with Diorama."""
    return _checked_library(str(package_assets() / "shapenet_mini"), "+y", "-z")


@lru_cache(maxsize=16)
def _checked_library(root: str, up: str, front: str) -> Library:
    for name, axis in (("up", up), ("front", front)):
        if axis not in AXES:
            raise UsageError(f"model library {root}: {name} is {axis!r}; allowed: {', '.join(AXES)}")
    if up[1] == front[1]:
        raise UsageError(f"model library {root}: up is {up} and front {front}; they lie along the same axis")
    folder = Path(root).expanduser()
    if not folder.is_dir():
        raise AssetError(f"model library {root}: no such folder; see docs/shapenet.md for the layout")
    return Library(folder.resolve(), up, front)
