"""Referring expressions: the shortest description of an object that is true of nothing else in the image.

Full brevity (Dale, Cooking up referring expressions, ACL 1989), over filters, relations to another object,
superlatives and the nearest object. Each of these counts one, the noun "thing" nothing. Descriptions are built by
growing length, and of all with the same meaning the first is kept: what follows depends on their meaning only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from diorama.scene_specs.tasks.questions.draws import Draws
from diorama.scene_specs.tasks.questions.grammar import Grammar, filtered, split
from diorama.scene_specs.tasks.questions.lexicon import SIDES
from diorama.scene_specs.tasks.questions.program import EXTREMES, NOUNS, QUERIED, SCENE, Node, program_json
from diorama.scene_specs.tasks.questions.rules import Judge
from diorama.scene_specs.tasks.questions.view import MIN_PIXELS, ImageView

# Parts of the longest expression that is tried.
MAX_LENGTH = 5
# Wordings that are tried for an expression.
_WORDINGS = 8


class Expression(NamedTuple):
    """An object and its descriptions: the shortest one, its length, and one with all attributes or None."""

    view: ImageView
    target: int
    length: int
    shortest: Node
    detailed: Node | None
    texts: tuple[str, ...]

    def data(self) -> dict[str, Any]:
        """Return the expression as JSON data, a line of a file. mask: COCO's run-length encoding."""
        item = self.view.objects[self.target].truth
        both = zip(("shortest", "detailed"), self.texts, (self.shortest, self.detailed), strict=False)
        return {
            "episode": self.view.episode,
            "image": self.view.image,
            "object": item.name,
            "bbox": item.bbox,
            "mask": item.rle.model_dump(mode="json"),
            "length": self.length,
            **{name: {"text": text, "program": program_json(node)} for name, text, node in both if node},
        }


def expressions(view: ImageView, grammar: Grammar, seed: int, min_pixels: int = MIN_PIXELS) -> Iterator[Expression]:
    """Yield the expressions of an image's objects, in their order; objects without one are left out.

    These are objects seen by fewer than min_pixels, and those that no expression of at most MAX_LENGTH tells apart,
    or that have none with a single meaning, such as "the ball" with a model named ball next to a sphere. Sides are the
    camera's, which a text says where they could be an object's own: "the ball that is behind the chair, from the
    camera's point of view".
    """
    judge = Judge(view, min_pixels)
    if judge.crowded:
        return
    lexicon = grammar.lexicon_of(view.value_bits)
    draws = Draws(seed, f"{view.episode}:{view.image}:expressions")

    def clear_text(node: Node) -> str | None:
        for _ in range(_WORDINGS):
            text = grammar.text_of(node, "named", lexicon, cache(draws.pick))
            if {meaning for _, meaning in grammar.readings(text, lexicon, "named")} == {node}:
                return text if judge.is_framed(node) else f"{text}, {grammar.camera}"
        return None

    for index, (length, node) in sorted(_Search(view, judge).run().items()):
        if view.objects[index].truth.visible_pixels >= min_pixels and (text := clear_text(node)):
            more = _with_all_attributes(view, judge, index, node)
            longer = more and clear_text(more)
            yield Expression(view, index, length, node, more if longer else None, (text, longer) if longer else (text,))


class _Search:
    """Grows descriptions of one image, length by length."""

    def __init__(self, view: ImageView, judge: Judge) -> None:
        self._view, self._judge = view, judge
        self._sets: list[list[Node]] = []
        self._seen: set[tuple[Any, ...]] = set()
        # Of each length: unique objects, which relations are about, and those of them without relations.
        self._referents: list[list[Node]] = []
        self._found: dict[int, tuple[int, Node]] = {}
        self._values = [(name, value) for name in QUERIED for value in sorted(view.value_bits[name])]

    def run(self) -> Mapping[int, tuple[int, Node]]:
        """Object -> length and shortest description."""
        referred: set[int] = set()
        for length in range(MAX_LENGTH + 1):
            self._sets.append([node for node in self._candidate_nodes(length) if self._is_new(node)])
            self._referents.append([])
            for node in self._sets[length]:
                unique = Node("unique", None, (node,))
                index = self._keep_if_first(unique, length)
                if index is not None and index not in referred:
                    referred.add(index)
                    self._referents[length].append(unique)
            for node in self._superlative_nodes(length):
                self._keep_if_first(node, length)
            if len(self._found) == len(self._view.objects):
                break
        return self._found

    def _candidate_nodes(self, length: int) -> Iterator[Node]:
        if not length:
            yield SCENE
            return
        for node in self._sets[length - 1]:
            filters, base = split(node)
            names = {name for name, _ in filters}
            for name, value in self._values:
                if name not in names and not (name in NOUNS and names & {*NOUNS}):
                    yield filtered(base, [*filters, (name, value)])
        for referent in self._referents[length - 1]:
            plain = self._view.contacts and split(referent.inputs[0])[1] == SCENE
            for relation in (*SIDES, *(("on", "in", "leaning") if plain else ())):
                yield Node("relate", relation, (referent,))

    def _superlative_nodes(self, length: int) -> Iterator[Node]:
        for node in self._sets[length - 1] if length else ():
            for which in EXTREMES:
                yield Node("extreme", which, (node,))
        for first in range(length):
            for node in self._sets[first]:
                for referent in self._referents[length - 1 - first]:
                    if split(node)[1] == SCENE == split(referent.inputs[0])[1]:
                        yield Node("nearest", None, (node, referent))

    def _is_new(self, node: Node) -> bool:
        meaning = self._judge.meaning(node)
        if meaning is None or not meaning[0] or meaning in self._seen:
            return False
        self._seen.add(meaning)
        return True

    def _keep_if_first(self, node: Node, length: int) -> int | None:
        """Return the object that a description means, and keep the first description of each; None if it is unclear."""
        meaning = self._judge.meaning(node)
        if meaning is None or len({*meaning}) > 1:
            return None
        self._found.setdefault(meaning[0], (length, node))
        return int(meaning[0])


def _with_all_attributes(view: ImageView, judge: Judge, index: int, node: Node) -> Node | None:
    """Return the description with all attributes of the object; None if true of nothing, or the same."""
    _, base = split(node.inputs[0])
    pairs = [(name, value) for name in QUERIED if (value := view.objects[index].values[name]) is not None]
    longer = Node(node.op, node.value, (filtered(base, pairs), *node.inputs[1:]))
    for candidate in (longer, Node("unique", None, (filtered(SCENE, pairs),))):
        meaning = judge.meaning(candidate)
        if candidate != node and meaning is not None and {*meaning} == {index}:
            return candidate
    return None
