"""`--format kilogram`, read back by a reader written from the description of the published files."""

from __future__ import annotations

import csv
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import format_of
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.dataset import own_dataset
from diorama.scene_specs.benchmarks.kilogram.emit import game_spec, picture_specs
from diorama.scene_specs.benchmarks.kilogram.examples import CONDITIONS, caption, games
from diorama.scene_specs.benchmarks.kilogram.export import games_path
from diorama.scene_specs.benchmarks.kilogram.truth import Truth
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories
from tests.render.store.rendered import rendered
from tests.render.uses.export.helpers import contents

DATA = own_dataset(0)
OPTIONS = Options(size=32, contexts=1)


def recorded(spec: Any) -> EpisodeRecord:
    settings = settings_for("draft", 32, 32)
    return make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), factories.make_job(spec), settings)


@cache
def records() -> tuple[EpisodeRecord, ...]:
    found = list(games(DATA.of_split("dev"), OPTIONS, {}))[:2]
    return tuple(recorded(game_spec(DATA, game, name, OPTIONS)) for game in found for name in CONDITIONS)


def run(store: LanceStore, out: Path, **options: Any) -> ExportReport:
    return format_of("kilogram").export(store, out, ExportOptions(**options), lambda _: None)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("kilogram")
    store = LanceStore.create(str(base / "s.lance"), fsync=False)
    store.put(list(records()))
    report = run(store, base / "out")
    assert (report.exported, report.failed, report.differing) == (8, [], [])
    return base


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy for each test."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path


def blocks(path: Path) -> list[list[tuple[str, str, str]]]:
    data = json.loads(path.read_text())
    rows = list(zip(data["targets"], data["images"], data["texts"], strict=True))
    return [rows[k : k + 10] for k in range(0, len(rows), 10)]


def test_games_as_published(folder: Path) -> None:
    dev = folder / "out/development/texts/controlled"
    contexts = {name: blocks(dev / f"{name}.json") for name in CONDITIONS}
    for name, found in contexts.items():
        said, colored = CONDITIONS[name]
        assert len(found) == 2
        for block in found:
            images = [image for _, image, _ in block]
            assert len({*images}) == 10
            assert {target for target, _, _ in block} == {images[0]}
            where = folder / "out/development/images" / ("color" if colored else "black")
            assert all((where / f"{image}.png").read_bytes().startswith(b"\x89PNG") for image in images)
            assert all(("#" in text) == said for _, _, text in block)
            assert all(("_" in image) == colored for image in images)
    # The same contexts in the four conditions: the published way to get them from part+color.
    for name, found in contexts.items():
        said, colored = CONDITIONS[name]
        cut = [
            [
                (*((t, i) if colored else (t.split("_")[0], i.split("_")[0])), x if said else x.split("#")[0])
                for t, i, x in block
            ]
            for block in contexts["part+color"]
        ]
        assert found == cut


@pytest.mark.parametrize(
    ("split", "condition", "path"),
    [
        ("dev", "whole+black", "development/texts/random-5/whole+black"),
        ("val", "part+color", "training/texts/validation/random-5/part+color"),
        ("dev", "aug", "development/texts/augmented-5/aug_dev"),
    ],
)
def test_games_of_a_kind_are_in_one_folder(split: str, condition: str, path: str) -> None:
    task = Truth.of_task(
        {"benchmark": "kilogram", "name": condition, "target": "own-000", "part_count": 3, "options": [*"abcde"]}
        | {"unconstrained": True}
    )
    assert games_path(split, task) == path


