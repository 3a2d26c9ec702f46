"""Old imports are served by the table of moved modules."""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module, reload

import pytest

from diorama._moved import MOVED
from diorama.scene_specs.tasks.truth import TaskTruth


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Old names are forgotten before and after: only their first import warns."""

    def forget() -> None:
        for name in [name for name in sys.modules if any(f"{name}.".startswith(f"diorama.{old}.") for old in MOVED)]:
            del sys.modules[name]

    forget()
    yield
    forget()


# PyTorch is not among the dependencies, and only torch_items needs it.
@pytest.mark.alike
@pytest.mark.parametrize("old", sorted({*MOVED} - {"render.run.torch_items", "scene_specs.reports"}))
def test_an_old_name_gives_the_module_and_a_warning_with_the_new_name(old: str) -> None:
    new = f"diorama.{MOVED[old]}"
    with pytest.warns(DeprecationWarning, match=f"`diorama.{old}` is now `{new}`") as warned:
        module = import_module(f"diorama.{old}")
    assert module is import_module(new)
    assert module.__spec__ is not None
    assert module.__name__ == module.__spec__.name == new
    assert warned[-1].filename == __file__ or "importlib" in warned[-1].filename


def test_a_module_of_a_moved_package_exists_once_and_warns_once() -> None:
    with pytest.warns(DeprecationWarning) as warned:
        module = import_module("diorama.render.export.formats.coco")
    assert len(warned) == 1
    assert module is import_module("diorama.render.uses.export.formats.coco")
    assert reload(module) is module


def test_a_pickle_with_an_old_name_is_read() -> None:
    text = pickle.dumps(TaskTruth, protocol=0).replace(b"tasks.truth", b"model.truth")
    assert b"diorama.scene_specs.model.truth" in text
    with pytest.warns(DeprecationWarning, match="now `diorama.scene_specs.tasks.truth`"):
        assert pickle.loads(text) is TaskTruth


def test_other_names_are_left_alone() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import_module("diorama.render.uses.export")
        with pytest.raises(ModuleNotFoundError, match=r"diorama\.render\.exported"):
            import_module("diorama.render.exported")
