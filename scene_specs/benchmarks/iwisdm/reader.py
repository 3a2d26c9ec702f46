"""A second evaluator: reads an instruction as a person would, looks at the frames, and answers.

It depends on the language only: it shares no code with the task graphs, and does not see the categories, the task or
the stored answers. `verify.py` compares the stored answers with its own.

    trial     := { "observe object" N description* "," | "delay," | question }
    question  := "if" condition ", then" question "else" question | condition "?" | value "?"
    condition := joint of comparisons by "and", "or"; brackets where joints stand below joints
    comparison:= value ("equals" | "not equals") value | "exists" object
    value     := property "of" object | words
    object    := "object" N { "with" property ":" value | "at location:" value }

Instructions of the paper and of older published code are understood, too: "equal" and "not equal", spaces before "?",
"loc" and "object" for properties, and constants such as "location: top left".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

# The visible properties of an object: property -> value.
Seen = Mapping[str, str]
Frames = Sequence[Sequence[Seen]]

_EVENT = re.compile(r"observe object (\d{1,9})((?:(?: with \w+: | at location: )[^,]+)?),|delay,")
_DETAIL = re.compile(r" (?:with (\w+)|at (location)): ([^,]+?)(?= with \w+:| at location:|$)")
_OBJECT = re.compile(r"object (\d{1,9})\b")
_PROPERTY = re.compile(r" with (\w+): | at (location): ")
_OF = re.compile(r"\b(\w+) of (?=object \d)")
_WORDS = re.compile(r"[^,?()]+?(?= (?:not )?equals? | and | or | with \w+: | at location: | ?[,?()]|$)")
_EQUALS = re.compile(r" (not )?equals? ")
_NAMED = re.compile(r"(?:location|category): ")
# Published words -> properties.
_PROPERTIES = {"loc": "location", "object": "identity"}


class UnreadableError(Exception):
    """An instruction that can't be parsed, or that contradicts the frames. The message has the position in the text."""


@dataclass
class _Reading:
    """The position of the parser. objects: number -> (frame, description) of the objects observed so far.

    branches: the answers of both branches of every Switch. known: property -> the values that it can have.
    """

    text: str
    frames: Frames
    known: Mapping[str, Collection[str]] = field(default_factory=dict)
    at: int = 0
    objects: dict[int, tuple[int, list[tuple[str, str]]]] = field(default_factory=dict)
    branches: list[tuple[str, str]] = field(default_factory=list)

    def fail(self, problem: str) -> UnreadableError:
        return UnreadableError(f"{problem} at {self.text[self.at : self.at + 40]!r}")

    def take(self, words: str) -> bool:
        """Whether the text continues with these words; if so, skip them."""
        if not self.text.startswith(words, self.at):
            return False
        self.at += len(words)
        return True

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def need(self, words: str) -> None:
        if not self.take(words):
            raise self.fail(f"expected {words!r}")

    def question(self) -> str:
        """Return the answer of a question, in words."""
        if not self.take("if "):
            answer = self.condition()
            self.take(" ")
            self.need("?")
            return answer
        truth = self.condition()
        if truth not in ("true", "false"):
            raise self.fail("found a condition that is neither true nor false")
        self.need(", then ")
        then = self.question()
        self.need(" else ")
        other = self.question()
        self.branches.append((then, other))
        return then if truth == "true" else other

    def condition(self) -> str:
        """Comparisons joined from left to right; mixing `and` and `or` requires brackets."""
        answer = self.comparison()
        joint = ""
        while (word := "and" if self.take(" and ") else "or" if self.take(" or ") else "") != "":
            if joint not in ("", word):
                raise self.fail("found 'and' beside 'or' without brackets")
            joint = word
            pair = {answer, self.comparison()}
            if not pair <= {"true", "false"}:
                raise self.fail(f"found {word!r} between values that are not true or false")
            answer = ("true" if pair == {"true"} else "false") if word == "and" else str("true" in pair).lower()
        return answer

    def comparison(self) -> str:
        if self.take("("):
            answer = self.condition()
            self.need(")")
            return answer
        if self.take("exists "):
            frame, details = self.object()
            return str(any(_fits_details(seen, details) for seen in self.frames[frame])).lower()
        start, asked = self.at, _OF.match(self.text, self.at)
        left = self.value()
        sign = self.match(_EQUALS)
        if sign is None:
            return left
        other, end = _OF.match(self.text, self.at), self.at
        right = self.value()
        for of, at, word in ((asked, end, right), (other, start, left)):
            values = self.known.get(_PROPERTIES.get(of[1], of[1])) if of else None
            # A property of an object beside a word.
            if values is not None and not (asked and other) and word not in values:
                self.at = at
                raise self.fail(f"found {word!r}; expected one of {', '.join(sorted(values))}")
        return str((left == right) == (sign.group(1) is None)).lower()

    def value(self) -> str:
        of = self.match(_OF)
        if of is None:
            self.match(_NAMED)
            words = self.match(_WORDS)
            if words is None:
                raise self.fail("expected a value")
            return words.group()
        frame, details = self.object()
        fitting = [seen for seen in self.frames[frame] if _fits_details(seen, details)]
        if len(fitting) != 1:
            raise self.fail(f"{len(fitting)} objects fit the preceding words")
        name = _PROPERTIES.get(of.group(1), of.group(1))
        if name not in fitting[0]:
            raise self.fail(f"unknown property {of.group(1)!r}")
        return fitting[0][name]

    def object(self) -> tuple[int, list[tuple[str, str]]]:
        """Frame of an object, and its description there."""
        named = self.match(_OBJECT)
        if named is None or int(named.group(1)) not in self.objects:
            raise self.fail("expected an observed object")
        frame, before = self.objects[int(named.group(1))]
        details = list(before)
        while (name := self.match(_PROPERTY)) is not None:
            details.append((name[1] or name[2], self.value()))
        return frame, details