def test_captions_are_of_the_same_parts(folder: Path) -> None:
    dev = folder / "out/development/texts/controlled"
    for hashed, said in zip(blocks(dev / "part+black.json"), blocks(dev / "part+black_caption.json"), strict=True):
        for (_, _, one), (_, _, other) in zip(hashed, said, strict=True):
            whole, *parts = one.split("#")
            assert other == caption(whole, parts)
    assert not (dev / "whole+black_caption.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("condition", ["part+color", "aug"])
def test_examples_of_a_tangram_have_keys_of_their_own(tmp_path: Path, condition: str) -> None:
    """As in the published evaluation, where a prediction is found by the file name of the target's image."""
    augmented = condition == "aug"
    options = Options(size=32, contexts=1, targets="all")
    made = list(games(DATA.annotations, options, {}, augmented))
    keys = {game.examples[0].annotation.key for game in made}
    twice = next(key.removesuffix("_1") for key in sorted(keys) if f"{key.removesuffix('_1')}_0" in keys - {key})
    found = [game for game in made if game.examples[0].tangram == twice]
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([recorded(game_spec(DATA, game, condition, options)) for game in found])
    assert run(store, tmp_path / "out").exported == len(found)
    texts: dict[str, set[str]] = {}
    names = {"aug": "augmented/aug_dev", "part+color": "controlled/part+color"}
    for block in blocks(tmp_path / f"out/development/texts/{names[condition]}.json"):
        texts.setdefault(block[0][0], set()).add(block[0][2])
    assert {"_".join(target.split("_")[:2]) for target in texts} == {f"{twice}_0", f"{twice}_1"}
    assert all(len(one) == 1 for one in texts.values())
    folder = tmp_path / "out/development/images" / ("augmented" if augmented else "color")
    assert all((folder / f"{target}.png").is_file() for target in texts)


def test_stimuli_are_one_game_a_target(folder: Path) -> None:
    for name in CONDITIONS:
        stimuli = json.loads((folder / f"out/development/texts/controlled/{name}_stimuli.json").read_text())
        assert len(stimuli) == len({item["targets"] for item in stimuli}) == 2
        assert all(len(item["images"]) == 10 for item in stimuli)


def test_augmented_pictures_have_the_published_table(tmp_path: Path) -> None:
    annotations = {"own-003": DATA.annotations["own-003"][:1]}
    spec = next(picture_specs(DATA, annotations, "aug", OPTIONS))
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([recorded(spec)])
    assert run(store, tmp_path / "out").exported == 1
    with (tmp_path / "out/development/texts/augmented/new_dev_df.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    parts = DATA.annotations["own-003"][0].parts
    assert len(rows) == 2**parts
    for row in rows:
        assert row["tangram"] == "own-003"
        assert int(row["full_ann_num_parts"]) == parts
        assert (
            int(row["ann_num_parts"]) == row["annotation"].count("#") == bin(int(row["image"].split("_")[2])).count("1")
        )
        assert {*row["annotation"].split("#")} <= {*row["full_annotation"].split("#")}
        assert (tmp_path / "out/development/images/augmented" / f"{row['image']}.png").is_file()


def test_sentence_i_of_a_training_tangram_is_that_of_its_image_i(tmp_path: Path) -> None:
    """As the published loader pairs them, without the first description, which is for validation."""
    options = Options(size=32, split="train")
    held = {name: items[1:] for name, items in DATA.annotations.items() if len(items) > 1 and items[1].parts == 2}
    annotations = dict(list(held.items())[:2])
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    conditions = (*CONDITIONS, "aug")
    made = [spec for one in conditions for spec in picture_specs(DATA, annotations, one, options)]
    found = {spec["id"]: recorded(spec) for spec in made}
    store.put([*found.values()])
    assert run(store, tmp_path / "out").exported == len(made)
    training = tmp_path / "out/training"
    for name, condition in {"whole": "whole+color", "part": "part+black", "augmented_part": "aug"}.items():
        sentences = json.loads((training / f"texts/train_{name}.json").read_text())
        assert {*sentences} == {*annotations}
        for tangram, texts in sentences.items():
            (record,) = (one for key, one in found.items() if f"/{condition}/{tangram}_" in key)
            assert texts == [frame.utterance for frame in record.scene.frames]
            for number, image in enumerate(record.images):
                path = {"aug": f"augmented/{tangram}_{number}", "part+black": f"train-black/{tangram}"}
                file = path.get(condition, f"train-color/{tangram}_{number}")
                assert (training / f"images/{file}.png").read_bytes() == image.png
    assert not (training / "texts/whole+color_pictures.json").exists()


def test_games_and_pictures_of_training_are_in_different_folders(tmp_path: Path) -> None:
    """Games name an image by the number of its description, training pictures by that of its sentence."""
    options = Options(size=32, split="train", contexts=1)
    annotations = {name: items[1:] for name, items in DATA.annotations.items() if len(items) > 1}
    game = next(games(annotations, options, {}))
    described = {example.tangram: annotations[example.tangram] for example in game.examples}
    made = [game_spec(DATA, game, "part+color", options), *picture_specs(DATA, described, "part+color", options)]
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    found = [recorded(spec) for spec in made]
    store.put(found)
    report = run(store, tmp_path / "out")
    assert (report.exported, report.failed, report.differing) == (len(made), [], [])
    (block,) = blocks(tmp_path / "out/training/texts/controlled/part+color.json")
    names = {frame.name: (frame.truth or {})["image"] for frame in found[0].scene.frames}
    assert {*names.values()} == {name for _, name, _ in block}
    for image in found[0].images:
        assert (tmp_path / f"out/training/images/color/{names[image.frame]}.png").read_bytes() == image.png
    for record in found[1:]:
        path = tmp_path / f"out/training/images/train-color/{(record.scene.frames[0].truth or {})['tangram']}_0.png"
        assert path.read_bytes() == record.images[0].png


def test_descriptions_that_conditions_do_not_share_are_not_merged(tmp_path: Path) -> None:
    name, items = next((name, items) for name, items in DATA.annotations.items() if len(items) > 1)
    options = Options(size=32, split="train")
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    chosen = {"whole+black": items, "whole+color": items[1:]}
    made = [spec for one, part in chosen.items() for spec in picture_specs(DATA, {name: part}, one, options)]
    store.put([recorded(spec) for spec in made])
    (failed,) = run(store, tmp_path / "out").failed
    assert f"sentence 0 of {name}" in failed


def test_again_writes_nothing_and_others_are_refused(folder: Path) -> None:
    store = LanceStore.create(str(folder / "t.lance"), fsync=False)
    store.put([*records()[:5], rendered()])
    report = run(store, folder / "out")
    assert (report.exported, report.skipped) == (0, 5)
    assert [line.split(":")[0] for line in report.failed] == ["episode demo/0001"]
    assert 'allowed: "kilogram"' in report.failed[0]


def test_another_picture_of_the_same_name_is_not_overwritten(folder: Path) -> None:
    path = next((folder / "out/development/images/black").iterdir())
    before = path.read_bytes()
    path.write_bytes(b"mine")
    store = LanceStore.open(str(folder / "s.lance"))
    there = contents(folder / "out")
    report = run(store, folder / "out")
    assert report.differing
    assert contents(folder / "out") == there
    assert run(store, folder / "out", overwrite=True).differing == []
    assert path.read_bytes() == before


def test_games_on_the_table_keep_their_own_pictures(tmp_path: Path) -> None:
    game = next(games(DATA.of_split("dev"), OPTIONS, {}))
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([recorded(game_spec(DATA, game, "part+color", Options(world="3d")))])
    assert run(store, tmp_path / "out").exported == 1
    (block,) = blocks(tmp_path / "out/development/texts/controlled/part+color.json")
    assert all((tmp_path / "out/development/images/3d" / f"{image}.png").is_file() for _, image, _ in block)


@pytest.mark.parametrize("name", ["../../etc", "a/b", "", None, ".x"])
def test_a_name_that_is_no_files_is_refused(tmp_path: Path, name: str | None) -> None:
    game = next(games(DATA.of_split("dev"), OPTIONS, {}))
    spec = game_spec(DATA, game, "part+color", OPTIONS)
    spec["frames"][3]["truth"]["image"] = name
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([recorded(spec)])
    report = run(store, tmp_path / "out")
    assert len(report.failed) == 1
    assert "frames[3].truth.image: found " in report.failed[0]
