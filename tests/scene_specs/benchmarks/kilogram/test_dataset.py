"""Annotation files and folders in the published form: read, and what is wrong with them said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diorama.scene_specs.benchmarks.kilogram.annotations import read_annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import own_dataset, read_dataset, read_drawings
from diorama.scene_specs.errors import SpecError
from tests.scene_specs.benchmarks.kilogram.published import annotation, make_published


def read(**annotations: Any) -> tuple[int, list[str]]:
    found, diagnostics = read_annotations(
        json.dumps({name: {"annotations": a} for name, a in annotations.items()}), "f.json"
    )
    return sum(map(len, found.values())), [str(diagnostic) for diagnostic in diagnostics]


def good() -> dict[str, Any]:
    return annotation(np.random.default_rng(5))


def test_a_file_is_read(tmp_path: Path) -> None:
    _, file, _ = make_published(tmp_path)
    found, diagnostics = read_annotations(file.read_text(), "dense.json")
    assert diagnostics == []
    data = json.loads(file.read_text())
    for name, items in found.items():
        for number, item in enumerate(items):
            raw = data[name]["annotations"][number]
            assert (item.whole, item.number) == (raw["whole"]["wholeAnnotation"], number)
            assert dict(zip("1234567", item.part, strict=True)) == raw["part"]
            assert item.parts == len({*raw["part"].values()})


def test_wrong_annotations_are_left_out_and_the_others_keep_their_number() -> None:
    six = {**good(), "part": dict.fromkeys("123456", "x")}
    blank = {**good(), "whole": {"wholeAnnotation": "  "}}
    text = json.dumps({"a": {"annotations": [six, good(), blank, "?", good()]}})
    found, diagnostics = read_annotations(text, "f.json")
    assert [item.number for item in found["a"]] == [1, 4]
    assert [diagnostic.path for diagnostic in diagnostics] == [
        "annotations[0].part", "annotations[2].whole.wholeAnnotation", "annotations[3]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"), ("[]", "expected an object"), ("[" * 100_000, "not JSON"), ('{"a": 1}', "expected a list"),
        ('{"../a": {"annotations": []}}', "found tangram"), ('{"a": {"annotations": {}}}', "expected a list"),
        ('{"a": {"annotations": []}, "a": {"annotations": []}}', "given twice"),
    ],
)  # fmt: skip
def test_files_that_are_none(text: str, said: str) -> None:
    found, diagnostics = read_annotations(text, "f.json")
    assert not any(found.values())
    assert any(said in str(diagnostic) for diagnostic in diagnostics)


@pytest.mark.parametrize("text", ["a #1 sign", "half \ud83d of a pair", "nul \x00"])
def test_texts_that_the_published_form_cannot_hold(text: str) -> None:
    count, diagnostics = read(a=[{**good(), "whole": {"wholeAnnotation": text}}, good()])
    assert count == 1
    assert "annotations[0].whole.wholeAnnotation" in diagnostics[0]
    named = {**good(), "part": {**good()["part"], "3": text}}
    count, diagnostics = read(a=[named, good()])
    assert count == 1
    assert "annotations[0].part.3" in diagnostics[0]


def test_metadata_that_says_otherwise() -> None:
    other = good()
    next(iter(other["metadata"].values()))["annotation"] = "something else"
    count, diagnostics = read(a=[other, good()])
    assert count == 2
    assert len(diagnostics) == 1
    assert "final actions name another part" in diagnostics[0]


def test_a_folder(tmp_path: Path) -> None:
    drawings, file, splits = make_published(tmp_path)
    dataset = read_dataset(drawings, [file], [splits])
    assert [str(diagnostic).split(": ", 1)[1] for diagnostic in dataset.diagnostics] == [
        "leaves out 1 tangram without a drawing (page9-9)"
    ]
    assert {name: len(names) for name, names in dataset.splits.items()} == {"train": 20, "dev": 18, "heldout": 2}
    assert len(dataset.measured) == 40
    with pytest.raises(SpecError, match="page9-9"):
        read_dataset(drawings, [file], [splits], strict=True)


def test_what_is_wrong_is_left_out_or_strict(tmp_path: Path) -> None:
    drawings, file, _ = make_published(tmp_path)
    (drawings / "page1-0.svg").write_text("<svg/>")
    (drawings / "page1-1.svg").unlink()
    (drawings / "notes.txt").write_text("not a drawing")
    dataset = read_dataset(drawings, [file])
    assert {"page1-0", "page1-1"}.isdisjoint(dataset.annotations)
    said = " ".join(map(str, dataset.diagnostics))
    assert "page1-0.svg" in said
    assert "page1-1" in said
    with pytest.raises(SpecError):
        read_dataset(drawings, [file], strict=True)
    with pytest.raises(SpecError, match="no tangram is left"):
        read_dataset(tmp_path / "nowhere", [file])


@pytest.mark.parametrize("text", ["[]", '{"train": "a"}', '{"test": []}', "{", '{"dev": [1]}'])
def test_split_files_that_are_none(tmp_path: Path, text: str) -> None:
    drawings, file, splits = make_published(tmp_path, 3)
    splits.write_text(text)
    with pytest.raises(SpecError, match="data_split"):
        read_dataset(drawings, [file], [splits])


def test_two_drawings_of_a_name_and_flat_pieces_are_left_out(tmp_path: Path) -> None:
    drawings, _, _ = make_published(tmp_path, 3)
    (drawings / "page1-0.SVG").write_bytes((drawings / "page1-1.svg").read_bytes())
    flat = "".join(f'<polygon id="{piece}" points="0,0 {piece},0 9,0"/>' for piece in range(1, 8))
    (drawings / "page1-2.svg").write_text(f'<svg viewBox="0 0 9 9">{flat}</svg>')
    figures, measured, diagnostics = read_drawings(drawings)
    assert {*figures} == {"page1-0", "page1-1"}
    assert figures["page1-0"].polygons == figures["page1-1"].polygons
    assert [one.name for one in measured] == ["page1-0", "page1-1", "page1-2"]
    said = " ".join(map(str, diagnostics))
    assert "page1-0.svg: is left out: page1-0.SVG has the same name" in said
    assert "page1-2.svg: piece 3 is not convex" in said


def test_splits_are_disjoint_and_validation_is_of_training(tmp_path: Path) -> None:
    drawings, file, _ = make_published(tmp_path)
    for dataset in (own_dataset(0), own_dataset(3), read_dataset(drawings, [file])):
        names = [name for split in dataset.splits.values() for name in split]
        assert sorted(names) == sorted(dataset.annotations)
        assert {*dataset.val} <= {*dataset.splits["train"]}
        val, train = dataset.of_split("val"), dataset.of_split("train")
        assert [item.number for items in val.values() for item in items] == [0] * len(val)
        keys = [item.key for part in (val, train) for items in part.values() for item in items]
        assert len(keys) == len({*keys}) == sum(len(dataset.annotations[name]) for name in dataset.splits["train"])
    assert own_dataset(0).splits != own_dataset(3).splits


def test_validation_by_a_file(tmp_path: Path) -> None:
    drawings, file, splits = make_published(tmp_path)
    data = json.loads(splits.read_text())
    splits.write_text(json.dumps({**data, "val": ["page1-3", "page1-30"], "dev": [*data["dev"], "page1-3"]}))
    dataset = read_dataset(drawings, [file], [splits])
    assert dataset.val == ("page1-3",)
    said = " ".join(map(str, dataset.diagnostics))
    assert "page1-30: val: is not a training tangram" in said
    assert "page1-3: dev: is in train, too" in said


def test_the_published_files(tmp_path: Path) -> None:
    """`development` is `dev`, all names without a drawing or a description share a line, validation is not redrawn."""
    drawings, file, splits = make_published(tmp_path)
    names = sorted(path.stem for path in drawings.iterdir())
    data = json.loads(file.read_text())
    undescribed = names[:5]
    file.write_text(json.dumps({name: data[name] for name in names[5:]}))
    listed = {"train": [*names[:20], "page6-51", "page6-66"], "heldout": names[30:], "development": names[20:30]}
    splits.write_text(json.dumps({**listed, "dense": ["page4-170"]}))
    held = [names[0], names[7], names[9]]
    validation = tmp_path / "val.py"
    validation.write_text(f"val = {[(f'{name}_0', 'old man#arm#robe/hat') for name in held]}\n\n\nval_files = {held}")
    dataset = read_dataset(drawings, [file], [splits, validation])
    (line,) = [str(diagnostic) for diagnostic in dataset.diagnostics]
    assert "3 tangrams without a drawing (page4-170, page6-51, page6-66)" in line
    assert f"5 tangrams without a description ({', '.join(undescribed[:3])}, ...)" in line
    assert dataset.splits == {
        "train": tuple(names[5:20]), "dev": tuple(names[20:30]), "heldout": tuple(names[30:]), "dense": (),
    }  # fmt: skip
    assert dataset.val == (names[7], names[9])
