from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.tasks.questions.balance import answer_table
from diorama.scene_specs.tasks.questions.clevr_questions import clevr_numbers, clevr_question
from diorama.scene_specs.tasks.questions.generate import (
    DisagreementError,
    Question,
    Questioner,
)
from diorama.scene_specs.tasks.questions.grammar import DATA, Grammar, default_grammar, read_grammar, tokens_of
from diorama.scene_specs.tasks.questions.lexicon import plural
from diorama.scene_specs.tasks.questions.positions_executor import PositionsExecutor
from diorama.scene_specs.tasks.questions.program import (
    CLEVR_FAMILIES,
    MAX_STEPS,
    Node,
    PresuppositionError,
    parse_clevr,
    parse_program,
)
from diorama.scene_specs.tasks.questions.question_items import items
from diorama.scene_specs.tasks.questions.relations_executor import Rearrangements, RelationsExecutor
from tests.scene_specs.tasks.questions.images import images, oriented, stacked


def questions(seed: int = 1, per_image: int = 25, families: Iterable[str] = (), nested: bool = False) -> list[Question]:
    asker = Questioner(default_grammar(), seed, tuple(families), per_image, nested=nested)
    return [one for view in images() for one in asker.ask(view)]


def test_questions_are_different_parse_back_and_are_the_same_for_the_same_seed() -> None:
    made = questions()
    assert len(made) > 60
    assert [one.data() for one in made] == [one.data() for one in questions()]
    assert [one.text for one in made] != [one.text for one in questions(2)]
    grammar = default_grammar()
    for one in made:
        lexicon = grammar.lexicon_of({name: [*values] for name, values in one.view.value_bits.items()})
        assert grammar.readings(one.text, lexicon) == [(one.family, one.program)]
        assert parse_program(json.loads(json.dumps(one.data()))["program"]) == one.program
        assert PositionsExecutor(one.view).run(one.program) == one.answer
    assert len({(one.view.episode, one.text) for one in made}) == len(made)
    assert len({(one.view.episode, one.program) for one in made}) == len(made)


def test_all_families_are_asked_where_they_apply() -> None:
    asked = {one.family for one in questions()}
    # The last image has models with fronts; nobody looks at anything.
    assert {one.view.episode for one in questions() if one.family == "own"} == {"stacked"}
    assert "seen" not in asked
    asker = Questioner(default_grammar(), 1, ("own", "seen"))
    asked |= {one.family for seed in range(3) for one in asker.ask(oriented(seed))}
    assert asked | {"equal_category", "query_category", "visibility"} == {*default_grammar().families}


def test_whether_two_are_equal_is_asked_where_some_are_and_some_are_not() -> None:
    """Never of the kinds of a car and a chair: the answer would be no in all images with one of each."""
    assert {item.values["category"] for item in stacked().objects} == {"car", "chair", None}
    for seed in range(20):
        assert not [*Questioner(default_grammar(), seed, ("equal_category",)).ask(stacked())]
    assert [*Questioner(default_grammar(), 1, ("equal_color",)).ask(stacked())]


def test_an_executor_that_errs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PositionsExecutor, "run", lambda self, node: "nonsense")
    with pytest.raises(DisagreementError, match="the positions 'nonsense'"):
        questions()


def test_clevr_questions_have_the_published_keys() -> None:
    numbers = {view.episode: number for view, number in clevr_numbers(images())}
    assert [*numbers.values()] == [0, 1, 2, 3, None]  # CLEVR has no chairs.
    made = [one for one in questions(families=CLEVR_FAMILIES) if numbers[one.view.episode] is not None]
    assert made and all(one.program.is_clevr() for one in made)
    lines = [clevr_question(one, numbers[one.view.episode] or 0, k) for k, one in enumerate(made)]
    # As in CLEVR_v1.0/questions/CLEVR_val_questions.json.
    assert set(lines[0]) == {
        "split", "image_filename", "image_index", "image", "question_index", "question", "answer", "program",
        "question_family_index",
    }  # fmt: skip
    assert [parse_clevr(line["program"]) for line in lines] == [one.program for one in made]


