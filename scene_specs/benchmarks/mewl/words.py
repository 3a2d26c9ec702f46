"""Pseudo-words of two or three syllables, neither real nor offensive, with separate word-to-concept maps per split.

A syllable is one of 35 onsets and one of 5 vowels, so a word splits into syllables in one way: different syllables give
different words, and no word is a prefix of another with the same number of syllables.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

import numpy as np

SPLITS: tuple[str, ...] = ("train", "val", "test")

_ONSETS = (*"bdfghjklmnprstvwz",
    "bl", "br", "ch", "cl", "cr", "dr", "fl", "fr", "gl", "gr", "pl", "pr", "sh", "sl", "sp", "st", "th", "tr",
)  # fmt: skip
SYLLABLES: tuple[str, ...] = tuple(onset + vowel for onset in _ONSETS for vowel in "aeiou")

# Forbidden substrings: slurs, body parts, violence and religion, in languages that readers of English often know.
# Longer lists would mostly name words that these syllables cannot spell.
_DENIED = re.compile(
    "anal|anus|boche|bomba|bubi|chino|china|chine|cona|crapa|crapo|cripl|cula|culo|curva|dago|dik|fag|fanu|feto|fica|"
    "flika|fuc|fuk|gipo|goka|goke|goki|goko|goku|hebe|homo|hore|jap|jesu|jew|jiha|joda|juda|kaka|kike|kika|kiko|koka|koke|"
    "koki|koko|kuka|kum|kuna|kuso|lesbi|mame|mamo|merda|mohame|muslo|nazi|neg|nig|nipl|nipo|nude|nudi|orga|paki|pede|pedo|"
    "pene|peni|pipi|pisi|pola|poro|prick|pupu|pusi|puta|puto|rape|rapi|reta|sata|seme|shit|slut|spik|teta|tete|tit|toke|"
    "trani|trano|twat|vag|vulva|whore|wog|wopa|wope|wopi|wopo|zizi|zulu"
)
_DRAWS = 400
_BUCKETS = {0: "train", 1: "train", 2: "train", 3: "train", 4: "train", 5: "val", 6: "test"}


@lru_cache(maxsize=1)
def real_words() -> frozenset[str]:
    """Return all real words of two or three of the syllables; `tools/mewl_words.py` writes the list."""
    text = resources.files("diorama.scene_specs.benchmarks.mewl").joinpath("real_words.txt").read_text(encoding="ascii")
    return frozenset(line for line in text.split() if line)


def allowed(word: str) -> bool:
    """Return whether a sequence of syllables is allowed as a pseudo-word."""
    return word not in real_words() and _DENIED.search(word) is None


def split_of(words: Sequence[str]) -> str:
    """Return the only split that may use these words, in any order, for a word-to-concept map.

    The words alone determine the split, so splits never share a map, with any seed. Five of seven sets of words belong
    to train, one to val and one to test, in proportion to the published sizes.
    """
    digest = hashlib.sha256(" ".join(sorted(words)).encode()).digest()
    return _BUCKETS[int.from_bytes(digest[:8], "little") % len(_BUCKETS)]


def draw_words(rng: np.random.Generator, split: str, mapped: int, unused: int, syllables: int) -> list[str]:
    """Draw distinct pseudo-words: `mapped` for a map of the split, then `unused` more.

    Raises RuntimeError if 400 draws give none, with a probability of 10^-26 per episode.
    """
    for _ in range(_DRAWS):
        rows = rng.integers(len(SYLLABLES), size=(mapped, syllables)).tolist()
        words = ["".join(SYLLABLES[k] for k in row) for row in rows]
        if len({*words}) == mapped and split_of(words) == split and all(map(allowed, words)):
            break
    else:
        raise RuntimeError(f"no {mapped} words for split {split} in {_DRAWS} draws")
    for _ in range(_DRAWS):
        if len(words) == mapped + unused:
            return words
        word = "".join(SYLLABLES[k] for k in rng.integers(len(SYLLABLES), size=syllables).tolist())
        if word not in words and allowed(word):
            words.append(word)
    raise RuntimeError(f"no {unused} unused words in {_DRAWS} draws")
