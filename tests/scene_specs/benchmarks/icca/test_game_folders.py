"""The published layout, read and written; what is wrong with a folder is said. I1, I2, I8 of the facts."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from diorama.scene_specs.benchmarks.icca.game_folders import (
    COLUMNS,
    game_folders,
    read_game,
    table_text,
    write_game,
)
from diorama.scene_specs.benchmarks.icca.players import factory
from diorama.scene_specs.benchmarks.icca.score import played_recording, scores
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.tasks.copies import SUMS
from tests.scene_specs.benchmarks.icca.pieces import game, setup, write

# As facts about the published data have them.
PUBLISHED = "gameid,trialNum,repNum,targetImg,context_id,msg,uttLength,iterationName,time,clickedObj,correct"


def human(folder: Path, wrong: tuple[int, ...] = (3, 17)) -> Path:
    """A folder as published: photographs as JPEG, messages with commas and quotes, some clicks wrong."""
    made = folder / "003_YEkcXyz"
    made.mkdir(parents=True)
    names = [f"COCO_val2014_{number:012d}.jpg" for number in (42, 7, 99999, 123)]
    for k, name in enumerate(names):
        Image.new("RGB", (256, 256), (60 * k, 0, 0)).save(made / name, "JPEG")
    rows = [PUBLISHED]
    for trial in range(24):
        target = names[(trial + trial // 4) % 4]
        message = f'the "red" one, number {trial}'
        clicked = "distr1" if trial in wrong else "target"
        cells = ["YEkcXyz", trial, trial // 4, target, 3, '"' + message.replace('"', '""') + '"', 5, "full_sample",
                 1500000000000 + trial, clicked, clicked == "target"]  # fmt: skip
        rows.append(",".join(map(str, cells)))
    (made / "trials_for_003_YEkcXyz.csv").write_text("\n".join(rows) + "\n")
    return made


def test_columns_are_the_published_ones() -> None:
    assert ",".join(COLUMNS) == PUBLISHED


def test_a_published_folder_is_read_and_written_again(tmp_path: Path) -> None:
    folder = human(tmp_path)
    found = read_game(folder)
    assert (found.name, found.context, found.iteration, found.pictures) == ("003_YEkcXyz", 3, "full_sample", ())
    assert found.images[found.targets[0]] == "COCO_val2014_000000000042.jpg"
    assert found.recorded[5].message == 'the "red" one, number 5'
    table = table_text(found, found.recorded)
    own, theirs = (list(csv.reader(text.splitlines())) for text in
                   (table, (folder / "trials_for_003_YEkcXyz.csv").read_text()))  # fmt: skip
    assert own == theirs
    copy = write_game(tmp_path / "out", found, {n: (folder / n).read_bytes() for n in found.images}, table, None)
    assert read_game(copy).recorded == found.recorded
    names = {path.name for path in folder.iterdir()}
    assert {path.name for path in copy.iterdir()} == names | {SUMS}
    # People fill the cells that are empty; nobody changes the targets.
    blank = write_game(tmp_path / "blank", found, {n: (folder / n).read_bytes() for n in found.images},
                       table_text(replace(found, iteration="")), None)  # fmt: skip
    (blank / "trials_for_003_YEkcXyz.csv").write_text(table)
    assert read_game(blank).recorded == found.recorded
    rows = table.splitlines()
    order = [0, 2, 1, *range(3, 25)]
    swapped = [row.split(",", 3) for row in rows]
    for row, source in zip(swapped[1:], order[1:], strict=True):
        row[3:] = rows[source].split(",", 3)[3:]
    (blank / "trials_for_003_YEkcXyz.csv").write_text("\n".join(map(",".join, swapped)) + "\n")
    with pytest.raises(SpecError, match=r"trials_for_003_YEkcXyz\.csv: found the SHA-256 .*; expected .* SHA256SUMS"):
        read_game(blank)


def test_accuracy_of_people_is_the_mean_of_correct(tmp_path: Path) -> None:
    rows = scores([played_recording(read_game(human(tmp_path)))])
    accuracy = [row.mean for row in rows if row.measure == "accuracy"]
    assert accuracy == [0.75, 1.0, 1.0, 1.0, 0.75, 1.0]
    assert [row.mean for row in rows if row.measure == "words"] == [5.0] * 6


def test_a_game_of_ours_comes_back(tmp_path: Path) -> None:
    one = game()
    back = read_game(write(tmp_path, one))
    assert (back.name, back.images, back.targets, back.pictures) == (one.name, one.images, one.targets, one.pictures)
    assert back.recorded == ()
    with pytest.raises(SpecError, match="was not played yet"):
        played_recording(back)
    with pytest.raises(SpecError, match="exists already"):
        write(tmp_path, one)


def test_the_order_of_a_file_system_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        write(tmp_path, game(number))
    plain = [read_game(folder) for folder in game_folders([tmp_path])]
    listed = Path.iterdir

    def shuffled(self: Path) -> Iterator[Path]:
        return iter(sorted(listed(self), key=lambda path: path.name[::-1], reverse=True))

    monkeypatch.setattr(Path, "iterdir", shuffled)
    assert [read_game(folder) for folder in game_folders([tmp_path])] == plain


def edit(folder: Path, change: Callable[[list[list[str]]], Any]) -> None:
    """Change the table's cells."""
    path = folder / f"trials_for_{folder.name}.csv"
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream))
    change(rows)
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)


