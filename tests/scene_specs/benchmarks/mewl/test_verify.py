from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.benchmarks.mewl.draft import OBJECTS, TYPES
from diorama.scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from diorama.scene_specs.benchmarks.mewl.verify import verify_spec, verify_view
from diorama.scene_specs.benchmarks.mewl.view import SeenImage, View, learner_view
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.scene_specs.benchmarks.mewl.broken import all_broken, episode

BROKEN = all_broken()


def proved(spec: Any) -> str:
    return verify_spec(spec)


def test_there_are_a_hundred_broken_episodes() -> None:
    assert len(BROKEN) >= 100
    assert len({label for label, _, _ in BROKEN}) == len(BROKEN)


@pytest.mark.parametrize(("label", "spec", "reason"), BROKEN, ids=[label for label, _, _ in BROKEN])
def test_a_broken_episode_is_refused_with_its_reason(label: str, spec: Any, reason: str) -> None:
    found = proved(spec)
    assert found, label
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(found)


@pytest.mark.parametrize("task", TASKS)
def test_what_is_generated_is_accepted_also_from_the_model(task: str) -> None:
    for number in range(5):
        spec = episode(task, number)
        view = learner_view(spec)
        data: Any = EpisodeSpec.model_validate(spec).model_dump(mode="json", exclude_none=True)
        assert view == learner_view(data)
        assert proved(spec) == verify_view(view, spec["task"]["answer"]) == ""


@pytest.mark.parametrize("task", TASKS)
def test_a_stored_map_that_does_not_fit_is_refused(task: str) -> None:
    spec = episode(task, 20)
    words = spec["task"]["words"]
    # A word that says nothing about the answer: only the map is wrong.
    spec["task"]["words"] = dict(zip(words, [*list(words.values())[1:], next(iter(words.values()))], strict=True))
    assert proved(spec).startswith("the stored words do not fit the contexts")


def test_a_word_that_no_context_used_may_mean_what_no_context_showed() -> None:
    spec = episode("number", 0)
    count = len(spec["frames"][6]["objects"])
    said = next(f for f in spec["frames"][:6] if len(f["objects"]) == count)
    other = next(f for f in spec["frames"][:6] if f is not said)
    # The answer's word is never heard; the count it would be for is never shown.
    said.update(utterance=other["utterance"], objects=copy.deepcopy(other["objects"]))
    del spec["task"]["words"][spec["task"]["answer"]]
    assert "disagree" in proved(spec)


def test_the_view_gives_nothing_away() -> None:
    for task in TASKS:
        spec = episode(task, 1)
        view = learner_view(spec)
        assert view.query.utterance == ""
        renamed = copy.deepcopy(spec)
        renamed["task"]["answer"] = next(o for o in spec["task"]["options"] if o != spec["task"]["answer"])
        renamed["task"]["words"] = {}
        for frame in renamed["frames"]:
            del frame["truth"]
        assert learner_view(renamed) == view


def test_relations_that_follow_are_seen() -> None:
    spec = episode("bootstrap", 2)
    for image in learner_view(spec).images:
        assert not image.open
        assert len(image.relations) == 12
        for relation, a, b in image.relations:
            mirror = {"left": "right", "right": "left", "front": "behind", "behind": "front"}[relation]
            assert (mirror, b, a) in image.relations
            assert (relation, b, a) not in image.relations


def test_more_new_words_than_meanings_left() -> None:
    spec = episode("relation", 1)
    parts = [option.split(" ") for option in spec["task"]["options"]]
    for k, word in enumerate(("grelo", "pratu")):
        at = [k for k, option in enumerate(spec["task"]["options"]) if option != spec["task"]["answer"]][k]
        spec["task"]["options"][at] = " ".join([*parts[at][:2], word, *parts[at][3:]])
    assert proved(spec).startswith("no lexicon is left: the options have more words")


