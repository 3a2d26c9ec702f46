"""Words of programs, and programs of words, by the data of grammar.json or a file of the same form.

A pattern has a program with slots and its wordings. Slots: `noun:S` is a phrase of that name; `filter:N` any filters of
size, color, material and kind, which read as adjectives and a noun; `fits:P` one filter, an adjective; `see:H` a
filter of visibility; `relate:R` a relation to the sides, `stack:U` a vertical one; `same:A`, `differ:A`, `extreme:V`;
`exactly:K` and other numerals, `between:K` two numbers; `among:L` three colors; `own:R` and `seen:R` a side, of the
phrases `facing`, which has a front, or as `viewer` sees it.

In a wording, `{N.one}` and `{N.many}` are singular and plural, `{X.a}` an indefinite phrase; [brackets] are optional.
The wordings of a phrase have the number of the slot that they stand in, also in `{is}` and `{has}`. A `%` stands for
each attribute of `each` in turn; `more` adds wordings for some of them. A pattern of `forms` can have a `twin`: the
same question without its negation or exception.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.foreign import parse_json, read_text
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.language.validation import option_problems
from diorama.scene_specs.tasks.questions.lexicon import ADJECTIVES, RELATIONS, Lexicon, make_lexicon, with_article
from diorama.scene_specs.tasks.questions.patterns import (
    SLOTS,
    VERBS,
    GrammarForm,
    Pattern,
    Slot,
    Tree,
    check_lengths,
    check_patterns,
    patterns_of,
)
from diorama.scene_specs.tasks.questions.program import ATTRIBUTES, NOUNS, QUERIED, Node
from diorama.scene_specs.tasks.questions.view import CLEVR_VALUES

DATA = Path(__file__).with_name("grammar.json")
# What the parts of a text may mean altogether; with the packaged grammar, at most 30.
_MAX_READINGS = 10_000
# What a slot stands for: a program, filters as ((attribute, value), ...), or a single value.
Bound = Any
Choose = Callable[[Sequence[Any]], Any]


class Grammar:
    """Patterns and words. Raises UsageError for data that are not of this form."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        try:
            self._data = GrammarForm.model_validate(data)
            self.camera = self._data.camera
            sections = self._data.phrases, self._data.families, self._data.forms
            check_lengths(*sections)
            self.phrases, *some = (patterns_of(part, self._data.attributes) for part in sections)
            families, forms = ([pattern for patterns in part.values() for pattern in patterns] for part in some)
            twins = [form.twin for form in forms if form.twin]
            questions = [*families, *forms, *twins]
            check_patterns(self.phrases, questions)
            # The forms are asked only if they are named, and their twins with them.
            self.families, self.forms, self._twins = map(_by_name, (families, forms, twins))
            self._named = {**self.phrases, **self._twins, **self.forms, **self.families}
            # First word -> words up to the first slot, pattern, and wording of questions.
            self._by_first: dict[str, list[tuple[list[Any], Pattern, tuple[str | Slot, ...]]]] = {}
            for pattern in questions:
                for words in pattern.words:
                    head: list[Any] = [*takewhile(lambda word: isinstance(word, str), words)]
                    if not head:
                        raise ValueError(f"{pattern.name}: a question can't begin with the slot {words[0][0]}")
                    self._by_first.setdefault(head[0], []).append((head, pattern, words))
            self._lexicons: dict[tuple[tuple[str, str], ...], Lexicon] = {}
            # Phrase and program -> whether it is of its form; of one text, as a part is asked for in each whole.
            self._matched: dict[tuple[str, Node], bool] = {}
            self.lexicon_of({})
        except ValidationError as error:
            raise UsageError(f"wrong question grammar: {'; '.join(option_problems(error))}") from error
        except ValueError as error:
            raise UsageError(f"wrong question grammar: {error}") from error
        except (KeyError, RecursionError) as error:
            raise UsageError(f"wrong question grammar: {error!r}") from error

    def lexicon_of(self, values: Mapping[str, Iterable[str]]) -> Lexicon:
        """Return the words for the values of grammar.json, CLEVR's, and these."""
        known = {name: [*self._data.values.get(name, {}), *CLEVR_VALUES.get(name, ())] for name in ATTRIBUTES}
        more = tuple((name, value) for name in QUERIED for value in sorted({*values.get(name, ())} - {*known[name]}))
        if more not in self._lexicons:
            for name, value in more:
                known[name].append(value)
            self._lexicons[more] = make_lexicon(self._data, known)
        return self._lexicons[more]

    # From programs to words.

    def text_of(self, node: Node, family: str, lexicon: Lexicon, choose: Choose) -> str:
        """Return a question, or with a phrase for `family` its words, in the singular.

        Args:
            choose: picks one of several wordings; cached, so that what is named twice has the same words both times.

        Raises:
            ValueError: if no pattern has this program.
        """
        self._matched.clear()
        return written(self._realize_patterns(self._named[family], node, "one", lexicon, choose))

    def _realize_patterns(
        self, patterns: Sequence[Pattern], node: Node, number: str, lexicon: Lexicon, choose: Choose
    ) -> list[str]:
        matches = ((rule, bound) for rule in patterns if (bound := self._match_slots(rule.program, node)) is not None)
        if (matched := next(matches, None)) is None:
            raise ValueError(f"{patterns[0].name}: no pattern has this program")
        pattern, bound = matched
        words: list[str] = []
        for part in choose(pattern.words):
            if isinstance(part, str):
                words.append(part)
            elif part.name in VERBS:
                words.append(VERBS[part.name][number == "many"])
            else:
                words += self._slot(pattern.slots[part.name], bound[part.name], part.form or number, lexicon, choose)
        return words

    def _slot(self, kind: str, value: Bound, form: str, lexicon: Lexicon, choose: Choose) -> list[str]:
        if kind == "filter":
            return self._noun_phrase(value, form, lexicon, choose)
        if kind in lexicon.words:
            return list(choose(lexicon.words[kind][value]))
        words = self._realize_patterns(self.phrases[kind], value, "many" if form == "many" else "one", lexicon, choose)
        return with_article(words) if form == "a" else words

    def _noun_phrase(
        self, filters: Sequence[tuple[str, str]], form: str, lexicon: Lexicon, choose: Choose
    ) -> list[str]:
        words = [word for name, v in filters if name in ADJECTIVES for word in choose(lexicon.words[name][v])]
        noun = next((pair for pair in filters if pair[0] in NOUNS), ("", ""))
        singular = lexicon.words["one"][noun]
        chosen = singular.index(choose(singular))
        return [*words, *lexicon.words["many" if form == "many" else "one"][noun][chosen]]

    def _match_slots(self, tree: Tree, node: Node, is_made: bool = False) -> dict[str, Bound] | None:
        """Return what the slots of a program stand for; None if the node is not of its form.

        Args:
            is_made: whether its phrases surely are of this form.
        """
        if tree.phrase:
            key = tree.op, node
            # Another thread may clear what is known.
            matches = is_made or self._matched.get(key)
            if matches is None:
                matches = any(self._match_slots(pattern.program, node) is not None for pattern in self.phrases[tree.op])
                self._matched[key] = matches
            return {tree.slot: node} if matches else None
        bound: dict[str, Bound] = {}
        inputs = node.inputs
        if tree.op in ("filter", "fits"):
            filters, base = split(node)
            if tree.op == "fits" and (len(filters) != 1 or filters[0][0] not in ADJECTIVES):
                return None
            bound[tree.slot] = filters[0] if tree.op == "fits" else filters
            inputs = (base,)
        elif tree.op in ("same", "differ"):
            kind, _, name = node.op.partition("_")
            if kind != tree.op:
                return None
            bound[tree.slot] = name
        elif node.op != SLOTS.get(tree.op, tree.op) or node.value not in RELATIONS.get(tree.op, (node.value,)):
            return None
        elif tree.slot:
            bound[tree.slot] = node.value
        for part, below in zip(inputs, tree.parts, strict=True):
            inner = self._match_slots(below, part, is_made)
            if inner is None:
                return None
            bound |= inner
        return bound

    def twin_of(self, node: Node, pattern: Pattern) -> tuple[str, Node] | None:
        """Family and program of a question of a pattern without its negation or exception; None if it has none."""
        twin = pattern.twin
        bound = self._match_slots(pattern.program, node, True) if twin else None
        return (twin.name, build(twin.program, bound)) if twin and bound is not None else None

    # From words to programs.

    def readings(self, text: str, lexicon: Lexicon, phrase: str | None = None) -> list[tuple[str, Node]]:
        """All (family, program) that a question can mean, or a phrase; several only if the text is ambiguous.

        Of families that ask the same, the first one counts. An expression can end with the words for the camera.

        Raises:
            UsageError: its parts have too many meanings to read them all.
        """
        tokens = tokens_of(text if phrase is None else text.removesuffix(f", {self.camera}"))
        reader = _Reader(self, lexicon, tokens)
        if phrase is None:
            patterns = self._by_first.get(tokens[0] if tokens else "", ())
        else:
            patterns = [([], pattern, words) for pattern in self.phrases[phrase] for words in pattern.words]
        family_of: dict[Node, str] = {}
        for head, pattern, words in patterns:
            # A quick test, as most wordings are others.
            if tokens[: len(head)] == head:
                for node, end in reader.wording(pattern, words, "one", 0):
                    if end == len(tokens):
                        family_of.setdefault(node, pattern.name)
        return [(name, node) for node, name in family_of.items()]


