"""A file of predictions of a model, {"<episode id>": "<answer>"}."""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path

from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.files.foreign import parse_json, read_text
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.language.validation import of_form

_log = logging.getLogger(__name__)


class Predictions:
    """The predictions of a file.

    Raises:
        SpecError: the file is unusable.
    """

    def __init__(self, path: Path) -> None:
        self._file, self._scored = str(path), set[str]()
        expected = 'expected an object {"<episode id>": "<answer>"}'
        self._given = of_form(dict[str, object], parse_json(read_text(path), self._file), expected, self._file)

    def of(self, episode: str, allowed: Collection[str]) -> str:
        """Return the prediction for an episode.

        Raises:
            SpecError: it is none of those allowed.
        """
        self._scored.add(episode)
        if self._given.get(episode) not in allowed:
            raise spec_error(f"no prediction for {episode}; expected {' or '.join(allowed)}", file=self._file)
        return str(self._given[episode])

    def warn_of_others(self) -> None:
        """Log predictions that no call of `of` asked for."""
        if others := sorted({*self._given} - self._scored):
            _log.warning(
                "%s: %d predictions are of no item here: %s", self._file, len(others), preview_json(others[:3])
            )
