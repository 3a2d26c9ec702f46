"""Agreement among people on a tangram: shape naming divergence (SND), part naming divergence (PND) and part
segmentation agreement (PSA); Ji et al. 2022, section 4.

SND: for each description, the mean over its words of the share of other descriptions without the word; then the mean
over descriptions. PND: the same for the part names. PSA: the mean, over pairs of descriptions, of the number of pieces
that the best matching of their parts puts into the same part, from 1 to 7.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations
from math import comb
from typing import Any

from diorama.scene_specs.benchmarks.kilogram import Naming
from diorama.scene_specs.benchmarks.kilogram.annotations import (
    Annotation,
    Annotations,
    log_diagnostics,
    read_annotations,
)
from diorama.scene_specs.benchmarks.kilogram.dataset import MOST_BYTES, own_annotations
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES
from diorama.scene_specs.errors import Diagnostic, SpecError
from diorama.scene_specs.files.foreign import read_text
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.tasks.benchmark import Result

_log = logging.getLogger(__name__)
# NLTK's English stop words, except the contractions, which its tokenizer splits.
_STOP_WORDS = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves what which who whom this that these those am is are was were be
been being have has had having do does did doing a an the and but if or because as until while of at by for with
about against between into through during before after above below to from up down in out on off over under
again further then once here there when where why how all any both each few more most other some such no nor not
only own same so than too very s t can will just don should now d ll m o re ve y ain aren couldn didn doesn hadn
hasn haven isn ma mightn mustn needn shan shouldn wasn weren won wouldn
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


@cache
def _import_nltk() -> tuple[Any, Any]:
    """NLTK's tokenizer and stemmer. The import takes 0.2 s, so only commands that measure texts pay for it."""
    from nltk.stem.porter import PorterStemmer
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer(), PorterStemmer()


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of a word by Porter's algorithm with NLTK's extensions, in lower case."""
    return str(_import_nltk()[1].stem(word))


@lru_cache(maxsize=100_000)
def words_of(text: str) -> tuple[str, ...]:
    """Return the stems of a description's words, as the published measures count them.

    Tokens are NLTK's, in lower case, without stop words and without those that are neither alphanumeric nor hold a
    letter, such as `!` and `1/2`.
    """
    tokens = _import_nltk()[0].tokenize(text.lower())
    return tuple(stem(word) for word in tokens if word not in STOP_WORDS and (word.islower() or word.isalnum()))


def divergence(texts: Sequence[str]) -> float:
    """Return SND or PND: 0 if all texts use the same words, 1 if no two share a word. 0 for a single text.

    A text without words counts as 0.
    """
    if len(texts) < 2:
        return 0.0
    stems = [words_of(text) for text in texts]
    counts = Counter(word for words in stems for word in dict.fromkeys(words))
    others = len(texts) - 1
    shares = [sum(1 - (counts[word] - 1) / others for word in words) / len(words) for words in stems if words]
    return sum(shares) / len(texts)


def agreement(annotations: Sequence[Annotation]) -> float:
    """Return PSA, from 1 to 7; 7 for a single description."""
    if (count := len(annotations)) < 2:
        return float(len(PIECES))
    # Pairs of descriptions with equal parts, then with different parts, each kind once.
    counts = Counter(map(_part_masks, annotations))
    total = sum(len(PIECES) * comb(many, 2) for many in counts.values())
    for (masks, many), (other, more) in combinations(counts.items(), 2):
        total += many * more * _best_matching(masks, other)
    return total / comb(count, 2)


def _part_masks(item: Annotation) -> tuple[int, ...]:
    """Return each part as a bit mask of its pieces, sorted so that equal partitions are equal."""
    return tuple(sorted(sum(1 << (piece - 1) for piece in pieces) for pieces in item.groups().values()))


@lru_cache(maxsize=1 << 18)
def _best_matching(parts: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return the most pieces in common of a one-to-one matching of parts, by a table over matched sets."""
    best = {0: 0}
    for part in parts:
        extended = dict(best)
        for taken, value in best.items():
            for k, match in enumerate(other):
                if not taken >> k & 1:
                    with_it = taken | 1 << k
                    extended[with_it] = max(extended.get(with_it, 0), value + (part & match).bit_count())
        best = extended
    return max(best.values())


def measures(annotations: Sequence[Annotation]) -> dict[str, float]:
    """Return `snd`, `pnd` and `psa` of one tangram's descriptions."""
    return {
        "snd": divergence([item.whole for item in annotations]),
        "pnd": divergence([" ".join(item.groups()) for item in annotations]),
        "psa": agreement(annotations),
    }


def naming(options: Naming) -> Result:
    """Return the result of `render-specs kilogram naming`. Raises SpecError for a file without descriptions."""
    annotations: Annotations = {} if options.files else own_annotations()
    for path in options.files:
        read, diagnostics = read_annotations(read_text(path, MOST_BYTES), str(path))
        log_diagnostics(diagnostics)
        if not any(read.values()):
            raise SpecError(diagnostics or [Diagnostic(str(path), 0, "", "", "found no descriptions")])
        for name in sorted(annotations.keys() & read.keys()):
            _log.warning("%s: tangram %s is also in an earlier file, which is used", path, name)
        annotations = {**read, **annotations}
    rows: list[dict[str, Any]] = [
        {"tangram": name, "count": len(items), **measures(items)}
        for name, items in annotations.items()
        if len(items) > 1
    ]
    keys = ("snd", "pnd", "psa")
    means = {key: sum(row[key] for row in rows) / len(rows) if rows else None for key in keys}
    total = {"tangram": "mean", "count": sum(row["count"] for row in rows), **means}
    cells = [
        [row["tangram"], row["count"], *("-" if row[key] is None else f"{row[key]:.3f}" for key in keys)]
        for row in [*rows, total]
    ]
    table = markdown_table(("tangram", "descriptions", "SND", "PND", "PSA"), cells)
    return Result({"tangrams": rows, "mean": means}, table)