def test_a_family_is_added_by_data_alone() -> None:
    data = json.loads(DATA.read_text("utf-8"))
    data["families"]["holds"] = [{"program": ["exist", ["stack:U", "plain:X"]], "words": ["Is anything {U} {X}?"]}]
    asker = Questioner(Grammar(data), 1, ("holds",), 3)
    made = list(asker.ask(stacked()))
    assert made and all(one.text.startswith("Is anything") for one in made)


def test_wrong_data_are_named() -> None:
    with pytest.raises(UsageError, match="unknown family 'counts'"):
        Questioner(default_grammar(), families=("counts",))
    data = json.loads(DATA.read_text("utf-8"))
    data["families"]["count"][0]["program"] = ["counted", "set:S"]
    with pytest.raises(UsageError, match="wrong question grammar: unknown operation or slot 'counted'"):
        Grammar(data)


def family(program: Any, *words: str, **more: Any) -> dict[str, Any]:
    return {"families": {"new": [{"program": program, "words": words, **more}]}}


def union_of(phrase: str, other: str = "") -> dict[str, Any]:
    return {"program": ["union", f"{phrase}:A", f"{other or phrase}:B"], "words": ["{A} or {B}"]}


@pytest.mark.parametrize(
    ("added", "message"),
    [
        (family(["count", "object:X"], "Count {X}?"), r"count: found inputs \(object\); expected \(set\)"),
        (family(["count", "set:S", "set:T"], "Count {S} and {T}?"), r"found inputs \(set, set\)"),
        (family(["less_than", ["count", "set:S"], ["count", "set:S"]], "Fewer {S}?"), "the slot S twice"),
        (family(["count", "sets:S"], "Count {S}?"), "phrase 'sets'"),
        (family(["filter:N", ["scene"]], "Which {N}?"), "found programs of the types .*set"),
        (family(["count", "set:S"], "Count {T}?"), r"found the slots \(T\) in words; expected \(S\)"),
        (family(["count", "set:S"], "Count {S.few}?"), r"found the slots \(S.few\)"),
        (family(["count", "set:S"]), "found no words"),
        (family(["count", "set:S"], "Count {S}?", weight=0), "the weight 0"),
        (
            {"phrases": {"set": [{"program": ["filter:N", ["relate:R", "object:X"]], "words": ["{N} {R} {X}"]}]}},
            "itself",
        ),
        ({"things": []}, "found no word"),
        ({"nouns": {}}, "unknown key 'nouns'; expected one of things"),
        ([1], r"found \[1\]; expected an object"),
        ({"values": []}, r"values: found \[\]: .* valid dictionary"),
        ({"values": {"color": {"red": "crimson"}}}, 'values.color.red: found "crimson": .* valid list'),
        (
            {"families": {"new": [{"program": ["count", "set:S"], "words": "Count {S}?"}]}},
            "families.new.0.words: found",
        ),
        ({"families": {"new": [{"program": ["count", "set:S"], "words": ["?"], "each": "size"}]}}, "each: found"),
        (family(["count", "set:S"], "Count [the {S}?"), "a bracket too many"),
        (family(5, "Count?"), "found the program 5; expected a list"),
        # 2^20 and 2^70 wordings; few, but of 200 MB.
        (family(["count", "set:S"], "Count {S}" + " [a]" * 20 + "?"), "new: found 1,048,576 wordings"),
        (family(["count", "set:S"], "Count {S}" + " [a]" * 70 + "?"), "new: found .* allowed: 1,000 and 1,000,000"),
        (family(["count", "set:S"], "Count {S}" + " a" * 1000 + "?", each=["x"] * 900), "new: found 900 wordings"),
        (
            {
                "phrases": {f"p{k}": [union_of(f"p{k + 1}")] for k in range(30)}
                | {"p30": [{"program": ["filter:N", ["scene"]], "words": ["{N}"]}]}
            },
            "union: found a program of 383 steps or more; allowed: at most 200",
        ),
        # Three of 3,000 colors are named in 4,495,501,000 ways.
        ({"values": {"color": {f"c{k}": ["c"] for k in range(3000)}}}, "values.color: found .* at most 64"),
    ],
)
def test_wrong_grammars(tmp_path: Path, added: Any, message: str) -> None:
    (tmp_path / "wrong.json").write_text(json.dumps(added))
    with pytest.raises(UsageError, match=message):
        read_grammar(tmp_path / "wrong.json")


