"""Contrasts of perspective episodes: the person stands elsewhere, and the answer that follows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from diorama.scene_specs.benchmarks.perspective.sight import Layout
from diorama.scene_specs.benchmarks.perspective.truth import Truth
from diorama.scene_specs.benchmarks.perspective.verify import answers, verify_spec
from diorama.scene_specs.model.scene import Change
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.contrast import Edit, edits

# How often places are drawn, as from few of them the person sees what it looks at and the answer is another.
_ROUNDS = 25


def contrasts(data: EpisodeData, change: Change, rng: np.random.Generator) -> Iterator[Edit]:
    """Yield edits that move the observer; the question stays. Refused: other changes, and unclear places."""
    truth = Truth.of_spec(data)
    fits = change == "observer" and truth.name not in ("second-view", "shelf")
    refused = "contrasts of perspective move the observer only, and not that of a second camera or behind a shelf"
    refused = verify_spec(data) if fits else refused
    if refused:
        yield Edit(data, 0, (), None, None, refused)
        return
    for edit in chain.from_iterable(edits(data, change, rng) for _ in range(_ROUNDS)):
        answered = answers(truth, Layout.of(edit.data["frames"][0]))
        if answered.problem:
            yield replace(edit, problem=answered.problem)
        else:
            edit.data["task"] |= {"answer": answered.answer, "egocentric": list(answered.egocentric)}
            yield replace(edit, problem=verify_spec(edit.data))
