"""Contrasts of MEWL episodes: one factor of the query changes, and with it the option that names it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from diorama.scene_specs.benchmarks.mewl.copies import published_names
from diorama.scene_specs.benchmarks.mewl.draft import CONTEXTS, VALUES
from diorama.scene_specs.benchmarks.mewl.truth import Truth
from diorama.scene_specs.benchmarks.mewl.verify import verify_spec
from diorama.scene_specs.model.scene import Change
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.contrast import Edit, edits


def contrasts(data: EpisodeData, change: Change, rng: np.random.Generator) -> Iterator[Edit]:
    """Yield edits of the query. Refused: those after which no option, or more than one, is true of it."""
    truth = Truth.of_spec(data)
    for edit in edits(data, change, rng, [CONTEXTS], {**VALUES, "shape": truth.shapes}):
        task, problem, query = edit.data["task"], "", edit.data["frames"][CONTEXTS]
        query["truth"] = {**(query.get("truth") or {}), "names": None}
        for option in truth.options:
            task["answer"] = option
            if not (reason := verify_spec(edit.data)):
                break
            problem = problem or reason
        else:
            yield replace(edit, problem=problem)
            continue
        query["truth"]["names"] = published_names(Truth.of_spec(edit.data), query)
        yield edit
