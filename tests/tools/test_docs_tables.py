"""The tables of documents that are made from the models."""

from __future__ import annotations

import shutil
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from diorama.scene_specs.language.registry import plugins
from diorama.scene_specs.model import spec
from diorama.scene_specs.model.schema import meanings, spec_schema
from tools import docs_tables


class ChangedPointer(spec.PointerSpec):
    kind: Literal["hand", "hand-left", "arrow"] = "arrow"
    size: Annotated[float, Field(gt=0, le=12)] | None = None


MODELS = [
    each
    for each in vars(spec).values()
    if isinstance(each, type) and issubclass(each, spec.SpecPart) and each.model_fields
]


def run(write: bool = False) -> int:
    return docs_tables.main(Namespace(write=write))


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for page in docs_tables.DOCS.glob("*.md"):
        if docs_tables.TABLE.search(page.read_text("utf-8")):
            shutil.copy(page, tmp_path)
    monkeypatch.setattr(docs_tables, "DOCS", tmp_path)
    return tmp_path


def test_the_pages_are_up_to_date() -> None:
    assert run() == 0, "run `python -m tools docs-tables --write`"
    assert (docs_tables.DOCS / "images/materials.png").is_file()


@pytest.mark.parametrize("noun", ["passes", "materials"])
def test_plugins_of_other_packages_have_no_row(noun: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (first, *_) = plugins(noun).values()
    more = {noun: {"glow": replace(first, name="glow", owner="acme-lab")}}
    monkeypatch.setattr(docs_tables, "plugins", lambda name: plugins(name) | more.get(name, {}))
    assert run() == 0


def test_every_model_of_the_spec_has_a_table_or_is_listed(pages: Path) -> None:
    tables = {found[1] for page in pages.iterdir() for found in docs_tables.TABLE.findall(page.read_text("utf-8"))}
    models = {each.__name__ for each in MODELS}
    # A view is a camera with a name; an invented shape is an InventedSpec; an area is explained where it occurs.
    without = {"CameraSpec", "InventedShape", "AreaSpec", *docs_tables.LISTED}
    assert tables == models - without | {"materials", "grounds", "patterns", "passes"}


@pytest.mark.parametrize(
    ("now", "old"),
    [
        ("| `ior` | number (1 to 4) | 1.1 |", "| `ior` | number (1 to 4) | 1.5 |"),
        ("| `up` | `y`, `z` | `y` |", "| `up` | `y`, `z` | - |"),
        ("| `mesh` | text without `?` (1 to 400 characters) | **required** |", "| `mesh` | text | - |"),
        ("| `constraints` | list (up to 1,000): object |", "| `constraints` | list |"),
        ("| `depth` | H x W | float32 |", "| `depth` | H x W | float16 |"),
    ],
)
def test_an_old_page_is_noticed_and_updated(
    pages: Path, capsys: pytest.CaptureFixture[str], now: str, old: str
) -> None:
    (page,) = (page for page in pages.iterdir() if now in page.read_text("utf-8"))
    text = page.read_text("utf-8")
    page.write_text(text.replace(now, old), "utf-8")
    assert run() == 1
    assert now in capsys.readouterr().out
    assert run(write=True) == 0
    assert page.read_text("utf-8") == text


def test_a_changed_model_changes_its_table_and_keeps_the_words(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec, "PointerSpec", ChangedPointer)
    assert run() == 1
    assert run(write=True) == 0
    text = (pages / "fields.md").read_text("utf-8")
    assert "| `kind` | `hand`, `hand-left`, `arrow` | `arrow` | shape of the pointer |" in text
    assert "| `size` | number (above 0, up to 12) | 0.6 | scale of the pointer's mesh |" in text


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_has_its_meaning(model: type[spec.SpecPart]) -> None:
    assert [*meanings(model)] == [*model.model_fields]
    described = spec_schema()["$defs"][model.__name__]["properties"]
    assert all(field["description"] and "](" not in field["description"] for field in described.values())
