"""What `render-specs icca` does with stores, folders and transcripts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from render.cli.icca_played import empty_folder
from render.model.errors import Diagnostic, SpecError, UsageError
from scene_specs.benchmarks.icca.difficulty import SIZE
from scene_specs.benchmarks.icca.game import Game, new_game
from scene_specs.benchmarks.icca.game_folders import game_folders, read_game, table_text, write_game
from scene_specs.benchmarks.icca.prompts import Part, image_of, png_bytes
from scene_specs.benchmarks.icca.score import MEASURES, Played, Row, played_recording, played_transcript
from scene_specs.benchmarks.icca.transcripts import read_transcripts
from scene_specs.benchmarks.icca.verify import find_contradiction, pictures_of_record

if TYPE_CHECKING:
    from render.model.record import EpisodeRecord
    from render.store.episode_store import EpisodeReader


def make_games(store: str, count: int | None, out: Path, seed: int) -> Iterator[Path]:
    """Games of a store's contexts, contexts in turn, each written below `out` once all contexts were proved.

    Raises SpecError, StoreError, UsageError.
    """
    from render.store import open_store

    opened = open_store(store)
    ids = sorted(key for key, _ in opened.ids() if key.startswith("icca/"))
    if not ids:
        raise UsageError(f"{store}: no contexts in it; render those of `render-specs icca --contexts N`")
    empty_folder("--out", out)
    total = count or len(ids)
    used = ids[:total]
    diagnostics: list[Diagnostic] = []
    for record in _whole(opened, used, store):
        try:
            reason = find_contradiction(record.scene.task or {}, pictures_of_record(record))
            diagnostics += [Diagnostic("", 0, record.episode_id, "task", reason)] if reason else []
        except SpecError as error:
            diagnostics += error.diagnostics
    if diagnostics:
        raise SpecError([replace(diagnostic, file=store) for diagnostic in diagnostics])
    for place, record in enumerate(_whole(opened, used, store)):
        for number in range(len(range(place, total, len(ids)))):
            yield _made(record, place, number, out, seed)


def _whole(opened: EpisodeReader, ids: Sequence[str], store: str) -> Iterator[EpisodeRecord]:
    from render.export.protocol import ExportReport, iter_valid_records

    report = ExportReport()
    for record in iter_valid_records(opened, ids, report, lambda _: None):
        if report.damaged:
            break
        yield record
    if report.damaged:
        raise UsageError(
            f"{store}: damaged: {'; '.join(report.damaged)}; `render-specs check --prove --store` names all"
        )


def _made(record: EpisodeRecord, place: int, number: int, out: Path, seed: int) -> Path:
    pictures = pictures_of_record(record)
    stem = re.sub(r"[^A-Za-z0-9]+", "-", record.episode_id)
    names = [f"{stem}-{k}.png" for k in range(SIZE)]
    task = record.scene.task or {}
    context = place + 1
    game = new_game(context, number, names, pictures, seed)
    images = {
        name: {"image": image.name, "picture": picture.data(), **task["descriptions"][k]}
        for k, (name, image, picture) in enumerate(zip(names, record.images, pictures, strict=True))
    }
    truth = {"game": game.name, "episode": record.episode_id, "seed": seed, "similarity": task["similarity"],
             "images": images}  # fmt: skip
    files = {name: image.png for name, image in zip(names, record.images, strict=True)}
    return write_game(out, game, files, table_text(game), truth)


def read_games(paths: Sequence[Path]) -> list[Game]:
    """All games of folders. Raises SpecError with the diagnostics of all."""
    diagnostics: list[Diagnostic] = []
    found = []
    for folder in game_folders(paths):
        try:
            found.append(read_game(folder))
        except SpecError as error:
            diagnostics += error.diagnostics
    if diagnostics:
        raise SpecError(diagnostics)
    return found


def write_images(game: Game, parts: Sequence[Part], out: Path) -> None:
    """The images of a prompt as they are given to a model: `000.png`, `001.png`, ..."""
    empty_folder("--images", out)
    shown = [part for part in parts if part.kind != "text"]
    made = [png_bytes(image_of(game, part)) for part in shown]
    try:
        for number, content in enumerate(made):
            partial = out / f".{number:03d}.png.part"
            partial.write_bytes(content)
            partial.replace(out / f"{number:03d}.png")
    except OSError as error:
        raise UsageError(f"--images {out}: can't be written: {error.strerror or error}") from error


def played_games(paths: Sequence[Path]) -> Iterator[Played]:
    """Transcripts of files, and recorded games of folders."""
    for path in paths:
        if path.is_dir():
            yield from (played_recording(game) for game in read_games((path,)))
        else:
            yield from (played_transcript(one) for one in read_transcripts(path))


_TITLES = {
    "accuracy": "accuracy",
    "words": "words a message",
    "wnd": "word novelty distance",
    "wnr": "word novelty rate",
}


def plot_of(rows: Sequence[Row]) -> str:
    """The scores as SVG."""
    from render.gallery.charts import Panel, line_chart

    panels = []
    for measure in MEASURES:
        lines: dict[str, list[tuple[float, float, float, float]]] = {}
        for row in rows:
            if row.measure == measure:
                lines.setdefault(row.group, []).append((row.at, row.mean, row.low, row.high))
        top, level = (1.0, 1 / SIZE) if measure == "accuracy" else (None, None)
        panels.append(Panel(_TITLES[measure], lines, top, level))
    return line_chart("ICCA by repetition", "repetition", panels)
