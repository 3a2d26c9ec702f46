"""The tangrams that come with Diorama, and how different they are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from diorama.assets.build.tangrams.__main__ import SEEN, build, described
from diorama.scene_specs.benchmarks.kilogram.dataset import OWN_FOLDER, own_annotations, own_tangrams
from diorama.scene_specs.benchmarks.kilogram.grow import (
    MOST_ALIKE,
    draw_varied,
    likeness,
    looks,
    silhouette,
    varied,
)
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES, figure_of, tangram_problems
from diorama.scene_specs.benchmarks.kilogram.report import measure


def test_the_builder_makes_them(tmp_path: Path) -> None:
    build(tmp_path)
    for name in ("tangrams.json", "annotations.json"):
        assert (tmp_path / name).read_bytes() == (OWN_FOLDER / name).read_bytes()


def test_there_are_enough_and_all_are_valid() -> None:
    tangrams = own_tangrams()
    assert len(tangrams) >= 200
    assert [diagnostic for one in tangrams for diagnostic in tangram_problems(one)] == []
    assert [diagnostic for one in tangrams for diagnostic in measure(figure_of(one)).diagnostics] == []


def test_each_is_named_and_parted() -> None:
    annotations = own_annotations()
    assert [*annotations] == [one.name for one in own_tangrams()]
    for items in annotations.values():
        assert items
        for item in items:
            assert sorted(piece for pieces in item.groups().values() for piece in pieces) == [*PIECES]
            assert item.parts >= 2
    assert len({items[0].whole for items in annotations.values()}) > 190


def test_the_descriptions_are_those_that_were_written() -> None:
    written = list(described(SEEN.read_text("utf-8")))
    kept = [item for items in own_annotations().values() for item in items]
    assert sorted(written, key=lambda item: item.key) == sorted(kept, key=lambda item: item.key)


def test_no_two_look_alike() -> None:
    masks = [silhouette(one) for one in own_tangrams()[:60]]
    flat = np.stack([mask.reshape(-1) for mask in masks]).astype(np.float32)
    for number, mask in enumerate(masks):
        assert likeness(mask, np.delete(flat, number, axis=0)) <= MOST_ALIKE
        assert likeness(mask, flat) == 1


def test_likeness_minds_no_turn_and_no_side() -> None:
    mask = silhouette(own_tangrams()[0])
    for turned in (np.rot90(mask), mask[::-1], mask.T):
        assert likeness(turned, mask.reshape(1, -1).astype(np.float32)) == 1
    assert looks(mask).shape == (8, mask.size)
    assert likeness(mask, np.zeros((0, mask.size), np.float32)) == 0


def test_a_silhouette_has_the_area_of_seven_pieces() -> None:
    one = own_tangrams()[4]
    points = np.concatenate([np.array(polygon) for polygon in one.floats()])
    unit = float((points.max(axis=0) - points.min(axis=0)).max()) / 200
    assert abs(silhouette(one, 200).sum() * unit**2 - 8) < 0.1


def test_variety_gives_up_where_all_are_alike() -> None:
    one = own_tangrams()[0]
    assert list(varied((one for _ in range(5000)), 3)) == [one]
    made = list(draw_varied(1, 12, 0.1, 0.5, 0.7))
    assert len({tangram.name for tangram in made}) == 12
    assert list(draw_varied(1, 5, 0.1, 0.5, 0.7)) == made[:5]


def test_the_files_say_what_they_are() -> None:
    data = json.loads((OWN_FOLDER / "tangrams.json").read_text())
    assert data["version"] == 1
    assert {*json.loads((OWN_FOLDER / "annotations.json").read_text())} == {*data["tangrams"]}
