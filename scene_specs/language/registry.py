"""Plug-ins: what Diorama and installed packages provide, by noun, found through entry points.

An entry point of group `diorama.<noun>` has one of two forms:

    velvet = "acme.velvet"          one plug-in: a module, or an object in it (`acme.velvet:Velvet`)
    "*" = "acme.materials"          every public file and folder of a package, each named after its file

Diorama's own plug-ins are registered the same way, in pyproject.toml. Nothing is imported before `load`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any

from scene_specs.language.errors import DioramaError
from scene_specs.language.outlines import FLAT_SHAPES
from scene_specs.language.vocabulary import MATERIALS, SHAPES, TRANSMITTING

# Noun -> how files of its packages end. Stages and shapes are data; everything else is code.
_SUFFIXES = {"stages": ".json", "shapes": ".npz"}
_OWN = "diorama"


class PluginError(DioramaError):
    """A plug-in that is unknown, provided twice, or can't be imported."""

    exit_code = 2


@dataclass(frozen=True)
class Plugin:
    """One plug-in. noun: "materials". module: where its code lies. attribute: of an object in it, or "".

    owner: name of the distribution that provides it; version: of the distribution. path: its file, of a data plug-in.
    """

    noun: str
    name: str
    module: str
    attribute: str
    owner: str
    version: str
    path: Path | None = None

    @property
    def own(self) -> bool:
        """Whether Diorama provides it."""
        return self.owner == _OWN

    def load(self) -> Any:
        """Import it: the module, the object in it, or the path of a data file. Raises PluginError."""
        if self.path is not None:
            return self.path
        try:
            found: Any = import_module(self.module)
            for part in filter(None, self.attribute.split(".")):
                found = getattr(found, part)
        except Exception as error:  # importing runs other people's code
            where = f"{self.module}:{self.attribute}".rstrip(":")
            problem = f"{self.noun} {self.name!r} of {self.owner}: {where} can't be imported"
            raise PluginError(f"{problem}: {type(error).__name__}: {error}") from error
        return found


@lru_cache(maxsize=16)
def plugins(noun: str) -> dict[str, Plugin]:
    """Return name -> plug-in: Diorama's own, then those of packages, each sorted by name. Imports nothing.

    Raises PluginError for a name that two packages provide.
    """
    found: dict[str, Plugin] = {}
    for one in sorted(_listed(noun), key=lambda plugin: (not plugin.own, plugin.name, plugin.owner)):
        other = found.setdefault(one.name, one)
        if other != one:
            problem = (
                f"{noun} {one.name!r} is provided by {other.owner} {other.version} and by {one.owner} {one.version}"
            )
            raise PluginError(f"{problem}; uninstall one of the two, or rename its plug-in")
    if not any(plugin.own for plugin in found.values()):
        raise PluginError(
            f"Diorama's own {noun} are not registered; install it again: `pip install -e .` in its folder"
        )
    return found


def plugin(noun: str, name: str) -> Plugin:
    """Return a plug-in by name. Raises PluginError with the names there are."""
    found = plugins(noun)
    if name not in found:
        from scene_specs.language.diagnostics import did_you_mean

        hint = did_you_mean(name, found)
        raise PluginError(
            f"unknown {noun[:-1]} {name!r}; there are: {', '.join(found)}" + (f"; {hint}" if hint else "")
        )
    return found[name]


def _listed(noun: str) -> Iterator[Plugin]:
    for point in metadata.entry_points(group=f"diorama.{noun}"):
        owner = ("?", "") if point.dist is None else (point.dist.name, point.dist.version)
        if point.name != "*":
            yield Plugin(noun, point.name, point.module, point.attr or "", *owner)
            continue
        suffix = _SUFFIXES.get(noun, ".py")
        for path in _files(point.value):
            if path.suffix == suffix and suffix != ".py":
                yield Plugin(noun, path.stem, point.value, "", *owner, path)
            elif suffix == ".py" and (path.suffix == ".py" or (path / "__init__.py").is_file()):
                yield Plugin(noun, path.stem.replace("_", "-"), f"{point.value}.{path.stem}", "", *owner)


def _files(package: str) -> list[Path]:
    """Return the public files and folders of a package, sorted; its parents are imported, itself is not."""
    try:
        spec = util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    folders = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    return sorted(path for folder in folders for path in folder.iterdir() if path.name[0] not in "_.")


@lru_cache(maxsize=4)
def _added(group: str) -> tuple[str, ...]:
    return tuple(sorted(point.name for point in metadata.entry_points(group=group)))


def shapes() -> tuple[str, ...]:
    """Return the names of shapes: built-in, flat, then those of entry points in the group `diorama.shapes`."""
    return tuple(dict.fromkeys((*SHAPES, *FLAT_SHAPES, *_added("diorama.shapes"))))


def materials() -> tuple[str, ...]:
    """Return the names of materials: built-in, then those of entry points in the group `diorama.materials`."""
    return tuple(dict.fromkeys((*MATERIALS, *_added("diorama.materials"))))


def transmits(material: str) -> bool:
    """Return whether light passes through a material; images of such materials need more samples.

    Built-in materials are listed in the vocabulary, those of packages by entry points of group
    `diorama.transmitting_materials`. Only the names are read: nothing is imported.
    """
    return material in (TRANSMITTING if material in MATERIALS else _added("diorama.transmitting_materials"))
