"""Balanced series of questions about images."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

from diorama.scene_specs.errors import DioramaError, UsageError, counted
from diorama.scene_specs.language.diagnostics import did_you_mean
from diorama.scene_specs.tasks.questions.balance import Balance, WordBalance, chances_of
from diorama.scene_specs.tasks.questions.described_sets import NothingError
from diorama.scene_specs.tasks.questions.draws import Draws
from diorama.scene_specs.tasks.questions.grammar import Grammar
from diorama.scene_specs.tasks.questions.lexicon import Lexicon
from diorama.scene_specs.tasks.questions.patterns import Pattern
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import CLEVR_FAMILIES, Answer, Node, PresuppositionError, program_json
from diorama.scene_specs.tasks.questions.rules import Judge, reads_well
from diorama.scene_specs.tasks.questions.sampling import Sampler
from diorama.scene_specs.tasks.questions.view import MIN_PIXELS, ImageView

# Programs tried for a question before the next family has its turn.
TRIES = 12
# Of plain sentences.
MAX_WORDS = 25
_CLAUSE = re.compile(r"\bthat (?:is|are)\b")


def families_of(grammar: Grammar, names: Iterable[str]) -> list[str]:
    """Names of families, with those that `clevr` and `forms` stand for. Raises UsageError for an unknown one."""
    several = {"clevr": CLEVR_FAMILIES, "forms": (*grammar.forms,)}
    known = {name: (name,) for name in (*grammar.families, *grammar.forms)} | several
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f"unknown family {name!r}; allowed: {', '.join(known)}" + (f"; {hint}" if hint else ""))
    return [name for wanted in names for name in known[wanted]]


class DisagreementError(DioramaError, ValueError):
    """The two executors give different answers: the annotation contradicts itself, or Diorama has a defect.

    A ValueError, so that an export reports the episode and writes the others.
    """

    exit_code = 4


class Question(NamedTuple):
    """A question about an image.

    Attributes:
        identity: distinguishes the questions of an image, from 0.
        group: name of the answers balanced together: the family, with the kind of answer if it has several.
        flips: whether neighbors of a contrast have different answers; None for an image asked about alone.
        twin: identity of the question with, or without, its negation or exception.
        vague: of each "few" and "many", the share of other thresholds that give this answer, and the threshold.
        options: options of a form, if it is asked as an item.
    """

    view: ImageView
    identity: int
    family: str
    group: str
    text: str
    program: Node
    answer: Answer
    flips: bool | None = None
    twin: int | None = None
    vague: tuple[tuple[float, float], ...] = ()
    options: Sequence[Answer] = ()

    def data(self) -> dict[str, Any]:
        """Return the question as JSON data, a line of a file."""
        contrast = self.view.contrast
        return {
            "episode": self.view.episode,
            "image": self.view.image,
            "question_id": self.identity,
            "family": self.family,
            "question": self.text,
            "answer": self.answer,
            "program": program_json(self.program),
            **({"pair": contrast.pair, "flips": self.flips} if contrast and self.flips is not None else {}),
            **({} if self.twin is None else {"twin": self.twin}),
            **({"agreement": self.vague[0][0], "threshold": self.vague[0][1]} if self.vague else {}),
        }


@dataclass
class Tally:
    """What became of the tries.

    Attributes:
        missing: family -> images in which a question was wanted and none was found.
        flips: (change, family, whether answers flip) -> questions about contrasts.
    """

    kept: Counter[str] = field(default_factory=Counter)
    tried: Counter[str] = field(default_factory=Counter)
    unbalanced: Counter[str] = field(default_factory=Counter)
    ambiguous: Counter[str] = field(default_factory=Counter)
    nested: Counter[str] = field(default_factory=Counter)
    idle: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    flips: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    crowded: int = 0

    def text(self) -> str:
        """Return a summary."""
        wanted = ", ".join(f"{name} {count}" for name, count in sorted(self.missing.items()))
        flips = Counter(flips for _, _, flips in self.flips.elements())
        pairs = f"questions about pairs: {flips[True]:,} with answers that flip, {flips[False]:,} that stay\n"
        return (pairs if flips else "") + (
            f"{counted(self.kept.total(), 'question')} of {self.tried.total():,} tries; rejected for balance: "
            f"{self.unbalanced.total():,}, for words with two meanings: {self.ambiguous.total():,}, "
            f"for awkward sentences: {self.nested.total():,}, for negations without effect: {self.idle.total():,}\n"
            f"images without questions: {self.crowded:,} (no objects, or too many hidden ones)\n"
            f"images in which no question of a family was found: {wanted or 'none'}\n"
        )


class Questioner:
    """Makes questions about one image after the other.

    Args:
        families: names of `families_of`, () for all but the forms.
        per_image: most questions of an image.
        min_pixels: least number of visible pixels; see `Judge`.
        nested: also ask questions of more than MAX_WORDS, or with several relative clauses, as CLEVR does.

    Raises:
        UsageError: for an unknown family.
    """

    def __init__(
        self,
        grammar: Grammar,
        seed: int = 0,
        families: Sequence[str] = (),
        per_image: int = 10,
        min_pixels: int = MIN_PIXELS,
        nested: bool = False,
    ) -> None:
        self._grammar, self._seed, self._per_image, self._min_pixels = grammar, seed, per_image, min_pixels
        self._nested = nested
        allowed = {**grammar.families, **grammar.forms}
        self._families = {name: allowed[name] for name in families_of(grammar, families) or grammar.families}
        # Families whose questions have answers of several kinds, which are balanced separately.
        kinds = {
            name: {pattern.program.output(grammar.phrases) for pattern in patterns}
            for name, patterns in self._families.items()
        }
        self._mixed = {name for name, some in kinds.items() if len(some) > 1}
        # By form, too: without an image, a reader would know that "Are all things ...?" has the answer no.
        self.balance, self._forms, self._by_words, self.tally = Balance(), Balance(), WordBalance(), Tally()

    def ask(self, view: ImageView, *others: ImageView) -> Iterator[Question]:
        """Questions about an image, no two alike.

        Args:
            others: the same image in the other Scenes of a contrast, in order. Each question is then about all of them.
                Of each change and family, equally many questions have answers that flip between all neighbors and that
                stay.

        Raises:
            DisagreementError: two independent answers differ.
        """
        if others and all(other.objects == view.objects for other in others):
            return
        views = (view, *others)
        judges = [Judge(each_view, self._min_pixels) for each_view in views]
        if any(judge.crowded for judge in judges) or not all(each_view.objects for each_view in views):
            self.tally.crowded += 1
            return
        draws = Draws(self._seed, f"{view.episode}:{view.image}")
        sampler = Sampler(view, judges[0], self._grammar, draws)
        change, lexicon = view.contrast.change if view.contrast else "", self._grammar.lexicon_of(view.value_bits)
        image = _Image(judges, sampler, set(), change, lexicon)
        positions = [PositionsExecutor(each_view) for each_view in views]
        possible = {
            name: [pattern for pattern in patterns if all(_applies_to(pattern, each) for each in views)]
            for name, patterns in self._families.items()
        }
        # Families with the fewest questions first, but forms that are rarely found later; at random among equals.
        rare = {name: self.tally.missing[name] / 4 * (name in self._grammar.forms) for name in possible}
        ranked = sorted(
            (self.tally.kept[name] + rare[name], draws.number(), name)
            for name, patterns in possible.items()
            if patterns
        )
        number = 0
        for _, _, family in ranked:
            if number == self._per_image:
                return
            paired = any(pattern.twin for pattern in possible[family])
            if paired and number + 1 == self._per_image:
                continue
            written = self._find_question(family, possible[family], image)
            if written is None:
                self.tally.missing[family] += 1
                continue
            twins = (number + 1, number) if paired else (None,)
            for (name, text, program, answers), twin in zip(written, twins, strict=True):
                group, flips = self._balance_group(name, program), answers[0] != answers[1] if others else None
                if flips is not None:
                    self.tally.flips[image.change, name, flips] += 1
                for shown, executor, judge, answer in zip(views, positions, judges, answers, strict=True):
                    _check_positions(executor, shown, text, program, answer)
                    self.tally.kept[name] += 1
                    self.balance.add(group, answer)
                    self._forms.add(form_of(program), answer)
                    options = self._by_words.add(group, program, answer, shown) if family in self._grammar.forms else ()
                    vague = tuple(judge.vagueness(program))
                    yield Question(shown, number, name, group, text, program, answer, flips, twin, vague, options)
                number += 1

    def _find_question(self, family: str, patterns: Sequence[Pattern], image: _Image) -> list[_Found] | None:
        """Return a question, with its twin if it has one."""
        tally, is_form = self.tally, family in self._grammar.forms
        flip, stay = (tally.flips[image.change, family, flips] for flips in (True, False))
        # Of few forms, more is tried.
        for _ in range(TRIES * max(1, is_form * self._per_image // len(self._families))):
            tally.tried[family] += 1
            pattern = image.sampler.draws.weighted(patterns)
            try:
                wanted = self._by_words.lacking(family) if is_form else None
                program = image.sampler.sample(pattern, self._nested, wanted)
            except NothingError:
                patterns = [other for other in patterns if other is not pattern]
                if not patterns:
                    return None
                continue
            except PresuppositionError:
                continue
            twin = self._grammar.twin_of(program, pattern)
            programs = [(family, program), *([twin] if twin else [])]
            if is_form and not self._is_wanted(programs, image):
                continue
            answers = [self._answers(name, asked, is_form, flip <= stay, image) for name, asked in programs]
            if None not in answers and (written := self._written(programs, answers, image)):
                image.seen.update(part for _, text, question, _ in written for part in (question, text))
                return written
        return None

    def _written(self, programs: Sequence[tuple[str, Node]], answers: Sequence[Any], image: _Image) -> list[_Found]:
        """Return the questions of programs; [] if one can't be said well, or was."""
        written: list[_Found] = []
        # The twin has the same words for the same values.
        choose = cache(image.sampler.draws.pick)
        for (name, program), answer in zip(programs, answers, strict=True):
            text = self._grammar.text_of(program, name, image.lexicon, choose)
            if not self._nested and not (is_plain(text) and reads_well(program)):
                self.tally.nested[programs[0][0]] += 1
                return []
            if {read for _, read in self._grammar.readings(text, image.lexicon)} != {program}:
                self.tally.ambiguous[programs[0][0]] += 1
                return []
            if text in image.seen:
                return []
            written.append((name, text, program, answer))
        return written

    def _is_wanted(self, programs: Sequence[tuple[str, Node]], image: _Image) -> bool:
        """Whether a form and its twin have different answers, which were not right too often with these words."""
        excess = 0.0
        for judge in image.judges:
            answers = [judge.executor.outcome(program) for _, program in programs]
            if any(isinstance(answer, PresuppositionError) for answer in answers):
                return False
            if len({*answers}) < len(answers):
                self.tally.idle[programs[0][0]] += 1
                return False
            for (name, program), answer in zip(programs, answers, strict=True):
                excess += self._by_words.excess(self._balance_group(name, program), program, answer, judge.view)[0]
        self.tally.unbalanced[programs[0][0]] += excess > 0
        return excess <= 0

    def _answers(self, family: str, program: Node, is_form: bool, flips: bool, image: _Image) -> list[Answer] | None:
        """Return the answers of a program that may be asked of all images, and was not.

        Args:
            flips: whether those of neighbors must differ.
        """
        if program in image.seen:
            return None
        answers: list[Answer] = []
        for judge in image.judges:
            # Those of forms were tested.
            answer = judge.answer(program, *(() if is_form else (partial(self._admits, family, program, judge.view),)))
            if answer is None or (answers and (answer != answers[-1]) != flips):
                return None
            answers.append(answer)
        return answers

    def _admits(self, family: str, program: Node, view: ImageView, answer: Answer) -> bool:
        """Whether an answer is wanted."""
        chances = chances_of(answer, program.output, view)
        admitted = self.balance.admits(self._balance_group(family, program), answer, chances)
        admitted = admitted and self._forms.admits(form_of(program), answer, chances)
        self.tally.unbalanced[family] += not admitted
        return admitted

    def _balance_group(self, family: str, program: Node) -> str:
        return f"{family} ({program.output})" if family in self._mixed else family


