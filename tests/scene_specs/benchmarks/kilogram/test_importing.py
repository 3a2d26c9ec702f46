"""Published games are read as they are, and what does not follow from the descriptions is reported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from diorama.render.cli.specs import main
from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.annotations import read_annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import Dataset, own_dataset, read_drawings
from diorama.scene_specs.benchmarks.kilogram.emit import objects_of
from diorama.scene_specs.benchmarks.kilogram.examples import CONDITIONS, RGB, Example
from diorama.scene_specs.benchmarks.kilogram.export import GameLists, Shown
from diorama.scene_specs.benchmarks.kilogram.importing import import_published
from diorama.scene_specs.benchmarks.kilogram.truth import Figure, Truth
from diorama.scene_specs.benchmarks.kilogram.verify import verify_spec
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.scene_specs.benchmarks.kilogram.published import make_games, make_published, make_subset_games

Rows = dict[str, list[str]]


def _published(folder: Path) -> tuple[Path, Path, Path]:
    """Drawings, descriptions, and a folder of games."""
    drawings, file, _ = make_published(folder)
    return drawings, file, make_games(file, folder / "development/texts/controlled")


@pytest.mark.parametrize("name", [*CONDITIONS, "part+color_caption"])
def test_games_are_those_of_the_file(tmp_path: Path, name: str) -> None:
    drawings, file, games = _published(tmp_path)
    data: Rows = json.loads((games / f"{name}.json").read_text())
    found = list(import_published(games / f"{name}.json", strict=True, svg=drawings, annotations=file))
    assert [one.id for one in found] == [
        f"kilogram/published/dev/{name.removesuffix('_caption')}/{k:06d}" for k in range(2)
    ]
    for number, episode in enumerate(found):
        spec = _data(episode)
        assert verify_spec(spec) == ""
        task = spec["task"]
        assert task["drawings"].startswith("tangrams-svg, sha256 ")
        named = {frame["name"]: frame for frame in spec["frames"]}
        ordered = [named.pop(task["answer"]), *named.values()]
        block = slice(10 * number, 10 * number + 10)
        assert [frame["truth"]["image"] for frame in ordered] == data["images"][block]
        key = "utterance" if name.endswith("_caption") else "hash_text"
        texts = [frame[key] if key == "utterance" else frame["truth"][key] for frame in ordered]
        assert texts == data["texts"][block]


def test_games_of_subsets_are_those_of_the_file(tmp_path: Path) -> None:
    drawings, file, _ = make_published(tmp_path)
    path = make_subset_games(file, tmp_path / "development/texts/augmented")
    data: Rows = json.loads(path.read_text())
    found = [_data(one) for one in import_published(path, strict=True, svg=drawings, annotations=file)]
    assert [spec["task"]["shown_parts"] for spec in found] == [0, 1, 2, 3]
    lists = GameLists()
    for spec in found:
        assert verify_spec(spec) == ""
        assert verify_spec(spec, drawings, file) == ""
        figures = Figure.of_frames(frame["truth"] for frame in spec["frames"])
        shown = [Shown(one.image, frame["utterance"], one) for one, frame in zip(figures, spec["frames"], strict=True)]
        lists.add(spec["split"], Truth.of_spec(spec), dict(zip(spec["task"]["options"], shown, strict=True)))
    assert lists.columns["development/texts/augmented/aug_dev.json"] == data
    by_target = lists.by_target["development/texts/augmented/file_sep_by_part_counts.json"]
    assert {name: [*counts] for name, counts in by_target.items()} == {
        data["targets"][10 * k]: [str(k)] for k in range(4)
    }
    (game,) = by_target[data["targets"][0]]["0"]
    assert [game["target"], *game["distractors"][0]] == [
        [*row] for row in zip(data["images"], data["texts"], strict=True)
    ][:10]


@pytest.mark.parametrize(
    ("column", "row", "value", "said"),
    [
        ("texts", 13, "zeppelin#a", "description"),
        ("texts", 13, "tree#antenna", "description"),
        ("images", 13, "page1-3_0", "expected a name such as page1-0_0_0"),
        ("images", 13, "page1-3_99_0", "nothing says which parts page1-3_99 has"),
    ],
)
def test_broken_games_of_subsets_are_refused(tmp_path: Path, column: str, row: int, value: str, said: str) -> None:
    drawings, file, _ = make_published(tmp_path)
    path = make_subset_games(file, tmp_path / "development/texts/augmented")
    data: Rows = json.loads(path.read_text())
    data[column][row] = value
    path.write_text(json.dumps(data))
    with pytest.raises(SpecError, match=said):
        list(import_published(path, svg=drawings, annotations=file))


@pytest.mark.parametrize("what", ["images", "texts"])
def test_a_game_with_two_answers_is_refused(tmp_path: Path, what: str) -> None:
    """The published script may draw another description of the target's tangram, whose image without parts is equal."""
    drawings, file, _ = make_published(tmp_path)
    path = make_subset_games(file, tmp_path / "development/texts/augmented")
    data: Rows = json.loads(path.read_text())
    tangram, number, _ = data["images"][0].split("_")
    described = read_annotations(file.read_text(), "")[0]
    other = described[tangram][1 - int(number)]
    if what == "texts":
        shown = {image.split("_")[0] for image in data["images"][:10]}
        unseen = (one for items in described.values() for one in items if one.tangram not in shown)
        other = next(one for one in unseen if one.whole == data["texts"][0])
    data["images"][4], data["texts"][4] = f"{other.key}_0", other.whole
    path.write_text(json.dumps(data))
    found = list[EpisodeSpec]()
    with pytest.raises(SpecError, match=rf"{what}\[0\]: two {what} of the game are equal"):
        found += import_published(path, svg=drawings, annotations=file)
    assert len(found) == 3


