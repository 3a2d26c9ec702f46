"""Patterns of questions: programs with slots, and their wordings (see grammar.py)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import inf
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field

from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.tasks.questions.program import MAX_STEPS, NUMERALS, OPERATIONS, QUERIED

# Slot -> operation that it stands for.
SLOTS = {"relate": "relate", "stack": "relate", "same": "same", "differ": "differ", "extreme": "extreme",
         "see": "filter_visibility", "filter": "filter", "fits": "filter", "between": "between", "among": "among",
         "own": "own", "seen": "seen", "own_side": "own_side",
         **{name: name for name in NUMERALS}}  # fmt: skip
VERBS = {"is": ("is", "are"), "has": ("has", "have")}
# Slot -> an operation with its inputs and output.
_LIKE = {**SLOTS, "filter": "filter_color", "fits": "filter_color", "same": "same_color", "differ": "differ_color"}
_FORMS = ("", "one", "many", "a")
# Wordings of a phrase or family, with and without each optional part, and characters of all of a grammar.
_MAX_WORDINGS, _MAX_CHARACTERS = 1_000, 1_000_000
# The type of a phrase and its steps; None while they are computed.
Typed = tuple[str, int] | None


class PatternForm(BaseModel):
    """A pattern in a file; see grammar.py.

    Attributes:
        twin: the question without its negation or exception, about the same slots or some of them.
    """

    program: Any
    words: list[str]
    each: list[str] = [""]
    more: dict[str, list[str]] = {}
    weight: float = 1
    twin: PatternForm | None = None


class GrammarForm(BaseModel):
    """A file of a grammar; grammar.json has all keys.

    Attributes:
        camera: words that name the camera's frame of reference, such as "from the camera's point of view".
    """

    things: list[str]
    # At most 64 values of an attribute: `among` names three of all colors.
    values: dict[str, Annotated[dict[str, list[str]], Field(max_length=64)]]
    relations: dict[str, list[str]]
    extremes: dict[str, list[str]]
    attributes: dict[str, str]
    camera: str = Field(min_length=1)
    phrases: dict[str, list[PatternForm]]
    families: dict[str, list[PatternForm]]
    forms: dict[str, list[PatternForm]]


class Slot(NamedTuple):
    """A slot of a wording.

    Attributes:
        form: one, many, a, or "" for the number of the phrase.
    """

    name: str
    form: str


class Tree(NamedTuple):
    """A program with slots.

    Attributes:
        op: of the operation, or of a slot; with `phrase`, name of a phrase that the slot holds.
    """

    op: str
    slot: str
    parts: tuple[Tree, ...]
    phrase: bool

    @classmethod
    def of(cls, data: Any) -> Tree:
        """Return the tree of a program in JSON. Raises ValueError for other data and unknown operations."""
        match data:
            case str():
                op, _, slot = data.partition(":")
                return cls(op, slot, (), True)
            case [str(first), *parts]:
                op, _, slot = first.partition(":")
                if op not in (SLOTS if slot else OPERATIONS):
                    raise ValueError(f"unknown operation or slot {first!r}")
                return cls(op, slot, tuple(map(cls.of, parts)), False)
        raise ValueError(f"found the program {preview_json(data)}; expected a list that begins with an operation")

    def operations(self) -> set[str]:
        """Names of all operations, slots and phrases."""
        return {self.op}.union(*(part.operations() for part in self.parts))

    def slots(self) -> dict[str, str]:
        """Slot -> what it holds."""
        found = {self.slot: self.op} if self.slot else {}
        for part in self.parts:
            for name, held in part.slots().items():
                if name in found:
                    raise ValueError(f"found the slot {name} twice")
                found[name] = held
        return found

    def output(self, phrases: Mapping[str, Sequence[Pattern]], known: dict[str, Typed] | None = None) -> str:
        """Return the type of its result.

        Args:
            known: what is known of phrases, which grows.

        Raises:
            ValueError: for inputs of other types, and for programs that are too long.
        """
        return self._type_and_steps(phrases, {} if known is None else known)[0]

    def _type_and_steps(self, phrases: Mapping[str, Sequence[Pattern]], known: dict[str, Typed]) -> tuple[str, int]:
        if self.phrase:
            # Samplers that have gone deep enough use the first pattern of each phrase.
            if self.op not in known and phrases.get(self.op):
                known[self.op] = None
                known[self.op] = phrases[self.op][0].program._type_and_steps(phrases, known)
            if (typed := known.get(self.op)) is None:
                raise ValueError(f"phrase {self.op!r}: found none, or one whose first pattern contains itself")
            return typed
        kind = OPERATIONS[_LIKE.get(self.op, self.op) if self.slot else self.op]
        parts = [part._type_and_steps(phrases, known) for part in self.parts]
        inputs, steps = tuple(output for output, _ in parts), 1 + sum(number for _, number in parts)
        if inputs != kind.inputs or (kind.values != () and not self.slot):
            expected = f"({', '.join(kind.inputs)})" + ", and a slot for its value" * (kind.values != ())
            raise ValueError(f"{self.op}: found inputs ({', '.join(inputs)}); expected {expected}")
        if steps > MAX_STEPS:
            raise ValueError(f"{self.op}: found a program of {steps:,} steps or more; allowed: at most {MAX_STEPS}")
        return kind.output, steps


@dataclass(frozen=True)
class Pattern:
    """A program with slots, and its wordings as sequences of words and Slots.

    Attributes:
        slots: name -> kind.
        twin: see PatternForm.
    """

    program: Tree
    words: tuple[tuple[str | Slot, ...], ...]
    slots: Mapping[str, str]
    weight: float
    name: str
    twin: Pattern | None = None

    @cached_property
    def kinds(self) -> set[str]:
        """What its slots hold, and its operations."""
        return {*self.slots.values()} | self.program.operations()


def patterns_of(
    section: Mapping[str, Sequence[PatternForm]], attributes: Mapping[str, str]
) -> dict[str, tuple[Pattern, ...]]:
    """Name -> patterns of the phrases or families of a grammar, with the names of their attributes filled in.

    Raises:
        ValueError: a program or wording is not of the form that grammar.py describes.
    """
    return {
        family: tuple(_pattern(family, item, name, attributes) for item in items for name in item.each)
        for family, items in section.items()
    }


def check_lengths(*sections: Mapping[str, Sequence[PatternForm]]) -> None:
    """Count the wordings of all patterns before any is made. Raises ValueError for too many or too long ones."""
    characters = 0
    for family, items in (item for section in sections for item in section.items()):
        wordings = 0
        for item in items:
            for twin in (item, *([item.twin] if item.twin else [])):
                texts = [(text, len(twin.each)) for text in twin.words]
                texts += [(text, 1) for name in twin.each for text in twin.more.get(name, ())]
                for text, times in texts:
                    # Beyond 60, the number is too large in any case.
                    variants = times << min(text.count("["), 60)
                    wordings, characters = wordings + variants, characters + variants * (len(text) + 10)
        if wordings > _MAX_WORDINGS or characters > _MAX_CHARACTERS:
            raise ValueError(
                f"{family[:100]}: found {wordings:,} wordings, with and without each optional part, and {characters:,} "
                f"characters up to here; allowed: {_MAX_WORDINGS:,} and {_MAX_CHARACTERS:,}"
            )


def _pattern(family: str, item: PatternForm, name: str, attributes: Mapping[str, str]) -> Pattern:
    texts = [text.replace("{%}", attributes.get(name, name)) for text in (*item.words, *item.more.get(name, []))]
    program, label = Tree.of(json.loads(json.dumps(item.program).replace("%", name))), family.replace("%", name)
    twin = _pattern(f"{label}_twin", item.twin, name, attributes) if item.twin else None
    words = tuple(one for text in texts for one in compiled(text))
    return Pattern(program, words, program.slots(), item.weight, label, twin)


def compiled(text: str) -> Iterator[tuple[str | Slot, ...]]:
    """All variants of a wording: with and without each optional part. Raises ValueError for other brackets."""
    parts = re.split(r"\[([^\[\]]*)\]", text)
    if any({*"[]"} & {*part} for part in parts):
        raise ValueError(f"found {text!r} with a bracket too many or inside others")
    for chosen in product((True, False), repeat=len(parts) // 2):
        kept = [part for k, part in enumerate(parts) if k % 2 == 0 or chosen[k // 2]]
        made: list[str | Slot] = []
        for name, form, word in re.findall(r"\{(\w+)(?:\.(\w+))?\}|([^\s?;,.{}]+|[?;,.])", " ".join(kept)):
            made.append(word.lower() if word else Slot(name, form))
        yield tuple(made)


def check_patterns(phrases: Mapping[str, Sequence[Pattern]], questions: Sequence[Pattern]) -> None:
    """Raise ValueError for a pattern without words, of wrong types, or whose wordings lack a slot or have others."""
    answers = ("boolean", "integer", "choice", *QUERIED)
    known: dict[str, Typed] = {}
    for allowed, patterns in ((answers, questions), *((("set", "object"), made) for made in phrases.values())):
        found = {one.program.output(phrases, known) for one in patterns}
        if not found <= {*allowed} or (allowed != answers and len(found) != 1):
            raise ValueError(f"found programs of the types {', '.join(sorted(found))}; expected {' or '.join(allowed)}")
        for one in patterns:
            kinds = [
                {(name, kind.replace("differ", "same")) for name, kind in some.slots.items()}
                for some in (one.twin or one, one)
            ]
            if not kinds[0] <= kinds[1]:
                raise ValueError(f"{one.name}: its twin has other slots")
            if not one.words or not all(one.words) or not 0 < one.weight < inf:
                raise ValueError(f"{one.name}: found no words, or the weight {one.weight}")
            for words in one.words:
                slots = {part for part in words if isinstance(part, Slot) and part.name not in VERBS}
                if {slot.name for slot in slots} != {*one.slots} or any(slot.form not in _FORMS for slot in slots):
                    found_slots = " ".join(sorted(".".join(filter(None, slot)) for slot in slots))
                    raise ValueError(
                        f"{one.name}: found the slots ({found_slots}) in words; "
                        f"expected ({' '.join(sorted(one.slots))}), with no form or .one, .many or .a"
                    )
