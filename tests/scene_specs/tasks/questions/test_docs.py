"""docs/questions.md: every operation, family and example is right."""

from __future__ import annotations

import json
import re
from pathlib import Path

from diorama.scene_specs.tasks.questions.generate import Questioner
from diorama.scene_specs.tasks.questions.grammar import default_grammar, read_grammar
from diorama.scene_specs.tasks.questions.program import OPERATIONS, parse_program
from tests.scene_specs.tasks.questions.images import stacked
from tools.programs import ROOT

PAGE = (ROOT / "docs/questions.md").read_text("utf-8")


def test_every_operation_has_an_example_that_parses() -> None:
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| `") and "`[" in line]
    named = {name: row[2] for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert named.keys() == OPERATIONS.keys()
    for row in rows:
        assert parse_program(json.loads(row[2].strip("` "))).op in re.findall(r"`(\w+)`", row[0])


def test_every_family_is_named() -> None:
    families = PAGE.partition("## Families")[2].partition("To add a family")[0]
    attributes = ["size", "color", "material", "shape"]
    spelled = {*re.findall(r"`(\w+)`", families)} | {f"{kind}_{a}" for kind in ("query", "equal") for a in attributes}
    assert {*default_grammar().families} <= spelled


def test_every_form_has_an_example_with_its_meaning() -> None:
    table = PAGE.partition("### Forms")[2].partition("To add a family")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))
    grammar = default_grammar()
    assert [*rows] == [*grammar.forms]
    for name, texts in rows.items():
        example, twin = map(str.strip, f"{texts} ".split(" | "))
        ((_, program),) = grammar.readings(example, grammar.lexicon_of({}))
        assert grammar.text_of(program, name, grammar.lexicon_of({}), lambda some: some[0])
        expected = [made for one in grammar.forms[name] if (made := grammar.twin_of(program, one))]
        found = [one for _, one in grammar.readings(twin, grammar.lexicon_of({}))]
        assert found == [one for _, one in expected]


def test_the_family_of_the_page_works(tmp_path: Path) -> None:
    (block,) = re.findall(r"```json\n(\{\n  \"families\".*?)```", PAGE, re.DOTALL)
    file = tmp_path / "support.json"
    file.write_text(block)
    asked = list(Questioner(read_grammar(file), 1, ("support",), 1).ask(stacked()))
    assert [one.program.op for one in asked] == ["exist"]


def test_the_line_of_the_page_is_a_question() -> None:
    (block,) = re.findall(r"```json\n(\{\n  \"episode\".*?)```", PAGE, re.DOTALL)
    line = json.loads(block)
    program = parse_program(line["program"])
    assert default_grammar().readings(line["question"], default_grammar().lexicon_of({})) == [(line["family"], program)]
