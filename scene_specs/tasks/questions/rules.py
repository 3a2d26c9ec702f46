"""Which questions are asked of an image: those whose presuppositions hold and that need each of their steps.

A program is degenerate if a step can be left out without a change: a filter, a relation (then it is about all objects,
as in the published `is_degenerate`), one side of a union or intersection, a superlative. What must change is the
answer. Answers yes and no often stay the same by chance: then what the last step compares must change, and the answer
in several rearrangements, images with the same places in which objects have exchanged their attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import combinations
from typing import Any

from diorama.scene_specs.tasks.questions.grammar import split
from diorama.scene_specs.tasks.questions.program import (
    NOUNS,
    QUANTIFIERS,
    RELATED,
    SCENE,
    Answer,
    Node,
    PresuppositionError,
)
from diorama.scene_specs.tasks.questions.relations_executor import Rearrangements, RelationsExecutor
from diorama.scene_specs.tasks.questions.view import MIN_PIXELS, VAGUE, ImageView

# Pairs of directions between which nothing is.
_OPPOSITE: tuple[set[str | int | None], ...] = ({"left", "right"}, {"front", "behind"})
# Of the leftmost thing, nothing is to the left, and everything is to the right.
_TRIVIAL: dict[str | int | None, tuple[str | None, ...]] = {
    "left": (None, "leftmost", "rightmost"), "right": (None, "rightmost", "leftmost"),
    "front": (None, "frontmost", "rearmost"), "behind": (None, "rearmost", "frontmost"),
}  # fmt: skip
# Of other thresholds of "few" and "many", at least this share must give the same answer.
_AGREEMENT = 0.75
# Operations that say of a set what some of its members are, and those whose members are of the first set.
_PARTS, _OF_FIRST = ("difference", "intersect"), ("unique", "extreme", "nearest", "difference", "except")
# With more objects of doubtful visibility, an image has too many possible contents to try them all.
MAX_DOUBTFUL = 6
# Of 32 rearrangements, so many must show what a step is for: what matters more rarely may never matter in other images.
_LEAST = 5


class Judge:
    """Decides on the programs of one image.

    Args:
        min_pixels: objects seen by fewer pixels count as doubtful: no answer may depend on whether they are there.
    """

    def __init__(self, view: ImageView, min_pixels: int = MIN_PIXELS) -> None:
        self.view, self.executor = view, RelationsExecutor(view)
        doubtful = [k for k, item in enumerate(view.objects) if item.truth.visible_pixels < min_pixels]
        self.crowded = len(doubtful) > MAX_DOUBTFUL
        everything = (1 << len(view.objects)) - 1
        self._others = [
            RelationsExecutor(view, everything & ~sum(1 << k for k in hidden))
            for size in range(1, 1 if self.crowded else len(doubtful) + 1)
            for hidden in combinations(doubtful, size)
        ]

    @cached_property
    def _rearranged(self) -> Rearrangements:
        return Rearrangements(self.view)

    def answer(self, program: Node, admits: Callable[[Answer], bool] = lambda _: True) -> Answer | None:
        """Return the answer of a program that may be asked; None if it may not.

        Args:
            admits: whether an answer is wanted.
        """
        if self.crowded:
            return None
        answer: Answer | PresuppositionError = self.executor.outcome(program)
        if isinstance(answer, PresuppositionError) or gives_away(program) or is_trivial(program) or not admits(answer):
            return None
        if not all(test(program) for test in (self.is_framed, self._is_about_others, self.needs_all)):
            return None
        agree = min(self.vagueness(program), default=(1.0,))[0] >= _AGREEMENT
        return answer if agree and self.is_certain(program, answer) else None

    def is_framed(self, program: Node) -> bool:
        """Whether no side of the camera is said of an object with a front, whose own sides it could mean."""
        sides = (step for step in program.steps() if step.op == "relate" and step.value in RELATED[:4])
        return not self.view.fronts or all(self.executor.run(one.inputs[0]) not in self.view.fronts for one in sides)

    def vagueness(self, program: Node) -> list[tuple[float, float]]:
        """For each "few" and "many", the share of other thresholds that agree, and the threshold of the image."""
        found = []
        for step in program.steps():
            if step.op in VAGUE:
                members, others = map(self.executor.run, step.inputs)
                below = VAGUE[step.op].cdf((members & others).bit_count() / members.bit_count())
                agree = below if self.executor.run(step) == (step.op == "many") else 1 - below
                found.append((round(agree, 4), self.view.thresholds[step.op]))
        return found

    def needs_all(self, program: Node) -> bool:
        """Whether leaving out any step makes a difference."""
        others, evidence = list(shortened(program)), self._evidence_of(program)
        if any(self._evidence_of(other) == evidence for other in others):
            return False
        if program.output != "boolean":
            return True
        # Steps without which the answer would be the same here.
        answer = self.executor.outcome(program)
        return all(self._tells_apart(program, other) for other in others if self.executor.outcome(other) == answer)

    def _tells_apart(self, program: Node, other: Node) -> bool:
        """Whether enough rearrangements tell two programs apart."""
        answers = zip(self._rearranged.outcomes(program), self._rearranged.outcomes(other), strict=True)
        different: int = sum([one is not None and one != without for one, without in answers])
        return different >= _LEAST

    def is_certain(self, program: Node, answer: Any) -> bool:
        """Whether the result stays the same whichever of the doubtful objects are left out."""
        return not self._others or self.meaning(program) == (answer,) * (len(self._others) + 1)

    def meaning(self, program: Node) -> tuple[Any, ...] | None:
        """Its results, with all objects and without each choice of doubtful ones; None if a presupposition fails."""
        found = tuple(one.outcome(program) for one in (self.executor, *self._others))
        return None if any(isinstance(one, PresuppositionError) for one in found) else found

    def _evidence_of(self, program: Node) -> Any:
        """Return what must change if a step is left out: the answer, or for yes and no the inputs of the last step."""
        if program.output == "boolean":
            return [self.executor.outcome(part) for part in _without_not(program).inputs]
        return self.executor.outcome(program)

    def _is_about_others(self, program: Node) -> bool:
        """Whether no object is compared with itself, asked whether it is left of itself, or named in two ways."""
        for node in program.steps():
            if (node.op in QUANTIFIERS or node.op in _PARTS) and split(node.inputs[0])[1].op != "relate":
                members = self.executor.run(node.inputs[0])
                if any(members >> self.executor.run(one.inputs[0]) & 1 for one in _relations_of(node.inputs[1])):
                    return False
        program = _without_not(program)
        inputs = program.inputs
        if program.op.startswith("equal_") and program.op != "equal_integer":
            inputs = (inputs[0].inputs[0], inputs[1].inputs[0])
        elif program.op not in ("larger", "smaller", "seen"):
            return True
        return len({*map(self.executor.run, inputs)}) == len(inputs)


def _without_not(program: Node) -> Node:
    """Return a program without "not" in front."""
    return _without_not(program.inputs[0]) if program.op == "not" else program


def _relations_of(node: Node) -> Iterator[Node]:
    """Yield the relations of a set, of "to the left of the cube or behind the ball" both."""
    _, base = split(node)
    if base.op in ("relate", "falls"):
        yield base
    elif base.op == "union":
        yield from (one for part in base.inputs for one in _relations_of(part))


def shortened(node: Node) -> Iterator[Node]:
    """All programs that lack one step of a program."""
    for k, part in enumerate(node.inputs):
        for other in shortened(part):
            yield Node(node.op, node.value, (*node.inputs[:k], other, *node.inputs[k + 1 :]))
    op = node.op
    if op.startswith("filter_"):
        yield node.inputs[0]
    elif op in ("relate", "falls", "faced") or op.startswith(("same_", "differ_")):
        yield SCENE
    elif op in ("difference", "except"):
        yield node.inputs[0]
    elif op in ("union", "intersect"):
        yield from node.inputs
    elif op in ("extreme", "nearest"):
        yield Node("unique", None, node.inputs[:1])


def reads_well(program: Node) -> bool:
    """Whether a plain sentence names no object twice, nor one beside others of its words.

    "Other large things" are said only beside "the large ...", not in a comparison, and no reference leads on from
    "the other thing".
    """
    steps = [*program.steps()]
    named = [step for step in steps if step.output == "object"]
    single = {step.inputs[0] for step in named if step.op == "unique"}
    if len({*named}) < len(named) or any(single & {*step.inputs} for step in steps if step.op != "unique"):
        return False
    for filters, base in map(split, steps):
        referent = base.inputs[0] if base.inputs else base
        if base.op.startswith(("same_", "differ_")):
            if len(program.inputs) > 1 or not {*filters} <= {*split(referent.inputs[0])[0]}:
                return False
        elif base.op == "relate" and split(referent.inputs[0])[1].op.startswith("same_"):
            return False
    return True


def gives_away(program: Node) -> bool:
    """Whether words of the question give its answer or repeat themselves, as in "What color is the red cube?"."""
    for node in program.steps():
        kind, _, name = node.op.partition("_")
        if kind in ("filter", "query", "same", "differ") and name in mentioned(node.inputs[0]):
            return True
        if kind == "query" and name in NOUNS and {*NOUNS} & mentioned(node.inputs[0]):
            return True
        if (node.op in QUANTIFIERS or node.op in _PARTS) and mentioned(node.inputs[0]) & mentioned(node.inputs[1]):
            return True
        utmost = ("largest", "smallest")
        if node.op == "query_size" and node.inputs[0].value in utmost:
            return True
        sizes = node.op in ("larger", "smaller") or node.value in utmost
        if sizes and any("size" in mentioned(part) for part in node.inputs):
            return True
    return _counts_a_part(program)


def mentioned(node: Node) -> frozenset[str]:
    """Return the attributes that the description of an object or a set gives."""
    kind, _, name = node.op.partition("_")
    if kind in ("filter", "same", "differ"):
        # What has the same color as the red cube is red.
        return mentioned(node.inputs[0]) | {name} if kind == "filter" else frozenset({name})
    return mentioned(node.inputs[0]) if node.op in _OF_FIRST else frozenset()


def is_trivial(program: Node) -> bool:
    """Whether a question has the same answer in all images, or nearly all."""
    program = _without_not(program)
    if program.op == "exist" and (program.inputs[0] == SCENE or program.inputs[0].value == "full"):
        return True
    for node in program.steps():
        filters, base = split(node)
        if base.op in ("relate", "falls") and base.inputs[0].op in ("unique", "extreme"):
            # There are no red things behind the only red thing, or left of the leftmost red thing.
            referent = base.inputs[0]
            others, scene = split(referent.inputs[0])
            if scene == SCENE and {*others} <= {*filters} and referent.value in _TRIVIAL.get(base.value, (None,)):
                return True
        sides = {part.value for part in base.inputs}
        if base.op == "intersect" and sides in _OPPOSITE and base.inputs[0].inputs == base.inputs[1].inputs:
            # Nothing is both left and right of the same thing.
            return True
    return False


def _counts_a_part(program: Node) -> bool:
    """Whether a comparison or union is of a set with a part of it, such as cubes with red cubes."""
    for node in program.steps():
        if len(node.inputs) == 2 and node.op in ("equal_integer", "less_than", "greater_than", "twice", "union"):
            sides = [split(part.inputs[0] if part.op == "count" else part) for part in node.inputs]
            (one, base), (other, second) = [({*filters}, base) for filters, base in sides]
            # Whatever its relations are, a red cube is a cube.
            if (one <= other and base in (SCENE, second)) or (other <= one and second in (SCENE, base)):
                return True
    return False