def _data(episode: EpisodeSpec) -> Any:
    data: Any = json.loads(episode.model_dump_json(exclude_none=True, exclude_defaults=True))
    return data


def _paint(folder: Path, dataset: Dataset, key: str, order: tuple[str, ...]) -> None:
    """A published image: pieces in the colors of their parts, drawn by parts of them alone."""
    tangram, number = key.rsplit("_", 1)
    item = dataset.annotations[tangram][int(number)]
    example = Example(item, tuple((part, item.groups()[part]) for part in order), tuple(range(len(order))))
    picture = np.full((224, 224, 3), 255, np.uint8)
    for one in objects_of(dataset, example, "part+color", Options()):
        for x, y in one["shape"]["polygon"]:
            column, row = one["location"][0] + x / 2, one["location"][1] + y / 2
            picture[int(row) - 1 : int(row) + 2, int(column) - 1 : int(column) + 2] = RGB[one["color"]]
    Image.fromarray(picture).save(folder / f"{key}.png")


def test_images_show_which_pieces_form_a_part(tmp_path: Path) -> None:
    drawings, file, games = _published(tmp_path)
    path = games / "part+color.json"
    data: Rows = json.loads(path.read_text())
    images = tmp_path / "images"
    images.mkdir()
    dataset = Dataset(read_drawings(drawings)[0], read_annotations(file.read_text(), "")[0], {}, ())
    for key, text in zip(data["images"], data["texts"], strict=True):
        _paint(images, dataset, key, tuple(text.split("#")[1:]))
    by_images = [_data(one) for one in import_published(path, svg=drawings, images=images)]
    by_file = [_data(one) for one in import_published(path, svg=drawings, annotations=file)]
    assert [one["frames"] for one in by_images] == [one["frames"] for one in by_file]
    # Images of known descriptions are compared with them.
    first, other = (images / f"{data['images'][k]}.png" for k in (0, 1))
    content = first.read_bytes()
    first.write_bytes(other.read_bytes())
    with pytest.raises(SpecError, match=rf"{first.name}: colors of pieces: found"):
        list(import_published(path, svg=drawings, annotations=file, images=images, strict=True))
    first.write_bytes(content)
    (tmp_path / "images-black").mkdir()
    tangram = data["images"][0].rpartition("_")[0]
    Image.new("RGB", (224, 224), "white").save(tmp_path / f"images-black/{tangram}.png")
    for condition, refused in (("part+color", False), ("part+black", True)):
        with pytest.raises(SpecError, match=f"{tangram}.png: colors of") if refused else nullcontext():
            black = path.with_name(f"{condition}.json")
            list(import_published(black, svg=drawings, annotations=file, images=images, strict=True))
    (images / f"{data['images'][3]}.png").unlink()
    with pytest.raises(SpecError, match="nothing says which pieces"):
        list(import_published(path, svg=drawings, images=images))
    Image.new("RGB", (100, 224)).save(images / f"{data['images'][3]}.png")
    with pytest.raises(SpecError, match="100 x 224 pixels; expected a square"):
        list(import_published(path, svg=drawings, images=images))


