"""Sets of objects that forms say something of."""

from __future__ import annotations

from dataclasses import replace

from diorama.scene_specs.tasks.questions.draws import Draws
from diorama.scene_specs.tasks.questions.grammar import default_grammar
from diorama.scene_specs.tasks.questions.program import PresuppositionError
from diorama.scene_specs.tasks.questions.rules import Judge
from diorama.scene_specs.tasks.questions.sampling import Sampler
from tests.scene_specs.tasks.questions.images import images


def test_patterns_of_one_name_say_what_their_own_programs_say() -> None:
    grammar, said = default_grammar(), set()
    (every,), (few,) = grammar.forms["every"], grammar.forms["few"]
    for view in images():
        sampler = Sampler(view, Judge(view, 20), grammar, Draws(1, view.episode))
        for pattern in (every, replace(few, name="every")):
            try:
                program = sampler.sample(pattern, False)
            except PresuppositionError:
                continue
            assert program.op == pattern.program.op
            said.add(program.op)
    assert said == {"all", "few"}
