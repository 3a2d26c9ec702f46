"""Games as folders, in the published layout: `<context>_<id>/` with four images and `trials_for_<folder>.csv`.

Columns: gameid, trialNum, repNum, targetImg, context_id, msg, uttLength, iterationName, time, clickedObj, correct.
Before a game is played, msg, clickedObj and correct are empty. Diorama adds two files: `game.json` has the scene graphs
of the images, their SHA-256, and the ids of the episode and images that they come from; `SHA256SUMS` has the SHA-256 of
all files, of the table as it was before the game was played.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from diorama.scene_specs.benchmarks.icca.game import GAME_ID, PER_REPETITION, TRIALS, Game, Recorded
from diorama.scene_specs.benchmarks.icca.layout import SceneGraph, graph_from_json
from diorama.scene_specs.benchmarks.icca.prompts import open_image
from diorama.scene_specs.benchmarks.icca.referring_expressions import ORDER
from diorama.scene_specs.benchmarks.icca.transcripts import Transcript
from diorama.scene_specs.errors import SpecError, read_each, spec_error
from diorama.scene_specs.files.foreign import parse_json, read_foreign, read_text
from diorama.scene_specs.files.writing import indented_json
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.tasks.copies import SUMS, changed_files, digest_of, read_sums, sums_text
from diorama.scene_specs.tasks.csv_table import csv_table

COLUMNS: tuple[str, ...] = (
    "gameid", "trialNum", "repNum", "targetImg", "context_id", "msg", "uttLength", "iterationName", "time",
    "clickedObj", "correct",
)  # fmt: skip
TRUTH = "game.json"
# A table of 24 messages of the longest kind that csv reads is 3 MB.
_MAX_TABLE_BYTES = 16 << 20
_MAX_ROWS = 1000
CLICKED: tuple[str, ...] = ("target", "distr0", "distr1", "distr2")
_IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png")


def game_folders(paths: Sequence[Path]) -> list[Path]:
    """Return the game folders among `paths` and directly below them, sorted by name. Raises SpecError."""
    by_name: dict[str, Path] = {}
    for path in paths:
        if not path.is_dir():
            raise spec_error("no such folder; expected a game's folder, or one that holds them", file=str(path))
        own = [path] if _table(path).is_file() else []
        below = [child for child in sorted(path.iterdir()) if child.is_dir() and GAME_ID.fullmatch(child.name)]
        if not own and not below:
            raise spec_error(f"no game here: expected {_table(path).name}, or folders <context>_<id>", file=str(path))
        for folder in own or below:
            other = by_name.setdefault(folder.resolve().name, folder)
            if folder.resolve() != other.resolve():
                raise spec_error(f"a game of this name is given twice: here and in {other}", file=str(folder))
    return [by_name[name] for name in sorted(by_name)]


def _table(folder: Path) -> Path:
    return folder / f"trials_for_{folder.resolve().name}.csv"


def read_games(paths: Sequence[Path]) -> list[Game]:
    """Read all games of folders. Raises SpecError with the diagnostics of all games."""
    return list(read_each(game_folders(paths), lambda folder: [read_game(folder)]))


def read_game(folder: Path) -> Game:
    """Yield a game from its folder; opens the images and checks every row. Raises SpecError with all diagnostics."""
    name, table = folder.resolve().name, _table(folder)
    parts: tuple[Callable[[], Any], ...] = (lambda: _list_images(folder), lambda: _read_rows(table))
    images, rows = read_each(parts, lambda read: [read()])

    def recorded(numbered: tuple[int, Mapping[str, str]]) -> Iterator[Recorded]:
        number, row = numbered
        if problem := _row_problem(row, number, images, name):
            raise spec_error(f"trial {number}: {problem}", file=str(table), line=number + 2)
        answers = {"True": True, "False": False}
        yield Recorded(row["msg"].strip(), row["clickedObj"], answers.get(row["correct"]), row["time"])

    trials = tuple(read_each(enumerate(rows), recorded))
    graphs = _read_graphs(folder, images)
    targets = tuple(images.index(row["targetImg"]) for row in rows)
    try:
        played = trials if trials[0].message else ()
        game = Game(name, tuple(images), targets, graphs, played, folder, rows[0]["iterationName"])
    except SpecError as error:
        raise spec_error(error.diagnostics[0].problem, file=str(table)) from None
    if changed := [each for each in changed_files(folder) if not (each.file == str(table) and _is_filled(game, table))]:
        raise SpecError(changed)
    return game


def _is_filled(game: Game, table: Path) -> bool:
    """Return whether a table is that of the game, with the cells filled that are empty before it is played."""
    blank = table_text(replace(game, iteration=""))
    return read_sums(table.with_name(SUMS)).get(table.name) == digest_of(blank.encode())


def _list_images(folder: Path) -> list[str]:
    names = [path.name for path in sorted(folder.iterdir()) if path.suffix.lower() in _IMAGE_SUFFIXES]
    names = [name for name in names if name[0] != "."]
    if len(names) != PER_REPETITION:
        problem = f"found {len(names)} images ({', '.join(names[:8]) or 'none'}); expected {PER_REPETITION}"
        raise spec_error(problem, file=str(folder))
    for _ in read_each(names, lambda name: [open_image(folder / name)]):
        pass
    return names


def _read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, with all columns and a cell in each. Raises SpecError."""
    # read_text removes one byte order mark; some editors write two.
    text = read_text(path, _MAX_TABLE_BYTES).removeprefix("\ufeff")
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = list(islice(reader, _MAX_ROWS))
    except csv.Error as error:
        raise spec_error(f"invalid CSV: {error}", file=str(path)) from None
    problem, line = "", 0
    if missing := [column for column in COLUMNS if column not in (reader.fieldnames or ())]:
        problem, line = f"no column {', '.join(missing)}; expected {', '.join(COLUMNS)}", 1
    elif len(rows) != TRIALS:
        problem = f"found {'at least ' if len(rows) == _MAX_ROWS else ''}{len(rows)} trials; expected {TRIALS}"
    elif any(None in row or None in row.values() for row in rows):
        problem = "some rows have more or fewer cells than the first"
    elif len({row["gameid"] for row in rows}) > 1:
        problem = f"found the gameids {', '.join(sorted({row['gameid'][:40] for row in rows}))}; expected one"
    else:
        cells = {"msg": "messages", "correct": "cells of correct"}
        if partly := [cells[key] for key in cells if len({bool(row[key].strip()) for row in rows}) > 1]:
            problem = f"some {' and '.join(partly)} are empty; expected all {TRIALS} of a game that was played, or none"
    if problem:
        raise spec_error(problem, file=str(path), line=line)
    return rows


