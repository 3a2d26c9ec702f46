"""Predictions of a model and the items that they belong to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from diorama.render.evaluation.predictions import Prediction
from diorama.render.items.scores import Entry
from diorama.render.model.errors import UsageError
from diorama.scene_specs.language.answer_rule import answer_of
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.language.tables import counted

_MOST_HINTED = 100_000
# Why predictions can't be scored -> what to do.
_ADVICE = {
    "of no item of the store": "score them with the store that they were made from, and the same --questions, --limit, "
    "--split and --where",
    "of items that have one already": "keep one of each; nothing is counted twice",
    "missing": "select the episodes that were asked with --limit, --split and --where, or pass --allow-missing to "
    "count missing predictions as wrong",
}
_UNKNOWN, _TWICE, _MISSING = _ADVICE


def match(entries: dict[str, Entry], predictions: Iterable[Prediction], allow_missing: bool = False) -> None:
    """Put each prediction into the entry of its item. Memory does not grow with the predictions.

    Raises UsageError if an id is unknown, occurs twice, or is missing, SpecError as `read_predictions`.
    """
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}

    def add(kind: str, example: str) -> None:
        counts[kind] += 1
        examples.setdefault(kind, example)

    for one in predictions:
        where = f"{one.file}:{one.line}"
        if (entry := entries.get(one.id)) is None:
            hint = ""
            if _UNKNOWN not in counts and len(entries) <= _MOST_HINTED:
                hint = f" ({did_you_mean(one.id, entries)})".replace(" ()", "")
            add(_UNKNOWN, f"{one.id} in {where}{hint}")
        elif entry.place:
            add(_TWICE, f"{one.id} in {entry.place} and {where}")
        else:
            entry.reply, entry.place = answer_of(one.reply, entry.options, entry.lettered), where
    for name, entry in entries.items():
        if entry.reply is None and not allow_missing:
            add(_MISSING, name)
    if counts:
        numbers = {kind: counted(count, "prediction") for kind, count in counts.items()}
        lines = (f"{numbers[kind]} {kind}, such as {one}; {_ADVICE[kind]}" for kind, one in examples.items())
        raise UsageError("not scored: " + "\n  ".join(lines))
