"""Plug-ins: what Diorama and installed packages provide, by noun, found through entry points.

An entry point of group `diorama.<noun>` has one of two forms:

    velvet = "acme.velvet"          one plug-in: a module, or an object in it (`acme.velvet:Velvet`)
    "*" = "acme.materials"          every public file and folder of a package, each named after its file

A file `export.py` in the folder of a benchmark `toys` is the export format `toys`, `export_cards.py` is `toys-cards`.

Diorama's own plug-ins are registered the same way, in pyproject.toml. No plug-in is imported before `load`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module, metadata, util
from pathlib import Path
from traceback import walk_tb
from typing import Any

from diorama.scene_specs.errors import DioramaError, PluginError
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.language.model_names import MODEL_MATERIALS
from diorama.scene_specs.language.outlines import FLAT_SHAPES

# Noun -> how files of its packages end. Looks, stages and shapes are data; everything else is code.
_SUFFIXES = {"looks": ".json", "stages": ".json", "shapes": ".npz"}
# Noun -> what the object has to have.
_RECIPE = ("Parameters", "build")
_PARTS = {
    "families": ("AXES", "LARGEST", "build"),
    "grounds": _RECIPE,
    "materials": ("Parameters", "TRANSMISSIVE", "build"),
    "passes": ("PASS",),
    "patterns": _RECIPE,
}
# The distribution, whose name on indexes is not the name that is imported.
_OWN = "diorama-render"


@dataclass(frozen=True)
class Plugin:
    """One plug-in.

    Attributes:
        noun: such as "materials".
        module: where its code lies.
        attribute: name of an object in the module, or "".
        owner: name of the distribution that provides it, "" if unknown.
        version: version of the distribution.
        path: its file, of data in a registered folder and of an export format in the folder of a benchmark.
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
        """Import it and return the module or the object in it; of a stage or shape, the path of its file.

        A single stage or shape is a function that returns the path.

        Raises:
            PluginError: it can't be imported.
        """
        if self.noun in _SUFFIXES and self.path:
            return self.path
        try:
            provided: Any = import_module(self.module)
            for part in filter(None, self.attribute.split(".")):
                provided = getattr(provided, part)
            provided = Path(provided()) if self.noun in _SUFFIXES else provided
        except (Exception, SystemExit) as error:  # importing runs other people's code
            where = f"{self.module}:{self.attribute}".rstrip(":")
            raise PluginError(f"{self.label}: can't import {where}: {_one_line(error)}") from error
        if missing := [key for key in _PARTS.get(self.noun, ()) if not hasattr(provided, key)]:
            problem = f"has no {', '.join(missing)}; docs/extending.md says what a {singular(self.noun)} provides"
            raise PluginError(f"{self.label}: {problem}")
        return provided

    @property
    def label(self) -> str:
        """What messages call it, such as "material 'velvet' of acme-diorama"."""
        return f"{singular(self.noun)} {self.name!r}" + (f" of {self.owner}" if self.owner else "")


@lru_cache(maxsize=16)
def plugins(noun: str) -> dict[str, Plugin]:
    """Return name -> plug-in: Diorama's own, then those of packages, each sorted by name.

    Imports no plug-in, only packages that folders of plug-ins and benchmarks are in.

    Raises:
        PluginError: two packages provide a name, or a material has the name of a model's own materials.
    """
    by_name: dict[str, Plugin] = {}
    for entry in sorted(_all_plugins(noun), key=lambda plugin: (not plugin.own, plugin.name, plugin.owner)):
        other = by_name.setdefault(entry.name, entry)
        if other != entry:
            owners = " and by ".join(f"{each.owner} {each.version}" for each in (other, entry))
            problem = f"{singular(noun)} {entry.name!r} is provided by {owners}"
            raise PluginError(f"{problem}; uninstall one of the two, or rename its plug-in")
        if noun == "materials" and entry.name in MODEL_MATERIALS:
            problem = f"material {entry.name!r} of {entry.owner} {entry.version}: models have a material of this name"
            raise PluginError(f"{problem}; uninstall the package, or rename its plug-in")
    if not any(plugin.own for plugin in by_name.values()):
        raise PluginError(
            f"Diorama's own {noun} are not registered; install it again: `pip install -e .` in its folder"
        )
    return by_name


def plugin(noun: str, name: str) -> Plugin:
    """Return a plug-in by name.

    Raises:
        PluginError: there is none; lists the names there are.
    """
    known = plugins(noun)
    if name not in known:
        hint = did_you_mean(name, known)
        problem = f"unknown {singular(noun)} {name!r}; there are: {', '.join(known)}"
        raise PluginError(problem + (f"; {hint}" if hint else ""))
    return known[name]


