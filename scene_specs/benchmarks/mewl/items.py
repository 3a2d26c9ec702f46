"""Evaluation items of MEWL: six named images, a seventh, and which of the options names it."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.benchmarks.mewl.audit import GUESSERS
from diorama.scene_specs.benchmarks.mewl.truth import Truth
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.benchmark import Asked
from diorama.scene_specs.tasks.items import Item, Part, listed, read_prompts

_TEXT = read_prompts(__name__)


def items(episode: EpisodeRecord) -> Iterator[Item]:
    """Yield the item of an episode. Guessers without images are those of `render-specs mewl audit`."""
    truth = Truth.of_record(episode)
    options = truth.options
    utterances = {frame.name: frame.utterance or "" for frame in episode.scene.frames}
    *contexts, query = episode.images
    parts = [Part(_TEXT["start"])]
    for number, image in enumerate(contexts, 1):
        text = _TEXT["context"].format(number=number, utterance=utterances[image.frame])
        parts += [Part(text), Part(image=image.name)]
    parts += [Part(_TEXT["query"]), Part(image=query.name), Part(_TEXT["question"].format(options=listed(options)))]
    rules = {}
    for name, guessers in GUESSERS.items():
        for k, guesser in enumerate(guessers):
            scores = guesser([utterances[image.frame] for image in contexts], list(options))
            best = [option for option, score in zip(options, scores, strict=True) if score == max(scores)]
            rules[f"{name} {k}"] = best
    yield Item(
        0, truth.name, tuple(parts), options, truth.answer, int(_TEXT["version"]), lettered=True, rules=rules
    )  # fmt: skip


def asked(spec: EpisodeData) -> Asked:
    """Return the group of a spec, its task, and the place of its answer among the options."""
    truth = Truth.of_spec(spec)
    places = tuple(str(k) for k in range(len(truth.options)))
    return Asked(f"{truth.name} {spec['split']}", str(truth.options.index(truth.answer)), places)
