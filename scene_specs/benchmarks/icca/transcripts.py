"""Transcripts: JSON lines, a header and 24 trials a game, one game after the other.

{"icca_transcript": 1, "game": ..., "images": [...], "labels": [...], "speaker": ..., "listener": ..., ...}
{"trial": 0, "repetition": 0, "target": ..., "message": ..., "choice": ..., "correct": ..., ...}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scene_specs.benchmarks.icca.game import Game, unequal_repetition
from scene_specs.benchmarks.icca.input_errors import parsed, refused
from scene_specs.benchmarks.icca.play import Trial, label_of
from scene_specs.benchmarks.icca.players import Setup
from scene_specs.benchmarks.icca.variants import PER_REPETITION, TRIALS
from scene_specs.language.errors import Diagnostic, SpecError

FORMAT_VERSION = 1
_MOST_BYTES = 1 << 30
_PLAYERS: tuple[str, ...] = ("speaker", "listener", "speaker_variant", "listener_variant")


@dataclass(frozen=True)
class Transcript:
    """A game as it was played. about: the header's other keys."""

    game: str
    images: tuple[str, ...]
    labels: tuple[str, ...]
    about: Mapping[str, Any]
    trials: tuple[Trial, ...]


def header_of(setup: Setup, players: tuple[str, str]) -> dict[str, Any]:
    """What the headers of all games of a run share, as JSON gives it back."""
    variant = {key: value for key, value in asdict(setup.listener).items() if key != "name"}
    return {
        "labels": list(setup.setting.names),
        "speaker": players[0],
        "listener": players[1],
        "speaker_variant": setup.speaker.name,
        "listener_variant": setup.listener.name,
        "variant": {**variant, "misleading_trials": list(setup.listener.misleading_trials)},
        "form": setup.setting.form,
        "seed": setup.seed,
    }


def lines_of(game: Game, setup: Setup, players: tuple[str, str], trials: Sequence[Trial]) -> Iterator[str]:
    """A game's lines. players: names of speaker and listener."""
    labels = setup.setting.names
    own = {"game": game.name, "images": list(game.images), "speaker_order": list(game.speaker_order)}
    yield json.dumps({"icca_transcript": FORMAT_VERSION, **own, **header_of(setup, players)}, ensure_ascii=False)
    for one in trials:
        row: dict[str, Any] = {
            "trial": one.number,
            "repetition": one.repetition,
            "target": one.target,
            "speaker_label": one.speaker_label,
            "message": one.message,
            "names_a_label": one.names_a_label(labels),
            "order": list(one.order),
            "shown": list(one.shown),
            "listener_label": one.listener_label,
            "answer": one.answer,
            "choice": one.choice,
            "correct": one.correct,
            "speaker_images": one.images[0],
            "listener_images": one.images[1],
        }
        if one.prompts is not None:
            row["speaker_prompt"], row["listener_prompt"] = ([part.data() for part in said] for said in one.prompts)
        yield json.dumps(row, ensure_ascii=False)


def read_text(path: Path) -> str:
    """A whole text file, UTF-8, without the mark that some editors begin it with. Raises SpecError."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise refused(f"larger than {_MOST_BYTES >> 30} GiB", file=str(path))
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refused(f"byte {error.start}: not UTF-8", "save the file as UTF-8", file=str(path)) from None
    except OSError as error:
        raise refused(f"can't be read: {error.strerror or error}", file=str(path)) from error


def read_transcripts(path: Path) -> list[Transcript]:
    """All games of a file. Raises SpecError with every diagnostic of it."""
    return transcripts_of(read_text(path), str(path))


def transcripts_of(text: str, file: str = "") -> list[Transcript]:
    """All games of a text; file: what it is called. Raises SpecError with every diagnostic of it."""
    diagnostics: list[Diagnostic] = []
    found: list[Transcript] = []
    rows: list[tuple[int, dict[str, Any]]] = []
    # Not splitlines(): JSON may hold other ends of lines, such as U+2028, in its texts.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = parsed(line)
        except ValueError as error:
            diagnostics.append(Diagnostic(file, number, "", "", f"no JSON: {error}"))
            continue
        if isinstance(value, dict) and "icca_transcript" in value:
            _close(file, rows, found, diagnostics)
            rows = [(number, value)]
        elif not rows or not isinstance(value, dict):
            diagnostics.append(Diagnostic(file, number, "", "", "expected the header of a game, with icca_transcript"))
        else:
            rows.append((number, value))
    _close(file, rows, found, diagnostics)
    if not diagnostics and not found:
        diagnostics.append(Diagnostic(file, 0, "", "", "no game in it"))
    if diagnostics:
        raise SpecError(diagnostics)
    return found


def _close(
    file: str, rows: Sequence[tuple[int, dict[str, Any]]], found: list[Transcript], diagnostics: list[Diagnostic]
) -> None:
    """Read one game's lines."""
    if not rows:
        return
    (line, header), body = rows[0], rows[1:]
    try:
        found.append(_transcript(header, [row for _, row in body], file, line))
    except SpecError as error:
        diagnostics += error.diagnostics


