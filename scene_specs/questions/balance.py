"""Balance of answers within families, and what a guesser gets who sees no image."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import log

from diorama.scene_specs.language.tables import text_table
from diorama.scene_specs.questions.grammar import split, tokens_of
from diorama.scene_specs.questions.lexicon import CHOICES
from diorama.scene_specs.questions.program import NONE_OF_THESE, NUMERALS, Answer, Node, spoken
from diorama.scene_specs.questions.view import ImageView

# An answer may have its fair share of a family and a twentieth more, after these first ones.
EXCESS, FREE = 1.05, 3
# Numbers from 4 on are rare; a guesser of numbers is right in at least a quarter of the cases if 0 to 3 are equal.
_EXPECTED_COUNTS = 4
# Numbers that are options of a form: four in a row, so that each can be right as often as the others.
_NUMBERS = 4


class Balance:
    """Counts of answers by family, which decide whether one more is kept."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[Answer]] = defaultdict(Counter)

    def admits(self, family: str, answer: Answer, chances: int) -> bool:
        """Whether an answer has less than its share.

        Args:
            chances: number of answers to expect.
        """
        counts = self.counts.get(family, Counter())
        return counts[answer] < FREE + EXCESS * counts.total() / chances

    def add(self, family: str, answer: Answer) -> None:
        """Count an answer."""
        self.counts[family][answer] += 1


def chances_of(answer: Answer, kind: str, view: ImageView) -> int:
    """How many answers to expect in the place of one: 2 for yes and no, 4 numbers, the values in the image."""
    if isinstance(answer, bool):
        return 2
    if isinstance(answer, int):
        return _EXPECTED_COUNTS
    return CHOICES + 1 if kind == "choice" else max(2, len(view.value_bits[kind]))


class WordBalance:
    """Keeps each option of the forms as often right as the others, whichever words and number of objects it comes with.

    No sum of weights for pairs of a word and an option can then tell the answer: a guesser that learns such weights, as
    a logistic regression does, is right by chance.
    """

    def __init__(self) -> None:
        # Family and word -> option -> how much more often than by chance it was right.
        self._excess: defaultdict[Hashable, defaultdict[Answer, float]] = defaultdict(lambda: defaultdict(float))

    def excess(self, family: str, program: Node, answer: Answer, view: ImageView) -> tuple[float, Sequence[Answer]]:
        """How much more often than other options an answer was right with these words, and the best options."""
        tables = [found for word in _guessing_clues(program, view) if (found := self._excess.get((family, word)))]
        sums, scores = {}, []
        for options in _possible_answers(program, answer, view):
            first = self._excess[family, "first", options[0]]
            for one in options:
                if one not in sums:
                    sums[one] = sum([found[one] for found in tables])
            mean = sum([sums[one] + first[one] for one in options]) / len(options)
            scores.append((sums[answer] + first[answer] - mean, options))
        return min(scores, key=lambda one: one[0])

    def add(self, family: str, program: Node, answer: Answer, view: ImageView) -> Sequence[Answer]:
        """Count a question. Returns its options."""
        _, options = self.excess(family, program, answer, view)
        for key in ((family, "first", options[0]), *((family, word) for word in _guessing_clues(program, view))):
            for one in options:
                self._excess[key][one] += (one == answer) - 1 / len(options)
        return options


def _possible_answers(program: Node, answer: Answer, view: ImageView) -> list[Sequence[Answer]]:
    """The options that a question could have: of a number, all rows of _NUMBERS in which it is."""
    if isinstance(answer, bool):
        return [(True, False)]
    if isinstance(answer, int):
        return [range(first, first + _NUMBERS) for first in range(max(0, answer - _NUMBERS + 1), answer + 1)]
    if program.output == "choice":
        return [(*str(program.value).split(", "), NONE_OF_THESE)]
    return [view.vocabulary[program.output]]


def _guessing_clues(program: Node, view: ImageView) -> list[Hashable]:
    """What a guesser could learn from: number of objects, each step with its slot, and how many filters a slot has.

    A numeral also counts with the word after it.
    """
    found: list[Hashable] = ["", len(view.objects)]
    left: list[tuple[str, Node, str | int | None]] = [("", program, None)]
    while left:
        place, node, number = left.pop()
        filters, base = split(node)
        found += [(place, len(filters)), (place, base.op, base.value), *[(place, one) for one in filters]]
        found += [(number, filters[:1])] if number else []
        number = base.value if base.op in ("between", *NUMERALS) else number
        left += [(f"{place}{k}", part, number) for k, part in enumerate(base.inputs)]
    return [*found, ("length", len(found))]


class Guesser:
    """Learns answers from the words of every second question, and guesses those of the others (naive Bayes).

    Families whose questions have answers of several kinds count as several.
    """

    def __init__(self) -> None:
        self._words: dict[str, dict[Answer, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        self._answers: dict[str, Counter[Answer]] = defaultdict(Counter)
        self._asked: Counter[str] = Counter()
        self._right: Counter[str] = Counter()
        self._number = -1

    def add(self, family: str, text: str, answer: Answer, again: bool = False) -> None:
        """Learn from a question, or guess its answer.

        Args:
            again: the last question, about another scene of a contrast.
        """
        words = {*tokens_of(text)}
        self._number += not again
        if self._number % 2 and self._answers[family]:
            self._asked[family] += 1
            self._right[family] += self._guess(family, words) == answer
        else:
            self._answers[family][answer] += 1
            self._words[family][answer].update(sorted(words))

    def _guess(self, family: str, words: Iterable[str]) -> Answer:
        answers, known, kept = self._answers[family], self._words[family], sorted(words)

        def score(answer: Answer) -> float:
            seen = answers[answer]
            return log(seen) + sum(log((known[answer][word] + 0.5) / (seen + 1)) for word in kept)

        return max(sorted(answers, key=str), key=score)

    def rows(self, counts: Mapping[str, Counter[Answer]]) -> Iterator[tuple[str, ...]]:
        """A row per family: questions, different answers, chance, most frequent answer, guesser, distribution."""
        for family, answers in sorted(counts.items()):
            total = answers.total()
            (most, number), *_ = answers.most_common(1)
            asked = self._asked[family]
            guessed = f"{self._right[family] / asked:.1%}" if asked else "-"
            listed = ", ".join(f"{spoken(one)} {share / total:.0%}" for one, share in answers.most_common(8))
            yield (
                family, str(total), f"{1 / len(answers):.1%}", f"{spoken(most)} {number / total:.1%}", guessed, listed
            )  # fmt: skip

    def table(self, counts: Mapping[str, Counter[Answer]]) -> str:
        """The rows as a text."""
        head = ("family", "questions", "chance", "most frequent", "blind guesser", "answers")
        return "\n".join(text_table(head, self.rows(counts))) + "\n"
