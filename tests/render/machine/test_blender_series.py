"""The series of Blender in the identity of an image, and what is said where there is none."""

from __future__ import annotations

import sys

import pytest

from diorama.render.compiler.render_key import IDENTITY_VERSION, render_key_of
from diorama.render.machine import blender_series
from diorama.render.machine.blender_series import PYTHONS, installed_series, require_module, series_of
from diorama.render.uses.rerender.find import other_series
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.record import RenderKey
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.factories import SETTINGS, make_spec


def key_with(monkeypatch: pytest.MonkeyPatch, series: str, renderer: str = "cycles") -> RenderKey:
    monkeypatch.setattr(blender_series, "installed_series", lambda: series)
    return render_key_of(EpisodeSpec.model_validate(make_spec()), SETTINGS, renderer)


def test_each_series_has_keys_of_its_own_and_those_of_4_5_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = key_with(monkeypatch, "4.5"), key_with(monkeypatch, "5.2")
    assert (old.version, new.version) == (IDENTITY_VERSION, f"{IDENTITY_VERSION}+blender5.2")
    assert (series_of(old), series_of(new)) == ("4.5", "5.2") and old.hash() != new.hash()
    assert key_with(monkeypatch, "4.5", "fake") == key_with(monkeypatch, "5.2", "fake")
    assert series_of(key_with(monkeypatch, "5.2", "fake")) is None


def test_an_image_of_the_other_series_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    old = key_with(monkeypatch, "4.5")
    assert not other_series(old, "cycles")
    new = key_with(monkeypatch, "5.2")
    assert other_series(old, "cycles") == "Blender 4.5, this is Blender 5.2"
    assert not other_series(new, "cycles") and not other_series(old, "fake")


def test_the_installed_series_is_that_of_this_python() -> None:
    """The tests run where images are rendered."""
    assert PYTHONS[installed_series()] == "{}.{}".format(*sys.version_info)


def test_what_renders_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    require_module("bpy")
    monkeypatch.setitem(sys.modules, "bpy", None)
    with pytest.raises(UsageError, match=r"^rendering needs the package bpy.*3\.11 .*4\.5, .*3\.13 .*5\.2; [^\n]*$"):
        require_module("bpy")
