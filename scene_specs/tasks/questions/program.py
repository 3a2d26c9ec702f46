"""Programs: typed expressions over the objects of an image.

JSON is a nested list: the operation, its value if it takes one, and its inputs. "How many red cubes are there?" is

    ["count", ["filter_shape", "cube", ["filter_color", "red", ["scene"]]]]

CLEVR's form is a list of such steps, in which `inputs` are numbers of earlier steps (Johnson et al., CVPR 2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import filterfalse
from typing import Any, NamedTuple

# In the order in which filters apply: of the large red cubes, size is asked of what is known to be a cube.
QUERIED: tuple[str, ...] = ("shape", "category", "material", "color", "size")
# An object has one of the two, if its kind is clear.
NOUNS = ("shape", "category")
# Values that an object may have without a name for it, as models have sizes. Nothing is asked about such sets.
DOUBTFUL: tuple[str, ...] = ("material", "color", "size", "visibility")
ATTRIBUTES: tuple[str, ...] = (*QUERIED, "visibility")
RELATED: tuple[str, ...] = ("left", "right", "front", "behind", "above", "below", "on", "in", "leaning")
# Sides of which two objects can share one.
PAIRS: tuple[str, ...] = ("left-right", "front-behind")
EXTREMES: tuple[str, ...] = ("largest", "smallest", "leftmost", "rightmost", "frontmost", "rearmost")
# Quantifiers: operation -> fewest members of the first set; the second one is what is said of them.
QUANTIFIERS: Mapping[str, int] = {
    "all": 2, "most": 3, "none": 2, "only": 2, "half": 2, "fewer_than_half": 3, "at_least_half": 3, "few": 4, "many": 4,
}  # fmt: skip
# Operations that compare a number with their value.
NUMERALS: tuple[str, ...] = ("exactly", "at_least", "at_most", "more_than", "fewer_than")
# The answer to "Is it red, blue, green, or none of these colors?" for something gray.
NONE_OF_THESE = "none of these"
# Longest program that is read; the longest that is made has 30 steps.
MAX_STEPS = 200

Answer = bool | int | str


def spoken(answer: Answer) -> str:
    """Return an answer as CLEVR and readers write it."""
    return ("no", "yes")[answer] if isinstance(answer, bool) else str(answer)


class PresuppositionError(Exception):
    """A step of a program has no value in an image, such as `unique` for two objects."""


def refuse_if(fails: object, problem: str) -> None:
    """Raise PresuppositionError if something is true."""
    if fails:
        raise PresuppositionError(problem)


class Operation(NamedTuple):
    """A step of a program.

    Attributes:
        inputs: types.
        output: type.
        values: allowed ones; () if it takes none, None for any text, a range for numbers.
    """

    inputs: tuple[str, ...]
    output: str
    values: tuple[str, ...] | range | None = ()


# Names of operations, types of their inputs, type of the output, and values.
_SIGNATURES: Sequence[tuple[str, str, str, tuple[str, ...] | range | None]] = (
    ("scene", "", "set", ()),
    *((f"filter_{name}", "set", "set", None) for name in QUERIED),
    ("filter_visibility", "set", "set", ("full", "partial")),
    *((f"query_{name}", "object", name, ()) for name in QUERIED),
    *((f"same_{name} differ_{name}", "object", "set", ()) for name in QUERIED),
    *((f"equal_{name}", f"{name} {name}", "boolean", ()) for name in QUERIED),
    ("unique", "set", "object", ()), ("relate", "object", "set", RELATED), ("falls", "object", "set", ()),
    ("nearest", "set object", "object", ()), ("extreme", "set", "object", EXTREMES),
    ("count", "set", "integer", ()), ("exist", "set", "boolean", ()),
    (" ".join(NUMERALS), "set", "boolean", range(0, 101)),
    ("between", "set", "boolean", tuple(f"{low}-{high}" for high in range(13) for low in range(high))),
    ("not", "boolean", "boolean", ()), ("except", "set object", "set", ()),
    ("union intersect difference", "set set", "set", ()), (" ".join(QUANTIFIERS), "set set", "boolean", ()),
    ("equal_integer less_than greater_than twice", "integer integer", "boolean", ()),
    ("among", "color", "choice", None), ("larger smaller", "object object", "boolean", ()),
    ("own", "object object", "boolean", RELATED[:4]),
    ("seen", "object object object", "boolean", RELATED[:4]), ("own_side", "object object object", "boolean", PAIRS),
    ("faces", "object object", "boolean", ()), ("faced", "object", "set", ()),
)  # fmt: skip
OPERATIONS: Mapping[str, Operation] = {
    name: Operation(tuple(inputs.split()), output, values)
    for names, inputs, output, values in _SIGNATURES for name in names.split()
}  # fmt: skip
# What the published engine executes.
CLEVR_OPERATIONS: tuple[str, ...] = (
    "scene", "unique", "relate", "union", "intersect",
    "exist", "count", "equal_integer", "less_than", "greater_than",
    *(f"{kind}_{name}" for kind in ("query", "equal", "filter", "same") for name in QUERIED if name != "category"),
)  # fmt: skip
# CLEVR's question types (Johnson et al., CVPR 2017, figure 3).
CLEVR_FAMILIES: tuple[str, ...] = tuple(
    name for name in CLEVR_OPERATIONS if OPERATIONS[name].output in ("boolean", "integer") or name.startswith("query_")
)


class Node(NamedTuple):
    """A step with its inputs.

    Attributes:
        value: None if the operation takes none.
    """

    op: str
    value: str | int | None
    inputs: tuple[Node, ...]

    @property
    def output(self) -> str:
        """The type of its result."""
        return OPERATIONS[self.op].output

    def steps(self) -> Iterator[Node]:
        """All steps, the last one first."""
        left = [self]
        while left:
            node = left.pop()
            left += node.inputs
            yield node

    def is_clevr(self) -> bool:
        """Whether the published engine has all operations and relations of this program."""
        return all(
            step.op in CLEVR_OPERATIONS and (step.op != "relate" or step.value in RELATED[:4]) for step in self.steps()
        )


SCENE = Node("scene", None, ())


def parse_program(data: Any) -> Node:
    """Read a program from JSON. Raises ValueError for unknown operations, wrong values or types, and long ones."""
    budget = [MAX_STEPS]

    def parse(item: Any) -> Node:
        budget[0] -= 1
        if budget[0] < 0:
            raise ValueError(f"found more than {MAX_STEPS} steps")
        if not _is_list(item) or not item:
            raise ValueError(f'found {_short_text(item)}; expected a step, such as ["count", ["scene"]]')
        inputs, values = filter(_is_list, item[1:]), [*filterfalse(_is_list, item[1:])]
        return _checked_node(item[0], values, [*map(parse, inputs)])

    return parse(data)


def _is_list(data: object) -> bool:
    return isinstance(data, list | tuple)


def program_json(node: Node) -> list[Any]:
    """Return the JSON form of a program."""
    value = [] if node.value is None else [node.value]
    return [node.op, *value, *map(program_json, node.inputs)]


def parse_clevr(steps: Any) -> Node:
    """Read a program of CLEVR: of its question files (`function`), or of its generator (`type`, `side_inputs`).

    Steps that several others use are repeated. Raises ValueError.
    """
    if not _is_list(steps) or not steps or len(steps) > MAX_STEPS:
        raise ValueError(f"found {_short_text(steps)}; expected a list of 1 to {MAX_STEPS} steps")
    nodes: list[Node] = []
    for number, step in enumerate(steps):
        match step:
            case {"inputs": list(inputs)} if all(type(k) is int and 0 <= k < number for k in inputs):
                values = step.get("value_inputs", step.get("side_inputs", []))
            case dict():
                shown = _short_text(step.get("inputs"))
                raise ValueError(f"step {number}: found inputs {shown}; expected numbers of earlier steps")
            case _:
                raise ValueError(f"step {number}: found {_short_text(step)}; expected an object")
        if not _is_list(values):
            raise ValueError(f"step {number}: found values {_short_text(values)}; expected a list")
        nodes.append(_checked_node(step.get("function", step.get("type")), values, [nodes[k] for k in inputs]))
        if sum(1 for _ in nodes[-1].steps()) > MAX_STEPS:
            raise ValueError(f"step {number}: found more than {MAX_STEPS} steps")
    return nodes[-1]


def clevr_json(node: Node) -> list[dict[str, Any]]:
    """CLEVR's form of a program, as in its question files."""
    steps: list[dict[str, Any]] = []

    def add(step: Node) -> int:
        inputs = [add(part) for part in step.inputs]
        values = [] if step.value is None else [step.value]
        steps.append({"function": step.op, "inputs": inputs, "value_inputs": values})
        return len(steps) - 1

    add(node)
    return steps


def _checked_node(op: Any, values: Sequence[Any], inputs: Sequence[Node]) -> Node:
    kind = OPERATIONS.get(str(op))
    if kind is None:
        raise ValueError(f"unknown operation {_short_text(op)}; expected one of {', '.join(OPERATIONS)}")
    if (given_inputs := tuple(node.output for node in inputs)) != kind.inputs:
        raise ValueError(f"{op}: found inputs ({', '.join(given_inputs)}); expected ({', '.join(kind.inputs)})")
    if kind.values == ():
        if values:
            raise ValueError(f"{op}: found the value {_short_text(values[0])}; expected none")
        return Node(op, None, tuple(inputs))
    value = values[0] if len(values) == 1 else None
    if not (isinstance(value, str) if kind.values is None else type(value) in (int, str) and value in kind.values):
        expected = "one text" if kind.values is None else ", ".join(map(str, kind.values))
        raise ValueError(f"{op}: found {_short_text(list(values))}; expected {expected}")
    return Node(op, value, tuple(inputs))


def _short_text(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