def cell(row: int, column: str, value: str) -> Callable[[list[list[str]]], None]:
    def change(rows: list[list[str]]) -> None:
        rows[row][COLUMNS.index(column)] = value

    return change


def _without_messages(count: str) -> Callable[[list[list[str]]], Any]:
    def change(rows: list[list[str]]) -> None:
        for row in rows[1:]:
            for column, value in (("msg", ""), ("uttLength", count)):
                row[COLUMNS.index(column)] = value

    return change


@pytest.mark.parametrize("count", ["0", ""])
def test_the_length_of_no_message_is_0_or_empty(tmp_path: Path, count: str) -> None:
    folder = human(tmp_path)
    edit(folder, _without_messages(count))
    assert not read_game(folder).recorded


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: rows.pop(), "found 23 trials; expected 24"),
        (lambda rows: rows.append(rows[-1]), "found 25 trials"),
        (lambda rows: rows[0].__setitem__(5, "message"), "no column msg; expected gameid"),
        (lambda rows: rows[4].pop(), "more or fewer cells"),
        (cell(3, "targetImg", "other.jpg"), "trial 2: targetImg 'other.jpg' is not one of the folder's images"),
        (cell(3, "trialNum", "7"), "trial 2: trialNum: found '7'; expected 2"),
        (cell(9, "repNum", "1"), "trial 8: repNum: found '1'; expected 2"),
        (cell(2, "context_id", "4"), "context_id: found '4'; expected 3"),
        (cell(2, "clickedObj", "distr3"), "found clickedObj 'distr3'"),
        (cell(2, "correct", "yes"), "correct 'yes'"),
        (cell(2, "correct", "False"), "correct: found 'False'; expected True"),
        (cell(2, "clickedObj", ""), "correct: found 'True'; expected False"),
        (cell(2, "correct", ""), "some cells of correct are empty"),
        (cell(2, "uttLength", "3"), "uttLength: found '3'; expected 5"),
        (_without_messages("3"), "uttLength: found '3'; expected 0"),
        (cell(2, "msg", " "), "some messages are empty"),
    ],
)
def test_wrong_tables(tmp_path: Path, change: Callable[[list[list[str]]], Any], problem: str) -> None:
    folder = human(tmp_path)
    edit(folder, change)
    with pytest.raises(SpecError, match=problem) as caught:
        read_game(folder)
    assert "trials_for_003_YEkcXyz.csv" in str(caught.value)


def test_a_target_twice_in_a_repetition(tmp_path: Path) -> None:
    folder = human(tmp_path)
    edit(folder, cell(1, "targetImg", "COCO_val2014_000000000007.jpg"))
    with pytest.raises(SpecError, match="repetition 0: each image has to be the target once"):
        read_game(folder)


