"""Evaluation items of MALeViC: an image, and whether a sentence is true of it."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.benchmarks.malevic.truth import Truth
from diorama.scene_specs.errors import spec_error
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.benchmark import Asked
from diorama.scene_specs.tasks.items import Item, Part, read_prompts

_TEXT = read_prompts(__name__)


def items(episode: EpisodeRecord) -> Iterator[Item]:
    """Yield the item of an episode. A guesser without images knows the adjective."""
    truth = Truth.of_record(episode)
    if not truth.question:
        raise spec_error("it has no question", path="task")
    parts = (Part(image=episode.images[0].name), Part(_TEXT["question"].format(sentence=truth.question)))
    groups = {"adjective": truth.adjective, "vagueness": truth.vagueness, "objects": str(len(truth.objects))}
    yield Item(
        0, truth.name, parts, truth.options, truth.answer, int(_TEXT["version"]), groups=groups, key=truth.adjective
    )


def asked(spec: EpisodeData) -> Asked:
    """Return the group of a spec, its sentence, and its answer; scenes without a question are a group."""
    truth = Truth.of_spec(spec)
    return Asked(f"{truth.name} {truth.split}: {truth.question or 'scene'}", truth.answer, truth.options or ("",))
