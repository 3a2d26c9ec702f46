"""Balance of answers within families, and with the words of questions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence

from diorama.scene_specs.files.tables import text_table
from diorama.scene_specs.tasks.questions.grammar import split
from diorama.scene_specs.tasks.questions.lexicon import CHOICES
from diorama.scene_specs.tasks.questions.program import NONE_OF_THESE, NUMERALS, Answer, Node, spoken
from diorama.scene_specs.tasks.questions.view import ImageView

# An answer may have its fair share of a family and a twentieth more, after these first ones.
EXCESS, FREE = 1.05, 3
# Numbers from 4 on are rare; a guesser of numbers is right in at least a quarter of the cases if 0 to 3 are equal.
_EXPECTED_COUNTS = 4
# Numbers that are options of a form: four in a row, so that each can be right as often as the others.
_NUMBERS = 4
# As it bounds the number that is asked for, the number of objects counts for more than a word.
_WEIGHT = 3


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
    match answer:
        case bool():
            return 2
        case int():
            return _EXPECTED_COUNTS
    return CHOICES + 1 if kind == "choice" else max(2, len(view.value_bits[kind]))


class WordBalance:
    """Keeps each option of the forms as often right as the others, whichever words and number of objects it comes with.

    No sum of weights for pairs of a word and an option can then tell the answer: a guesser that learns such weights, as
    a logistic regression does, is right by chance.
    """

    def __init__(self) -> None:
        # Family -> word -> option -> how much more often than by chance it was right.
        self._excess: defaultdict[str, defaultdict[Hashable, defaultdict[Answer, float]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(float))
        )

    def excess(self, family: str, program: Node, answer: Answer, view: ImageView) -> tuple[float, Sequence[Answer]]:
        """How much more often than other options an answer was right with these words, and the best options."""
        known = self._excess[family]
        tables = [known[word] for word in _guessing_clues(program, view) if word in known]
        sums, scores = {}, []
        for options in _possible_answers(program, answer, view):
            first = known["first", options[0]]
            for option in options:
                if option not in sums:
                    sums[option] = sum([table[option] for table in tables])
            mean = sum([sums[option] + first[option] for option in options]) / len(options)
            scores.append((sums[answer] + first[answer] - mean, options))
        return min(scores, key=lambda score: score[0])

    def lacking(self, family: str) -> bool | None:
        """Whether yes, or no, was right less often; None if neither was, or for other answers."""
        excess = self._excess[family][""].get(True)
        return excess < 0 if excess else None

    def add(self, family: str, program: Node, answer: Answer, view: ImageView) -> Sequence[Answer]:
        """Count a question. Returns its options."""
        _, options = self.excess(family, program, answer, view)
        for word in ("first", options[0]), *_guessing_clues(program, view):
            for option in options:
                self._excess[family][word][option] += (option == answer) - 1 / len(options)
        return options


def _possible_answers(program: Node, answer: Answer, view: ImageView) -> list[Sequence[Answer]]:
    """Return the options that a question could have: of a number, all rows of _NUMBERS in which it is."""
    match answer:
        case bool():
            return [(True, False)]
        case int():
            return [range(first, first + _NUMBERS) for first in range(max(0, answer - _NUMBERS + 1), answer + 1)]
    if program.output == "choice":
        return [(*str(program.value).split(", "), NONE_OF_THESE)]
    return [view.vocabulary[program.output]]


def _guessing_clues(program: Node, view: ImageView) -> list[Hashable]:
    """Return what a guesser could learn from: number of objects, steps with their slots, and how many filters it has.

    A numeral also counts with the word after it, and it counts of which kinds a word is that is said twice: linear
    learners see whether it is there, so that they see repetition as a lack of words.
    """
    steps = [*program.steps()]
    words = Counter([(step.op, step.value) for step in steps if step.value])
    twice = {op for (op, _), times in words.items() if times > 1}
    clues: list[Hashable] = ["", tuple([step.op for step in steps]), ("twice", *sorted(twice))]
    clues += [len(view.objects)] * (_WEIGHT if program.output == "integer" else 1)
    # The place of a step: digits from 1 are those of inputs of inputs.
    left: list[tuple[int, Node, str | int | None]] = [(0, program, None)]
    while left:
        place, node, number = left.pop()
        filters, base = split(node)
        clues += [(place, len(filters)), (place, base.op, base.value), *[(place, filtering) for filtering in filters]]
        clues += [(number, filters[:1])] if number else []
        number = base.value if base.op in ("between", *NUMERALS) else number
        left += [(10 * place + k, part, number) for k, part in enumerate(base.inputs, 1)]
    return [*clues, ("length", len(clues))]


def answer_table(counts: Mapping[str, Counter[Answer]]) -> str:
    """Return a row per family: questions, chance, most frequent answer, distribution."""
    rows = []
    for family, answers in sorted(counts.items()):
        total, common = answers.total(), answers.most_common(8)
        shares = [f"{spoken(answer)} {number / total:.0%}" for answer, number in common]
        most = f"{spoken(common[0][0])} {common[0][1] / total:.1%}"
        rows.append((family, str(total), f"{1 / len(answers):.1%}", most, ", ".join(shares)))
    return "\n".join(text_table(("family", "questions", "chance", "most frequent", "answers"), rows)) + "\n"
