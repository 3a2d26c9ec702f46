"""The truth of a benchmark's episodes as a model, read once where a spec or a record enters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from pydantic import ValidationError

from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.files.strict_json import Path
from diorama.scene_specs.language.validation import form_diagnostics
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeData, SpecModel


class TaskTruth(SpecModel):
    """Base class of the `task` of a benchmark's episodes, and of the `truth` of their frames.

    Each method raises SpecError if keys are missing, unknown or wrong, with all of them; for an episode of another
    benchmark, with its name only.
    """

    @classmethod
    def of_spec(cls, data: EpisodeData) -> Self:
        """Return the truth of a spec, as JSON data."""
        return cls.of_task(data.get("task"), str(data.get("id", "")))

    @classmethod
    def of_record(cls, episode: EpisodeRecord) -> Self:
        """Return the truth of a rendered episode."""
        return cls.of_task(episode.scene.task, episode.episode_id)

    @classmethod
    def of_frames(cls, truths: Iterable[Mapping[str, Any] | None], episode: str = "") -> list[Self]:
        """Return the truth of each frame, as JSON data."""
        return [cls.of_task(truth, episode, ("frames", k, "truth")) for k, truth in enumerate(truths)]

    @classmethod
    def of_task(cls, task: Mapping[str, Any] | None, episode: str = "", place: Path = ("task",)) -> Self:
        """Return the truth that a `task`, or what stands at another place of an episode, holds, as JSON data."""
        try:
            return cls.model_validate(task or {})
        except ValidationError as error:
            found = form_diagnostics(error, cls, task or {})
            found = [one for one in found if one.path == ("benchmark",)] or found
            problems = [one._replace(path=(*place, *one.path)).in_file(episode=episode) for one in found]
            raise SpecError(problems) from None
