"""All lexicons that fit the contexts of an episode: possible meanings of each word under the rules of its task.

No two words have the same meaning.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from importlib import resources
from itertools import permutations
from typing import NamedTuple

import numpy as np

from diorama.scene_specs.benchmarks.mewl import TaskName
from diorama.scene_specs.benchmarks.mewl.draft import CONTEXTS, TYPES, Object
from diorama.scene_specs.benchmarks.mewl.truth import Meaning
from diorama.scene_specs.benchmarks.mewl.view import SeenImage, View
from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.language.vocabulary import OPPOSITE, RELATIONS

Images = Sequence[SeenImage]
# Meaning of a word that applies to no object of the query.
ELSE: Meaning = None
# Most pairs of objects that a search for lexicons compares, in about a second. Generated episodes need hundreds.
MOST_PAIRS = 1_000_000
Case = tuple[str, str, list[tuple[Object, Object]]]


class TooManyLexicons(DioramaError):
    """A search for lexicons reached its limit."""


class Lexicon(NamedTuple):
    """A lexicon.

    Attributes:
        means: word -> meaning, for the words of the contexts.
        types: attribute of each position.
    """

    means: dict[str, Meaning]
    types: tuple[str, ...] = ()


def possible(image: SeenImage, relation: str, subject: int, of: int) -> bool | None:
    """Return whether `subject` stands in the relation to `of`, None if the view leaves it open."""
    if (relation, subject, of) in image.relations:
        return True
    axis = 0 if relation in ("left", "right") else 1
    return None if (axis, min(subject, of), max(subject, of)) in image.open else False


def own_attributes(image: SeenImage) -> Sequence[str]:
    """Return the attribute values that only the pointed object has."""
    if image.pointed is None:
        return []
    others = [item for k, item in enumerate(image.objects) if k != image.pointed]
    return [value for at, value in enumerate(image.objects[image.pointed]) if all(o[at] != value for o in others)]


def find_named(image: SeenImage, color: str, shape: str) -> int | None:
    """Return the index of the only object of this color and shape, None if there is none or more than one."""
    # "object" stands for invented shapes, which have no name.
    matching = [k for k, o in enumerate(image.objects) if o[1] == color and shape in (o[0], "object")]
    return matching[0] if len(matching) == 1 else None


def lexicons(view: View, contexts: int = CONTEXTS) -> Iterator[Lexicon]:
    """Yield every lexicon that fits the first `contexts` contexts, once, in a fixed order."""
    return KNOWN[view.task](view.images[:contexts])


def distinct(may: Mapping[str, Sequence[Meaning]]) -> Iterator[dict[str, Meaning]]:
    """Yield every choice of one meaning per word in which all meanings except ELSE differ."""
    words = sorted(may, key=lambda word: len(may[word]))

    def more(at: int, taken: dict[str, Meaning]) -> Iterator[dict[str, Meaning]]:
        if at == len(words):
            yield {word: taken[word] for word in may}
            return
        for meaning in may[words[at]]:
            if meaning is ELSE or meaning not in taken.values():
                yield from more(at + 1, {**taken, words[at]: meaning})

    return more(0, {})


def _intersect_uses(cases: Iterable[tuple[str, Sequence[Meaning]]]) -> dict[str, list[Meaning]]:
    """Return word -> meanings that all its uses allow."""
    may: dict[str, list[Meaning]] = {}
    for word, meanings in cases:
        may[word] = [m for m in may.get(word, meanings) if m in meanings]
    return may


def _attribute_lexicons(images: Images, kinds: Sequence[str], spoken: int) -> Iterator[Lexicon]:
    """Yield the lexicons of a task in which each of the words (`spoken`) names an attribute of the only object.

    The order of the attributes is the same in all contexts, and no word names attributes in two positions.
    """
    texts = [image.utterance.split(" ") for image in images]
    if any(len(words) != spoken or len(image.objects) != 1 for words, image in zip(texts, images, strict=True)):
        return
    positions = [{*words} for words in zip(*texts, strict=True)]
    if len(set().union(*positions)) < sum(map(len, positions)):
        return
    for chosen in permutations(kinds, spoken):
        cases = [
            (word, [image.objects[0][TYPES.index(kind)]])
            for words, image in zip(texts, images, strict=True)
            for word, kind in zip(words, chosen, strict=True)
        ]
        yield from (Lexicon(means, chosen) for means in distinct(_intersect_uses(cases)))


def _single_word(images: Images, meanings: Callable[[SeenImage], Sequence[Meaning]]) -> Iterator[Lexicon]:
    """Yield the lexicons of a task in which an utterance is one word. meanings: those that an image allows."""
    if not any(" " in image.utterance for image in images):
        yield from map(Lexicon, distinct(_intersect_uses([(image.utterance, meanings(image)) for image in images])))


def _relation_lexicons(images: Images) -> Iterator[Lexicon]:
    cases = []
    for image in images:
        claim = relation_claim(image, image.utterance)
        if claim is None:
            return
        subject, word, of = claim
        cases.append((word, [r for r in RELATIONS if possible(image, r, subject, of) is not False]))
    yield from map(Lexicon, distinct(_intersect_uses(cases)))


def relation_claim(image: SeenImage, text: str) -> tuple[int, str, int] | None:
    """Parse `cyan cube WORD red sphere` as subject, word and other object; None if it does not describe this image."""
    parts = text.split(" ")
    if len(parts) != 5:
        return None
    subject, of = find_named(image, *parts[:2]), find_named(image, *parts[3:])
    return None if subject is None or of is None or subject == of else (subject, parts[2], of)


def _object_lexicons(images: Images) -> Iterator[Lexicon]:
    """Yield lexicons. A word and its object occur in the same contexts: they are matched in groups of these."""
    words: dict[str, list[int]] = {}
    objects: dict[Object, list[int]] = {}
    for number, image in enumerate(images):
        spoken, seen = image.utterance.split(" and "), image.objects
        if len({*spoken}) != len(spoken) or len({*seen}) != len(seen) or len(spoken) != len(seen):
            return
        for word in spoken:
            words.setdefault(word, []).append(number)
        for item in seen:
            objects.setdefault(item, []).append(number)
    places = [list(at) for at in sorted({tuple(at) for at in [*words.values(), *objects.values()]})]
    groups: list[tuple[list[str], list[Meaning]]] = [
        ([w for w, at in words.items() if at == where], [t for t, at in objects.items() if at == where])
        for where in places
    ]
    if any(len(named) != len(seen) for named, seen in groups):
        return
    for choice in _all_orders([seen for _, seen in groups]):
        means = {
            w: t for (named, _), order in zip(groups, choice, strict=True) for w, t in zip(named, order, strict=True)
        }
        yield Lexicon(means)


def _all_orders(groups: list[list[Meaning]]) -> Iterator[tuple[tuple[Meaning, ...], ...]]:
    """Yield every order of each group lazily: ten objects that always occur together have millions."""
    if not groups:
        yield ()
        return
    for order in permutations(groups[0]):
        yield from ((order, *rest) for rest in _all_orders(groups[1:]))


def _bootstrap_lexicons(images: Images) -> Iterator[Lexicon]:
    cases = []
    for image in images:
        parts = image.utterance.split(" ")
        if len(parts) != 3 or parts[1] not in OPPOSITE or parts[0] == parts[2]:
            return
        objects = image.objects
        pairs = [
            (objects[a], objects[b])
            for a, b in permutations(range(len(objects)), 2)
            if objects[a] != objects[b] and possible(image, parts[1], a, b) is not False
        ]
        cases.append((parts[0], parts[2], list(dict.fromkeys(pairs))))
    yield from (Lexicon({**means}) for means in _match_pairs(cases, {}, [MOST_PAIRS]))


def _match_pairs(cases: list[Case], taken: dict[str, Object], left: list[int]) -> Iterator[dict[str, Object]]:
    """Yield every assignment of each case's two words to one of its pairs; the most constrained case goes first.

    left: one number, of pairs that may still be compared. Raises TooManyLexicons.
    """
    if not cases:
        yield taken
        return
    left[0] -= sum(len(pairs) for _, _, pairs in cases)
    if left[0] < 0:
        raise TooManyLexicons
    fitting = [(a, b, [pair for pair in pairs if _pair_fits(taken, (a, b), pair)]) for a, b, pairs in cases]
    at = min(range(len(cases)), key=lambda k: len(fitting[k][2]))
    first, second, pairs = fitting.pop(at)
    for first_object, second_object in pairs:
        yield from _match_pairs(fitting, {**taken, first: first_object, second: second_object}, left)


def _pair_fits(taken: Mapping[str, Object], words: tuple[str, str], pair: tuple[Object, Object]) -> bool:
    for word, item in zip(words, pair, strict=True):
        if word in taken:
            if taken[word] != item:
                return False
        elif item in taken.values():
            return False
    return True


KNOWN: Mapping[TaskName, Callable[[Images], Iterator[Lexicon]]] = {
    **dict.fromkeys(("shape", "color", "material"), partial(_attribute_lexicons, kinds=TYPES, spoken=1)),
    "object": _object_lexicons,
    "composite": partial(_attribute_lexicons, kinds=("shape", "color", "material"), spoken=2),
    "relation": _relation_lexicons,
    "bootstrap": _bootstrap_lexicons,
    "number": partial(_single_word, meanings=lambda image: [len(image.objects)]),
    "pragmatic": partial(_single_word, meanings=own_attributes),
}


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
def read_real_words() -> frozenset[str]:
    """Return all real words of two or three of the syllables; `tools/mewl_words.py` writes the list."""
    text = resources.files("diorama.scene_specs.benchmarks.mewl").joinpath("real_words.txt").read_text(encoding="ascii")
    return frozenset(line for line in text.split() if line)


def allowed(word: str) -> bool:
    """Return whether a sequence of syllables is allowed as a pseudo-word."""
    return word not in read_real_words() and _DENIED.search(word) is None


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