def test_folders_tell_whether_games_are_constrained(tmp_path: Path) -> None:
    drawings, file, games = _published(tmp_path)
    other = games.rename(games.with_name("random"))
    found = [_data(one) for one in import_published(other / "whole+black.json", svg=drawings, annotations=file)]
    assert found[0]["task"]["unconstrained"] is True
    assert "/random/" in found[0]["id"]


def test_only_the_folder_of_the_file_tells_the_kind_of_its_games(tmp_path: Path) -> None:
    drawings, file, games = _published(tmp_path / "random")
    (one, _) = import_published(games / "part+color.json", svg=drawings, annotations=file)
    assert one.id == "kilogram/published/dev/part+color/000000"
    for size, said in (("1", "controlled-1; expected"), ("101", "controlled-101; "), ("100", "blocks of 100")):
        games = games.rename(games.with_name(f"controlled-{size}"))
        with pytest.raises(SpecError, match=said):
            list(import_published(games / "part+color.json", svg=drawings, annotations=file))


def test_unusable_drawings_and_descriptions_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    drawings, file, games = _published(tmp_path)
    used = {image.split("_")[0] for image in json.loads((games / "part+color.json").read_text())["images"]}
    other = next(path for path in sorted(drawings.iterdir()) if path.stem not in used)
    # Both are used in spite of their diagnostics.
    other.write_text(other.read_text().replace('viewBox="0 0 ', 'viewBox="0 0 9'))
    data = json.loads(file.read_text())
    data[other.stem]["annotations"][1]["metadata"]["0"]["annotation"] = "other"
    file.write_text(json.dumps(data))
    assert read_drawings(drawings)[2]
    assert read_annotations(file.read_text(), "")[1]
    assert len(list(import_published(games / "part+color.json", strict=True, svg=drawings, annotations=file))) == 2
    other.write_text(other.read_text().replace("<polygon", "<path", 1))
    data[other.stem]["annotations"][0]["whole"] = {}
    file.write_text(json.dumps(data))
    assert len(list(import_published(games / "part+color.json", svg=drawings, annotations=file))) == 2
    assert f"{other.name}: found <path>" in caplog.text
    assert "2 warnings in all" in caplog.text
    with pytest.raises(SpecError, match=r"annotations\[0\].whole") as error:
        list(import_published(games / "part+color.json", strict=True, svg=drawings, annotations=file))
    assert "found <path>" in str(error.value)


def test_stimuli_are_games_of_the_file(tmp_path: Path) -> None:
    drawings, file, games = _published(tmp_path)
    path = games / "part+black.json"
    data: Rows = json.loads(path.read_text())
    stimuli: list[dict[str, Any]] = [
        {"targets": data["targets"][k], "images": data["images"][k : k + 10], "texts": data["texts"][k]}
        for k in (0, 10)
    ]
    changed = {**stimuli[0], "images": stimuli[0]["images"][::-1]}
    for listed, problem in (
        (stimuli, ""),
        (stimuli[1:], ""),
        ([changed], r"\[0\]: found .*; expected"),
        ([{**stimuli[1], "targets": "page1-0"}], r"\[0\]: found"),
        ([stimuli[1], stimuli[1]], "number of targets: found 1; expected 2"),
        ([{"targets": "a"}], r"\[0\]: found"),
    ):
        (games / "part+black_stimuli.json").write_text(json.dumps(listed))
        with pytest.raises(SpecError, match=f"stimuli.json: .*{problem}") if problem else nullcontext():
            assert len(list(import_published(path, strict=True, svg=drawings, annotations=file))) == 2


CHANGES: dict[str, tuple[str, object, str]] = {
    "another text": ("texts", "a cat", r"row 3: found \["),
    "another image": ("images", "page1-39", r"row 3: found \["),
    "another target": ("targets", "page1-39", r"row 3: found \["),
}


