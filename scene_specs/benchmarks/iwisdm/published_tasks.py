"""The published procedure of drawing tasks: iWISDM's auto_task_gen.py, task_generator.py and create_bench.py.

Operators are drawn from the root down, within limits of depth and number. The Selects of all questions look at frames
in turn, counted from the last one back: at a frame that another property uses already, or at a new one, before which a
frame may stay empty. Tasks with another number of frames or of joins than requested are drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from diorama.scene_specs.benchmarks.iwisdm.autotask import DrawnTask, Structure, children_of
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.operators import GRAMMAR
from diorama.scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, PROPERTIES, Stimuli
from diorama.scene_specs.errors import spec_error

# Published names -> Diorama's.
OPERATORS = {"GetLoc": "GetLocation", "GetObject": "GetIdentity"}
PUBLISHED_NAMES = {own: published for published, own in OPERATORS.items()}
# Of a task; more than max_op allows.
_MOST_OPERATORS = 400
_Share = Annotated[float, Field(ge=0, le=1)]
_Getter = Literal["GetLoc", "GetCategory", "GetObject", "GetViewAngle"]
_Question = Literal["IsSame", "NotSame", "And", "Or", "GetLoc", "GetCategory", "GetObject", "GetViewAngle"]


class OperatorLimits(BaseModel):
    """One operator: its possible children, their number, weights (which override limits), and least depth and size."""

    downstream: tuple[str | None, ...]
    n_downstream: Annotated[int, Field(ge=0, le=4)]
    sample_dist: tuple[_Share, ...] = ()
    same_children_op: bool = False
    min_depth: Annotated[int, Field(ge=1)]
    min_op: Annotated[int, Field(ge=1)]

    @property
    def weights(self) -> tuple[float, ...]:
        """The weights of the children."""
        return tuple(weight for child, weight in zip(self.downstream, self.sample_dist, strict=False) if child)


class PublishedConfig(BaseModel):
    """A published configuration file. `leaf_op`, `mid_op` and `select_limit` have no effect, as in the original."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    op_dict: dict[str, OperatorLimits]
    root_ops: Annotated[tuple[_Question, ...], Field(min_length=1)]
    boolean_ops: Annotated[tuple[Literal["IsSame", "NotSame", "And", "Or"], ...], Field(min_length=1)]
    leaf_op: tuple[str, ...] = ()
    mid_op: tuple[str, ...] = ()
    max_op: Annotated[int, Field(ge=1, le=200)]
    max_depth: Annotated[int, Field(ge=1, le=12)]
    max_switch: Annotated[int, Field(ge=0, le=3)]
    switch_threshold: _Share
    select_limit: bool = False
    compare_const_prob: _Share
    const_parent_ops: tuple[str, ...] = ("IsSame", "NotSame")
    indexable_get_ops: Annotated[tuple[_Getter, ...], Field(min_length=1)] = ("GetLoc", "GetCategory")

    @model_validator(mode="after")
    def _check_complete(self) -> PublishedConfig:
        named = {name for limits in self.op_dict.values() for name in limits.downstream if name}
        named |= {*self.root_ops, *self.boolean_ops, *self.indexable_get_ops}
        if missing := sorted(named - self.op_dict.keys()):
            raise ValueError(f"op_dict: found no {missing[0]!r}")
        for name, limits in self.op_dict.items():
            if OPERATORS.get(name, name) not in GRAMMAR.operators:
                raise ValueError(
                    f"op_dict: found operator {name!r}; allowed: Select, CONST, {', '.join(get_args(_Question))}"
                )
            expected = 2 if name in ("IsSame", "NotSame", "And", "Or") else 1
            if name not in ("Select", "CONST") and (limits.n_downstream != expected or not any(limits.downstream)):
                raise ValueError(f"op_dict: {name}: expected n_downstream {expected}, and names in downstream")
            if len(limits.sample_dist) not in (0, len(limits.downstream)):
                raise ValueError(f"op_dict: {name}: expected as many weights in sample_dist as names in downstream")
            if limits.sample_dist and not any(limits.weights):
                raise ValueError(f"op_dict: {name}: expected a positive weight in sample_dist")
        if not any(self._fits_limits(name) for name in self.root_ops):
            raise ValueError("max_op and max_depth: no operator of root_ops fits")
        return self

    def _fits_limits(self, name: str) -> bool:
        return self.op_dict[name].min_depth <= self.max_depth and self.op_dict[name].min_op <= self.max_op

    @property
    def roots(self) -> tuple[str, ...]:
        """The operators of a question's root that fit the limits."""
        return tuple(name for name in self.root_ops if self._fits_limits(name))