def test_more_readings_than_anybody_counts_are_refused_at_once() -> None:
    spec = episode("object", 1)
    things = OBJECTS[:20]
    for frame in spec["frames"][:6]:
        frame["utterance"] = " and ".join(f"w{k}" for k in range(20))
        frame["objects"] = [dict(zip(TYPES, thing, strict=True)) for thing in things]
    spec["task"]["options"] = [" and ".join(f"w{k}" for k in range(20)), "w1 and w2"]
    spec["task"].update(answer=spec["task"]["options"][0], words=None)
    spec["frames"][6]["objects"] = spec["frames"][0]["objects"]
    assert proved(spec) == "more than 20000 lexicons fit the contexts"


@pytest.mark.slow
def test_a_search_without_an_end_in_sight_stops() -> None:
    pairs = [(axis, i, j) for axis in (0, 1) for i in range(9) for j in range(i + 1, 9)]
    image = SeenImage("", OBJECTS[:9], (), pairs)
    said = [image._replace(utterance=f"a{k} left b{k}") for k in range(6)]
    # Nine objects can't be twelve words' meanings; comparing all assignments takes half a minute.
    view = View("bootstrap", [*said, image], ["a0 left b0"])
    limit = "the contexts and options leave room for more lexicons than can be tried"
    assert verify_view(view, "a0 left b0") == limit
    fixed = SeenImage("a left b", OBJECTS[:2], [("left", 0, 1)])
    options = [f"x{k} left y{k}" for k in range(100)]
    assert verify_view(view._replace(images=[fixed] * 6 + [image], options=options), "x0 left y0") == limit


def test_an_open_relation_in_the_query_is_no_proof() -> None:
    spec = episode("relation", 1)
    del spec["frames"][6]["constraints"]
    assert proved(spec).startswith("the spec leaves open whether these options are true of the query")


def test_what_is_no_mewl_episode_is_named() -> None:
    spec = mewl_spec(0, "test", "shape", 0)
    del spec["frames"][2]["objects"][0]["color"]
    with pytest.raises(SpecError, match=r"frames\[2\]\.objects\[0\]\.color: found None"):
        learner_view(spec)
    spec = mewl_spec(0, "test", "shape", 0)
    spec["task"] |= {"name": ["shape"], "words": [1, 2], "lexicon": [1], "types": [1, 2], "options": ["a"] * 51}
    with pytest.raises(SpecError) as caught:
        verify_spec(spec)
    assert [one.path for one in caught.value.diagnostics] == [
        "task.name", "task.words", "task.options", "task.types[0]", "task.types[1]", "task.lexicon",
    ]  # fmt: skip
    spec = mewl_spec(0, "test", "shape", 0)
    spec["frames"] = spec["frames"][1:]
    with pytest.raises(SpecError, match="found 6; allowed: 6 contexts and the query"):
        learner_view(spec)
    spec["task"] |= {"word": {}}
    said = r"task\.word: unknown key .word.; allowed: benchmark, name, .* \(did you mean 'words'\?\)$"
    with pytest.raises(SpecError, match=said):
        verify_spec(spec)
    spec["task"]["benchmark"] = "clevr"
    with pytest.raises(SpecError, match=r'task\.benchmark: found "clevr"; allowed: "mewl"$'):
        verify_spec(spec)


@given(
    st.sampled_from(TASKS),
    st.integers(0, 40),
    st.booleans(),
    st.permutations(range(6)),
    st.permutations(range(5)),
    st.data(),
)
def test_a_verdict_depends_on_no_order(
    task: str, number: int, good: bool, contexts: list[int], options: list[int], data: st.DataObject
) -> None:
    spec = episode(task, number)
    view, answer = learner_view(spec), spec["task"]["answer"]
    answer = answer if good else next(option for option in view.options if option != answer)
    images = []
    for image in [*(view.images[k] for k in contexts), view.query]:
        place = data.draw(st.permutations(range(len(image.objects))))
        images.append(
            image._replace(
                objects=[image.objects[place.index(k)] for k in range(len(place))],
                relations=[(relation, place[a], place[b]) for relation, a, b in image.relations][::-1],
                open=[(axis, min(place[a], place[b]), max(place[a], place[b])) for axis, a, b in image.open],
                pointed=None if image.pointed is None else place[image.pointed],
            )
        )
    shuffled = view._replace(images=images, options=[view.options[k] for k in options])
    assert (verify_view(shuffled, answer) == "") == (verify_view(view, answer) == "") == good


