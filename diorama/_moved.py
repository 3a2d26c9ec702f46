"""Serves old imports: one table of the modules that version 0.2 moved. Version 0.3 removes this file."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

_USES = ("chat", "draw", "evaluation", "export", "gallery", "io", "items")
_RERENDER = ["edit", "find", "looks", "output_files", "pin_layout", "request", "rerender", "settle", "verification"]
# Old name -> new name, without `diorama.`; what is inside a package moved with it.
MOVED = {
    **{f"render.{name}": f"render.uses.{name}" for name in _USES},
    **{f"render.episode.{name}": f"render.uses.rerender.{name}" for name in _RERENDER},
    **{f"render.episode.{name}": f"render.uses.contrast.{name}" for name in ("contrast", "pairs")},
    "render.renderers.cycles.probe": "render.run.probe",
    "scene_specs.model.spec_data": "scene_specs.model.spec",
    "render.annotations.image_views": "render.uses.items.image_views",
    "render.run.feed": "render.uses.live.feed",
    "render.store.lance.torch_dataset": "render.uses.live.torch_dataset",
    "render.run.live": "render.uses.live.stream",
    "render.run.torch_items": "render.uses.live.torch_items",
    **{f"scene_specs.{name}": f"scene_specs.tasks.{name}" for name in ("chat", "exporting", "importing", "questions")},
    **{f"scene_specs.{name}": f"scene_specs.shapes.{name}" for name in ("invented", "shapenet")},
    **{
        f"scene_specs.model.{name}": f"scene_specs.tasks.{name}" for name in ("benchmark", "contrast", "items", "truth")
    },
    **{f"scene_specs.reading.{name}": f"scene_specs.tasks.{name}" for name in ("blocks", "siblings")},
    "scene_specs.language.answer_rule": "scene_specs.tasks.answer_rule",
    "scene_specs.reports.chi_square": "scene_specs.tasks.chi_square",
    "scene_specs.reports.json_diff": "scene_specs.language.json_diff",
    **{f"scene_specs.reports.{name}": f"scene_specs.files.{name}" for name in ("notebook", "tables")},
    "scene_specs.reports": "scene_specs.files",
}


class MovedModules:
    """Finds a moved module by its old name, also for pickles, with one warning that says the new one."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return where the module is now, or None for all others."""
        old = name.removeprefix("diorama.")
        while old and old not in MOVED:
            old = old.rpartition(".")[0]
        if not old or not name.startswith("diorama."):
            return None
        new = f"diorama.{MOVED[old]}{name.removeprefix(f'diorama.{old}')}"
        # What lay in `reports` lies in several packages now: its modules warn, not the package.
        if name == f"diorama.{old}" and old != "scene_specs.reports":
            text = f"`{name}` is now `{new}`; the old name goes in version 0.3"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        return ModuleSpec(name, _Alias(new))


class _Alias(Loader):
    """Loads a module by giving out the one of another name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back; its code has run."""
        module.__spec__ = self._spec


class FormerNames:
    """Says where the top-level packages of version 0.1.0 are now, if nothing else provides a package of that name."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError for these names."""
        if name in ("render", "scene_specs", "assets"):
            raise ModuleNotFoundError(f"no module {name!r}: `{name}` of Diorama is now `diorama.{name}`", name=name)


def serve() -> None:
    """Install both: the first before Python's own finders, which would load what is in a moved package once more."""
    sys.meta_path.insert(0, MovedModules)
    sys.meta_path.append(FormerNames)
