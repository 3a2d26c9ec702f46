"""Balance of answers: how often each is due, the score of a text-only guesser, and how often conditions decide.

Uses instructions, answers and visible objects only, never the task graphs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from diorama.scene_specs.benchmarks.iwisdm.autotask import Structure, children_of, get_properties, without_values
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.reader import UnreadableError, read
from diorama.scene_specs.benchmarks.iwisdm.stimuli import LOCATIONS
from diorama.scene_specs.benchmarks.iwisdm.truth import Truth
from diorama.scene_specs.benchmarks.iwisdm.verify import frames_of
from diorama.scene_specs.errors import UsageError, located
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.chi_square import equal_frequencies

KINDS = {"true": "true or false", "false": "true or false", **dict.fromkeys(LOCATIONS, "location")}
OTHER = "category or other"


def form_of(text: str) -> str:
    """Return the words that join the questions of a text: an unbalanced conjunction, for example, is mostly false."""
    return " ".join(sorted(re.findall(r"\b(?:if|and|or)\b", text)))


def audit(specs: Iterable[EpisodeData]) -> list[dict[str, Any]]:
    """Return a row for each task name and kind of answer among iWISDM specs, as JSON data.

    answers: answer -> count, also of those that never occur. p: chi-square probability of equal frequencies. text:
    score of a guesser that sees nothing, but knows the most frequent answer in these trials for each combination of
    "and", "or" and "if". conditions: share of the Switches whose branches differ, None without any.

    Raises:
        UsageError: for an unreadable instruction.
        SpecError: for a task without instruction or answers.
    """
    trials: Counter[str] = Counter()
    # Name -> whether the branches of each Switch differ, and name -> kind -> (form of the text, answer) of each.
    deciding: defaultdict[str, list[bool]] = defaultdict(list)
    given: defaultdict[str, defaultdict[str, Counter[tuple[str, str]]]] = defaultdict(lambda: defaultdict(Counter))
    for spec in specs:
        try:
            with located(episode=f"{spec.get('id')}"):
                truth = Truth.of_spec(spec)
                reading, name = read(truth.instruction, frames_of(spec)), truth.name
        except UnreadableError as error:
            raise UsageError(f"episode {spec.get('id')}: {error}") from None
        trials[name] += 1
        deciding[name] += (then != other for then, other in reading.branches)
        form = form_of(truth.instruction)
        for answer in (single for due in truth.answers if due != "null" for single in due.split("; ")):
            kind = KINDS.get(answer, OTHER)
            possible = [possible_answer for possible_answer, its in KINDS.items() if its == kind] or truth.categories
            # Answers that never occur are classes, too.
            if answer in possible:
                given[name][kind].update({(form, f"{possible_answer}"): 0 for possible_answer in possible})
            given[name][kind][form, answer] += 1
    return [
        _balance_row(name, kind, counts, trials[name], deciding[name])
        for name, kinds in given.items()
        for kind, counts in sorted(kinds.items())
    ]


def _balance_row(
    name: str, kind: str, counts: Mapping[tuple[str, str], int], trials: int, deciding: Sequence[bool]
) -> dict[str, Any]:
    answers: Counter[str] = Counter()
    # The guesser always gives the most frequent answer to each form of text.
    guessed: Counter[str] = Counter()
    for (form, answer), count in counts.items():
        answers[answer] += count
        guessed[form] = max(guessed[form], count)
    return {
        "name": name, "trials": trials, "kind": kind, "answers": dict(sorted(answers.items())),
        "p": equal_frequencies(list(answers.values())), "text": guessed.total() / answers.total(),
        "conditions": sum(deciding) / len(deciding) if deciding else None,
    }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table; shares in percent."""
    lines = []
    for row in rows:
        counts = ", ".join(f"{answer} {count}" for answer, count in row["answers"].items())
        deciding = "" if row["conditions"] is None else f"{100 * row['conditions']:.1f}"
        lines.append(
            (row["name"], row["trials"], row["kind"], counts, f"{row['p']:.3f}", f"{100 * row['text']:.1f}", deciding)
        )
    head = ("task", "trials", "answers", "how often each", "p", "by text alone", "conditions that decide")
    return markdown_table(head, lines)


# Shares of the splits.
_SHARES = {"train": 0.6, "val": 0.2, "test": 0.2}
# With this number, each split of each packaged benchmark has tasks, and train has every comparison, `and` and `or`.
_NUMBER = 30


def split_has(tree: Structure, split: str, hold_out: str) -> bool:
    """Whether a split may have a task with these operators.

    Args:
        hold_out: "structures": each tree, without its constants, belongs to one split. "compositions": each pair of
            comparisons that stand below one operator does; train has tasks of its own pairs only, another split those
            with at least one pair of its own and none of the third split.
    """
    if hold_out == "structures":
        return _split_of(without_values(tree)) == split
    splits = {_split_of(pair) for pair in _compositions(tree)} or {"train"}
    return splits <= {"train", split} and split in splits


def _split_of(key: object) -> str:
    return [*_SHARES][KeyedRng(_NUMBER, str(key), "hold out").weighted([*_SHARES.values()])]


def _compositions(tree: Structure) -> Iterator[tuple[object, ...]]:
    """(operator, comparison, comparison) for each pair below an operator; the order of the two does not matter."""
    children = children_of(tree)
    kinds = sorted((str(side[0]), next(get_properties(side))) for side in children if side[0] in ("IsSame", "NotSame"))
    if tree[0] in ("And", "Or") and len(kinds) == 2:
        yield (tree[0], *kinds)
    for child in children:
        yield from _compositions(child)