@pytest.mark.parametrize("what", CHANGES)
def test_rows_that_do_not_follow_are_reported(tmp_path: Path, what: str, caplog: pytest.LogCaptureFixture) -> None:
    column, value, said = CHANGES[what]
    drawings, file, games = _published(tmp_path)
    path = games / "part+black.json"
    data = json.loads(path.read_text())
    data[column][3] = value
    path.write_text(json.dumps(data))
    assert len(list(import_published(path, svg=drawings, annotations=file))) == 2
    assert re.search(said, caplog.text)
    with pytest.raises(SpecError, match=said):
        list(import_published(path, strict=True, svg=drawings, annotations=file))


def test_a_tangram_twice_is_refused_as_by_the_proof(tmp_path: Path) -> None:
    drawings, file, games = _published(tmp_path)
    path = games / "part+color.json"
    data = json.loads(path.read_text())
    for column in ("images", "texts"):
        data[column][3] = data[column][4]
    path.write_text(json.dumps(data))
    (games / "part+black.json").unlink()
    (spec, _) = import_published(path, svg=drawings, annotations=file)
    assert "two of its tangrams have the tangram" in verify_spec(_data(spec))
    with pytest.raises(SpecError, match="row 0: different tangrams: found 9; expected 10"):
        list(import_published(path, strict=True, svg=drawings, annotations=file))


def _set(column: str, value: object) -> Any:
    return lambda data: data[column].__setitem__(3, value)