def _row_problem(row: Mapping[str, str], number: int, images: Sequence[str], name: str) -> str:
    """Return what is wrong with a trial; "" if nothing is."""
    if row["targetImg"] not in images:
        return f"targetImg {row['targetImg']!r} is not one of the folder's images: {', '.join(images)}"
    if row["clickedObj"] not in (*CLICKED, "") or row["correct"] not in ("True", "False", ""):
        answer = f"clickedObj {row['clickedObj']!r}, correct {row['correct']!r}"
        return f"found {answer}; expected {', '.join(CLICKED)}, and True or False"
    derived: dict[str, object] = {"trialNum": number, "repNum": number // PER_REPETITION}
    context = name.partition("_")[0]
    if context.isdecimal():
        derived["context_id"] = int(context)
    # An invalid answer has no click, and is wrong.
    if row["clickedObj"] or row["correct"] == "True":
        derived["correct"] = row["clickedObj"] == "target"
    if (words := len(row["msg"].split())) or row["uttLength"].strip():
        derived["uttLength"] = words
    wrong = (f"{key}: found {row[key]!r}; expected {value}" for key, value in derived.items() if row[key] != str(value))
    return next(wrong, "")


def _read_graphs(folder: Path, images: Sequence[str]) -> tuple[SceneGraph, ...]:
    """Return the scene graphs of game.json, in the order of `images`; () without that file."""
    path = folder / TRUTH
    if not path.exists():
        return ()
    data = parse_json(read_text(path), str(path))
    try:
        graphs = tuple(graph_from_json(data["images"][name]["picture"]) for name in images)
        stored = {name: data["images"][name].get("sha256") for name in images}
    except KeyError as error:
        raise spec_error(f"no key {error}", file=str(path)) from None
    except (ValueError, TypeError) as error:
        problem = f"expected {{'images': {{file: {{'picture': ...}}}}}}: {error}"
        raise spec_error(problem, file=str(path)) from None
    # Games of version 0.1.0 have no checksums.
    for name, expected in stored.items():
        digest = hashlib.sha256(read_foreign(folder / name)).hexdigest() if expected is not None else None
        if digest != expected:
            problem = f"{name}: has SHA-256 {digest}; the game was made with {preview_json(expected)}"
            raise spec_error(problem, "restore the image, or make the game again", file=str(path))
    for file, graph in zip(images, graphs, strict=True):
        for name, value, *_ in (atom for atom in graph.atoms() if atom.other < 0):
            # Listeners convert messages to lower case before they look for values.
            if name not in ORDER or not value or value != value.lower():
                problem = f"{file}: found {name} {value!r}; expected a word in lower case for one of {', '.join(ORDER)}"
                raise spec_error(problem, file=str(path))
    return graphs


def table_text(game: Game, trials: Sequence[Recorded] = ()) -> str:
    """Return the CSV table of a game; without trials, their cells are empty."""
    rows: list[tuple[object, ...]] = [COLUMNS]
    for number, target in enumerate(game.target_images):
        trial = trials[number] if trials else Recorded("")
        words, correct = len(trial.message.split()), "" if trial.correct is None else trial.correct
        rows.append((
            game.name.partition("_")[2], number, number // PER_REPETITION, target, game.context, trial.message, words,
            game.iteration or "diorama", trial.time, trial.clicked, correct,
        ))  # fmt: skip
    return csv_table(rows)


def transcript_rows(transcript: Transcript) -> list[Recorded]:
    """Return a transcript for `table_text`. distr0 to distr2 are the other images, ordered by name; an invalid
    answer has no clickedObj, and is wrong.
    """
    rows = []
    for trial in transcript.trials:
        clicked = ""
        if trial.choice:
            image = transcript.images[trial.order[transcript.labels.index(trial.choice)]]
            others = [other for other in transcript.images if other != trial.target]
            clicked = "target" if image == trial.target else f"distr{others.index(image)}"
        rows.append(Recorded(trial.message, clicked, trial.correct))
    return rows


def records_text(game: Game, transcript: Transcript) -> str:
    """Return the published notebook's CSV file: of each trial, the table's columns, both orders and labels."""
    rows = [*csv.reader(io.StringIO(table_text(game, transcript_rows(transcript))))]
    head = ("spkr_trial_fns", "spkr_msg", "tgt_label_for_spkr", "lsnr_trial_fns", "tgt_label_for_lsnr", "lsnr_pred")
    table: list[tuple[object, ...]] = [("", *COLUMNS[1:], *head)]
    for number, (row, trial) in enumerate(zip(rows[1:], transcript.trials, strict=True)):
        seen = [[transcript.images[k] for k in order] for order in (game.speaker_order, trial.order)]
        cells = (seen[0], trial.message, trial.speaker_label, seen[1], trial.listener_label, trial.choice or "invalid")
        table.append((number, *row[1:], *cells))
    return csv_table(table)


def write_game(
    out: Path, game: Game, files: Mapping[str, bytes], table: str, truth: Mapping[str, Any] | None,
    more: Mapping[str, str] | None = None,
) -> Path:  # fmt: skip
    """Write a game's folder below `out`; the folder gets its name after all its files are written.

    Args:
        files: image -> content.
        more: other files -> content.

    Raises:
        SpecError: where the folder exists, or an image's name is not a valid file name.
    """
    target = out / game.name
    if target.exists():
        raise spec_error("exists already", "name another --out, or remove it", file=str(target))
    if {*files} != {*game.images} or any(Path(name).name != name for name in files):
        mismatch = f"found images {', '.join(sorted(files))}; expected {', '.join(game.images)}"
        raise spec_error(f"game {game.name!r}: {mismatch}")
    texts = {f"trials_for_{game.name}.csv": table, **(more or {})}
    content = {**files, **{name: text.encode() for name, text in texts.items()}}
    if truth is not None:
        content[TRUTH] = indented_json(truth)
    content[SUMS] = sums_text({name: digest_of(data) for name, data in content.items()}).encode()
    partial = out / f".{game.name}.partial"
    try:
        partial.mkdir(parents=True, exist_ok=True)
        for old in sorted(partial.iterdir()):
            old.unlink()
        for name, data in content.items():
            (partial / name).write_bytes(data)
        partial.rename(target)
    except OSError as error:
        raise spec_error(f"can't be written: {error.strerror or error}", file=str(target)) from error
    return target
