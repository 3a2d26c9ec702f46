"""`--format iwisdm-stimuli`, read as the published code reads a stimulus set."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
from PIL import Image

from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import format_of
from diorama.render.uses.export.protocol import ExportOptions
from diorama.scene_specs.benchmarks.iwisdm import Options, Stimuli
from diorama.scene_specs.benchmarks.iwisdm.generate import stimulus_specs, trial_specs
from diorama.scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, read_stimuli
from diorama.scene_specs.benchmarks.iwisdm.verify import verify_spec
from tests.render.uses.export.test_iwisdm import made


def test_the_specs_show_every_view_once() -> None:
    specs = list(stimulus_specs(Stimuli(split="val")).items)
    shown = [
        (item["shape"], *item["view"].values())
        for spec in specs
        for frame in spec["frames"]
        for item in frame["objects"]
    ]
    assert len({*shown}) == len(shown) == 64 * 4 * 3
    assert [verify_spec(spec) for spec in specs] == [""] * 8


def test_sets_of_two_files_fit_into_one_store_and_pictures_have_one_view(tmp_path: Path) -> None:
    sets = []
    for model in ("#1", "picture-1"):
        file = tmp_path / f"{model}.json"
        file.write_text(json.dumps({"cars": [model], "mugs": [model]}))
        sets.append(list(stimulus_specs(Stimuli(stimuli=file)).items))
    assert len({spec["id"] for specs in sets for spec in specs}) == 4
    assert [sum(len(frame["objects"]) for spec in specs for frame in spec["frames"]) for specs in sets] == [24, 8]


def test_a_stimulus_set_of_trials(tmp_path: Path) -> None:
    options = Options(benchmark="low", properties="category", count=2, fixation="none", seed=8)
    records = [made(spec) for spec in trial_specs(options)]
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put(records)
    report = format_of("iwisdm-stimuli").export(store, tmp_path / "out", ExportOptions(), lambda _: None)
    assert (report.exported, report.failed) == (2, [])
    with (tmp_path / "out/train_meta.csv").open() as file:
        rows = {int(row["ref"]): row for row in csv.DictReader(file)}
    assert {int(path.name) for path in (tmp_path / "out/train").iterdir()} == {*rows}
    for record in records:
        for one in (record.scene.task or {})["objects"]:
            pixels = np.asarray(Image.open(io.BytesIO(record.images[one["frame"]].png)))
            row, column = (int(word in one["location"]) for word in ("bottom", "right"))
            quadrant = pixels[112 * row : 112 * (row + 1), 112 * column : 112 * (column + 1)]
            same = [
                ref
                for ref in rows
                if np.array_equal(np.asarray(Image.open(tmp_path / f"out/train/{ref}/image.png")), quadrant)
            ]
            expected = (one["category"], one["object"], DEFAULT.categories[one["category"]])
            assert expected in [(int(rows[k]["ctg_mod"]), int(rows[k]["obj_mod"]), rows[k]["ctg"]) for k in same]
    assert format_of("iwisdm-stimuli").export(store, tmp_path / "out", ExportOptions(), lambda _: None).skipped == 2


def test_episodes_of_other_models_are_named_and_not_lost(tmp_path: Path) -> None:
    """Numbers of models count within the models of a trial, so one table can't have those of two sets."""
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    sets = [DEFAULT, read_stimuli('{"planes": ["#1"], "tables": ["#1"]}')]
    for name, stimuli in zip("ab", sets, strict=True):
        options = Options(benchmark="low", count=1, fixation="none", name=name)
        store.put([made(spec) for spec in trial_specs(options, stimuli)])
    report = format_of("iwisdm-stimuli").export(store, tmp_path / "out", ExportOptions(), lambda _: None)
    assert report.exported == 1 and len(report.failed) == 1
    assert "iwisdm/train/b/000000" in str(report.failed) and "numbers its models otherwise" in str(report.failed)


def test_frames_with_a_cross_are_left_out(tmp_path: Path) -> None:
    (spec,) = trial_specs(Options(benchmark="low", count=1))
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([made(spec)])
    format_of("iwisdm-stimuli").export(store, tmp_path / "out", ExportOptions(), lambda _: None)
    assert len([*(tmp_path / "out/train").iterdir()]) == 1
