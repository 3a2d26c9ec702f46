"""Names of models, and the words of their categories."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.scene_specs.language.model_names import SYNSETS, kind_of, parse_model, word_of

IWISDM = ("benches", "boats", "cars", "chairs", "couches", "lighting", "planes", "tables")


def test_the_words_of_iwisdm_mean_eight_synsets() -> None:
    assert len({SYNSETS[word] for word in IWISDM}) == 8
    assert all(len(synset) == 8 and synset.isdecimal() for synset in SYNSETS.values())
    assert len(set(SYNSETS.values())) == 55


@pytest.mark.parametrize(("word", "synset"), [("chair", "03001627"), ("knives", "03624134"), ("buses", "02924116")])
def test_words_come_in_both_numbers(word: str, synset: str) -> None:
    assert SYNSETS[word] == synset


@given(st.text(st.sampled_from("ab0#./\\~- _:"), max_size=12))
def test_what_is_accepted_stays_in_its_folder(text: str) -> None:
    name = parse_model(f"shapenet:{text}")
    if name is not None:
        for part in (name.category, name.model):
            assert "/" not in part and "\\" not in part and ".." not in part and not part.startswith((".", "~"))
        assert name.number > 0 or name.model


@given(st.text(max_size=20))
def test_other_shapes_are_no_models(text: str) -> None:
    assert text.startswith("shapenet:") or (parse_model(text) is None and kind_of(text) == text)


def test_kinds() -> None:
    assert kind_of("shapenet:03001627/abc") == word_of("03001627") == "chair"
    assert kind_of("shapenet:my_things/abc") == "my_things"
    assert kind_of("cube") == "cube"
