"""How people agree on a tangram: shape naming divergence, part naming divergence, part segmentation agreement.

Ji et al. 2022, section 4. SND: for each description the mean, over its words, of the share of the other descriptions
that lack the word; then the mean of these. PND: the same with all of a description's part names. PSA: the mean, over
pairs of descriptions, of how many pieces the best matching of their parts puts into the same part, from 1 to 7.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

from scene_specs.benchmarks.kilogram.annotations import Annotation
from scene_specs.benchmarks.kilogram.pieces import PIECES
from scene_specs.benchmarks.kilogram.stemming import stem

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?|\S")
# English function words, as the lists in use have them.
_FUNCTION_WORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves what which who whom this that these those am is are was were be
been being have has had having do does did doing a an the and but if or because as until while of at by for with
about against between into through during before after above below to from up down in out on off over under
again further then once here there when where why how all any both each few more most other some such no nor not
only own same so than too very s t can will just don should now d ll m o re ve y ain aren couldn didn doesn hadn
hasn haven isn ma mightn mustn needn shan shouldn wasn weren won wouldn
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


@lru_cache(maxsize=100_000)
def words_of(text: str) -> tuple[str, ...]:
    """What a description says: lower case, no function words or punctuation, stemmed (Porter)."""
    tokens = (token for token in _TOKEN.findall(text.lower()) if token[0].isalnum())
    parts = (part for token in tokens for part in token.split("'"))
    return tuple(stem(part) for part in parts if part and part not in STOP_WORDS)


def divergence(texts: Sequence[str]) -> float:
    """From 0, all say the same, to 1, nobody says what another says; a text without words counts as 0; 0 for one."""
    if len(texts) < 2:
        return 0.0
    said = [words_of(text) for text in texts]
    counts: dict[str, int] = {}
    for words in said:
        for word in dict.fromkeys(words):
            counts[word] = counts.get(word, 0) + 1
    others = len(texts) - 1
    total = 0.0
    for words in said:
        if words:
            total += sum(1 - (counts[word] - 1) / others for word in words) / len(words)
    return total / len(texts)


def agreement(annotations: Sequence[Annotation]) -> float:
    """PSA, from 1 to 7; 7 for a single description."""
    pairs = list(combinations([_masks(item) for item in annotations], 2))
    if not pairs:
        return float(len(PIECES))
    return sum(_matching(one, other) for one, other in pairs) / len(pairs)


def _masks(item: Annotation) -> tuple[int, ...]:
    """Each part as a set of bits; sorted, so that equal partitions are equal."""
    return tuple(sorted(sum(1 << (piece - 1) for piece in pieces) for pieces in item.groups().values()))


@lru_cache(maxsize=1 << 18)
def _matching(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """The most pieces in common that a matching of parts to parts has. Exact: a table over sets of matched parts."""
    best = {0: 0}
    for part in one:
        made = dict(best)
        for taken, value in best.items():
            for k, match in enumerate(other):
                if not taken >> k & 1:
                    with_it = taken | 1 << k
                    made[with_it] = max(made.get(with_it, 0), value + (part & match).bit_count())
        best = made
    return max(best.values())


def measures(annotations: Sequence[Annotation]) -> dict[str, float]:
    """snd, pnd and psa of one tangram's descriptions."""
    return {
        "snd": divergence([item.whole for item in annotations]),
        "pnd": divergence([" ".join(item.groups()) for item in annotations]),
        "psa": agreement(annotations),
    }
