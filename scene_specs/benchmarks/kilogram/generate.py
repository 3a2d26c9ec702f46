"""Games and pictures by the options of `render-specs kilogram`; problems in the user's files are logged."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.annotations import log_diagnostics
from diorama.scene_specs.benchmarks.kilogram.dataset import own_dataset, read_dataset
from diorama.scene_specs.benchmarks.kilogram.emit import game_spec, picture_specs
from diorama.scene_specs.benchmarks.kilogram.examples import AUG, CONDITIONS, games
from diorama.scene_specs.errors import counted
from diorama.scene_specs.model.spec import EpisodeData

_log = logging.getLogger(__name__)


def generate(options: Options) -> Iterator[EpisodeData]:
    """Episodes as JSON data. Raises SpecError for wrong files."""
    if options.svg is None:
        dataset = own_dataset(options.seed)
    else:
        dataset = read_dataset(options.svg, options.annotations, options.splits, options.seed, options.strict)
        log_diagnostics(dataset.diagnostics, "; `render-specs drawings` lists them, --strict makes them errors")
    conditions = tuple(CONDITIONS) if options.condition == "four" else (options.condition,)
    annotations = dataset.of_split(options.split)
    if not annotations:
        _log.warning("split %s has no descriptions", options.split)
    if options.pictures:
        for condition in conditions:
            yield from picture_specs(dataset, annotations, condition, options)
        return
    skipped: dict[str, list[str]] = {}
    for game in games(annotations, options, skipped, augmented=conditions == (AUG,)):
        for condition in conditions:
            yield game_spec(dataset, game, condition, options)
    for reason, keys in skipped.items():
        listed = ", ".join(keys[:5]) + (", ..." if len(keys) > 5 else "")
        _log.warning("%s without a game: %s (%s)", counted(len(keys), "description"), reason, listed)
