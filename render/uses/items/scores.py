"""Scores of predictions: accuracy by task and group, with chance and what guessers without images reach.

chance      answers uniformly among the options
blind       sees neither image nor text. It knows which answer, or which position among the options, is right most
            often in the task
text only   reads the text, too: the best, in each task, of the blind guesser, of the most frequent answer to each kind
            of text (Item.key), and of the benchmark's own rules (Item.rules)

The guessers learn from other episodes than the one that they are scored on: the episodes are divided into ten folds,
and each is held out once. Tasks with fewer than LEAST items have no guessers. Ties of rules count as fractions.
"""

from __future__ import annotations

import logging
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from zlib import crc32

from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.selection import Selection, chosen_ids, iter_valid_records, listed
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.errors import StoreError, UsageError, counted
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.model.look import PLAIN
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.items import Item, item_id, items_of, look_of, source_of_id
from diorama.scene_specs.tasks.questions.generate import Questioner
from diorama.scene_specs.tasks.questions.grammar import default_grammar
from diorama.scene_specs.tasks.questions.question_items import items

_log = logging.getLogger(__name__)


def no_items(options: Selection) -> UsageError:
    """Return the error for a selection without items."""
    more = "" if options.questions else ", or pass --questions N"
    return UsageError(f"no episode has evaluation items; check STORE, --split and --where{more}")


def items_maker(options: Selection) -> Callable[[EpisodeRecord], Iterator[Item]]:
    """Return what makes the items of one episode after the other: those of its benchmark, or questions."""
    if options.questions is None:
        return items_of
    asker = Questioner(default_grammar(), families=options.families, per_image=options.questions)
    asked: dict[str, list[Item]] = {}

    def ask(record: Any) -> Iterable[Item]:
        """Ask all looks of an episode the same; their ids follow each other."""
        source = source_of_id(record.episode_id, look_of(record.scene))
        if not source:
            return items(asker, store_views([record]))
        if source not in asked:
            asked.clear()
            asked[source] = [*items(asker, store_views([record]))]
        return asked[source]

    return lambda record: items_of(record, ask)


def iter_items(
    store: EpisodeReader, options: Selection, progress: Callable[[int], None]
) -> Iterator[tuple[str, Item, EpisodeRecord]]:
    """Yield id, item and episode, by episode id. Memory: a chunk of 32 episodes.

    Args:
        options: selection of episodes, as in an export.
        progress: receives numbers of episodes. The number of episodes without items is logged.

    Raises:
        StoreError: for damaged ones.
    """
    damaged: list[str] = []
    without, make = 0, items_maker(options)
    for record in iter_valid_records(store, chosen_ids(store, options), damaged, progress):
        without += not (items := list(make(record)))
        for item in items:
            yield item_id(record.episode_id, item), item, record
        progress(1)
    if damaged:
        raise StoreError(listed("not read", damaged))
    if without:
        _log.warning("%s without evaluation items skipped", counted(without, "episode"))


_95 = 1.959964
# With fewer items, guessers of a task are not shown.
LEAST = 100
_FOLDS = 10
# Keys of rows.
GUESSERS = ("blind", "text")
# What rows of paired differences are by.
DIFFERENCE = "minus plain"


@dataclass
class Entry:
    """An item of the store and its prediction.

    Attributes:
        episode: id of the episode, or what its items have in common with those of others (`Item.together`).
        reply: the option that was chosen, "" if invalid, None if missing.
        blind: what the guesser gets, from 0 to 1; None if its task has too few items.
        text: likewise.
        source: for an episode in a look, the item that it shows in this look.
    """

    task: str
    episode: str
    groups: Mapping[str, str]
    options: tuple[str, ...]
    lettered: bool
    answer: str
    key: str
    rules: Mapping[str, Sequence[str]]
    reply: str | None = None
    place: str = ""
    pair: str = ""
    source: str = ""
    chance: float = 0.0
    blind: float | None = None
    text: float | None = None

    @classmethod
    def of(cls, item: Item, episode: str) -> Entry:
        """Return the entry of an item; its message is not kept."""
        answers = (item.options, item.lettered, item.answer, item.key, item.rules)
        chance = 1 / len(item.options)
        look = item.groups.get("look", "")
        source = item_id(source_of_id(episode, look), item) if look else ""
        name = f"{item.benchmark}: {item.task}"
        return cls(name, item.together or episode, item.groups, *answers, pair=item.pair, source=source, chance=chance)

    @classmethod
    def of_pair(cls, pair: str, members: Sequence[Entry]) -> Entry:
        """Return an entry that is right if all members are; its answer is that of all."""
        answers, replies = [member.answer for member in members], [member.reply for member in members]
        some, flips = members[0], len({*answers}) > 1
        reply = None if None in replies else "" if "" in replies else "right" if replies == answers else "wrong"
        guesses: dict[str, Any] = {"chance": math.prod(member.chance for member in members)}
        for name in GUESSERS:
            values = [getattr(member, name) for member in members]
            guesses[name] = None if None in values else math.prod(values)
        groups = {"change": some.groups["change"], "answers": "flip" if flips else "stay"}
        return cls(some.task, pair, groups, (), False, "right", "", {}, reply, **guesses)