def test_wrong_files(tmp_path: Path) -> None:
    folder = human(tmp_path)
    table = folder / "trials_for_003_YEkcXyz.csv"
    text = table.read_text()
    table.write_bytes(text.encode("utf-16"))
    with pytest.raises(SpecError, match="not UTF-8"):
        read_game(folder)
    table.write_bytes(b"\xef\xbb\xbf" + text.replace("red", "r\u00e9d").encode())
    assert "r\u00e9d" in read_game(folder).recorded[0].message
    table.unlink()
    with pytest.raises(SpecError, match=r"trials_for_003_YEkcXyz\.csv: can't be read: No such file"):
        read_game(folder)
    table.write_text(text)
    image = folder / "COCO_val2014_000000000042.jpg"
    image.write_bytes(image.read_bytes()[:200])
    with pytest.raises(SpecError, match=r"000000000042\.jpg: can't be read as an image"):
        read_game(folder)
    # An empty color profile, as a file cut in its middle may have.
    stream = io.BytesIO()
    Image.new("RGB", (8, 8)).save(stream, "PNG")
    head, end = stream.getvalue()[:-12], stream.getvalue()[-12:]
    image.write_bytes(head + b"\0\0\0\0iCCP" + zlib.crc32(b"iCCP").to_bytes(4, "big") + end)
    with pytest.raises(SpecError, match=r"000000000042\.jpg: can't be read as an image"):
        read_game(folder)
    image.unlink()
    with pytest.raises(SpecError, match="found 3 images"):
        read_game(folder)


def shows(picture: object) -> str:
    """The truth of a game all of whose images show the same."""
    return json.dumps({"images": {name: {"picture": picture} for name in game().images}})


@pytest.mark.parametrize(
    ("truth", "problem"),
    [
        ("{", "expected"),
        ("{}", "no key 'images'"),
        ('{"images": {}}', "no key 'clevr-0-0.png'"),
        ("[]", "expected"),
        ("[" * 100_000, "nested too deeply"),
        (shows([]), "expected things, at most 7"),
        (shows({"things": [{"mood": "happy"}]}), "found mood 'happy'; expected a word in lower case for one of size"),
        (shows({"things": [{"color": "Red"}]}), "found color 'Red'; expected a word in lower case"),
        (shows({"things": [{"color": ""}]}), "found color ''; expected a word"),
    ],
)
def test_wrong_truth(tmp_path: Path, truth: str, problem: str) -> None:
    folder = write(tmp_path, game())
    (folder / "game.json").write_text(truth)
    with pytest.raises(SpecError, match=problem):
        read_game(folder)


def test_images_that_show_the_same_can_not_be_named(tmp_path: Path) -> None:
    folder = write(tmp_path, game())
    (folder / "game.json").write_text(shows({"things": [{"color": "red"}]}))
    with pytest.raises(SpecError, match=r"game\.json: found the SHA-256 .*restore the file, or remove SHA256SUMS"):
        read_game(folder)
    (folder / SUMS).unlink()
    for speaker in ("scripted", "steady"):
        with pytest.raises(SpecError, match=r"can't name clevr-0-0\.png: another image shows everything"):
            factory("speaker", speaker)(read_game(folder), setup())


def test_folders_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match="no such folder"):
        game_folders([tmp_path / "nothing"])
    with pytest.raises(SpecError, match="no game here"):
        game_folders([tmp_path])
    folder = human(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert game_folders([folder, tmp_path / "a"]) == [folder]
    monkeypatch.chdir(folder)
    assert game_folders([folder, Path()]) == [folder]
    with pytest.raises(SpecError, match="is given twice"):
        game_folders([tmp_path / "a", tmp_path / "b"])


def test_an_image_that_is_not_the_one_of_the_game_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, game(0))
    (folder / SUMS).unlink()
    truth = json.loads((folder / "game.json").read_text())
    for name, image in truth["images"].items():
        image["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "game.json").write_text(json.dumps(truth))
    assert read_game(folder).name == game(0).name
    first, second = sorted(truth["images"])[:2]
    content = (folder / first).read_bytes()
    (folder / first).write_bytes((folder / second).read_bytes())
    with pytest.raises(SpecError, match=rf"game\.json: {first}: has SHA-256 [0-9a-f]{{64}}; the game was made with"):
        read_game(folder)
    (folder / first).write_bytes(content)
    truth["images"][second]["sha256"] = 7
    (folder / "game.json").write_text(json.dumps(truth))
    with pytest.raises(SpecError, match=rf"game\.json: {second}: .* the game was made with 7"):
        read_game(folder)
