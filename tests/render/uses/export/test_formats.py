from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from diorama.render.uses.export import format_of
from diorama.render.uses.export.protocol import ExportReport
from diorama.scene_specs.errors import PluginError, StoreError
from diorama.scene_specs.language.registry import plugins
from tests.distributions import installed, write_distribution
from tests.render.uses.export.helpers import SPLITS, exported, make_store, run


def test_every_format_can_be_loaded() -> None:
    assert "folder" in plugins("exports")
    for name in plugins("exports"):
        assert callable(format_of(name).export)


def test_an_unknown_format_is_named_with_the_nearest() -> None:
    with pytest.raises(PluginError, match=r"unknown export 'foldr'.*did you mean 'folder'"):
        format_of("foldr")
    with pytest.raises(PluginError, match="unknown export 'base'"):
        format_of("base")


def test_packages_add_formats(tmp_path: Path) -> None:
    points = "alone = acme_export:export\nfiles = acme_export"
    code = "FROM_FILES = True\ndef export(): ...\n"
    write_distribution(tmp_path, "acme", {"exports": points}, {"acme_export.py": code})
    with installed(tmp_path):
        assert format_of("alone").export is format_of("files").export
        assert (format_of("alone").from_files, format_of("files").from_files) == (False, True)
        assert (format_of("alone").sharded, format_of("files").sharded) == (True, False)


_CARDS = """
import json
from pathlib import Path
from diorama.scene_specs.tasks.exporting.layouts import EpisodeFolders

def folder_of(episode_id):
    return Path(episode_id)

def files_of(record, identity):
    return {"truth.json": json.dumps({"diorama": dict(identity)}).encode()}

FOLDERS = EpisodeFolders(1, "truth.json", folder_of, files_of)
"""
_PICTURES = """
from diorama.scene_specs.tasks.exporting.layouts import ImageLists

class Lists(ImageLists):
    def write(self, record):
        self.stream("all.json", ["ids"]).add("ids", record.episode_id)
        return [(f"{record.episode_id}.png", record.images[0].png)]
"""


def test_a_benchmark_in_a_folder_brings_its_formats(tmp_path: Path) -> None:
    files = {"acme/__init__.py": "", "acme/toys/__init__.py": "", "acme/toys/_export.py": ""}
    files |= {"acme/toys/export.py": _PICTURES, "acme/toys/export_flash_cards.py": _CARDS}
    write_distribution(tmp_path / "site", "acme", {"benchmarks": "* = acme"}, files)
    store = make_store(tmp_path)
    with installed(tmp_path / "site"):
        assert [name for name in plugins("exports") if "toys" in name] == ["toys", "toys-flash-cards"]
        assert "acme.toys" not in sys.modules
        assert run(store, "toys", tmp_path / "pictures").exported == len(SPLITS)
        assert run(store, "toys-flash-cards", tmp_path / "cards").exported == len(SPLITS)
    assert json.loads((tmp_path / "pictures/all.json").read_text()) == {"ids": [*SPLITS]}
    assert exported(tmp_path / "cards").keys() == {
        f"{name}/{file}" for name in SPLITS for file in ("truth.json", "SHA256SUMS")
    }


def test_a_function_of_a_benchmark_comes_before_its_layouts(tmp_path: Path) -> None:
    code = f"{_CARDS}{_PICTURES}\ndef export(): ...\n"
    files = {"acme/__init__.py": "", "acme/toys/__init__.py": "", "acme/toys/export.py": code}
    files |= {"acme/toys/export_nothing.py": "FOLDER = 1"}
    write_distribution(tmp_path, "acme", {"benchmarks": "* = acme"}, files)
    with installed(tmp_path):
        assert format_of("toys").export is sys.modules["acme.toys.export"].export
        with pytest.raises(PluginError, match="'toys-nothing' of acme: expected a function `export`, FOLDERS or Lists"):
            format_of("toys-nothing")


def test_a_long_report_stays_readable() -> None:
    report = ExportReport(damaged=[f"episode {number}: damaged" for number in range(1000)])
    text = str(report.error())
    assert "1,000 episodes not exported" in text
    assert len(text.splitlines()) < 10
    assert ExportReport(exported=3, skipped=2).error() is None


def test_what_differs_is_reported_besides_what_failed() -> None:
    error = ExportReport(damaged=["episode a: damaged"], differing=["episode b: differs"]).error()
    assert isinstance(error, StoreError)
    assert all(text in str(error) for text in ("episode a: damaged", "episode b: differs", "--overwrite"))
