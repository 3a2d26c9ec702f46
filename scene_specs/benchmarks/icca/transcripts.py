"""Transcripts: JSON lines, for each game a header and 24 trials.

{"icca_transcript": 1, "game": ..., "images": [...], "labels": [...], "speaker": ..., "listener": ..., ...}
{"trial": 0, "repetition": 0, "target": ..., "message": ..., "choice": ..., "correct": ..., ...}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from diorama.scene_specs.benchmarks.icca.game import PER_REPETITION, TRIALS, Game, listener_of, unequal_repetition
from diorama.scene_specs.benchmarks.icca.play import Setup, Trial, label_of
from diorama.scene_specs.benchmarks.icca.prompts import COLLAGE
from diorama.scene_specs.errors import SpecError, read_each, spec_error
from diorama.scene_specs.files.foreign import parse_json, read_text
from diorama.scene_specs.language.validation import of_form
from diorama.scene_specs.tasks.copies import digest_of_lines

FORMAT_VERSION = 1
# In the header: of all lines of the game, without itself.
_DIGEST = "sha256"
_PLAYERS: tuple[str, ...] = ("speaker", "listener", "speaker_variant", "listener_variant")
_ROW: tuple[str, ...] = (
    "trial", "repetition", "target", "speaker_label", "message", "names_a_label", "order", "shown", "listener_label",
    "answer", "choice", "correct", "speaker_images", "listener_images",
)  # fmt: skip


class _Header(BaseModel):
    icca_transcript: int
    game: str
    images: list[str]
    labels: list[str]


class Transcript(NamedTuple):
    """A game as it was played.

    Attributes:
        about: the header's other keys.
    """

    game: str
    images: tuple[str, ...]
    labels: tuple[str, ...]
    about: Mapping[str, Any]
    trials: tuple[Trial, ...]


def header_of(setup: Setup, players: Sequence[str]) -> dict[str, Any]:
    """Return the header keys that all games of a run share, with the types that JSON reads back."""
    return {
        "labels": list(setup.presentation.names),
        "speaker": players[0],
        "listener": players[1],
        "speaker_variant": setup.speaker.name,
        "listener_variant": setup.listener.name,
        "variant": setup.listener.data(),
        "form": setup.presentation.form,
        "seed": setup.presentation.seed,
        **({"models": dict(setup.models)} if setup.models else {}),
    }


def lines_of(
    game: Game, setup: Setup, players: Sequence[str], trials: Sequence[Trial], prompts: bool = False
) -> Iterator[str]:
    """Yield a game's lines.

    Args:
        players: names of speaker and listener.
        prompts: include them.
    """
    labels = setup.presentation.names
    own = {"game": game.name, "images": list(game.images), "speaker_order": list(game.speaker_order)}
    header = {"icca_transcript": FORMAT_VERSION, **own, **header_of(setup, players)}
    rows = []
    for trial in trials:
        derived = {"repetition": trial.trial // PER_REPETITION, "names_a_label": trial.names_a_label(labels)}
        row = {key: derived[key] if key in derived else getattr(trial, key) for key in _ROW}
        if trial.usage:
            row["usage"] = dict(trial.usage)
        for role, prompt in zip(("speaker", "listener"), trial.prompts if prompts else (), strict=False):
            row[f"{role}_prompt"] = [part.data() for part in prompt]
        rows.append(row)
    yield json.dumps({**header, _DIGEST: _digest_of(header, rows)}, ensure_ascii=False)
    yield from (json.dumps(row, ensure_ascii=False) for row in rows)


def read_transcripts(path: Path) -> list[Transcript]:
    """All games of a file. Raises SpecError with all diagnostics of the file."""
    return transcripts_of(read_text(path), str(path))


def transcripts_of(text: str, file: str = "") -> list[Transcript]:
    """All games of a text.

    Args:
        file: its name in diagnostics.

    Raises:
        SpecError: has the diagnostics of all trials, or with that of the first line that is no trial or header where
            one must be.
    """
    transcripts = list(read_each(_read_games(text, file), lambda game: [_parse_transcript(*game, file)]))
    if not transcripts:
        raise spec_error("no game in it", file=file)
    return transcripts


def _read_games(text: str, file: str) -> Iterator[tuple[int, dict[str, Any], list[dict[str, Any]]]]:
    """Yield the number of each header's line, the header, and its trials."""
    start, body = 0, list[dict[str, Any]]()
    header: dict[str, Any] = {}
    # Not splitlines(): JSON strings may contain other separators, such as U+2028.
    for number, line in enumerate(StringIO(text, newline="\n"), start=1):
        if not line.strip():
            continue
        incomplete = start > 0 and len(body) < TRIALS
        match parse_json(line, file, number):
            case {"icca_transcript": _} as value if not incomplete:
                start, header, body = number, value, []
            case dict(value) if incomplete and "icca_transcript" not in value:
                body.append(value)
            case _:
                progress = f"game {header.get('game')!r}: found {len(body)} trials; " if start else ""
                expected = "the header of a game, with icca_transcript"
                raise spec_error(f"{progress}expected {TRIALS if incomplete else expected}", file=file, line=number)
        if len(body) == TRIALS:
            yield start, header, body
    if start > 0 and len(body) < TRIALS:
        yield start, header, body