BROKEN: dict[str, tuple[Any, str]] = {
    "no such drawing": (_set("images", "page9-9_0"), "page9-9.svg is missing or can't be used"),
    "a name without a number": (_set("images", "page1-3"), "expected a name such as"),
    "a path": (_set("images", "../../x_0"), "expected a name such as"),
    "another whole": (_set("texts", "zeppelin#a#b#c"), "description"),
    "no parts": (_set("texts", "zeppelin"), "expected whole#part#part"),
    "a part twice": (_set("texts", "zeppelin#a#a"), "expected whole#part#part"),
    "eight parts": (_set("texts", "z#1#2#3#4#5#6#7#8"), "expected whole#part#part"),
    "a target that is not the first": (_set("targets", "page1-0_0"), "expected 10 times"),
    "a row less": (lambda data: [column.pop() for column in data.values()], "expected blocks of 10"),
    "lists of other lengths": (lambda data: data["texts"].pop(), "equally long"),
    "numbers": (_set("texts", 5), "equally long"),
    "no texts": (lambda data: data.pop("texts"), "equally long"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_files_are_refused(tmp_path: Path, what: str) -> None:
    change, said = BROKEN[what]
    drawings, file, games = _published(tmp_path)
    path = games / "part+color.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(SpecError, match=said):
        list(import_published(path, svg=drawings, annotations=file))


def test_files_that_are_not_of_games_are_refused(tmp_path: Path) -> None:
    drawings, file, games = _published(tmp_path)
    (games / "part+color.json").rename(games / "games.json")
    for path, said in ((games / "games.json", "expected a name such as"), (games / "part+black.json", "part.color")):
        with pytest.raises(SpecError, match=said):
            list(import_published(path, svg=drawings, annotations=file))
    with pytest.raises(SpecError, match="--svg"):
        list(import_published(_own(tmp_path), annotations=file))


def _own(folder: Path) -> Path:
    """A game of four of Diorama's tangrams."""
    items = [one[0] for one in own_dataset().annotations.values() if one[0].parts == 4][:4]
    texts = ["#".join([item.whole, *item.groups()]) for item in items]
    path = folder / "controlled-4/part+color.json"
    path.parent.mkdir()
    rows = {"targets": [items[0].key] * 4, "images": [item.key for item in items], "texts": texts}
    path.write_text(json.dumps(rows))
    return path


def test_games_of_our_own_tangrams_need_no_drawings(tmp_path: Path) -> None:
    (found,) = import_published(_own(tmp_path))
    assert len(found.frames) == 4
    assert found.id == "kilogram/published/all/part+color/of4/000000"
    assert "drawings" not in _data(found)["task"]
    assert verify_spec(_data(found)) == ""


def _moved(item: Any) -> None:
    item["shape"]["polygon"][0][0] += 25


def _pushed(item: Any) -> None:
    item["location"][1] += 15


def _turned(item: Any) -> None:
    item["rotation_deg"] = 90.0


@pytest.mark.parametrize("change", [_moved, _pushed, _turned])
def test_figures_are_bound_to_their_drawings(tmp_path: Path, change: Callable[[Any], None]) -> None:
    drawings, file, games = _published(tmp_path)
    spec = _data(next(import_published(games / "part+color.json", svg=drawings, annotations=file)))
    assert verify_spec(spec) == ""
    change(spec["frames"][3]["objects"][2])
    assert "its pieces or parts are not those of" in verify_spec(spec)
    # The drawings say the same of a spec that does not say how it was imported.
    del spec["frames"][3]["truth"]["drawn"]
    assert verify_spec(spec, drawings, file) != ""


def test_files_are_compared_with_generated_and_imported_figures(tmp_path: Path) -> None:
    drawings, file, games = _published(tmp_path)
    found = tmp_path / "found.jsonl"
    files = ["--svg", str(drawings), "--annotations", str(file)]
    made = CliRunner().invoke(
        main, ["import", "--from", "kilogram", str(games / "part+color.json"), *files, "--out", str(found)]
    )
    assert made.exit_code == 0, made.stderr
    fine = CliRunner().invoke(main, ["check", "--prove", *files, str(found)])
    assert fine.exit_code == 0, fine.stderr
    spec = json.loads(found.read_text().splitlines()[0])
    truth = spec["frames"][0]["truth"]
    truth["parts"][0]["pieces"], truth["parts"][1]["pieces"] = truth["parts"][1]["pieces"], truth["parts"][0]["pieces"]
    colors = {piece: part["color"] for part in truth["parts"] for piece in part["pieces"]}
    for item in spec["frames"][0]["objects"]:
        item["color"] = colors[int(item["name"].removeprefix("piece-"))]
    del truth["drawn"]
    assert verify_spec(spec) == "" and "is another one" in verify_spec(spec, drawings, file)
    (drawings / f"{truth['tangram']}.svg").unlink()
    assert verify_spec(spec, drawings) != ""
    alone = CliRunner().invoke(main, ["check", "--prove", "--annotations", str(file), str(found)])
    assert alone.exit_code == 2 and "--annotations needs --svg" in alone.stderr


def test_a_piece_that_goes_to_another_part_with_its_color_is_found(tmp_path: Path) -> None:
    drawings, file, games = _published(tmp_path)
    spec = _data(next(import_published(games / "part+color.json", svg=drawings, annotations=file)))
    frame = spec["frames"][0]
    giving = next(part for part in frame["truth"]["parts"] if len(part["pieces"]) > 1)
    taking = next(part for part in frame["truth"]["parts"] if part is not giving)
    piece = giving["pieces"].pop()
    taking["pieces"].append(piece)
    next(item for item in frame["objects"] if item["name"] == f"piece-{piece}")["color"] = taking["color"]
    assert "its pieces or parts are not those of" in verify_spec(spec)


@pytest.mark.parametrize("change", ["swapped", "order"])
def test_contradictions_inside_part_and_color_are_named(tmp_path: Path, change: str) -> None:
    drawings, file, games = _published(tmp_path)
    path = games / "part+color.json"
    data: Rows = json.loads(path.read_text())
    texts = data["texts"]
    if change == "swapped":
        texts[0], texts[1] = texts[1], texts[0]
    else:
        texts[4] = "#".join([texts[4].split("#")[0], *reversed(texts[4].split("#")[1:])])
    path.write_text(json.dumps(data))
    with pytest.raises(SpecError, match=r"row \d+: part\+color\.json gives page1-\d+_\d the text .*, elsewhere "):
        list(import_published(path, strict=True, svg=drawings, annotations=file))


def test_an_unusable_game_is_left_out_and_named(tmp_path: Path) -> None:
    drawings, file, games = _published(tmp_path)
    path = games / "part+color.json"
    data: Rows = json.loads(path.read_text())
    data["images"][13] = "page1-999_0"
    path.write_text(json.dumps(data))
    out = tmp_path / "specs.jsonl"
    files = [str(path), "--svg", str(drawings), "--annotations", str(file), "--out", str(out)]
    done = CliRunner().invoke(main, ["import", "--from", "kilogram", *files])
    assert (done.exit_code, len(out.read_text().splitlines())) == (1, 1)
    assert "page1-999_0" in done.stderr and "1 episode, 1 error" in done.stderr