def _texts(value: object, count: int) -> bool:
    """Whether a value is a list of so many texts, all different."""
    return (
        isinstance(value, list) and all(isinstance(one, str) for one in value) and len(value) == len({*value}) == count
    )


def _transcript(header: Mapping[str, Any], body: Sequence[Mapping[str, Any]], file: str, line: int) -> Transcript:
    name = header.get("game")
    four = all(_texts(header.get(key), PER_REPETITION) for key in ("images", "labels"))
    if header["icca_transcript"] != FORMAT_VERSION or not isinstance(name, str) or not four:
        problem = (
            f"expected version {FORMAT_VERSION}, game (a text), images and labels (four texts each, all different)"
        )
        raise refused(problem, file=file, line=line)
    if unnamed := [key for key in _PLAYERS if not isinstance(header.get(key), str)]:
        raise refused(f"game {name!r}: found no text for {', '.join(unnamed)}", file=file, line=line)
    if len(body) != TRIALS:
        raise refused(f"game {name!r}: found {len(body)} trials; expected {TRIALS}", file=file, line=line)
    images, labels = tuple(header["images"]), tuple(header["labels"])
    trials, diagnostics = [], []
    for number, row in enumerate(body):
        if problem := _row_problem(row, number, images, labels):
            text = f"game {name!r}, trial {number}: {problem}"
            diagnostics.append(Diagnostic(file, line + 1 + number, "", "", text))
            continue
        order, shown = tuple(row["order"]), tuple(row["shown"])
        choice = label_of(row["answer"], labels)
        gold = labels[order.index(images.index(row["target"]))]
        trials.append(
            Trial(number, row["target"], row["speaker_label"], gold, row["message"], row["answer"], choice, order,
                  shown, (row["speaker_images"], row["listener_images"]))
        )  # fmt: skip
    if not diagnostics and (problem := unequal_repetition([one.target for one in trials], images)):
        diagnostics.append(Diagnostic(file, line, "", "", f"game {name!r}, {problem}"))
    if diagnostics:
        raise SpecError(diagnostics)
    known = {"icca_transcript", "game", "images", "labels"}
    about = {key: value for key, value in header.items() if key not in known}
    return Transcript(name, images, labels, about, tuple(trials))


def _row_problem(row: Mapping[str, Any], number: int, images: Sequence[str], labels: Sequence[str]) -> str:
    """What is wrong with a trial; "" if nothing is."""
    if row.get("trial") != number:
        return f"found trial {row.get('trial')!r}; expected {number}"
    for key in ("target", "message", "answer", "speaker_label", "listener_label"):
        if not isinstance(row.get(key), str):
            return f"{key}: found {row.get(key)!r}; expected a text"
    for key in ("speaker_images", "listener_images"):
        if not isinstance(row.get(key), int):
            return f"{key}: found {row.get(key)!r}; expected a number"
    if row["target"] not in images:
        return f"target {row['target']!r} is none of the game's images: {', '.join(images)}"
    if not row["message"].strip():
        return "the message is empty"
    for key in ("order", "shown"):
        if not isinstance(row.get(key), list) or sorted(map(repr, row[key])) != [str(k) for k in range(len(images))]:
            return f"{key}: found {row.get(key)!r}; expected the numbers 0 to {len(images) - 1}, each once"
    gold = labels[row["order"].index(images.index(row["target"]))]
    if row["listener_label"] != gold:
        return f"listener_label {row['listener_label']!r} is not the target's, which is {gold!r} in this order"
    choice = label_of(row["answer"], labels)
    for key, said in (("choice", choice), ("correct", choice == gold)):
        if row.get(key) != said:
            return f"{key} is {row.get(key)!r}; the answer says {said!r}"
    return "" if row["speaker_label"] in labels else f"speaker_label {row['speaker_label']!r} is no label"