@pytest.mark.parametrize("word", ["glasses", "chairs", "reading glasses", "men"])
def test_plurals_stay_as_they_are(word: str) -> None:
    assert plural(word) == word
    assert [plural(one) for one in ("glass", "bus", "file cabinet")] == ["glasses", "buses", "file cabinets"]


def test_a_family_may_ask_what_another_one_asks(tmp_path: Path) -> None:
    (tmp_path / "same.json").write_text(json.dumps(family(["count", "set:S"], "How many {S.many} are there?")))
    assert list(Questioner(read_grammar(tmp_path / "same.json"), 0, ["new"]).ask(stacked()))


NOUN = {"program": ["filter:N", ["scene"]], "words": ["{N}"]}


@pytest.mark.parametrize(
    "phrase",
    [
        # Nearly always inside itself; in nine ways of which the last is right, so each part would be tried 9^n times.
        [NOUN, {**union_of("p"), "weight": 1000}],
        [NOUN, *({**union_of("p", f"q{k}"), "weight": 1e-9} for k in range(8)), {**union_of("p"), "weight": 0.9}],
    ],
)
def test_phrases_inside_themselves_end(tmp_path: Path, phrase: Any) -> None:
    other = [{"program": ["see:H", ["filter:N", ["scene"]]], "words": ["{H} {N}"]}]
    data = family(["count", "p:S"], "How many {S.many}?")
    data["phrases"] = {"p": phrase, **{f"q{k}": other for k in range(8)}}
    (tmp_path / "deep.json").write_text(json.dumps(data))
    asker = Questioner(read_grammar(tmp_path / "deep.json"), 0, ["new"], nested=True)
    assert all(len([*one.program.steps()]) <= MAX_STEPS for image in images() for one in asker.ask(image))
    assert asker.tally.tried["new"]


def test_a_text_with_too_many_readings_is_refused(tmp_path: Path) -> None:
    data = family(["count", "p:S"], "How many {S.many}?")
    both = [{"program": [op, "p:A", "p:B"], "words": ["some {A} and {B}"]} for op in ("union", "intersect")]
    data["phrases"] = {"p": [NOUN, *both]}
    (tmp_path / "both.json").write_text(json.dumps(data))
    grammar = read_grammar(tmp_path / "both.json")
    with pytest.raises(UsageError, match="gives too many meanings to 'how many some some"):
        # 2^20.
        grammar.readings("How many " + "some " * 20 + "cubes" + " and cubes" * 20 + "?", grammar.lexicon_of({}))


def test_words_with_two_meanings_are_not_asked(tmp_path: Path) -> None:
    two = [{"program": [op, "set:S"], "words": ["Any {S.many}?"]} for op in ("count", "exist")]
    (tmp_path / "two.json").write_text(json.dumps({"families": {"new": two}}))
    asker = Questioner(read_grammar(tmp_path / "two.json"), 0, ["new"])
    assert list(asker.ask(stacked())) == [] and asker.tally.ambiguous["new"]
    assert answer_table(asker.balance.counts)


def relations(node: Node) -> int:
    """How many references are inside each other."""
    deepest = max(map(relations, node.inputs), default=0)
    return deepest + (node.op in ("relate", "nearest") or node.op.startswith("same_"))


def test_only_clevr_s_families_have_three_references_inside_each_other() -> None:
    made = [one for seed in range(4) for one in questions(seed, nested=True)]
    assert max(relations(one.program) for one in made if one.family in CLEVR_FAMILIES) == 3
    assert max(relations(one.program) for one in made if one.family not in CLEVR_FAMILIES) == 2