# Family, text, program, and the answers to the images of a contrast or to the only one.
_Found = tuple[str, str, Node, list[Answer]]


class _Image(NamedTuple):
    """What questions about an image need. seen: programs and texts of its questions so far.

    judges: of the image, or of those of a contrast. change: of the contrast, or "".
    """

    judges: Sequence[Judge]
    sampler: Sampler
    seen: set[Node | str]
    change: str
    lexicon: Lexicon


def is_plain(text: str) -> bool:
    """Whether a question has at most MAX_WORDS words and one relative clause."""
    return len(text.split()) <= MAX_WORDS and len(_CLAUSE.findall(text)) <= 1


def _check_positions(executor: PositionsExecutor, view: ImageView, text: str, program: Node, answer: Answer) -> None:
    """Raise DisagreementError if the positions give another answer than the relations."""
    try:
        computed: Answer | PresuppositionError = executor.run(program)
    except PresuppositionError as error:
        computed = error
    if computed != answer:
        raise DisagreementError(
            f"episode {view.episode}: image {view.image}: {text} {program_json(program)}: the relations say "
            f"{answer!r}, the positions {computed!r}; the annotation is damaged (leave the episode out, or "
            "render it again with --replace), or this is a defect to report"
        )


def form_of(program: Node) -> str:
    """Return what a question is about, whatever its words: its last step, and the last of each of its inputs."""
    return " ".join(step.op for step in (program, *program.inputs))


def _applies_to(pattern: Pattern, view: ImageView) -> bool:
    """Whether an image has what the operations of a pattern are about, such as objects on top of others.

    Values are asked for if there are several, and whether two are equal if, in addition, some are.
    """
    kinds = pattern.kinds
    if {"stack", "stacked"} & kinds:
        return any(any(view.relations.get(name, ())) for name in ("above", "on", "in", "leaning"))
    if "falls" in kinds:
        return any(view.relations.get("falls", ()))
    if ({"own", "facing"} & kinds and not view.fronts) or ({"seen", "viewer"} & kinds and not view.eyes):
        return False
    if "see" in kinds:
        return len(view.value_bits["visibility"]) > 1
    kind, _, name = pattern.program.op.partition("_")
    if kind not in ("query", "equal") or name not in view.value_bits:
        return True
    shares = view.value_bits[name].values()
    return len(shares) > 1 and (kind == "query" or any(bits.bit_count() > 1 for bits in shares))