class Limits(NamedTuple):
    """Trials to accept: least and most frames and joins.

    Attributes:
        reuse: probability to look at a frame that another property uses, where there is one.
        delay: probability of an empty frame before a new one.
        longest: most empty frames in a row.
    """

    frames: tuple[int, int] = (1, 64)
    joins: tuple[int, int] = (0, 64)
    reuse: float = 0.25
    delay: float = 0.5
    longest: int = 1


class _TooLongError(Exception):
    """A task has more frames or operators than allowed."""


class PublishedTasks:
    """Draws tasks as the published code does.

    Args:
        stimuli: categories of the constants, which belong to a task.
    """

    def __init__(self, config: PublishedConfig, limits: Limits, stimuli: Stimuli = DEFAULT) -> None:
        self.config, self.limits, self.stimuli = config, limits, stimuli
        self._most_delays = max(limits.frames[1] - 2, 0)
        self._options: dict[tuple[str, int, int], tuple[list[str], Sequence[float]]] = {}

    def draw(self, rng: KeyedRng) -> DrawnTask | None:
        """Return a random task; None if it is beyond the limits."""
        try:
            return self._draw(rng)
        except _TooLongError:
            return None

    def _draw(self, rng: KeyedRng) -> DrawnTask | None:
        pick, roots = rng.pick, self.config.roots
        task, last = self._draw_question(pick(roots), 0, 0, rng)
        # Condition, other branch, whether that is second.
        switches = []
        for _ in range(self.config.max_switch):
            if rng.chance(self.config.switch_threshold):
                other, last = self._draw_question(pick(roots), last + 1, 0, rng)
                condition, last = self._draw_question(pick(self.config.boolean_ops), last + 1, 0, rng)
                last += 1
                switches.append((condition, other, rng.chance(0.5)))
        joins = sum(count_operators(tree, "And", "Or") for tree in (task, *(q for pair in switches for q in pair[:2])))
        if not self.limits.joins[0] <= joins <= self.limits.joins[1]:
            return None
        # Questions look at frames in the order of the published code.
        used: dict[str, set[int]] = {}
        task, looks = self._fill_tree(task, "", used, rng)
        for condition, other, second in switches:
            condition, before = self._fill_tree(condition, "", used, rng)
            other, beside = self._fill_tree(other, "", used, rng)
            task = ("Switch", condition, *((task, other) if second else (other, task)))
            looks = [*before, *looks, *beside] if second else [*before, *beside, *looks]
        frames = 1 + max(looks)
        if frames < self.limits.frames[0] or frames - len({*looks}) > self._most_delays:
            return None
        return DrawnTask(task, tuple(frames - 1 - look for look in looks), frames)

    def _draw_question(self, name: str, number: int, depth: int, rng: KeyedRng) -> tuple[Structure, int]:
        """Return a tree below an operator, and the number of its last node. number, depth: of the operator."""
        if name in ("CONST", "Select"):
            return (name,), number
        # Weights, and operators that have only larger ones to choose from, ignore max_op.
        if number > _MOST_OPERATORS:
            raise _TooLongError
        trees = []
        for child in self._draw_children(name, number + 1, depth + 1, rng):
            tree, number = self._draw_question(child, number + 1, depth + 1, rng)
            trees.append(tree)
        return (OPERATORS.get(name, name), *trees), number

    def _draw_children(self, name: str, number: int, depth: int, rng: KeyedRng) -> list[str]:
        limits, indexable = self.config.op_dict[name], self.config.indexable_get_ops
        different = 1 if limits.same_children_op else limits.n_downstream
        names = [self._child(name, number, depth, rng) for _ in range(different)] * (limits.n_downstream // different)
        if name not in self.config.const_parent_ops:
            return names
        if all(child in indexable for child in names):
            if rng.chance(self.config.compare_const_prob):
                names[rng.below(len(names))] = "CONST"
        elif self.config.compare_const_prob == 1:
            if limits.same_children_op:
                names = [rng.pick(indexable)] * len(names)
            names = [child if child in indexable else rng.pick(indexable) for child in names]
            names[rng.below(len(names))] = "CONST"
        return names

    def _child(self, name: str, number: int, depth: int, rng: KeyedRng) -> str:
        """One child; number, depth: what the tree has so far."""
        if (name, number, depth) not in self._options:
            self._options[name, number, depth] = self._allowed_children(name, number, depth)
        names, weights = self._options[name, number, depth]
        return names[rng.weighted(weights)] if weights else rng.pick(names)

    def _allowed_children(self, name: str, number: int, depth: int) -> tuple[list[str], Sequence[float]]:
        """Children and their weights, if they differ. Operators that leave room for more come first."""
        config, limits = self.config, self.config.op_dict[name]
        names = [child for child in limits.downstream if child]
        if limits.sample_dist:
            return names, limits.weights
        fitting = [child for child in names if depth + config.op_dict[child].min_depth <= config.max_depth]
        left = {child: config.max_op - number - config.op_dict[child].min_op for child in fitting}
        roomy = [child for child, room in left.items() if room > 0] or [c for c, room in left.items() if room == 0]
        simplest = min(config.op_dict[child].min_depth for child in names)
        return roomy or [child for child in names if config.op_dict[child].min_depth == simplest], ()

    def _fill_tree(
        self, tree: Structure, about: str, used: dict[str, set[int]], rng: KeyedRng
    ) -> tuple[Structure, list[int]]:
        """Return the tree with constants and swapped sides, and the frame of each Select, counted from the last one.

        used: property -> frames, of the task so far.
        """
        if tree[0] == "Select":
            return tree, [self._draw_look(about, used, rng)]
        gives = GRAMMAR.operators[str(tree[0])].gives
        children = children_of(tree)
        compared = next((GRAMMAR.operators[str(side[0])].gives for side in children if side[0] != "CONST"), "")
        if ("CONST",) in children and compared not in PROPERTIES:
            problem = f"op_dict: {tree[0]}: found a constant that is compared with no property of an object"
            raise spec_error(problem, "set compare_const_prob to 1, or remove CONST from downstream")
        placed: list[tuple[Structure, list[int]]] = [
            (("CONST", rng.pick(self.stimuli.values(compared))), [])
            if child[0] == "CONST"
            else self._fill_tree(child, gives, used, rng)
            for child in children
        ]
        if gives == "boolean" and rng.chance(0.5):
            placed.reverse()
        return (tree[0], *(child for child, _ in placed)), [look for _, looks in placed for look in looks]

    def _draw_look(self, about: str, used: dict[str, set[int]], rng: KeyedRng) -> int:
        own = used.setdefault(about, set())
        taken = set().union(*used.values())
        pool = sorted(taken - own)
        if rng.chance(self.limits.reuse) and pool:
            look = rng.pick(pool)
        else:
            look = max(taken, default=-1) + 1
            empty = look - len(taken)
            for _ in range(self.limits.longest if taken else 0):
                if empty >= self._most_delays or not rng.chance(self.limits.delay):
                    break
                look, empty = look + 1, empty + 1
            if look >= self.limits.frames[1]:
                raise _TooLongError
        own.add(look)
        return look


def count_operators(tree: Structure, *names: str) -> int:
    """How many operators of a tree have one of these names."""
    return (tree[0] in names) + sum(count_operators(child, *names) for child in children_of(tree))