def _by_name(patterns: Sequence[Pattern]) -> dict[str, tuple[Pattern, ...]]:
    names = dict.fromkeys(pattern.name for pattern in patterns)
    return {name: tuple(pattern for pattern in patterns if pattern.name == name) for name in names}


class _Reader:
    """Reads one text. Every phrase at every position is read once."""

    def __init__(self, grammar: Grammar, lexicon: Lexicon, tokens: Sequence[str]) -> None:
        self._grammar, self._lexicon, self._tokens = grammar, lexicon, tokens
        self._known: dict[tuple[str, str, int], list[tuple[Bound, int]]] = {}
        self._left = _MAX_READINGS

    def wording(
        self, pattern: Pattern, words: Sequence[str | Slot], number: str, start: int
    ) -> Iterator[tuple[Node, int]]:
        """Programs of one wording of a pattern at a position, each with the position after it."""
        for bound, end in self._parse(pattern, words, number, 0, start, {}):
            yield build(pattern.program, bound), end

    def _parse(
        self, pattern: Pattern, words: Sequence[str | Slot], number: str, at: int, start: int, bound: dict[str, Bound]
    ) -> Iterator[tuple[dict[str, Bound], int]]:
        tokens = self._tokens
        while at < len(words):
            part = words[at]
            if isinstance(part, str):
                expected = part
            elif part.name in VERBS:
                expected = VERBS[part.name][number == "many"]
            else:
                for value, end in self._slot(pattern.slots[part.name], part.form or number, start):
                    if bound.get(part.name, value) == value:
                        yield from self._parse(pattern, words, number, at + 1, end, {**bound, part.name: value})
                return
            if start >= len(tokens) or tokens[start] != expected:
                return
            at, start = at + 1, start + 1
        yield bound, start

    def _slot(self, kind: str, form: str, start: int) -> list[tuple[Bound, int]]:
        key = (kind, form, start)
        if key not in self._known:
            self._known[key] = []
            self._known[key] = list(islice(self._read_slot(kind, form, start), self._left))
            self._left -= len(self._known[key])
            if self._left <= 0:
                raise UsageError(f"the question grammar gives too many meanings to {' '.join(self._tokens)[:100]!r}")
        return self._known[key]

    def _read_slot(self, kind: str, form: str, start: int) -> Iterator[tuple[Bound, int]]:
        if kind == "filter":
            yield from self._noun_phrase(form, start, 0, ())
        elif kind in self._lexicon.words:
            yield from self._parse_word(kind, start)
        elif form != "a" or self._tokens[start : start + 1] in (["a"], ["an"]):
            number, articles = "many" if form == "many" else "one", int(form == "a")
            for pattern in self._grammar.phrases[kind]:
                left_out = int(form == "a" and all(words[0] == "the" for words in pattern.words))
                for words in pattern.words:
                    yield from self.wording(pattern, words[left_out:], number, start + articles)

    def _parse_word(self, kind: str, start: int) -> Iterator[tuple[Bound, int]]:
        if start < len(self._tokens):
            for words, value in self._lexicon.by_first(kind).get(self._tokens[start], ()):
                if self._tokens[start : start + len(words)] == list(words):
                    yield value, start + len(words)

    def _noun_phrase(
        self, form: str, start: int, at: int, filters: tuple[tuple[str, str], ...]
    ) -> Iterator[tuple[Bound, int]]:
        for later in range(at, len(ADJECTIVES)):
            for value, end in self._parse_word(ADJECTIVES[later], start):
                yield from self._noun_phrase(form, end, later + 1, (*filters, (ADJECTIVES[later], value)))
        for noun, end in self._parse_word("many" if form == "many" else "one", start):
            yield (filters if noun == ("", "") else (*filters, noun)), end