def read_entries(store: EpisodeReader, options: Selection, progress: Callable[[int], None]) -> dict[str, Entry]:
    """Id -> entry of the items of a store; see `iter_items`. Memory: about 2 KB per item."""
    entries = {name: Entry.of(item, record.episode_id) for name, item, record in iter_items(store, options, progress)}
    add_guesses(entries.values())
    return entries


def fold_of(episode: str) -> int:
    """Return in which of ten parts an episode is held out."""
    return crc32(episode.encode()) % _FOLDS


def add_guesses(entries: Iterable[Entry]) -> None:
    """Compute what the guessers get on each entry of tasks with enough items, as expected shares from 0 to 1."""
    tasks: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        tasks[entry.task].append(entry)
    for group in tasks.values():
        folds = [fold_of(entry.episode) for entry in group]
        if len(group) < LEAST or len({*folds}) < 2:
            continue
        blind = [_most_frequent_hits(group, [""] * len(group), folds, place) for place in (False, True)]
        text = [*blind, _most_frequent_hits(group, [entry.key for entry in group], folds, False)]
        for rule in group[0].rules:
            best = [entry.rules.get(rule, entry.options) for entry in group]
            text.append([(entry.answer in some) / len(some) for entry, some in zip(group, best, strict=True)])
        for entry, blind_share, text_share in zip(
            group, _best_elsewhere(blind, folds), _best_elsewhere(text, folds), strict=True
        ):
            entry.blind, entry.text = blind_share, text_share


def _most_frequent_hits(group: Sequence[Entry], keys: Sequence[str], folds: Sequence[int], place: bool) -> list[float]:
    """1 where the answer is the most frequent one of its key in the other folds, 0 elsewhere.

    Args:
        place: whether to guess its position instead of its text.
    """
    answers = [str(entry.options.index(entry.answer)) if place else entry.answer for entry in group]
    counts: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for key, fold, answer in zip(keys, folds, answers, strict=True):
        counts[key, fold][answer] += 1

    @cache
    def most(key: str | None, fold: int) -> str | None:
        seen: Counter[str] = Counter()
        for (other, where), some in counts.items():
            if where != fold and key in (other, None):
                seen.update(some)
        # Sorted, so that a tie does not depend on the order of the entries. Of a new key, the most frequent of all.
        return max(sorted(seen), key=seen.__getitem__) if seen else most(None, fold) if key is not None else None

    return [float(answer == most(key, fold)) for key, fold, answer in zip(keys, folds, answers, strict=True)]


def _best_elsewhere(shares: Sequence[Sequence[float]], folds: Sequence[int]) -> list[float]:
    """In each fold, what the guesser gets that is best in the others."""
    best = {
        held: max(shares, key=lambda values: sum(hit for hit, fold in zip(values, folds, strict=True) if fold != held))
        for held in {*folds}
    }
    return [best[fold][k] for k, fold in enumerate(folds)]


def interval(right: Sequence[float], clusters: Sequence[str]) -> tuple[float, float]:
    """95 % interval of a mean of zeros and ones, by Wilson's formula (1927).

    Args:
        clusters: items of one episode are not independent, so the number of items is divided by the design effect
            (Kish, Survey Sampling, 1965) that the data show.
    """
    number = len(right)
    mean = sum(right) / number
    sums: dict[str, float] = defaultdict(float)
    for value, cluster in zip(right, clusters, strict=True):
        sums[cluster] += value - mean
    spread = sum(value * value for value in sums.values()) / number**2
    # The sums are multiples of 1 / number: what is less is a rounding error of 0.
    size = max(min(mean * (1 - mean) / spread, number), 1.0) if spread * number**4 > 0.5 else len(sums)
    center = mean + _95**2 / (2 * size)
    half = _95 * math.sqrt(mean * (1 - mean) / size + (_95 / (2 * size)) ** 2)
    low, high = ((center + sign * half) / (1 + _95**2 / size) for sign in (-1, 1))
    return max(low, 0.0), min(high, 1.0)


