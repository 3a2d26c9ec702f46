"""Porter's stemmer (An algorithm for suffix stripping, 1980), with the changes that its author made later.

Those changes, also NLTK's: words of one or two letters stay; `ies` and `ied` of four letters keep `ie`; a `y` at the
end becomes `i` only after a consonant that is not the first letter; `bli` for `abli`, `logi`; `alli` for `al`,
`fulli`; a few irregular words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

_FORMS: Mapping[str, str] = MappingProxyType(
    {"sky": "sky skies", "die": "dying", "lie": "lying", "tie": "tying", "inning": "inning innings"}
    | {"outing": "outing outings", "canning": "canning cannings", "news": "news", "howe": "howe"}
    | {"proceed": "proceed", "exceed": "exceed", "succeed": "succeed"}
)
_IRREGULAR = MappingProxyType({form: stem for stem, forms in _FORMS.items() for form in forms.split()})
_Rule = tuple[str, str]
_STEP_2: tuple[_Rule, ...] = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"),
    ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"),
    ("biliti", "ble"), ("fulli", "ful"),
)  # fmt: skip
_STEP_3: tuple[_Rule, ...] = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
# From the longest to the shortest: the first that fits decides.
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ion", "ism", "ate", "iti", "ous", "ive", "ize",
    "al", "er", "ic", "ou",
)  # fmt: skip


def _form(stem: str) -> str:
    """Each letter as c or v; y is a vowel after a consonant."""
    made = ""
    for letter in stem:
        vowel = letter in "aeiou" or (letter == "y" and made[-1:] == "c")
        made += "v" if vowel else "c"
    return made


def _measure(stem: str) -> int:
    return len(re.findall("v+c+", _form(stem)))


def _short(stem: str) -> bool:
    """Ends consonant, vowel, consonant that is not w, x or y; or is a vowel and a consonant."""
    form = _form(stem)
    return (form.endswith("cvc") and stem[-1] not in "wxy") or form == "vc"


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _form(word)[-1] == "c"


def _replaced(word: str, rules: Sequence[_Rule], least: int) -> str:
    """The first suffix that fits decides; it goes if what is left measures more than `least`."""
    for suffix, other in rules:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            return stem + other if _measure(stem) > least else word
    return word


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a word, in lower case."""
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    return _step_5(_step_4(_step_3(_step_2(_step_1c(_step_1b(_step_1a(word)))))))


def _step_1a(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word[:-1]
    for suffix, other in (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", "")):
        if word.endswith(suffix):
            return word.removesuffix(suffix) + other
    return word


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            left = word.removesuffix(suffix)
            return _mended(left) if "v" in _form(left) else word
    return word


def _mended(left: str) -> str:
    """What is left of a word without -ed or -ing, made a word again."""
    if left.endswith(("at", "bl", "iz")):
        return left + "e"
    if _doubled(left):
        return left if left[-1] in "lsz" else left[:-1]
    return left + "e" if _measure(left) == 1 and _short(left) else left


def _step_1c(word: str) -> str:
    left = word[:-1]
    return left + "i" if word.endswith("y") and len(left) > 1 and _form(left)[-1] == "c" else word


def _step_2(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2])
    if word.endswith("logi"):
        # Measured with the l: apology, but not logi itself.
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _STEP_2, 0)


def _step_3(word: str) -> str:
    return _replaced(word, _STEP_3, 0)


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            left = word.removesuffix(suffix)
            fits = _measure(left) > 1 and (suffix != "ion" or left[-1:] in ("s", "t"))
            return left if fits else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        left = word[:-1]
        measure = _measure(left)
        if measure > 1 or (measure == 1 and not _short(left)):
            word = left
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