def build(tree: Tree, bound: Mapping[str, Bound]) -> Node:
    """Return the program of a pattern whose slots stand for these."""
    if tree.phrase:
        node: Node = bound[tree.slot]
        return node
    inputs = tuple(build(part, bound) for part in tree.parts)
    if tree.op in ("filter", "fits"):
        return filtered(inputs[0], [bound[tree.slot]] if tree.op == "fits" else bound[tree.slot])
    if tree.op in ("same", "differ"):
        return Node(f"{tree.op}_{bound[tree.slot]}", None, inputs)
    return Node(SLOTS[tree.op], bound[tree.slot], inputs) if tree.slot else Node(tree.op, None, inputs)


def split(node: Node) -> tuple[tuple[tuple[str, str], ...], Node]:
    """Return the filters of a set by size, color, material and kind, the last one first, and the set before them."""
    filters = []
    while node.op.startswith("filter_") and node.op != "filter_visibility":
        filters.append((node.op[7:], str(node.value)))
        node = node.inputs[0]
    return tuple(filters), node


def filtered(node: Node, filters: Iterable[tuple[str, str]]) -> Node:
    """Return a set of objects, filtered in the order of attributes."""
    for name, value in sorted(filters, key=lambda pair: ATTRIBUTES.index(pair[0])):
        node = Node(f"filter_{name}", value, (node,))
    return node


