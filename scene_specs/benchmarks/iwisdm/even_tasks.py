"""Tasks of which structures of one shape are equally frequent, with frames that Selects share as they fit.

A tree is drawn and rejected beyond the limits; then how many frames it looks at and how many stay empty; then an
arrangement of the frames, uniformly. Selects come in groups of properties; a question uses each object at most once per
group.
"""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.benchmarks.iwisdm.autotask import DrawnTask, Structure, children_of, get_properties
from diorama.scene_specs.benchmarks.iwisdm.autotask_config import AutoTaskConfig
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.operators import GRAMMAR, Grammar
from diorama.scene_specs.benchmarks.iwisdm.published_tasks import count_operators
from diorama.scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES
from diorama.scene_specs.errors import spec_error

# Category and identity are one group, because an identity reveals its category.
_GROUPS = {"location": 0, "category": 1, "identity": 1, "view_angle": 2}


class TaskSpace:
    """The tasks of a configuration. Raises SpecError for a configuration with operators that the grammar lacks."""

    def __init__(self, config: AutoTaskConfig, grammar: Grammar = GRAMMAR) -> None:
        self.config, self.grammar = config, grammar
        above = (*config.roots, "Switch") if config.switch_probability else config.roots
        needed = any("boolean" in arm for name in above for arm in grammar.operator(name).arms)
        if needed and not config.booleans:
            raise spec_error("booleans: found none", f"expected operators for {', '.join(above)}")
        for key, names, allowed in (
            ("roots", config.roots, ("boolean", *PROPERTIES)),
            ("booleans", config.booleans if needed else (), ("boolean",)),
        ):
            for name in names:
                operator = grammar.operator(name)
                if operator.gives not in allowed or (operator.gives, operator.arms) == ("boolean", (("Select",),)):
                    hint = f"expected one that gives {', '.join(allowed)}, but not Exist"
                    hint = "use switch_probability instead" if name == "Switch" else hint
                    raise spec_error(f"{key}: found operator {name!r}", hint)

    def draw(self, rng: KeyedRng) -> DrawnTask | None:
        """A random task by the configuration's weights; None if it is beyond the limits."""
        config = self.config
        tree = self._draw_tree("root", config.max_depth, config.max_switches, rng)
        if tree is None or count_operators(tree, "Switch") > config.max_switches:
            return None
        joining = [name for name, operator in self.grammar.operators.items() if operator.join]
        if not config.joins[0] <= count_operators(tree, *joining) <= config.joins[1]:
            return None
        asked = [_GROUPS[name] for name in get_properties(tree, self.grammar)]
        options = list(self._frame_options(asked))
        if not options:
            return None
        _, shown, frames = options[rng.weighted([weight for weight, _, _ in options])]
        looks = _assign_frames(asked, shown, rng)
        if looks is None:
            return None
        at = self._draw_positions(shown, frames - shown, rng)
        return DrawnTask(tree, tuple(at[look] for look in looks), frames)

    def _draw_tree(self, word: str, depth: int, switches: int, rng: KeyedRng) -> Structure | None:
        """A tree for a slot; None beyond the limits of one question. "root": of a complete question."""
        config = self.config
        name = self._draw_operator(word, switches, rng)
        if depth < 1:
            return None
        operator, children = self.grammar.operator(name), []
        branch = operator.gives == "branch"
        for slot in self._draw_slots(name, rng):
            room = (config.max_depth, 0 if slot == "boolean" else switches - 1) if branch else (depth - 1, 0)
            child = self._draw_tree(slot, *room, rng)
            if child is None or (branch and _count_operators(child) > config.max_operators):
                return None
            children.append(child)
        tree = (name, *children)
        return None if not branch and _count_operators(tree) > config.max_operators else tree

    def _draw_operator(self, word: str, switches: int, rng: KeyedRng) -> str:
        config = self.config
        if word == "boolean":
            return rng.pick(config.booleans)
        if word not in ("root", "question"):
            return self.grammar.names(word)[0] if word in PROPERTIES else word
        # A Switch inside a branch is half as likely as one at the root.
        share = config.switch_probability / (1 if word == "root" else 2) if switches else 0.0
        return "Switch" if rng.chance(share) else rng.pick(config.roots)

    def _draw_slots(self, name: str, rng: KeyedRng) -> tuple[str, ...]:
        """The slots below an operator."""
        operator, config = self.grammar.operator(name), self.config
        if operator.equal is None:
            return rng.pick(operator.arms)
        about = rng.pick(config.properties)
        share = config.constant if about in config.constant_properties else 0.0
        with_constant = rng.chance(share)
        return rng.pick([arm for arm in operator.arms if about in arm and ("CONST" in arm) == with_constant])

    def _frame_options(self, asked: list[int]) -> Iterator[tuple[float, int, int]]:
        """(weight, frames that are looked at, frames of the trial) that are possible for these Selects."""
        config, total = self.config, len(asked)
        fewest = max(asked.count(group) for group in asked)
        for shown in range(fewest, total + 1):
            reused = config.reuse ** (total - shown) * (1 - config.reuse) ** (shown - fewest)
            for frames in range(max(shown, config.frames[0]), config.frames[1] + 1):
                empty = frames - shown
                most = empty if config.longest_delay is None else config.longest_delay * (shown - 1)
                allowed = empty if config.max_delays is None else config.max_delays
                weight = reused * config.delay**empty * (1 - config.delay) ** max(0, shown - 1 - empty)
                if weight > 0 and empty <= min(most, allowed) and (not empty or shown > 1):
                    yield weight, shown, frames

    def _draw_positions(self, shown: int, empty: int, rng: KeyedRng) -> list[int]:
        """The trial's frame of each object; empty frames are drawn among those that the gaps between them can hold."""
        longest = self.config.longest_delay or empty
        slots = rng.sample([(gap, k) for gap in range(1, shown) for k in range(longest)], empty)
        return [look + sum(gap <= look for gap, _ in slots) for look in range(shown)]


def _count_operators(tree: Structure) -> int:
    """Operators of a question; of a Switch, those of its largest one."""
    sizes = [*map(_count_operators, children_of(tree))]
    return max(sizes) if tree[0] == "Switch" else 1 + sum(sizes)


def _assign_frames(asked: list[int], shown: int, rng: KeyedRng) -> list[int] | None:
    """A frame for each Select: different ones within a group, all frames used; uniform for two groups.

    None if the last group is too small for the frames that the others leave.
    """
    left, by_group = [*range(shown)], {}
    for group in sorted({*asked}):
        count = asked.count(group)
        if group < max(asked):
            by_group[group] = rng.sample(range(shown), count)
            left = [frame for frame in left if frame not in by_group[group]]
        elif len(left) > count:
            return None
        else:
            again = rng.sample([frame for frame in range(shown) if frame not in left], count - len(left))
            by_group[group] = rng.shuffled([*left, *again])
    rows = {group: iter(frames) for group, frames in by_group.items()}
    return [next(rows[group]) for group in asked]
