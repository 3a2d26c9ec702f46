"""MEWL episodes: any one alone from (seed, split, task, number), proved before it is given out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np

from scene_specs.benchmarks.mewl import attribute, bootstrap, combination, composite, number, pragmatic, relation
from scene_specs.benchmarks.mewl.draft import Draft, spec_of
from scene_specs.benchmarks.mewl.lexicons import lexicons
from scene_specs.benchmarks.mewl.verify import verify_view
from scene_specs.benchmarks.mewl.view import learner_view
from scene_specs.benchmarks.mewl.words import SPLITS, draw_words
from scene_specs.language.errors import Diagnostic, SpecError
from scene_specs.language.rng import generator

# Episodes a task in the published splits: 27,000 / 5,400 / 5,400 over nine tasks.
COUNTS: Mapping[str, int] = MappingProxyType({"train": 3000, "val": 600, "test": 600})
ATTEMPTS = 200

_Build = Callable[[np.random.Generator, list[str], bool], Draft | None]


@dataclass(frozen=True)
class _Task:
    """words: how many have a meaning, how many have none, and how many syllables each has."""

    words: tuple[int, int, int]
    build: _Build


def _plain(build: Callable[[np.random.Generator, list[str]], Draft | None]) -> _Build:
    """For a task whose published options give no hint: balanced or not, they are the same."""
    return lambda rng, words, _balanced: build(rng, words)


def _attribute(rng: np.random.Generator, words: list[str], balanced: bool, kind: str) -> Draft | None:
    return attribute.build(rng, words, kind, balanced)


_TASKS: Mapping[str, _Task] = MappingProxyType(
    {
        **{k: _Task((3, 2, 2), partial(_attribute, kind=k)) for k in ("shape", "color", "material")},
        "object": _Task((6, 0, 3), _plain(combination.build)),
        "composite": _Task((6, 0, 3), composite.build),
        "relation": _Task((3, 0, 3), _plain(relation.build)),
        "bootstrap": _Task((6, 0, 3), _plain(bootstrap.build)),
        "number": _Task((6, 0, 2), _plain(number.build)),
        "pragmatic": _Task((6, 0, 2), _plain(pragmatic.build)),
    }
)
TASKS: tuple[str, ...] = tuple(_TASKS)


def mewl_spec(seed: int, split: str, task: str, number: int, balanced: bool = False) -> dict[str, Any]:
    """Episode `number` of a task in a split, as JSON data that EpisodeSpec takes; no other episode is needed.

    balanced: leave out options that can be told to be wrong without a picture (unused words, pairs already shown).
    Id: `mewl/<split>/<task>/<6 digits>`. Raises SpecError for arguments out of range.
    """
    problem = ""
    if task not in _TASKS:
        problem = f"found task {task!r}; allowed: {', '.join(TASKS)}"
    elif split not in SPLITS:
        problem = f"found split {split!r}; allowed: {', '.join(SPLITS)}"
    elif not (0 <= seed < 2**63 and 0 <= number < 10**9):
        problem = f"found seed {seed} and number {number}; allowed: from 0, below 2^63 and 10^9"
    if problem:
        raise SpecError([Diagnostic("", 0, "", "", problem)])
    episode = f"mewl/{split}/{task}/{number:06d}"
    recipe = _TASKS[task]
    words = draw_words(generator(seed, episode, "words"), split, *recipe.words)
    for attempt in range(ATTEMPTS):
        draft = recipe.build(generator(seed, episode, f"attempt-{attempt}"), words, balanced)
        if draft is None:
            continue
        spec = spec_of(draft, episode, seed, split, task, number)
        if _good(spec):
            return spec
    raise RuntimeError(f"episode {episode}, seed {seed}: none of {ATTEMPTS} tries could be proved")


def _good(spec: dict[str, Any]) -> bool:
    """Whether the contexts leave one lexicon only, and it gives the answer.

    One lexicon is more than the proof asks for: an episode that is refused because of its *answer* would make some
    answers rarer than others, and a guesser could learn which.
    """
    view = learner_view(spec)
    if len(list(islice(lexicons(view), 2))) != 1:
        return False
    verdict = verify_view(view, spec["task"]["answer"], spec["task"]["words"])
    if not verdict.ok:
        raise RuntimeError(f"episode {spec['id']}: {verdict.reason}")
    return True