def _parse_transcript(line: int, header: Mapping[str, Any], body: Sequence[Mapping[str, Any]], file: str) -> Transcript:
    problem = f"expected version {FORMAT_VERSION}, game (a text), images and labels (4 texts each, all different)"
    known = of_form(_Header, header, problem, file, line)
    name, images, labels = known.game, tuple(known.images), tuple(known.labels)
    four_each = all(len(four) == len({*four}) == PER_REPETITION for four in (images, labels))
    if known.icca_transcript != FORMAT_VERSION or not four_each:
        raise spec_error(problem, file=file, line=line)
    if unnamed := [key for key in _PLAYERS if not isinstance(header.get(key), str)]:
        raise spec_error(f"game {name!r}: found no text for {', '.join(unnamed)}", file=file, line=line)
    if len(body) != TRIALS:
        raise spec_error(f"game {name!r}: found {len(body)} trials; expected {TRIALS}", file=file, line=line)
    about = {key: value for key, value in header.items() if key not in (*_Header.model_fields, _DIGEST)}

    def read(numbered: tuple[int, Mapping[str, Any]]) -> Iterator[Trial]:
        number, row = numbered
        if problem := _row_problem(row, number, images, labels):
            raise spec_error(f"game {name!r}, trial {number}: {problem}", file=file, line=line + 1 + number)
        own = {"order": tuple(row["order"]), "shown": tuple(row["shown"])}
        values = {**row, **own, "speaker_choice": "", "prompts": (), "usage": {}}
        trial = Trial(**{field.name: values[field.name] for field in fields(Trial)})
        named = trial.names_a_label(labels)
        if (stated := row.get("names_a_label", named)) != named:
            problem = f"game {name!r}, trial {number}: names_a_label: found {stated!r}; the message gives {named!r}"
            raise spec_error(problem, file=file, line=line + 1 + number)
        yield trial

    trials = tuple(read_each(enumerate(body), read))
    if problem := unequal_repetition([trial.target for trial in trials], images):
        raise spec_error(f"game {name!r}, {problem}", file=file, line=line)
    transcript = Transcript(name, images, labels, about, trials)
    for number, problem in _other_orders(transcript):
        raise spec_error(f"game {name!r}, trial {number}: {problem}", file=file, line=line + 1 + number)
    if _DIGEST in header and header[_DIGEST] != (digest := _digest_of(header, body)):
        expected = str(header[_DIGEST])[:16]
        problem = f"game {name!r}: found lines with the SHA-256 {digest[:16]}...; expected {expected}..."
        hint = f"restore the file, or remove {_DIGEST} from the header to use the game as it is now"
        raise spec_error(problem, hint, file=file, line=line)
    return transcript


def _digest_of(header: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the digest of a game: of what its trials were, without prompts and usage, which may be removed."""
    others = {key: value for key, value in header.items() if key != _DIGEST}
    return digest_of_lines([others, *({key: row.get(key) for key in _ROW} for row in rows)])


def _other_orders(transcript: Transcript) -> Iterator[tuple[int, str]]:
    """Yield trial and problem of each order of images that the game's id, seed and variant do not give.

    Transcripts that others wrote need not name a seed and a variant; their orders are not checked.
    """
    seed, row = transcript.about.get("seed"), transcript.about.get("variant")
    if type(seed) is not int or not isinstance(row, dict):
        return
    images = tuple(sorted(transcript.images))
    try:
        game = Game(transcript.game, images, tuple(images.index(trial.target) for trial in transcript.trials))
        variant = listener_of(str(transcript.about["listener_variant"]), row)
    except (KeyError, TypeError, SpecError) as error:
        yield 0, f"its orders can't be checked: {error}"
        return
    for number, trial in enumerate(transcript.trials):
        derived: dict[str, object] = {
            "order": game.listener_order(variant, number, seed),
            "shown": game.shown_order(variant, number, seed),
            "speaker_label": transcript.labels[game.speaker_order.index(game.targets[number])],
        }
        # Published prompts, of version 0.1.0, have other numbers.
        if "prompts_as" not in transcript.about and isinstance(form := transcript.about.get("form"), str):
            counts = 1 if form == COLLAGE else PER_REPETITION, variant.images(number, form)
            derived |= zip(("speaker_images", "listener_images"), counts, strict=True)
        for key, expected in derived.items():
            if getattr(trial, key) != expected:
                yield number, f"{key}: found {getattr(trial, key)!r}; the game's id, seed and variant give {expected!r}"


def _row_problem(row: Mapping[str, Any], number: int, images: Sequence[str], labels: Sequence[str]) -> str:
    """Return what is wrong with a trial; "" if nothing is."""
    texts = ("target", "message", "answer", "speaker_label", "listener_label")
    types = {**dict.fromkeys(texts, str), **dict.fromkeys(("speaker_images", "listener_images"), int)}
    for key, kind in types.items():
        if not isinstance(row.get(key), kind):
            return f"{key}: found {row.get(key)!r}; expected a {'text' if kind is str else 'number'}"
    if row["target"] not in images:
        return f"target {row['target']!r} is not one of the game's images: {', '.join(images)}"
    if not row["message"].strip():
        return "the message is empty"
    for key in ("order", "shown"):
        if not isinstance(row.get(key), list) or sorted(map(repr, row[key])) != [str(k) for k in range(len(images))]:
            return f"{key}: found {row.get(key)!r}; expected the numbers 0 to {len(images) - 1}, each once"
    gold = labels[row["order"].index(images.index(row["target"]))]
    # Version 0.1.0 took only a label by itself for valid.
    choice = label_of(row["answer"], labels) if row.get("choice") != "" else ""
    derived: dict[str, object] = {"repetition": number // PER_REPETITION} if "repetition" in row else {}
    derived |= {"trial": number, "listener_label": gold, "choice": choice, "correct": choice == gold}
    for key, expected in derived.items():
        if row.get(key) != expected:
            return f"{key}: found {row.get(key)!r}; the other values give {expected!r}"
    return "" if row["speaker_label"] in labels else f"speaker_label {row['speaker_label']!r} is not a label"