def _fits_details(seen: Seen, details: Sequence[tuple[str, str]]) -> bool:
    return all(seen.get(name) == value for name, value in details)


class Reading(NamedTuple):
    """An instruction that was read.

    Attributes:
        answers: one per frame, "null" where none is due.
        branches: answers of (then, else) of every Switch.
    """

    answers: tuple[str, ...]
    branches: tuple[tuple[str, str], ...]


def read(text: str, frames: Frames, known: Mapping[str, Collection[str]] | None = None) -> Reading:
    """Answer an instruction from the objects of each frame.

    Args:
        known: property -> the values that it can have; words for other properties are not checked.

    Raises:
        UnreadableError: the instruction can't be read, contradicts the frames, or has a value that is not known.
    """
    reading = _Reading(text, frames, known or {})
    due: dict[int, list[str]] = {}
    frame = -1
    while reading.at < len(text):
        event = reading.match(_EVENT)
        if event is not None:
            frame = _next_frame(reading, frames, frame, observed=event.group(1) is not None)
            if event.group(1) is not None:
                details = [(a or b, value) for a, b, value in _DETAIL.findall(event.group(2))]
                reading.objects[int(event.group(1))] = (frame, details)
        elif frame < 0:
            raise reading.fail("expected 'observe object 1,' or 'delay,'")
        else:
            try:
                due.setdefault(frame, []).append(reading.question())
            except RecursionError:
                raise UnreadableError("questions are nested too deeply") from None
        reading.take(" ")
    if frame != len(frames) - 1:
        raise UnreadableError(f"the text ends at frame {frame}; there are {len(frames)} frames")
    answers = tuple("; ".join(due[k]) if k in due else "null" for k in range(len(frames)))
    return Reading(answers, tuple(reading.branches))


def _next_frame(reading: _Reading, frames: Frames, frame: int, observed: bool) -> int:
    """Return the next frame with an object, or the last of the empty ones that come next."""
    following = frame + 1
    if following >= len(frames) or bool(frames[following]) != observed:
        raise reading.fail(f"frame {following} contradicts the words")
    while not observed and following + 1 < len(frames) and not frames[following + 1]:
        following += 1
    return following
