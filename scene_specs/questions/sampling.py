"""Random programs of a pattern about one image: slots are filled so that references have one referent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.questions.grammar import Grammar, filtered
from diorama.scene_specs.questions.lexicon import ADJECTIVES, CHOICES, COUNTS, RELATIONS
from diorama.scene_specs.questions.patterns import Pattern, Tree
from diorama.scene_specs.questions.program import (
    CLEVR_OPERATIONS,
    EXTREMES,
    NUMERALS,
    OPERATIONS,
    QUANTIFIERS,
    QUERIED,
    SCENE,
    Node,
    PresuppositionError,
)
from diorama.scene_specs.questions.rules import Judge, mentioned
from diorama.scene_specs.questions.view import ImageView, bits_of

# References inside references, as in "left of the cube that is behind the ball that is ...": in CLEVR's families, and
# in others, as a reader found many of them tiring.
CLEVR_HOPS, HOPS = 3, 2
# How many filters a set has whose size is free, one as likely as the other.
_FILTERS = (0, 1, 1, 1, 1, 2, 2, 2, 3, 3)
# References to objects of an image that are made, for each set of attributes not to be mentioned and each depth.
_REFERENCES = 10
# Sets that are tried for one with several members.
_SETS = 6
# Operation -> what its inputs must not mention, because it would give the answer.
_AVOIDED = {"larger": "size", "smaller": "size", **{f"query_{name}": name for name in QUERIED}}
# Operations that mostly have no clear result, if their inputs are drawn anyhow.
_CLEAR = ("own", "seen", "own_side", "faces", "faced")


class Draws:
    """Random choices. Equal seeds and keys give equal choices everywhere."""

    def __init__(self, seed: int, key: str) -> None:
        # Draws a number in [0, 1).
        self.number: Callable[[], float] = generator(seed, key, "questions").random

    def pick(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[int(self.number() * len(items))]

    def weighted(self, items: Sequence[Pattern]) -> Pattern:
        """One of the patterns, by weight."""
        if len(items) == 1:
            return items[0]
        left = self.number() * sum([one.weight for one in items])
        for one in items:
            left -= one.weight
            if left < 0:
                return one
        return items[-1]


class Sampler:
    """Programs about one image."""

    def __init__(self, view: ImageView, judge: Judge, grammar: Grammar, draws: Draws) -> None:
        self.view, self.judge, self._grammar, self.draws = view, judge, grammar, draws
        self._run, self._everything = judge.executor.run, (1 << len(view.objects)) - 1
        self._references: dict[tuple[str, tuple[str, ...], int], list[Node]] = {}
        # Of the set that is asked about: which of its members have some property?
        self._members = 0
        # Which objects a phrase may name, by phrase.
        self._named: dict[str, Collection[int]] = {"facing": view.fronts, "viewer": view.eyes}
        self._targets: Collection[int] = ()
        # Of forms: bits of the objects that references may name.
        self._is_form, self._allowed = False, 0
        self._minimal: dict[tuple[int, int], list[tuple[tuple[str, str], ...]]] = {}

    def sample(self, pattern: Pattern, nested: bool) -> Node:
        """A program of a pattern. Raises PresuppositionError if the choices lead nowhere.

        Args:
            nested: whether a question of CLEVR's families has up to three references inside each other, not two.
        """
        self._targets = range(len(self.view.objects))
        self._is_form, self._allowed = pattern.name in self._grammar.forms, self._everything
        deep = nested and pattern.name in CLEVR_OPERATIONS
        return self._make(pattern.program, False, (), CLEVR_HOPS if deep else HOPS)

    def _make(self, tree: Tree, unique: bool, avoid: Collection[str], hops: int) -> Node:
        """unique: the set must have one object. avoid: attributes not to be mentioned. hops: references allowed."""
        op = tree.op
        if tree.phrase:
            patterns = self._grammar.phrases[op]
            pattern = patterns[0] if hops <= 0 else self.draws.weighted(patterns)
            if pattern.program.op == "unique":
                return self._refer(pattern.program, op, avoid, hops)
            return self._make(pattern.program, unique, avoid, hops)
        if op == "filter":
            base = self._make(tree.parts[0], False, avoid, hops)
            return filtered(base, self._pick_filters(base, unique, avoid))
        if op in _CLEAR:
            return self._clearly_related(tree, avoid, hops)
        if tree.slot:
            return self._fill_slot(tree, avoid, hops)
        if op in _AVOIDED:
            avoid = (*avoid, _AVOIDED[op])
        parts = op in ("difference", "intersect") and tree.parts[0].op != "relate"
        if parts or op in QUANTIFIERS:
            # Of neither or at most two of a few objects, hardly anything is asked.
            least = QUANTIFIERS.get(op, 2 if tree.parts[1].op == "fits" and op == "difference" else 4)
            beside = not {"relate", "falls"}.isdisjoint(one.op for one in (tree.parts[1], *tree.parts[1].parts))
            members = self._large_set(tree.parts[0], avoid, hops, least if self._is_form else 0, beside)
            self._members = self._run(members)
            for _ in range(_SETS):
                # What is said of them is not their place beside one of them.
                others = self._everything & ~self._members
                said = self._refer_to(others, tree.parts[1], tuple(mentioned(members)), hops)
                made = Node(op, None, (members, said))
                # An exception must matter.
                if members.op != "except" or self._run(made) != self._run(Node(op, None, (members.inputs[0], said))):
                    break
            return made
        if op == "except":
            return self._large_set(tree, avoid, hops, 1)
        left = hops - (op in ("nearest", "falls"))
        inputs = tuple([self._make(part, op == "unique", avoid, left) for part in tree.parts])
        return Node(op, None, inputs)

    def _refer_to(self, allowed: int, tree: Tree, avoid: Collection[str], hops: int) -> Node:
        """A program of a form whose references name some of these objects."""
        kept, self._allowed = self._allowed, allowed if self._is_form else self._allowed
        node = self._make(tree, False, avoid, hops)
        self._allowed = kept
        return node

    def _large_set(self, tree: Tree, avoid: Collection[str], hops: int, least: int, beside: bool = False) -> Node:
        """A set of at least so many objects. beside: not of all, as another one must be left for a reference."""
        if tree.op == "except":
            members = self._large_set(tree.parts[0], avoid, hops, least + 1)
            return Node("except", None, (members, self._refer_to(self._run(members), tree.parts[1], avoid, hops)))
        if least and (tree.op == "noun" or (tree.op == "filter" and tree.parts[0].op == "scene")):
            most = len(self.view.objects) - beside
            large = [
                one for one, bits in self._nouns if least <= bits.bit_count() <= most and not {*avoid} & {*dict(one)}
            ]
            if not large:
                raise PresuppositionError(f"no set of {least} objects was found")
            return filtered(SCENE, self.draws.pick(large))
        for _ in range(_SETS):
            members = self._make(tree, False, avoid, hops)
            if self._run(members).bit_count() >= least:
                return members
        raise PresuppositionError(f"no set of {least} objects was found")

    def _refer(self, tree: Tree, phrase: str, avoid: Collection[str], hops: int) -> Node:
        """A reference to an object, one of a few that are made for an image."""
        made = self._references.setdefault((phrase, tuple(sorted({*avoid})), hops), [])
        free = self._allowed == self._everything
        some = made if free else [one for one in made if self._allowed >> self._run(one) & 1]
        if some and len(made) >= _REFERENCES:
            return self.draws.pick(some)  # type: ignore[no-any-return]
        targets, named = self._targets, self._named.get(phrase, range(len(self.view.objects)))
        self._targets = [k for k in named if self._allowed >> k & 1]
        node = Node("unique", None, (self._make(tree.parts[0], True, avoid, hops),))
        self._targets = targets
        self._run(node)
        if not self.judge.needs_all(node):
            raise PresuppositionError("a step of a reference is not needed")
        if phrase == "viewer" and len(named) == 1 and "shape" not in mentioned(node):
            raise PresuppositionError("who looks is the person, not a thing")
        made.append(node)
        return node

    def _fill_slot(self, tree: Tree, avoid: Collection[str], hops: int) -> Node:
        op, part = tree.op, tree.parts[0]
        if op in RELATIONS:
            referent = self._make(part, False, (), hops - 1)
            return Node("relate", self._pick_side(op, referent), (referent,))
        if op in ("same", "differ"):
            usual = [name for name in QUERIED if name not in avoid and self.view.value_bits[name]]
            name = self.draws.pick(usual) if usual else "color"
            return Node(f"{op}_{name}", None, (self._make(part, False, (name,), hops - 1),))
        if op == "among":
            inner = self._make(part, False, avoid, hops)
            own = self._run(inner)
            others = [one for one in self.view.vocabulary["color"] if one != own]
            named = [] if self.draws.number() < 1 / (CHOICES + 1) else [own]
            while len(named) < CHOICES:
                if not others:
                    raise PresuppositionError("too few colors to name")
                named.append(others.pop(int(self.draws.number() * len(others))))
            return Node("among", ", ".join(sorted(named)), (inner,))
        if op == "extreme":
            if self._is_form:
                return self._clear_extreme(self._make(part, False, avoid, hops))
            which = self.draws.pick(EXTREMES)
            more = ("size",) if which in EXTREMES[:2] else ()
            return Node("extreme", which, (self._make(part, False, (*avoid, *more), hops),))
        inner = self._large_set(part, avoid, hops, 2 if self._is_form and op in NUMERALS else 0)
        if op == "see":
            return Node("filter_visibility", self.draws.pick(("full", "partial")), (inner,))
        if op == "fits":
            return filtered(inner, [self._pick_filter(avoid)])
        count = self._run(inner).bit_count() + (self.draws.pick((-1, 1, 2)) if self.draws.number() < 0.5 else 0)
        if op == "between":
            low = count - self.draws.pick((-1, 0, 1, 2))
            high = low + self.draws.pick((2, 3))
            if low not in COUNTS or high not in COUNTS:
                raise PresuppositionError("too few to ask for that many")
            return Node("between", f"{low}-{high}", (inner,))
        if count not in COUNTS:
            raise PresuppositionError("too few to ask for exactly that many")
        return Node(op, count, (inner,))

    def _clear_extreme(self, members: Node) -> Node:
        """A superlative that is clear, and names the exception if it counted."""
        run, (every, *excepted) = self.judge.executor.outcome, members.inputs if members.op == "except" else (members,)
        made = [Node("extreme", which, (members,)) for which in EXTREMES]
        clear = [one for one in made if not isinstance(run(one), PresuppositionError)]
        for other in excepted:
            clear = [one for one in clear if run(Node("extreme", one.value, (every,))) == run(other)]
        if not clear:
            raise PresuppositionError("nothing is clearly at an end")
        return self.draws.pick(clear)  # type: ignore[no-any-return]

    @cached_property
    def _nouns(self) -> list[tuple[tuple[tuple[str, str], ...], int]]:
        """Sets by up to two filters that are both needed, with their members."""
        pairs = [(name, value) for name in QUERIED for value in self.view.value_bits[name]]
        sets = [some for size in range(3) for some in combinations(pairs, size)]
        found = [(some, self._passing(self._everything, some)) for some in sets]
        return [(some, bits) for some, bits in found if bits and len(self._needed(self._everything, some)) == len(some)]

    def _clearly_related(self, tree: Tree, avoid: Collection[str], hops: int) -> Node:
        """Whether objects clearly are on a side of another one, or what one faces.

        With a slot, yes and no are as likely, since the opposite side or the other pair of sides has the other answer.
        """
        op, wanted = tree.op, tree.op == "faced" or self.draws.number() < 0.5
        for _ in range(4 * _SETS):
            inputs = tuple(self._make(one, False, avoid, hops) for one in tree.parts)
            if len({*map(self._run, inputs)}) < len(inputs):
                continue
            made = [Node(op, side, inputs) for side in OPERATIONS[op].values or (None,)]
            found = [(one, self.judge.executor.outcome(one)) for one in made]
            clear = [one for one, is_so in found if isinstance(is_so, int) and (tree.slot or bool(is_so) == wanted)]
            if clear:
                return self.draws.pick(clear)  # type: ignore[no-any-return]
        raise PresuppositionError("nothing is clearly on a side, or faced")

    def _pick_side(self, op: str, referent: Node) -> str:
        index = self._run(referent)
        some = [name for name in RELATIONS[op] if self.view.relations.get(name, {index: 0})[index]]
        if not some:
            raise PresuppositionError("nothing is related to it")
        return str(self.draws.pick(some))

    def _pick_filter(self, avoid: Collection[str]) -> tuple[str, str]:
        """A filter that could be true of all members of a set, or any filter."""
        names = [name for name in ADJECTIVES if name not in avoid]
        if not names or not self._members:
            raise PresuppositionError("no attribute is left to ask about")
        name = self.draws.pick(names)
        value = self.view.objects[self.draws.pick(list(bits_of(self._members)))].values[name]
        if value is None or self.draws.number() < 0.2:
            value = self.draws.pick(self.view.vocabulary[name] or ("",))
        return name, value

    def _pick_filters(self, base: Node, unique: bool, avoid: Collection[str]) -> Sequence[tuple[str, str]]:
        bits = self._run(base)
        if not bits:
            raise PresuppositionError("nothing to choose from")
        if base.op.startswith("same_"):
            avoid = (*avoid, base.op[5:])
        members = list(bits_of(bits))
        first = int(self.draws.number() * len(members))
        if unique:
            members = [k for k in members if k in self._targets]
            for target in (*members[first:], *members[:first]):
                names = [one for one in self._identifying(target, bits) if not any(name in avoid for name, _ in one)]
                if names:
                    return self.draws.pick(names)  # type: ignore[no-any-return]
            raise PresuppositionError("nothing identifies an object")
        values = self.view.objects[members[first]].values
        here = [(name, value) for name in QUERIED if name not in avoid and (value := values[name]) is not None]
        if self.draws.number() < 0.4:
            here = [(name, self.draws.pick(self.view.vocabulary[name])) for name, _ in here]
        count = self.draws.pick(_FILTERS)
        while len(here) > count:
            here.remove(self.draws.pick(here))
        return self._needed(bits, here)

    def _passing(self, bits: int, filters: Iterable[tuple[str, str]]) -> int:
        """The members of a set that pass filters."""
        for name, value in filters:
            bits &= self.view.value_bits[name].get(value, 0)
        return bits

    def _needed(self, bits: int, filters: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """The filters without those that make no difference."""
        kept = [*filters]
        for one in filters:
            others = [other for other in kept if other != one]
            if self._passing(bits, others) == self._passing(bits, kept):
                kept = others
        return kept

    def _identifying(self, target: int, bits: int) -> list[tuple[tuple[str, str], ...]]:
        """The sets of filters that only this object of a set passes and none of which can be left out."""
        key = (target, bits)
        if key not in self._minimal:
            found = self._minimal[key] = []
            pairs = [(name, v) for name in QUERIED if (v := self.view.objects[target].values[name]) is not None]
            for size in range(len(pairs) + 1):
                for chosen in combinations(pairs, size):
                    if self._passing(bits, chosen) == 1 << target and not any({*less} <= {*chosen} for less in found):
                        found.append(chosen)
        return self._minimal[key]
