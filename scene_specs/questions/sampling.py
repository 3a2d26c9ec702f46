"""Random programs of a pattern about one image: slots are filled so that references have one referent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scene_specs.language.rng import generator
from scene_specs.questions.grammar import ADJECTIVES, COUNTS, SIDES, STACKS, Grammar, Pattern, filtered
from scene_specs.questions.program import EXTREMES, QUERIED, SCENE, Node, PresuppositionError
from scene_specs.questions.relations_executor import RelationsExecutor
from scene_specs.questions.view import ImageView, bits_of

# References inside references, as in "left of the cube that is behind the ball that is ...".
MAX_HOPS = 3
_BLOCK = 1024
_RELATIONS: Mapping[str, Sequence[str]] = {"relate": SIDES, "stack": STACKS}


class Draws:
    """Random choices, from numbers that are drawn in blocks. Equal seeds and keys give equal choices everywhere."""

    def __init__(self, seed: int, key: str) -> None:
        self._rng: np.random.Generator = generator(seed, key, "questions")
        self._numbers: Iterator[float] = iter(())

    def number(self) -> float:
        """A number in [0, 1)."""
        for value in self._numbers:
            return value
        self._numbers = iter(self._rng.random(_BLOCK).tolist())
        return next(self._numbers)

    def pick(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[int(self.number() * len(items))]

    def weighted(self, items: Sequence[Pattern]) -> Pattern:
        """One of the patterns, by weight."""
        left = self.number() * sum(one.weight for one in items)
        for one in items:
            left -= one.weight
            if left < 0:
                return one
        return items[-1]


class Sampler:
    """Programs about one image. vocabulary: attribute -> values to ask for in vain, too."""

    def __init__(
        self,
        view: ImageView,
        executor: RelationsExecutor,
        grammar: Grammar,
        vocabulary: Mapping[str, Sequence[str]],
        draws: Draws,
    ) -> None:
        self._view, self._run, self._grammar, self._draws = view, executor.run, grammar, draws
        self.vocabulary = vocabulary
        self._minimal: dict[tuple[int, int], list[tuple[tuple[str, str], ...]]] = {}

    def sample(self, pattern: Pattern) -> Node:
        """A program of a pattern. Raises PresuppositionError if the choices lead nowhere."""
        return self._build(pattern.program, False, (), 0)

    def _build(self, tree: Any, unique: bool, avoid: Collection[str], hops: int) -> Node:
        """unique: the set must have one object. avoid: attributes that must not be mentioned."""
        if isinstance(tree, str):
            patterns = self._grammar.phrases[tree.partition(":")[0]]
            if hops >= MAX_HOPS:
                patterns = patterns[:1] if len(patterns) > 1 else patterns
            return self._build(self._draws.weighted(patterns).program, unique, avoid, hops)
        op, _, slot = tree[0].partition(":")
        if op in ("filter", "fits"):
            base = self._build(tree[1], False, avoid, hops)
            return filtered(base, self._filters(base, unique, avoid) if op == "filter" else [self._adjective()])
        if op in ("same", "extreme", "see", "exactly") and slot:
            return self._slot(op, tree, avoid, hops)
        inner = op in ("relate", "stack")
        kind, _, name = op.partition("_")
        if kind == "query" or op in ("larger", "smaller"):
            avoid = (*avoid, name if kind == "query" else "size")
        else:
            avoid = () if inner else avoid
        inputs = tuple(self._build(part, op == "unique", avoid, hops + inner) for part in tree[1:])
        if inner and slot:
            return Node("relate", self._relation(op, inputs[0]), inputs)
        return Node(op, None, inputs) if op != "scene" else SCENE

    def _slot(self, op: str, tree: Any, avoid: Collection[str], hops: int) -> Node:
        if op == "same":
            usual = [name for name in QUERIED if name not in avoid and self._view.value_bits[name]]
            name = self._draws.pick(usual) if usual else "color"
            return Node(f"same_{name}", None, (self._build(tree[1], False, (name,), hops + 1),))
        if op == "extreme":
            which = self._draws.pick(EXTREMES)
            more = ("size",) if which in EXTREMES[:2] else ()
            return Node("extreme", which, (self._build(tree[1], False, (*avoid, *more), hops),))
        inner = self._build(tree[1], False, avoid, hops)
        if op == "see":
            return Node("filter_visibility", self._draws.pick(("full", "partial")), (inner,))
        count = self._run(inner).bit_count() + (self._draws.pick((-1, 1, 2)) if self._draws.number() < 0.5 else 0)
        if count not in COUNTS:
            raise PresuppositionError("too few to ask for exactly that many")
        return Node("exactly", count, (inner,))

    def _relation(self, op: str, referent: Node) -> str:
        index = self._run(referent)
        some = [name for name in _RELATIONS[op] if self._view.relations[name][index]]
        if not some:
            raise PresuppositionError("nothing is related to it")
        return str(self._draws.pick(some))

    def _adjective(self) -> tuple[str, str]:
        return self._draws.pick([(name, v) for name in ADJECTIVES for v in self.vocabulary[name]])  # type: ignore[no-any-return]

    def _filters(self, base: Node, unique: bool, avoid: Collection[str]) -> Sequence[tuple[str, str]]:
        bits = self._run(base)
        if not bits:
            raise PresuppositionError("nothing to choose from")
        target = self._draws.pick(list(bits_of(bits)))
        if base.op.startswith("same_"):
            avoid = (*avoid, base.op[5:])
        if unique:
            names = [one for one in self._identifying(target, bits) if not any(name in avoid for name, _ in one)]
            if not names:
                raise PresuppositionError("nothing identifies it")
            return self._draws.pick(names)  # type: ignore[no-any-return]
        values = self._view.objects[target].values
        here = [(name, value) for name in QUERIED if name not in avoid and (value := values[name]) is not None]
        if self._draws.number() < 0.3:
            here = [(name, self._draws.pick(self.vocabulary[name])) for name, _ in here]
        count = int(self._draws.number() * 4)
        while len(here) > count:
            here.remove(self._draws.pick(here))
        return here

    def _identifying(self, target: int, bits: int) -> list[tuple[tuple[str, str], ...]]:
        """The sets of filters that only this object of a set passes and none of which can be left out."""
        key = (target, bits)
        if key not in self._minimal:
            pairs = [(name, v) for name in QUERIED if (v := self._view.objects[target].values[name]) is not None]
            masks = [self._view.value_bits[name][value] for name, value in pairs]
            left = [bits] * (1 << len(pairs))
            found: list[int] = []
            for chosen in range(1 << len(pairs)):
                if chosen:
                    low = chosen & -chosen
                    left[chosen] = left[chosen ^ low] & masks[low.bit_length() - 1]
                if left[chosen] == 1 << target and all(left[chosen ^ 1 << k] != left[chosen] for k in bits_of(chosen)):
                    found.append(chosen)
            self._minimal[key] = [tuple(pairs[k] for k in bits_of(chosen)) for chosen in found]
        return self._minimal[key]
