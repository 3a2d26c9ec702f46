"""How messages change: edit distance, and the words that count.

Word novelty distance (WND): the least cost to make the later message from the earlier one, where adding or replacing a
word costs 1 and leaving one out nothing. Word novelty rate (WNR): WND over the length of the earlier message.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from scene_specs.benchmarks.kilogram.measures import stem

# The version of `content_words`: of its list and of its stems.
CONTENT_WORDS = "diorama-2"
# Determiners, conjunctions, auxiliaries, particles, interjections. Pronouns, numbers and prepositions stay, as in the
# published metric.
_FUNCTION = frozenset(
    " ".join(
        (
            "a an the this that these those some any each every either neither no all both another such what which",
            "whose and or but nor so yet if because while although though since unless until whereas than as",
            "am is are was were be been being do does did done doing have has had having can could may might must",
            "shall should will would ought not to there let please ok okay yes yeah yep nope oh um uh hmm hi hello",
            "well 's 're 've 'll 'd 'm",
        )
    ).split()
)
# What is left of them without "n't" is no word.
_IRREGULAR = (("can't", "can not"), ("cannot", "can not"), ("won't", "will not"), ("shan't", "shall not"))
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*|'(?:s|re|ve|ll|d|m)\b", re.UNICODE)


def plain_words(message: str) -> list[str]:
    """All words, lower case, without punctuation."""
    text = message.strip().removesuffix(".").lower().replace("\u2019", "'")
    for short, long in _IRREGULAR:
        text = re.sub(rf"\b{short}\b", long, text)
    return _WORD.findall(text.replace("n't", " not"))


def content_words(message: str) -> list[str]:
    """The words that count, as stems: `plain_words` without a fixed list of function words, by Porter's stemmer.

    No tagger, no download: pinned by CONTENT_WORDS. The published metric tags and lemmatises with a model of spaCy.
    """
    return [stem(word) for word in plain_words(message) if word not in _FUNCTION]


def novelty(earlier: Sequence[str], later: Sequence[str]) -> int:
    """WND by its definition."""
    # row[j]: cost of making later[:j] from what was read of `earlier`; leaving words out is free.
    row = list(range(len(later) + 1))
    for old in earlier:
        before, row = row, [0]
        for j, new in enumerate(later):
            row.append(min(before[j + 1], row[j] + 1, before[j] + (old != new)))
    return row[-1]


def published_novelty(earlier: Sequence[str], later: Sequence[str]) -> int:
    """WND as the published code computes it: leaving out words at the beginning costs 1 each, and a word that agrees is
    always taken.
    """
    row = list(range(len(later) + 1))
    for i, old in enumerate(earlier, start=1):
        before, row = row, [i]
        for j, new in enumerate(later):
            row.append(before[j] if old == new else min(before[j + 1], row[j] + 1, before[j] + 1))
    return row[-1]


def rate(distance: int, earlier: Sequence[str], later: Sequence[str], published: bool = False) -> float:
    """WNR. Of an empty earlier message: 1 where something was added, 0 where nothing was; as published always 1."""
    if earlier:
        return distance / len(earlier)
    return 1.0 if published or later else 0.0
