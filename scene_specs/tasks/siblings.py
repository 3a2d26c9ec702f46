"""Sets whose cells have a given size: fresh siblings of a set of specs, and sets in which no text tells the answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import cycle, islice
from typing import Any, NamedTuple

from diorama.scene_specs.errors import UsageError, counted
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.model.spec import EpisodeData, FrameSpec
from diorama.scene_specs.tasks.benchmark import Asked

# Rounds of generation that add nothing before the search ends.
_IDLE = 20
_YES_NO = frozenset({True, False, "yes", "no", "true", "false"})


class Cell(NamedTuple):
    """What a sibling has in common with an episode: frames, and the most objects in one of them.

    Attributes:
        answer: if it is yes or no.
    """

    task: str
    split: str
    frames: int
    objects: int
    answer: str

    def __str__(self) -> str:
        said = " ".join(word for word in (self.task, self.split, self.answer) if word)
        return f"{said or 'episodes'} with {counted(self.frames, 'frame')} of up to {counted(self.objects, 'object')}"


def cell_of(spec: EpisodeData) -> Cell:
    """Return the cell of a spec, as JSON data."""
    task = spec.get("task") or {}
    answer = task.get("answer", (task.get("answers") or [None])[-1])
    said = str(answer).lower() if isinstance(answer, bool | str) and answer in _YES_NO else ""
    counts = [len(frame.get("objects") or ()) for frame in spec["frames"]]
    return Cell(str(task.get("name", "")), spec.get("split") or "", len(counts), max(counts, default=0), said)


def siblings(
    given: Iterable[EpisodeData], make: Callable[[int], Iterable[EpisodeData]], seed: int
) -> Iterator[EpisodeData]:
    """Yield as many new specs of each cell as the given ones have; none shows what a given one, or another, shows.

    Args:
        given: specs as JSON data.
        make: generates specs from a seed.
        seed: seed of the siblings. Their ids begin with `like.<seed>.<round>/`.

    Raises:
        UsageError: after 20 rounds that add nothing; names the cells that are not full.
    """
    wanted, seen = Counter[Cell](), set[str]()
    for spec in given:
        wanted[cell_of(spec)] += 1
        seen.add(_content_key(spec))

    hint = "--like: {}. Repeat the options that these specs were generated with, or pass fewer specs"
    return _draw_until_filled(wanted, cell_of, partial(_round, make, seed, "like"), seen, hint)


def balanced(
    asked_of: Callable[[EpisodeData], Asked], make: Callable[[int], Iterable[EpisodeData]], seed: int
) -> Iterator[EpisodeData]:
    """Yield as many specs of each group of questions as a seed gives, with each answer of a group equally often.

    What is left over of a group goes to each answer in turn, from group to group. Specs of the seed come first; those
    that replace what a group has too many of are generated from other seeds, with ids that begin with
    `balanced.<seed>.<round>/`.

    Args:
        asked_of: what a spec, as JSON data, asks.
        make: generates specs from a seed.
        seed: seed of the set.

    Raises:
        UsageError: after 20 rounds that add nothing; names the answers that are missing.
    """
    drawn = [*make(seed)]

    def rounds(number: int) -> Iterable[EpisodeData]:
        return _round(make, seed, "balanced", number) if number else drawn

    hint = "--balanced-answers: {}. Ask for more episodes or other tasks, or omit the option"
    return _draw_until_filled(_even_counts(map(asked_of, drawn)), lambda spec: str(asked_of(spec)), rounds, set(), hint)


def _round(make: Callable[[int], Iterable[EpisodeData]], seed: int, name: str, number: int) -> Iterator[EpisodeData]:
    for spec in make(int(generator(seed, str(number), name).integers(2**62))):
        yield {**spec, "id": f"{name}.{seed}.{number}/{spec['id']}"}


def _even_counts(asked: Iterable[Asked]) -> Counter[str]:
    """How many episodes to keep of each group and answer."""
    turns: dict[tuple[str, ...], Iterator[str]] = {}
    found = Counter[str]()
    # Plug-ins may return lists.
    for group, count in Counter(one._replace(answer="", answers=tuple(one.answers)) for one in asked).items():
        share, rest = divmod(count, len(group.answers))
        turn = turns.setdefault(group.answers, cycle(group.answers))
        due = [*group.answers * share, *islice(turn, rest)]
        found.update(str(group._replace(answer=answer)) for answer in due)
    return found


def _draw_until_filled(
    left: Counter[Any],
    cell_of: Callable[[EpisodeData], Any],
    rounds: Callable[[int], Iterable[EpisodeData]],
    seen: set[str],
    problem: str,
) -> Iterator[EpisodeData]:
    """Yield specs of rounds that were not seen, and count down what is left of each cell until nothing is."""
    total, number, idle = left.copy(), 0, 0
    while due := left.total():
        for spec in rounds(number):
            cell = cell_of(spec)
            if left[cell] and (shown := _content_key(spec)) not in seen:
                left[cell] -= 1
                seen.add(shown)
                yield spec
        idle = 0 if left.total() < due else idle + 1
        number += 1
        if idle == _IDLE:
            lacking = [f"{total[cell] - count} of {total[cell]} {cell}" for cell, count in left.items() if count]
            more = f"; and {len(lacking) - 5} more kinds" if len(lacking) > 5 else ""
            raise UsageError(problem.format(f"in {number} rounds, found {'; '.join(lacking[:5])}{more}"))


def _content_key(spec: EpisodeData) -> str:
    """Return what images show and what is asked about them, without ids and seeds, equal however values are written."""
    frames = (FrameSpec.model_validate(frame) for frame in spec["frames"])
    data = [frame.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for frame in frames]
    return json.dumps([data, (spec.get("task") or {}).get("question")], sort_keys=True)