@pytest.mark.parametrize("task", ["number", "pragmatic", "shape", "composite"])
def test_an_option_of_too_many_words_is_never_true(task: str) -> None:
    spec = episode(task, 3)
    answer, options = spec["task"]["answer"], spec["task"]["options"]
    wrong = next(k for k, option in enumerate(options) if option != answer)
    options[wrong] = f"{answer} {answer}"
    assert proved(spec) == ""
    spec["task"]["answer"] = options[wrong]
    assert proved(spec).startswith(f"the stored answer is '{options[wrong]}', but '{answer}' is true")


def test_a_new_word_of_an_option_may_mean_an_object_that_no_context_showed() -> None:
    spec = episode("object", 3)
    heard = {tuple(meaning): word for word, meaning in spec["task"]["words"].items()}
    query = spec["frames"][6]["objects"]
    names = [heard[tuple(item[kind] for kind in TYPES)] for item in query]
    new = next(thing for thing in OBJECTS if thing not in heard)
    query[0].update(zip(TYPES, new, strict=True))
    wrong = [option for option in spec["task"]["options"] if option != spec["task"]["answer"]]
    spec["task"]["answer"] = " and ".join(["zublo", *names[1:]])
    spec["task"]["options"] = [spec["task"]["answer"], *wrong]
    # Either the new word means the new object, or something else.
    found = proved(spec)
    assert found.startswith("two lexicons fit the contexts and disagree: if zublo is")
    assert " ".join((new[3], new[1], new[2], new[0])) in found and "something else" in found


@pytest.mark.parametrize(("wrong", "said"), [(0, "not even alone"), (3, "contexts 0-2 leave room for it")])
def test_the_first_context_that_contradicts_is_named(wrong: int, said: str) -> None:
    spec = episode("object", 3)
    frame = spec["frames"][wrong]
    # A word less than there are objects.
    frame["utterance"] = frame["utterance"].rpartition(" and ")[0]
    found = proved(spec)
    assert found.startswith(f"no lexicon fits the contexts: context {wrong} says") and found.endswith(f"({said})")


@pytest.mark.parametrize("key", ["words", "lexicon"])
def test_the_stored_words_of_a_spec_are_compared(key: str) -> None:
    spec = episode("number", 3)
    words = spec["task"].pop("words")
    assert verify_spec(spec) == ""
    spec["task"][key] = words
    assert verify_spec(spec) == ""
    spec["task"][key] = dict(zip(words, [*list(words.values())[1:], next(iter(words.values()))], strict=True))
    assert verify_spec(spec).startswith("the stored words do not fit the contexts")


def test_published_episodes_promise_a_true_option() -> None:
    """A word that no context says may mean what the query shows, or something else; then no option would be true."""
    spec = episode("composite", 0)
    view = learner_view(spec)
    unheard = view._replace(images=[view.images[0]] * 6 + [view.query], options=[spec["task"]["answer"]])
    reason = verify_view(unheard, spec["task"]["answer"])
    assert "no option is true" in reason
    assert verify_view(unheard, spec["task"]["answer"], promised=True) == ""
    # Two options that are true under different lexicons are still two answers.
    doubtful = unheard._replace(options=[spec["task"]["answer"], "x y"])
    assert "disagree" in verify_view(doubtful, spec["task"]["answer"], promised=True)


@pytest.mark.parametrize("task", TASKS)
def test_names_of_published_files_and_the_number_are_compared(task: str) -> None:
    spec = episode(task, 3)
    spec["frames"][2]["truth"]["names"][0] = "other"
    assert re.match(r"frames\[2\]\.truth\.names: found \[.*; expected \[", proved(spec))
    spec = episode(task, 3)
    spec["task"]["number"] += 1
    assert proved(spec).startswith("id: found [")
