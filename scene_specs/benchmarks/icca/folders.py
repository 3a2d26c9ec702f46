"""Games as folders, in the published layout: `<context>_<id>/` with four images and `trials_for_<folder>.csv`.

Columns: gameid, trialNum, repNum, targetImg, context_id, msg, uttLength, iterationName, time, clickedObj, correct. A
game that nobody played yet has empty msg, clickedObj and correct. Ours have one file more, `game.json`: what the
images show, and the ids of the episode and pictures that they come from.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from scene_specs.benchmarks.icca.game import GAME_ID, Game, Recorded
from scene_specs.benchmarks.icca.input_errors import parsed, refused
from scene_specs.benchmarks.icca.picture import picture_from
from scene_specs.benchmarks.icca.transcripts import Transcript, read_text
from scene_specs.benchmarks.icca.variants import PER_REPETITION, TRIALS
from scene_specs.benchmarks.icca.wording import ORDER
from scene_specs.language.errors import Diagnostic, SpecError

COLUMNS: tuple[str, ...] = (
    "gameid", "trialNum", "repNum", "targetImg", "context_id", "msg", "uttLength", "iterationName", "time",
    "clickedObj", "correct",
)  # fmt: skip
TRUTH = "game.json"
CLICKED: tuple[str, ...] = ("target", "distr0", "distr1", "distr2")
_IMAGES = (".jpg", ".jpeg", ".png")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}")


def game_folders(paths: Sequence[Path]) -> list[Path]:
    """The folders of games: those given, and those directly below a given one; sorted by name. Raises SpecError."""
    found: dict[str, Path] = {}
    for path in paths:
        if not path.is_dir():
            raise refused("no such folder; expected a game's folder, or one that holds them", file=str(path))
        own = [path] if _table(path).is_file() else []
        below = [one for one in sorted(path.iterdir()) if one.is_dir() and GAME_ID.fullmatch(one.name)]
        if not own and not below:
            raise refused(f"no game here: expected {_table(path).name}, or folders <context>_<id>", file=str(path))
        for one in own or below:
            if one.name in found and one.resolve() != found[one.name].resolve():
                raise refused(f"game {one.name!r} is given twice: here and in {found[one.name]}", file=str(one))
            found[one.name] = one
    return [found[name] for name in sorted(found)]


def _table(folder: Path) -> Path:
    return folder / f"trials_for_{folder.resolve().name}.csv"


def read_game(folder: Path) -> Game:
    """A game from its folder: images opened, every row checked. Raises SpecError with all that is wrong."""
    name = folder.resolve().name
    diagnostics: list[Diagnostic] = []
    images = _images(folder, diagnostics)
    rows = _rows(_table(folder), diagnostics)
    if diagnostics:
        raise SpecError(diagnostics)
    for number, row in enumerate(rows):
        if problem := _row_problem(row, number, images, name):
            diagnostics.append(Diagnostic(str(_table(folder)), number + 2, "", "", f"trial {number}: {problem}"))
    if diagnostics:
        raise SpecError(diagnostics)
    said = [row["msg"].strip() for row in rows]
    recorded: tuple[Recorded, ...] = ()
    if any(said):
        recorded = tuple(
            Recorded(text, row["clickedObj"], {"True": True, "False": False}.get(row["correct"]), row["time"])
            for text, row in zip(said, rows, strict=True)
        )
    pictures = _truth(folder, images)
    targets = tuple(images.index(row["targetImg"]) for row in rows)
    try:
        return Game(name, tuple(images), targets, pictures, recorded, folder, rows[0]["iterationName"])
    except SpecError as error:
        raise SpecError(
            [Diagnostic(str(_table(folder)), 0, "", "", diagnostic.problem) for diagnostic in error.diagnostics]
        ) from None


def _images(folder: Path, diagnostics: list[Diagnostic]) -> list[str]:
    names = [one.name for one in sorted(folder.iterdir()) if one.suffix.lower() in _IMAGES and one.name[0] != "."]
    if len(names) != PER_REPETITION:
        problem = f"found {len(names)} images ({', '.join(names) or 'none'}); expected {PER_REPETITION}"
        diagnostics.append(Diagnostic(str(folder), 0, "", "", problem))
    for name in names:
        try:
            with Image.open(folder / name) as picture:
                picture.load()
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            diagnostics.append(Diagnostic(str(folder / name), 0, "", "", f"can't be read as a picture: {error}"))
    return names


def _rows(path: Path, diagnostics: list[Diagnostic]) -> list[dict[str, str]]:
    try:
        text = read_text(path)
    except SpecError as error:
        diagnostics += error.diagnostics
        return []
    try:
        reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
        rows = list(reader)
    except csv.Error as error:
        diagnostics.append(Diagnostic(str(path), 0, "", "", f"no CSV: {error}"))
        return []
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        diagnostics.append(
            Diagnostic(str(path), 1, "", "", f"no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
        )
    elif len(rows) != TRIALS:
        diagnostics.append(Diagnostic(str(path), 0, "", "", f"found {len(rows)} trials; expected {TRIALS}"))
    elif any(None in row or None in row.values() for row in rows):
        diagnostics.append(Diagnostic(str(path), 0, "", "", "some rows have more or fewer cells than the first"))
    else:
        for column, what in (("msg", "messages"), ("correct", "cells of correct")):
            if len({bool(row[column].strip()) for row in rows}) > 1:
                problem = f"some {what} are empty; expected all {TRIALS} of a game that was played, or none"
                diagnostics.append(Diagnostic(str(path), 0, "", "", problem))
    return rows


def _row_problem(row: Mapping[str, str], number: int, images: Sequence[str], name: str) -> str:
    expected = {"trialNum": str(number), "repNum": str(number // PER_REPETITION)}
    for column, value in expected.items():
        if row[column] != value:
            return f"{column}: found {row[column]!r}; expected {value}"
    if row["targetImg"] not in images:
        return f"targetImg {row['targetImg']!r} is none of the folder's images: {', '.join(images)}"
    context = name.partition("_")[0]
    if context.isdecimal() and row["context_id"] != str(int(context)):
        return f"context_id: found {row['context_id']!r}; expected {int(context)}, from the folder's name"
    if row["clickedObj"] not in (*CLICKED, "") or row["correct"] not in ("True", "False", ""):
        found = f"clickedObj {row['clickedObj']!r}, correct {row['correct']!r}"
        return f"found {found}; expected {', '.join(CLICKED)}, and True or False"
    # An answer that was no label has no click, and is wrong.
    if (row["clickedObj"] or row["correct"] == "True") and row["correct"] != str(row["clickedObj"] == "target"):
        return f"clickedObj is {row['clickedObj']!r} and correct {row['correct']!r}"
    if row["msg"].strip() and row["uttLength"] != str(len(row["msg"].split())):
        return f"uttLength: found {row['uttLength']!r}; the message has {len(row['msg'].split())} words"
    return ""


def _truth(folder: Path, images: Sequence[str]) -> tuple[Any, ...]:
    path = folder / TRUTH
    if not path.exists():
        return ()
    try:
        shown = parsed(read_text(path))["images"]
        pictures = tuple(picture_from(shown[name]["picture"]) for name in images)
    except KeyError as error:
        raise refused(f"no key {error}", file=str(path)) from None
    except (ValueError, TypeError) as error:
        raise refused(f"expected {{'images': {{file: {{'picture': ...}}}}}}: {error}", file=str(path)) from None
    for file, picture in zip(images, pictures, strict=True):
        for name, value, *_ in (atom for atom in picture.atoms() if atom.other < 0):
            # Messages are read in lower case, whoever writes them.
            if name not in ORDER or not value or value != value.lower():
                problem = f"{file}: found {name} {value!r}; expected a word in lower case for one of {', '.join(ORDER)}"
                raise refused(problem, file=str(path))
    return pictures


def table_text(game: Game, trials: Sequence[Mapping[str, str]] = ()) -> str:
    """The table of a game. trials: of each msg, clickedObj and correct; empty cells where there are none."""
    made = io.StringIO(newline="")
    writer = csv.DictWriter(made, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for number, target in enumerate(game.targets):
        said = dict(trials[number]) if trials else {}
        message = said.get("msg", "")
        writer.writerow(
            {
                "gameid": game.name.partition("_")[2],
                "trialNum": number,
                "repNum": number // PER_REPETITION,
                "targetImg": game.images[target],
                "context_id": game.context,
                "msg": message,
                "uttLength": len(message.split()),
                "iterationName": game.iteration or "diorama",
                "time": said.get("time", "0"),
                "clickedObj": said.get("clickedObj", ""),
                "correct": said.get("correct", ""),
            }
        )
    return made.getvalue()


def recorded_rows(game: Game) -> list[dict[str, str]]:
    """What a game's own table has, for `table_text`."""
    return [
        {"msg": one.message, "clickedObj": one.clicked, "correct": "" if one.correct is None else str(one.correct),
         "time": one.time}
        for one in game.recorded
    ]  # fmt: skip


