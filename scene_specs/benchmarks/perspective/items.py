"""Evaluation items: one image and a question from the point of view of the person in it."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.benchmarks.perspective.truth import Truth
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.items import Item, Part, read_prompts

_TEXT = read_prompts(__name__)


def items(episode: EpisodeRecord) -> Iterator[Item]:
    """Yield the item of an episode. The rule `egocentric` answers from the camera's point of view."""
    truth = Truth.of_record(episode)
    # The photograph is the truth of a second view.
    image, *_ = episode.images
    words = {"person": truth.person, "options": ", ".join(truth.options), "of": truth.of, "which": truth.which}
    words |= (
        {"asked": truth.asked[0], "other": truth.asked[-1], "shape": truth.asked[0].split()[-1]} if truth.asked else {}
    )
    parts = (Part(_TEXT["start"].format(**words)), Part(image=image.name), Part(_TEXT[truth.name].format(**words)))
    # Where the camera's answer is always the same one, or any, the group would tell the right one, or nothing.
    sides = len(truth.egocentric) == 1 and truth.name != "level-1"
    groups = {"egocentric": "right" if truth.answer in truth.egocentric else "wrong"} if sides else {}
    yield Item(0, truth.name, parts, truth.options, truth.answer, int(_TEXT["version"]), groups=groups,
               key=truth.name, rules={"egocentric": truth.egocentric})  # fmt: skip
