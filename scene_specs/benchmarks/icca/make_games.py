"""Games made from rendered contexts: each context is verified, and the truth is measured in its images."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from diorama.scene_specs.benchmarks.icca import Games
from diorama.scene_specs.benchmarks.icca.difficulty import SIZE
from diorama.scene_specs.benchmarks.icca.game import new_game
from diorama.scene_specs.benchmarks.icca.game_folders import table_text, write_game
from diorama.scene_specs.benchmarks.icca.truth import Truth
from diorama.scene_specs.benchmarks.icca.verify import pictures_of_record, verify_record
from diorama.scene_specs.errors import Diagnostic, SpecError, UsageError, counted
from diorama.scene_specs.files.writing import create_empty_folder
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.benchmark import Episodes, Series


def make_games(options: Games, episodes: Episodes) -> Series:
    """Create games of a store's contexts in turn, each as a folder below `out`.

    All contexts are verified first.

    Raises:
        SpecError: the spec or the file is wrong; has every diagnostic.
        UsageError: an argument, option or name is wrong.
    """
    ids = [name for name in episodes.ids() if name.startswith("icca/")]
    if not ids:
        raise UsageError(f"{options.store}: found no contexts; render those of `render-specs icca --contexts N`")
    create_empty_folder("--out", options.out)
    total = options.count or len(ids)

    def games() -> Iterator[Path]:
        used = ids[:total]
        diagnostics = [
            diagnostic for episode in episodes.read(used) for diagnostic in _context_problems(episode, options.store)
        ]
        if diagnostics:
            raise SpecError(diagnostics)
        for index, episode in enumerate(episodes.read(used)):
            for number in range(len(range(index, total, len(ids)))):
                yield _write_game(episode, index, number, options)

    return Series(games(), total, "games", f"{counted(total, 'game')} in {options.out}")


def _context_problems(episode: EpisodeRecord, store: str) -> list[Diagnostic]:
    """Why a context can't be used, with its store."""
    try:
        reason = verify_record(episode)
    except SpecError as error:
        return [replace(diagnostic, file=store) for diagnostic in error.diagnostics]
    return [Diagnostic(store, 0, episode.episode_id, "task", reason)] if reason else []


def _write_game(episode: EpisodeRecord, index: int, number: int, options: Games) -> Path:
    context = Truth.of_record(episode)
    pictures = pictures_of_record(episode, context)
    stem = re.sub(r"[^A-Za-z0-9]+", "-", episode.episode_id)
    names = [f"{stem}-{k}.png" for k in range(SIZE)]
    game = new_game(index + 1, number, names, pictures, options.seed)
    images = {
        name: {
            "sha256": hashlib.sha256(image.png).hexdigest(),
            "image": image.name,
            "picture": picture.data(),
            **context.descriptions[k].model_dump(mode="json", exclude_unset=True),
        }
        for k, (name, image, picture) in enumerate(zip(names, episode.images, pictures, strict=True))
    }
    similarity = context.similarity.model_dump()
    truth = {"game": game.name, "episode": episode.episode_id, "seed": options.seed, "similarity": similarity,
             "images": images}  # fmt: skip
    files = {name: image.png for name, image in zip(names, episode.images, strict=True)}
    return write_game(options.out, game, files, table_text(game), truth)