def transcript_rows(game: Game, transcript: Transcript) -> list[dict[str, str]]:
    """A transcript for `table_text`. distr0 to distr2 are the other images in the order of their names; an invalid
    answer has no clickedObj, and is wrong.
    """
    rows = []
    for trial in transcript.trials:
        clicked = ""
        if trial.choice:
            image = transcript.images[trial.order[transcript.labels.index(trial.choice)]]
            others = [one for one in game.images if one != trial.target]
            clicked = "target" if image == trial.target else f"distr{others.index(image)}"
        rows.append({"msg": trial.message, "clickedObj": clicked, "correct": str(trial.correct)})
    return rows


def write_game(out: Path, game: Game, files: Mapping[str, bytes], table: str, truth: Mapping[str, Any] | None) -> Path:
    """Write a game's folder below `out`; it takes its name once all is in it. files: image -> its bytes.

    Raises SpecError where a folder of that name is there, or a name can't be a file's.
    """
    target = out / game.name
    if target.exists():
        raise refused("is there already", "name another --out, or remove it", file=str(target))
    if {*files} != {*game.images} or not all(_FILE_NAME.fullmatch(name) for name in files):
        raise refused(f"game {game.name!r}: found images {', '.join(sorted(files))}; expected {', '.join(game.images)}")
    content = {**files, f"trials_for_{game.name}.csv": table.encode()}
    if truth is not None:
        content[TRUTH] = (json.dumps(truth, indent=1, ensure_ascii=False) + "\n").encode()
    partial = out / f".{game.name}.partial"
    try:
        partial.mkdir(parents=True, exist_ok=True)
        for old in sorted(partial.iterdir()):
            old.unlink()
        for name, data in content.items():
            (partial / name).write_bytes(data)
        partial.rename(target)
    except OSError as error:
        raise refused(f"can't be written: {error.strerror or error}", file=str(target)) from error
    return target
