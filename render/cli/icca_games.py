"""Games of `render-specs icca`: made from rendered contexts, read from folders, and drawn as charts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

from render.cli.command import report_write_errors
from render.cli.output import create_empty_folder
from render.cli.verification import Verification
from render.model.errors import Diagnostic, SpecError, UsageError
from scene_specs.benchmarks.icca.difficulty import SIZE
from scene_specs.benchmarks.icca.game import Game, new_game
from scene_specs.benchmarks.icca.game_folders import game_folders, read_game, table_text, write_game
from scene_specs.benchmarks.icca.prompts import Part, image_of, png_bytes
from scene_specs.benchmarks.icca.score import MEASURES, Played, Row, played_recording, played_transcript
from scene_specs.benchmarks.icca.transcripts import read_transcripts
from scene_specs.benchmarks.icca.verify import pictures_of_record
from scene_specs.language.atomic import write_atomic

if TYPE_CHECKING:
    from render.model.record import EpisodeRecord
    from render.store.episode_store import EpisodeReader


def make_games(store: str, count: int | None, out: Path, seed: int) -> Iterator[Path]:
    """Create games of a store's contexts in turn, each as a folder below `out`; yield the folders.

    All contexts are verified first. Raises SpecError, StoreError, UsageError.
    """
    from render.store import open_store

    opened = open_store(store)
    ids = sorted(key for key, _ in opened.ids() if key.startswith("icca/"))
    if not ids:
        raise UsageError(f"{store}: found no contexts; render those of `render-specs icca --contexts N`")
    create_empty_folder("--out", out)
    total = count or len(ids)
    used = ids[:total]
    result = Verification()
    for record in _read_records(opened, used, store):
        location = Diagnostic(store, 0, record.episode_id, "", "")
        result.add({"benchmark": "icca"}, location, methodcaller("verify_record", record))
    if result.diagnostics:
        raise SpecError(result.diagnostics)
    for index, record in enumerate(_read_records(opened, used, store)):
        for number in range(len(range(index, total, len(ids)))):
            yield _write_game(record, index, number, out, seed)


def _read_records(opened: EpisodeReader, ids: Sequence[str], store: str) -> Iterator[EpisodeRecord]:
    from render.export.protocol import ExportReport, iter_valid_records

    report = ExportReport()
    for record in iter_valid_records(opened, ids, report, lambda _: None):
        if report.damaged:
            break
        yield record
    if report.damaged:
        raise UsageError(
            f"{store}: damaged: {'; '.join(report.damaged)}; `render-specs check --prove --store` lists all"
        )


def _write_game(record: EpisodeRecord, index: int, number: int, out: Path, seed: int) -> Path:
    pictures = pictures_of_record(record)
    stem = re.sub(r"[^A-Za-z0-9]+", "-", record.episode_id)
    names = [f"{stem}-{k}.png" for k in range(SIZE)]
    task = record.scene.task or {}
    game = new_game(index + 1, number, names, pictures, seed)
    images = {
        name: {"image": image.name, "picture": picture.data(), **task["descriptions"][k]}
        for k, (name, image, picture) in enumerate(zip(names, record.images, pictures, strict=True))
    }
    truth = {"game": game.name, "episode": record.episode_id, "seed": seed, "similarity": task["similarity"],
             "images": images}  # fmt: skip
    files = {name: image.png for name, image in zip(names, record.images, strict=True)}
    return write_game(out, game, files, table_text(game), truth)


def read_games(paths: Sequence[Path]) -> list[Game]:
    """Read all games of folders. Raises SpecError with the diagnostics of all games."""
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
    """Write the images of a prompt as a model gets them: `000.png`, `001.png`, ..."""
    create_empty_folder("--images", out)
    images = [png_bytes(image_of(game, part)) for part in parts if part.kind != "text"]
    with report_write_errors(f"--images {out}"):
        for number, content in enumerate(images):
            write_atomic(out / f"{number:03d}.png", content, fsync=False)


def played_games(paths: Sequence[Path]) -> Iterator[Played]:
    """Read played games: transcripts from files, and recorded games from folders."""
    for path in paths:
        if path.is_dir():
            yield from map(played_recording, read_games((path,)))
        else:
            yield from map(played_transcript, read_transcripts(path))


def plot_of(rows: Sequence[Row]) -> str:
    """The scores as an SVG line chart."""
    from render.gallery.charts import Panel, line_chart

    titles = {"words": "words per message", "wnd": "word novelty distance", "wnr": "word novelty rate"}
    panels = []
    for measure in MEASURES:
        lines: dict[str, list[tuple[float, float, float, float]]] = {}
        for row in rows:
            if row.measure == measure:
                lines.setdefault(row.group, []).append((row.at, row.mean, row.low, row.high))
        top, level = (1.0, 1 / SIZE) if measure == "accuracy" else (None, None)
        panels.append(Panel(titles.get(measure, measure), lines, top, level))
    return line_chart("ICCA by repetition", "repetition", panels)