@lru_cache(maxsize=64)
def find_plugin(noun: str, name: str) -> Plugin:
    """Return a plug-in by name, or the one that `package.module:object` names.

    Raises:
        PluginError: there is none of this name.
    """
    module, colon, attribute = name.partition(":")
    if not colon:
        return plugin(noun, name)
    top = module.partition(".")[0]
    owner = _OWN if top == "diorama" else next(iter(metadata.packages_distributions().get(top, ())), "")
    return Plugin(noun, name, module, attribute, owner, "" if owner in ("", _OWN) else metadata.version(owner))


def plugin_error(error: BaseException) -> PluginError | None:
    """Return an error as one of the plug-in whose code was running; None for Diorama's own errors, and if none was."""
    places = [(str(frame.f_globals.get("__name__")), frame, line) for frame, line in walk_tb(error.__traceback__)]
    places = [place for place in reversed(places) if not place[0].startswith(("diorama.", "click."))]
    if not places or isinstance(error, DioramaError):
        return None
    groups = sorted(group for group in metadata.entry_points().groups if group.startswith("diorama."))
    installed = (plugin for group in groups for plugin in _all_plugins(group.removeprefix("diorama."), True))
    foreign = [plugin for plugin in installed if not plugin.own]
    for module, frame, line in places:
        if of_module := [plugin for plugin in foreign if f"{module}.".startswith(f"{plugin.module}.")]:
            # A module rather than the package above it; of several objects of a module, the function's own.
            name = frame.f_code.co_qualname
            nearest = max(of_module, key=lambda plugin: (len(plugin.module), name.startswith(plugin.attribute or ".")))
            blamed = PluginError(f"{nearest.label} failed: {_one_line(error)} ({module}, line {line})")
            blamed.__cause__ = error
            return blamed
    return None


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split()):.300}"


def singular(noun: str) -> str:
    """Return the word for one plug-in of a kind, such as "pass" for "passes"."""
    return {"families": "family", "passes": "pass"}.get(noun, noun.removesuffix("s"))


def _all_plugins(noun: str, skip: bool = False) -> Iterator[Plugin]:
    """Yield all plug-ins of a noun. skip: omit those of folders that can't be found, which else is a PluginError."""
    registered = [*_entry_point_plugins(noun, skip)]
    yield from registered
    taken = {key for plugin in registered for key in (plugin.module, (plugin.name, plugin.owner))}
    for folder in _entry_point_plugins("benchmarks", True) if noun == "exports" else ():
        for path in _public_files(folder.module, True):
            word, _, more = path.stem.partition("_")
            name = f"{folder.name}-{more.replace('_', '-')}" if more else folder.name
            module = f"{folder.module}.{path.stem}"
            if word == "export" and path.suffix == ".py" and taken.isdisjoint((module, (name, folder.owner))):
                yield Plugin(noun, name, module, "", folder.owner, folder.version, path)


def _entry_point_plugins(noun: str, skip: bool) -> Iterator[Plugin]:
    for point in metadata.entry_points(group=f"diorama.{noun}"):
        owner = ("", "") if point.dist is None else (point.dist.name, point.dist.version)
        if point.name != "*":
            yield Plugin(noun, point.name, point.module, point.attr or "", *owner)
            continue
        suffix = _SUFFIXES.get(noun, ".py")
        for path in _public_files(point.value, skip):
            if path.suffix == suffix and suffix != ".py":
                yield Plugin(noun, path.stem, point.value, "", *owner, path)
            elif suffix == ".py" and (path.suffix == ".py" or (path / "__init__.py").is_file()):
                yield Plugin(noun, path.stem.replace("_", "-"), f"{point.value}.{path.stem}", "", *owner)


def _public_files(package: str, skip: bool) -> list[Path]:
    """Return the public files and folders of a package, sorted; its parents are imported, itself is not."""
    try:
        spec = util.find_spec(package)
    except ModuleNotFoundError:
        return []
    except (Exception, SystemExit) as error:  # importing runs other people's code
        if skip:
            return []
        raise PluginError(f"plug-ins in {package}: can't be found: {_one_line(error)}") from error
    folders = [Path(place) for place in (spec and spec.submodule_search_locations) or () if Path(place).is_dir()]
    return sorted(path for folder in folders for path in folder.iterdir() if path.name[0] not in "_.")


def shapes() -> tuple[str, ...]:
    """Return the names of all shapes, flat ones after Diorama's other shapes."""
    known = plugins("shapes")
    return tuple(dict.fromkeys((*(name for name in known if known[name].own), *FLAT_SHAPES, *known)))
