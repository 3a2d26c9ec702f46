"""Balance of answers within families, and what a guesser gets who sees no image."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import log

from diorama.scene_specs.language.tables import text_table
from diorama.scene_specs.questions.grammar import tokens_of
from diorama.scene_specs.questions.lexicon import CHOICES
from diorama.scene_specs.questions.program import Answer, spoken
from diorama.scene_specs.questions.view import ImageView

# An answer may have its fair share of a family and a twentieth more, after these first ones.
EXCESS, FREE = 1.05, 3
# Numbers from 4 on are rare; a guesser of numbers is right in at least a quarter of the cases if 0 to 3 are equal.
_EXPECTED_COUNTS = 4


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