def test_sentences_are_plain_unless_nested_ones_are_wanted() -> None:
    made = [one.text for seed in range(4) for one in questions(seed)]
    assert made and all(len(text.split()) <= 25 and len(re.findall("that (is|are) ", text)) <= 1 for text in made)
    nested = [one.text for seed in range(4) for one in questions(seed, nested=True)]
    assert any(len(re.findall("that (is|are) ", text)) > 1 for text in nested)


def test_rearrangements_together_have_the_results_of_each_alone() -> None:
    kept: dict[str, Rearrangements] = {}
    steps, undefined = set(), 0
    for one in (*questions(), *questions(families=default_grammar().forms)):
        together = kept.setdefault(one.view.episode, Rearrangements(one.view))
        for step in one.program.steps():
            alone = [image.outcome(step) for image in together.images]
            expected = [None if isinstance(result, PresuppositionError) else result for result in alone]
            assert together.outcomes(step) == expected
            steps.add(step.op)
            undefined += expected.count(None)
    assert len(steps) > 40 and undefined > 100


@pytest.mark.slow
def test_each_form_and_its_twin_have_different_answers_in_the_same_image() -> None:
    forms = default_grammar().forms
    made = [one for seed in range(6) for one in questions(seed, 40, forms)]
    assert len(forms) >= 40 and len({one.family for one in made} & {*forms}) >= 36
    for one, other in pairwise(made):
        if one.twin is not None and one.twin > one.identity:
            assert (other.view, other.identity, other.twin) == (one.view, one.twin, one.identity)
            assert other.family == f"{one.family}_twin" and other.answer != one.answer
            assert {*one.data()} - {*questions(1, 1)[0].data()} == {"twin"} | (
                {*one.data()} & {"agreement", "threshold"}
            )
    assert all(re.search(r"\b(not?|none|neither|except|apart|only|other|different|differ)\b", one.text, re.I) is None
               or "_twin" not in one.family or "other" in one.text for one in made)  # fmt: skip


def test_a_number_of_a_form_has_four_options_in_a_row() -> None:
    asker, numbers = Questioner(default_grammar(), 1, ("except_one", "different", "none_of_these"), 5), set()
    for item in (one for view in images() for one in items(asker, [view])):
        assert len(item.options) == 4 and item.answer in item.options
        if item.task != "none_of_these":
            first = int(item.options[0])
            assert item.options == tuple(map(str, range(first, first + 4)))
            numbers.add(first)
    assert len(numbers) > 1


def test_few_and_many_depend_on_the_threshold_of_the_image() -> None:
    made = [one for seed in range(20) for one in questions(seed, 40, ("few", "many"))]
    assert {one.answer for one in made} == {True, False}
    for one in made:
        members, others = (RelationsExecutor(one.view).run(part) for part in one.program.inputs)
        share, ((agreement, threshold),) = (members & others).bit_count() / members.bit_count(), one.vague
        assert one.answer == (share <= threshold if one.family == "few" else share >= threshold)
        assert 0.75 <= agreement <= 1
        assert one.data()["threshold"] == one.view.thresholds[one.family]
    assert len({threshold for one in made for _, threshold in one.vague}) > 2


def test_a_question_has_one_word_for_a_value() -> None:
    said = [set(tokens_of(one.text)) for seed in range(4) for one in questions(seed)]
    for names in (("cube", "block"), ("cubes", "block"), ("metal", "shiny"), ("thing", "objects"), ("big", "large")):
        assert not any(words >= {*names} for words in said)
        assert any(words & {*names} for words in said)


def test_questions_have_no_words_that_a_reader_stumbled_over() -> None:
    texts = [one.text for seed in range(4) for one in questions(seed)]
    for words in (
        "every one of",
        "number of .* are there",
        "kind of the",
        "(?<!to the )(left|right) of",
        "^Are any (?!of the)",
    ):
        assert not [text for text in texts if re.search(words, text)]
