"""Random programs of a pattern about one image: slots are filled so that references have one referent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from weakref import proxy

from diorama.scene_specs.tasks.questions import program
from diorama.scene_specs.tasks.questions.described_sets import Sets
from diorama.scene_specs.tasks.questions.draws import Draws
from diorama.scene_specs.tasks.questions.grammar import Grammar, filtered
from diorama.scene_specs.tasks.questions.lexicon import ADJECTIVES, CHOICES, COUNTS, RELATIONS
from diorama.scene_specs.tasks.questions.patterns import Pattern, Tree
from diorama.scene_specs.tasks.questions.rules import Judge, mentioned
from diorama.scene_specs.tasks.questions.view import ImageView, bits_of

# References inside references, as in "left of the cube that is behind the ball that is ...": in CLEVR's families, and
# in others, as a reader found many of them tiring.
CLEVR_HOPS, HOPS = 3, 2
# How many filters a set has whose size is free, one as likely as the other.
_FILTERS = (0, 1, 1, 1, 1, 2, 2, 2, 3, 3)
# References to objects of an image that are made, for each set of attributes not to be mentioned and each depth.
_REFERENCES = 10
# Operation -> what its inputs must not mention, because it would give the answer.
_AVOIDED = {"larger": "size", "smaller": "size", **{f"query_{name}": name for name in program.QUERIED}}
# Operations that mostly have no clear result, if their inputs are drawn anyhow.
_CLEAR = ("own", "seen", "own_side", "faces", "faced")
# Tries for one of these.
_TRIES = 24
# Parts of one sample that are made; with the packaged grammar, at most 103.
_MAX_PARTS = 2_000


class Sampler:
    """Programs about one image."""

    def __init__(self, view: ImageView, judge: Judge, grammar: Grammar, draws: Draws) -> None:
        self.view, self.judge, self._grammar, self.draws = view, judge, grammar, draws
        self._run, self._everything = judge.executor.run, (1 << len(view.objects)) - 1
        self._references: dict[tuple[str, tuple[str, ...], int], list[program.Node]] = {}
        # Of the set that is asked about: which of its members have some property?
        self._members = 0
        # Which objects a phrase may name, by phrase.
        self._named: dict[str, Collection[int]] = {"facing": view.fronts, "viewer": view.eyes}
        self._targets: Collection[int] = ()
        self._is_form, self._pattern, self._left = False, "", _MAX_PARTS
        self._wanted: program.Answer | None = None
        # Without a cycle of references, an image's results are freed at once.
        me = proxy(self)
        self._sets = Sets(judge, draws, lambda tree: me._make(tree, False, (), HOPS))

    def sample(self, pattern: Pattern, nested: bool, wanted: program.Answer | None = None) -> program.Node:
        """Return a program of a pattern.

        Args:
            nested: whether a question of CLEVR's families has up to three references inside each other, not two.
            wanted: for a form, the answer to look for.

        Raises:
            PresuppositionError: if the choices lead nowhere; NothingError if all others do, too.
        """
        self._targets = range(len(self.view.objects))
        self._is_form, self._pattern = pattern.name in self._grammar.forms, pattern.name
        deep = nested and pattern.name in program.CLEVR_OPERATIONS
        self._wanted = not wanted if pattern.program.op == "not" and wanted is not None else wanted
        self._left = _MAX_PARTS
        try:
            drawn = self._make(pattern.program, False, (), CLEVR_HOPS if deep else HOPS)
        except RecursionError:
            raise program.PresuppositionError("phrases inside each other without an end") from None
        program.refuse_if(sum(1 for _ in drawn.steps()) > program.MAX_STEPS, "a program of too many steps")
        return drawn

    def _make(self, tree: Tree, unique: bool, avoid: Collection[str], hops: int) -> program.Node:
        """Draw a program of this form.

        Args:
            unique: whether the set must have one object.
            avoid: attributes not to be mentioned.
            hops: number of references allowed.
        """
        op = tree.op
        self._left -= 1
        program.refuse_if(self._left < 0, "too many parts")
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
        if self._is_form and (parts or op in program.QUANTIFIERS):
            return self._sets.pair(tree, self._pattern, self._wanted)
        if parts or op in program.QUANTIFIERS:
            members = self._make(tree.parts[0], False, avoid, hops)
            self._members = self._run(members)
            return program.Node(op, None, (members, self._make(tree.parts[1], False, tuple(mentioned(members)), hops)))
        if op == "except":
            return self._sets.one_of(tree, 1, avoid)
        left = hops - (op in ("nearest", "falls"))
        return program.Node(op, None, tuple([self._make(part, op == "unique", avoid, left) for part in tree.parts]))

    def _refer(self, tree: Tree, phrase: str, avoid: Collection[str], hops: int) -> program.Node:
        """Return a reference to an object, one of a few that are made for an image."""
        if self._is_form and phrase == "plain":
            return self._sets.named_object(range(len(self.view.objects)), avoid)
        references = self._references.setdefault((phrase, tuple(sorted({*avoid})), hops), [])
        if len(references) >= _REFERENCES:
            return self.draws.pick(references)  # type: ignore[no-any-return]
        targets, named = self._targets, self._named.get(phrase, range(len(self.view.objects)))
        self._targets = named
        node = program.Node("unique", None, (self._make(tree.parts[0], True, avoid, hops),))
        self._targets = targets
        self._run(node)
        program.refuse_if(not self.judge.needs_all(node), "a step of a reference is not needed")
        if phrase == "viewer" and len(named) == 1 and "shape" not in mentioned(node):
            raise program.PresuppositionError("who looks is the person, not a thing")
        references.append(node)
        return node

    def _fill_slot(self, tree: Tree, avoid: Collection[str], hops: int) -> program.Node:
        op, part = tree.op, tree.parts[0]
        if op in RELATIONS:
            referent = self._make(part, False, (), hops - 1)
            index = self._run(referent)
            some = [name for name in RELATIONS[op] if self.view.relations.get(name, {index: 0})[index]]
            program.refuse_if(not some, "nothing is related to it")
            return program.Node("relate", self.draws.pick(some), (referent,))
        if op in ("same", "differ"):
            usual = [name for name in program.QUERIED if name not in avoid and self.view.value_bits[name]]
            name = self.draws.pick(usual) if usual else "color"
            return program.Node(f"{op}_{name}", None, (self._make(part, False, (name,), hops - 1),))
        if op == "among":
            inner = self._make(part, False, avoid, hops)
            own = self._run(inner)
            others = [color for color in self.view.vocabulary["color"] if color != own]
            named = [] if self.draws.number() < 1 / (CHOICES + 1) else [own]
            named += self.draws.some(others, CHOICES - len(named))
            program.refuse_if(len(named) < CHOICES, "too few colors to name")
            return program.Node("among", ", ".join(sorted(named)), (inner,))
        if op == "extreme":
            if self._is_form:
                return self._clear_extreme(self._make(part, False, avoid, hops))
            which = self.draws.pick(program.EXTREMES)
            more = ("size",) if which in program.EXTREMES[:2] else ()
            return program.Node("extreme", which, (self._make(part, False, (*avoid, *more), hops),))
        if self._is_form and op in program.NUMERALS:
            return self._number(op, part, avoid, hops)
        inner = self._make(part, False, avoid, hops)
        if op == "see":
            return program.Node("filter_visibility", self.draws.pick(("full", "partial")), (inner,))
        if op == "fits":
            return filtered(inner, [self._pick_filter(avoid)])
        count = self._run(inner).bit_count() + (self.draws.pick((-1, 1, 2)) if self.draws.number() < 0.5 else 0)
        if op == "between":
            low = count - self.draws.pick((-1, 0, 1, 2))
            high = low + self.draws.pick((2, 3))
            program.refuse_if(low not in COUNTS or high not in COUNTS, "too few to ask for that many")
            return program.Node("between", f"{low}-{high}", (inner,))
        program.refuse_if(count not in COUNTS, "too few to ask for exactly that many")
        return program.Node(op, count, (inner,))

    def _number(self, op: str, tree: Tree, avoid: Collection[str], hops: int) -> program.Node:
        """Return a step of a form that compares the size of a set with a number near it."""
        inner = self._make(tree, False, avoid, hops) if tree.op == "intersect" else self._sets.one_of(tree, 2, avoid)
        count = self._run(inner).bit_count()
        nodes = [program.Node(op, number, (inner,)) for number in range(count - 1, count + 3) if number in COUNTS]
        nodes = [node for node in nodes if self._wanted in (None, self._run(node))]
        program.refuse_if(not nodes, "no number gives the wanted answer")
        return self.draws.pick(nodes)  # type: ignore[no-any-return]

    def _clear_extreme(self, members: program.Node) -> program.Node:
        """Return a superlative that is clear, and names the exception if it counted."""
        run, (every, *excepted) = self.judge.executor.outcome, members.inputs if members.op == "except" else (members,)
        superlatives = [program.Node("extreme", which, (members,)) for which in program.EXTREMES]
        clear = [node for node in superlatives if not isinstance(run(node), program.PresuppositionError)]
        for other in excepted:
            clear = [node for node in clear if run(program.Node("extreme", node.value, (every,))) == run(other)]
        program.refuse_if(not clear, "nothing is clearly at an end")
        return self.draws.pick(clear)  # type: ignore[no-any-return]

    def _clearly_related(self, tree: Tree, avoid: Collection[str], hops: int) -> program.Node:
        """Whether objects clearly are on a side of another one, or what one faces.

        With a slot, yes and no are as likely, since the opposite side or the other pair of sides has the other answer.
        """
        op, wanted = tree.op, tree.op == "faced" or self.draws.number() < 0.5
        for _ in range(_TRIES):
            inputs = tuple(self._make(child, False, avoid, hops) for child in tree.parts)
            if len({*map(self._run, inputs)}) < len(inputs):
                continue
            nodes = [program.Node(op, side, inputs) for side in program.OPERATIONS[op].values or (None,)]
            judged = [(node, self.judge.executor.outcome(node)) for node in nodes]
            clear = [node for node, is_so in judged if isinstance(is_so, int) and (tree.slot or bool(is_so) == wanted)]
            if clear:
                return self.draws.pick(clear)  # type: ignore[no-any-return]
        raise program.PresuppositionError("nothing is clearly on a side, or faced")

    def _pick_filter(self, avoid: Collection[str]) -> tuple[str, str]:
        """Return a filter that could be true of all members of a set, or any filter."""
        names = [name for name in ADJECTIVES if name not in avoid]
        program.refuse_if(not names or not self._members, "no attribute is left to ask about")
        name = self.draws.pick(names)
        value = self.view.objects[self.draws.pick(list(bits_of(self._members)))].values[name]
        if value is None or self.draws.number() < 0.2:
            value = self.draws.pick(self.view.vocabulary[name] or ("",))
        return name, value

    def _pick_filters(self, base: program.Node, unique: bool, avoid: Collection[str]) -> Sequence[tuple[str, str]]:
        bits = self._run(base)
        program.refuse_if(not bits, "nothing to choose from")
        if base.op.startswith("same_"):
            avoid = (*avoid, base.op[5:])
        members = list(bits_of(bits))
        first = int(self.draws.number() * len(members))
        if unique:
            members = [k for k in members if k in self._targets]
            for target in (*members[first:], *members[:first]):
                names = [
                    filters for filters in self._sets.identifying(target, bits) if {*avoid}.isdisjoint(dict(filters))
                ]
                if names:
                    return self.draws.pick(names)  # type: ignore[no-any-return]
            raise program.PresuppositionError("nothing identifies an object")
        values = self.view.objects[members[first]].values
        here = [(name, value) for name in program.QUERIED if name not in avoid and (value := values[name]) is not None]
        if self.draws.number() < 0.4:
            here = [(name, self.draws.pick(self.view.vocabulary[name])) for name, _ in here]
        count = self.draws.pick(_FILTERS)
        while len(here) > count:
            here.remove(self.draws.pick(here))
        return self._sets.needed(bits, here)
