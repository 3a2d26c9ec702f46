"""The registry of plug-ins, with packages that a test installs."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from diorama.render.cli.plugin_help import summary
from diorama.scene_specs.errors import PluginError
from diorama.scene_specs.language.registry import find_plugin, plugin, plugin_error, plugins, shapes
from tests.distributions import forget, installed, write_distribution

BROKEN = "raise RuntimeError('broken when imported')\n"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with installed(tmp_path):
        yield tmp_path


def acme(folder: Path, noun: str, points: str, **files: str) -> None:
    write_distribution(folder, "acme-lab", {noun: points}, {"acme_lab/__init__.py": ""} | files)
    forget()


@pytest.mark.parametrize(
    ("noun", "names"),
    [
        ("materials", ["emission", "glass", "matte", "metal", "rubber"]),
        ("shapes", ["cube", "cylinder", "sphere"]),
        ("stages", ["clevr", "flat", "mewl", "pictures", "quadrants", "studio", "table", "tangram"]),
        ("renderers", ["cycles", "fake"]),
    ],
)
def test_what_diorama_registers(noun: str, names: list[str]) -> None:
    own = [name for name, found in plugins(noun).items() if found.own]
    assert set(names) <= set(own) and own == sorted(own)
    for name in names:
        assert plugin(noun, name).load() is not None


def test_a_single_object(folder: Path) -> None:
    acme(
        folder, "exports", "velvet = acme_lab.cloth:Velvet.build", **{"acme_lab/cloth.py": "class Velvet:\n build = 7"}
    )
    found = plugin("exports", "velvet")
    assert (found.owner, found.version, found.own) == ("acme-lab", "0.1.0", False)
    assert "acme_lab.cloth" not in sys.modules, "nothing is imported before load"
    assert found.load() == 7


def test_a_package_of_plug_ins(folder: Path) -> None:
    files = {
        "acme_lab/things/soft_silk.py": BROKEN,
        "acme_lab/things/_helper.py": BROKEN,
        "acme_lab/things/notes.txt": "",
        "acme_lab/things/__init__.py": BROKEN,
        "acme_lab/things/big/__init__.py": BROKEN,
        "acme_lab/things/data/file.json": "{}",
    }
    acme(folder, "exports", "* = acme_lab.things", **files)
    assert [name for name, found in plugins("exports").items() if not found.own] == ["big", "soft-silk"]
    assert plugin("exports", "soft-silk").module == "acme_lab.things.soft_silk"


def test_data_is_the_path_of_a_file_in_both_forms(folder: Path) -> None:
    code = "def one(): return __file__"
    acme(folder, "shapes", "one = acme_lab:one", **{"acme_lab/__init__.py": code})
    assert plugin("shapes", "one").load() == folder / "acme_lab/__init__.py"
    write_distribution(
        folder, "more", {"shapes": "* = more.meshes"}, {"more/__init__.py": "", "more/meshes/two.npz": ""}
    )
    forget()
    assert plugin("shapes", "two").load() == folder / "more/meshes/two.npz"
    assert shapes()[-2:] == ("one", "two") and {"cube", "circle"} <= set(shapes())


def test_a_name_that_two_packages_provide_names_both(folder: Path) -> None:
    acme(folder, "materials", "silk = acme_lab:silk")
    write_distribution(folder, "other", {"materials": "silk = other:silk"}, {}, "3.2")
    forget()
    with pytest.raises(PluginError, match=r"'silk'.* acme-lab 0\.1\.0 .* other 3\.2\b"):
        plugins("materials")
    assert plugins("stages"), "other nouns are not affected"


def test_a_name_of_diorama_cannot_be_replaced(folder: Path) -> None:
    acme(folder, "materials", "glass = acme_lab:glass")
    with pytest.raises(PluginError, match=r"'glass'.* diorama-render .* acme-lab 0\.1\.0"):
        plugin("materials", "rubber")


def test_a_material_cannot_have_the_name_of_a_models_own(folder: Path) -> None:
    acme(folder, "materials", "unlit = acme_lab:unlit")
    with pytest.raises(PluginError, match=r"'unlit'.* acme-lab 0\.1\.0: models have"):
        plugins("materials")


def test_an_unknown_name_has_a_hint() -> None:
    with pytest.raises(PluginError, match=r"'glas'.* emission, .* 'glass'\?"):
        plugin("materials", "glas")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("acme_lab.worn:Worn", r"RuntimeError: broken when imported"),
        ("acme_lab.gone", r"ModuleNotFoundError: .*acme_lab\.gone"),
        ("acme_lab:Gone", r"AttributeError: .*Gone"),
    ],
)
def test_what_cannot_be_imported_is_named(folder: Path, value: str, problem: str) -> None:
    acme(folder, "renderers", f"worn = {value}", **{"acme_lab/worn.py": BROKEN})
    assert "worn" in plugins("renderers")
    with pytest.raises(PluginError, match=f"renderer 'worn' of acme-lab: can't import {value}: {problem}"):
        plugin("renderers", "worn").load()


def test_an_object_by_module_and_name(folder: Path) -> None:
    acme(folder, "renderers", "worn = acme_lab:Worn", **{"acme_lab/__init__.py": "Worn = 3"})
    assert find_plugin("renderers", "worn") == plugin("renderers", "worn")
    assert find_plugin("renderers", "acme_lab:Worn").load() == 3
    assert find_plugin("renderers", "diorama.render.renderers.fake:FakeRenderer").own


def test_the_first_line_of_the_manual_without_an_import(folder: Path) -> None:
    acme(
        folder, "exports", "worn = acme_lab.worn:Worn", **{"acme_lab/worn.py": f'"""First line.\n\nMore."""\n{BROKEN}'}
    )
    assert summary(plugin("exports", "worn")) == "First line."
    assert summary(find_plugin("exports", "acme_lab.gone:x")) == ""


def test_a_package_that_raises_when_it_is_searched_is_named(folder: Path) -> None:
    write_distribution(folder, "acme-lab", {"materials": "* = acme_lab.things"}, {"acme_lab/__init__.py": BROKEN})
    forget()
    with pytest.raises(PluginError, match=r"plug-ins in acme_lab.things: .*broken when imported"):
        plugins("materials")


def formats() -> list[str]:
    return [name for name, found in plugins("exports").items() if not found.own]


@pytest.mark.parametrize("points", ["toys = acme_lab.toys", "* = acme_lab"])
def test_formats_beside_a_benchmark_that_cannot_be_found(folder: Path, points: str) -> None:
    files = {"acme_lab/__init__.py": "", "acme_lab/toys/__init__.py": "", "acme_lab/toys/export.py": ""}
    write_distribution(folder, "broken", {"benchmarks": "* = torn.all\ntorn = torn.one"}, {"torn/__init__.py": BROKEN})
    acme(folder, "benchmarks", points, **files, **{"acme_lab/_worn.py": "def build(): 1 / 0"})
    assert formats() == ["toys"]
    write_distribution(folder, "worn", {"renderers": "worn = acme_lab._worn"}, {})
    forget()
    with pytest.raises(ZeroDivisionError) as error:
        plugin("renderers", "worn").load().build()
    assert "renderer 'worn' of worn failed: ZeroDivisionError" in str(plugin_error(error.value))


def test_a_zipped_benchmark_brings_no_formats(folder: Path) -> None:
    with zipfile.ZipFile(folder / "toys.zip", "w") as file:
        file.writestr("zipped/__init__.py", "")
        file.writestr("zipped/export.py", "")
    acme(folder, "benchmarks", "toys = zipped")
    with installed(folder / "toys.zip"):
        assert "folder" in plugins("exports") and not formats()


@pytest.mark.parametrize(
    "point", ["toys = acme_lab.toys.export", "toys = acme_lab:export", "cards = acme_lab.toys.export"]
)
def test_a_format_of_a_benchmark_that_an_entry_point_names_is_that_of_the_entry_point(folder: Path, point: str) -> None:
    files = {"acme_lab/__init__.py": "", "acme_lab/toys/__init__.py": "", "acme_lab/toys/export.py": ""}
    write_distribution(folder, "acme-lab", {"benchmarks": "toys = acme_lab.toys", "exports": point}, files)
    forget()
    assert formats() == [point.partition(" ")[0]]
    assert f"{plugin('exports', formats()[0]).module}" == point.partition("= ")[2].partition(":")[0]