def tokens_of(text: str) -> list[str]:
    """Lower-case words and punctuation marks; `another` is `an other`."""
    words = re.findall(r"[^\s?;,.]+|[?;,.]", text.lower())
    return [part for word in words for part in (("an", "other") if word == "another" else (word,))]


def written(words: Sequence[str]) -> str:
    """Words as a text, with a capital at the beginning of a question."""
    text = re.sub(r" ([?;,.])", r"\1", " ".join(words))
    return text[:1].upper() + text[1:] if text.endswith("?") else text


@cache
def default_grammar() -> Grammar:
    """Return the grammar of the package."""
    return Grammar(json.loads(DATA.read_text("utf-8")))


def read_grammar(path: Path) -> Grammar:
    """Return the packaged grammar with a file's families, phrases and words, which replace those of the same name.

    Raises:
        SpecError: for what is not JSON.
        UsageError: for other data.
    """
    data, added = json.loads(DATA.read_text("utf-8")), parse_json(read_text(path), str(path))
    try:
        if not isinstance(added, dict):
            raise ValueError(f"found {preview_json(added)}; expected an object with keys such as families")
        for key, value in added.items():
            if key not in data:
                raise ValueError(f"unknown key {key!r}; expected one of {', '.join(data)}")
            data[key] = {**data[key], **value} if isinstance(data[key], dict) and isinstance(value, dict) else value
        return Grammar(data)
    except (UsageError, ValueError) as error:
        raise UsageError(f"{path}: {error}; see docs/questions.md") from error