def rows(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Return a row for all items, for each task, and for each value of each group; shares from 0 to 1.

    For items in contrasts, also rows of pairs or chains, which are right if all of their items are. For items in looks,
    also rows `minus plain`: shares minus those of the same items in plain, with the interval of the paired difference.
    """
    groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    pairs: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.pair:
            pairs[entry.pair].append(entry)
        groups[("all", "")].append(entry)
        groups[("task", entry.task)].append(entry)
        for name, value in entry.groups.items():
            groups[(name, value)].append(entry)
    for pair, members in pairs.items():
        if len(members) > 1:
            joined = Entry.of_pair(pair, members)
            for value in ("", joined.task, *(f"{name}: {value}" for name, value in joined.groups.items())):
                groups["all of a pair", value].append(joined)
    looks = {value: groups[name, value] for name, value in groups if name == "look"}
    plain = {entry.source: entry for entry in looks.pop(PLAIN, ())}
    differences = [_look_difference(look, group, plain) for look, group in sorted(looks.items())]
    return [_score_row(name, value, groups[name, value]) for name, value in sorted(groups, key=_group_order)] + [
        row for row in differences if row is not None
    ]


def _look_difference(look: str, group: Sequence[Entry], plain: Mapping[str, Entry]) -> dict[str, Any] | None:
    """Return what a look adds to the same items' shares in `plain`; the interval is that of a mean of differences."""
    pairs = [(entry, plain[entry.source]) for entry in group if entry.source in plain]
    if not pairs:
        return None
    row, before = (_score_row(DIFFERENCE, look, [*some]) for some in zip(*pairs, strict=True))
    for name in ("accuracy", "chance", *GUESSERS):
        row[name] = None if row[name] is None or before[name] is None else row[name] - before[name]
    sums: dict[str, float] = defaultdict(float)
    for entry, other in pairs:
        sums[entry.episode] += (entry.reply == entry.answer) - (other.reply == other.answer) - row["accuracy"]
    count = len(sums)
    spread = sum(value * value for value in sums.values()) * count / max(count - 1, 1)
    half = _95 * math.sqrt(spread) / len(pairs)
    return {**row, "low": row["accuracy"] - half, "high": row["accuracy"] + half}


def _group_order(group: tuple[str, str]) -> tuple[int, str, int, str]:
    name, value = group
    return ({"all": 0, "task": 1}.get(name, 2), name, int(value) if value.isdecimal() else 0, value)


def _score_row(name: str, value: str, group: Sequence[Entry]) -> dict[str, Any]:
    number, episodes = len(group), [entry.episode for entry in group]
    right = [float(entry.reply == entry.answer) for entry in group]
    low, high = interval(right, episodes)
    guesses: dict[str, float | None] = {}
    for guesser in GUESSERS:
        known = [guess for entry in group if (guess := getattr(entry, guesser)) is not None]
        mean = (sum(known) / number, *interval(known, episodes)) if len(known) == number else (None, None, None)
        guesses |= dict(zip((guesser, f"{guesser}_low", f"{guesser}_high"), mean, strict=True))
    return {
        "by": name, "group": value, "items": number, "accuracy": sum(right) / number, "low": low, "high": high,
        "chance": sum(entry.chance for entry in group) / number, **guesses,
        "invalid": sum(entry.reply == "" for entry in group), "missing": sum(entry.reply is None for entry in group),
    }  # fmt: skip


def guessed(row: Mapping[str, Any], name: str) -> str:
    """Return what a guesser gets in a row, in percent, with the 95 % interval; "-" if the row has too few items."""
    if row[name] is None:
        return "-"
    limits = f" ({100 * row[f'{name}_low']:.1f}-{100 * row[f'{name}_high']:.1f})" if row["by"] != DIFFERENCE else ""
    return f"{100 * row[name]:.1f}{limits}"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the rows as a Markdown table, shares in percent."""
    head = ("by", "group", "items", "accuracy", "95 % interval", "chance", "blind", "text only", "invalid", "missing")
    cells = [
        [
            row["by"], row["group"], row["items"], f"{100 * row['accuracy']:.1f}",
            f"{100 * row['low']:.1f}{' to ' if row['low'] < 0 else '-'}{100 * row['high']:.1f}",
            f"{100 * row['chance']:.1f}", *(guessed(row, name) for name in GUESSERS), row["invalid"], row["missing"],
        ]
        for row in rows
    ]  # fmt: skip
    return markdown_table(head, cells)
