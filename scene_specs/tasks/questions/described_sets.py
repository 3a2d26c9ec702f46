"""Sets of objects by their descriptions, and what forms can say of them: all of an image are compared, as bits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from itertools import combinations, product
from typing import NamedTuple
from weakref import proxy

from diorama.scene_specs.tasks.questions.draws import Draws
from diorama.scene_specs.tasks.questions.grammar import filtered
from diorama.scene_specs.tasks.questions.lexicon import ADJECTIVES, RELATIONS
from diorama.scene_specs.tasks.questions.patterns import Tree
from diorama.scene_specs.tasks.questions.program import QUANTIFIERS, QUERIED, SCENE, Answer, Node, PresuppositionError
from diorama.scene_specs.tasks.questions.relations_executor import attempt
from diorama.scene_specs.tasks.questions.rules import Judge, mentioned
from diorama.scene_specs.tasks.questions.view import bits_of

# Sets that something is said of.
_SETS = 12
# Of two sets that are said together, so many of each are tried.
_SAID = 12


class NothingError(PresuppositionError):
    """An image has nothing that a pattern could be about."""


Filters = Sequence[tuple[str, str]]


class _Set(NamedTuple):
    """A set that a form may name.

    Attributes:
        names: attributes that its words give.
        beside: bits of the object that it is beside, or that it leaves out.
    """

    node: Node
    bits: int
    names: frozenset[str] = frozenset()
    beside: int = 0


class Sets:
    """Sets of one image.

    Args:
        drawn: makes a random set of a kind, or raises PresuppositionError.

    Attributes:
        identifying: (object, bits of objects) -> see `_identifying`; kept.
    """

    def __init__(self, judge: Judge, draws: Draws, drawn: Callable[[Tree], Node]) -> None:
        self._view, self._executor, self._draws, self._drawn = judge.view, judge.executor, draws, drawn
        self._everything = (1 << len(judge.view.objects)) - 1
        # Kept without a cycle of references.
        me = proxy(self)
        self.identifying = cache(partial(Sets._identifying, me))
        self._plain = cache(lambda tree: [*me._plain_sets(tree)])
        # Pattern, its step, and wanted answer -> steps that are left.
        self._pairs: dict[tuple[str, Tree, Answer | None], list[Node]] = {}

    def pair(self, tree: Tree, pattern: str, wanted: Answer | None) -> Node:
        """Return a step that says of a set's members that they are in another set: another each time, the best first.

        Args:
            pattern: name of the form.
            wanted: answer of the step to look for, if it gives one.

        Raises:
            NothingError: no other one is left.
        """
        key = pattern, tree, wanted
        if key not in self._pairs:
            # Of neither or at most two of a few objects, hardly anything is asked.
            least = QUANTIFIERS.get(tree.op, 2 if tree.parts[1].op == "fits" and tree.op == "difference" else 4)
            large = [candidate for candidate in self._sets(tree.parts[0]) if candidate.bits.bit_count() >= least]
            # What is said of all things, or of those with two properties, hardly ever needs all its steps.
            plain = [candidate for candidate in large if len(candidate.names) == 1] or large
            ranked = [
                (rank, self._draws.number(), Node(tree.op, None, (first.node, other.node)))
                for first in self._draws.some(plain, _SETS)
                for other in self._said(tree.parts[1], first)
                if (rank := self._rank(tree.op, first, other, wanted))
            ]
            self._pairs[key] = [node for _, _, node in sorted(ranked)]
        if not self._pairs[key]:
            raise NothingError("nothing can be said of any set")
        return self._pairs[key].pop()

    def _rank(self, op: str, first: _Set, second: _Set, wanted: Answer | None) -> int:
        """How good it is to say of the members of a set that they are in another one.

        Returns:
            0: another result than the wanted one, or one without need of the other set; 2: the answer is another one
            for all objects, or its part of the first set is not just half of it; 1: others.
        """
        inside, quantify = first.bits & second.bits, partial(attempt, self._executor.quantify, op)
        if op not in QUANTIFIERS:
            is_clear = inside != second.bits and 2 * inside.bit_count() != first.bits.bit_count()
            return 0 if inside in (0, first.bits) else 1 + is_clear
        answer = quantify(first.bits, second.bits)
        # An exception must matter.
        idle = first.node.op == "except" and quantify(first.bits | first.beside, second.bits) == answer
        if answer is None or idle or wanted not in (None, answer):
            return 0
        return 1 + bool(quantify(self._everything, second.bits) != answer)

    def _said(self, tree: Tree, base: _Set) -> list[_Set]:
        """Return what can be said of a set's members: not their place beside one of them, nor what its words give."""
        if tree.op != "union":
            every = self._sets(tree)
            return [other for other in every if not other.beside & base.bits and other.names.isdisjoint(base.names)]
        some = [self._draws.some(self._said(part, base), _SAID) for part in tree.parts]
        return [
            _Set(Node("union", None, (a.node, b.node)), a.bits | b.bits)
            for a, b in product(*some)
            if a.bits & base.bits & ~b.bits and b.bits & base.bits & ~a.bits
        ]

    def _sets(self, tree: Tree) -> Iterable[_Set]:
        """Return the sets of a form: all that need few words, or else a few drawn ones."""
        return self._plain(tree) or self._drawn_sets(tree)

    def _plain_sets(self, tree: Tree) -> Iterator[_Set]:
        op, part = tree.op, tree.parts[0] if tree.parts else tree
        if op == "noun" or (op == "filter" and part.op == "scene"):
            for some, bits in self.nouns:
                yield _Set(filtered(SCENE, some), bits, frozenset(dict(some)))
        elif op == "filter":
            yield from self._plain_sets(part)
        elif op == "fits" and part.op == "scene":
            for name in ADJECTIVES:
                for value in self._view.vocabulary[name]:
                    bits = self._view.value_bits[name].get(value, 0)
                    yield _Set(filtered(SCENE, [(name, value)]), bits, frozenset([name]))
        elif tree.parts and tree.parts[-1].op == "plain":
            named = [k for k in range(len(self._view.objects)) if self.identifying(k, self._everything)]
            referents = {k: self.named_object([k], ()) for k in named}
            if op == "except":
                for base in self._sets(part):
                    for k in bits_of(base.bits):
                        if k in referents:
                            yield _Set(
                                Node(op, None, (base.node, referents[k])), base.bits ^ 1 << k, base.names, 1 << k
                            )
            for name in RELATIONS.get(op, (op,)):
                for k, bits in enumerate(self._view.relations.get(name, ())):
                    if bits and k in referents:
                        node = Node("relate", name, (referents[k],)) if tree.slot else Node(op, None, (referents[k],))
                        yield _Set(node, bits, frozenset(), 1 << k)

    def _drawn_sets(self, tree: Tree) -> Iterator[_Set]:
        for _ in range(_SETS):
            try:
                node = self._drawn(tree)
                yield _Set(node, self._executor.run(node), mentioned(node))
            except PresuppositionError:
                continue

    def one_of(self, tree: Tree, least: int, avoid: Collection[str]) -> Node:
        """Return a set of at least so many objects, whose words give none of some attributes. Raises NothingError."""
        every = self._sets(tree)
        sets = (group.node for group in every if group.bits.bit_count() >= least and group.names.isdisjoint(avoid))
        node: Node | None = self._draws.pick([*sets] or [None]) if isinstance(every, list) else next(sets, None)
        if node is None:
            raise NothingError(f"no set of {least} objects was found")
        return node

    def named_object(self, targets: Iterable[int], avoid: Collection[str]) -> Node:
        """Return a reference to one of some objects by its own attributes. Raises PresuppositionError."""
        names = [self.identifying(k, self._everything) for k in targets]
        some = [kept for every in names if (kept := [filters for filters in every if not {*avoid} & {*dict(filters)}])]
        if not some:
            raise PresuppositionError("nothing identifies an object")
        return Node("unique", None, (filtered(SCENE, self._draws.pick(self._draws.pick(some))),))

    @cached_property
    def nouns(self) -> list[tuple[Filters, int]]:
        """Sets by up to two filters that are both needed, with their members."""
        pairs = [(name, value) for name in QUERIED for value in self._view.value_bits[name]]
        sets = [some for size in range(3) for some in combinations(pairs, size)]
        named = [(some, self.passing(self._everything, some)) for some in sets]
        return [(some, bits) for some, bits in named if bits and len(self.needed(self._everything, some)) == len(some)]

    def passing(self, bits: int, filters: Iterable[tuple[str, str]]) -> int:
        """Return the members of a set that pass filters."""
        for name, value in filters:
            bits &= self._view.value_bits[name].get(value, 0)
        return bits

    def needed(self, bits: int, filters: Filters) -> list[tuple[str, str]]:
        """Return the filters without those that make no difference."""
        kept = [*filters]
        for dropped in filters:
            others = [other for other in kept if other != dropped]
            if self.passing(bits, others) == self.passing(bits, kept):
                kept = others
        return kept

    def _identifying(self, target: int, bits: int) -> list[Filters]:
        """Return the sets of filters that only this object of a set passes and none of which can be left out."""
        minimal: list[Filters] = []
        pairs = [(name, v) for name in QUERIED if (v := self._view.objects[target].values[name]) is not None]
        for size in range(len(pairs) + 1):
            for chosen in combinations(pairs, size):
                if self.passing(bits, chosen) == 1 << target and not any({*less} <= {*chosen} for less in minimal):
                    minimal.append(chosen)
        return minimal
