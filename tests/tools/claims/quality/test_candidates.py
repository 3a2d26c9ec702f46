"""Profiles and tries: what is asked for is what is rendered, and what is wrong is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.profiles import profiles
from tools.claims.quality.candidates import Candidate, candidates

TRIES = Path(candidates.__code__.co_filename).with_name("tries")


def written(path: Path, data: Any) -> str:
    path.write_text(json.dumps(data) if not isinstance(data, str) else data, "utf-8")
    return str(path)


def test_a_profile_and_a_list_of_tries(tmp_path: Path) -> None:
    data = [
        {"name": "more", "settings": {"samples": 99}, "prediction": "better"},
        {"name": "other", "base": "draft", "cycles": {"denoising_quality": "FAST"}},
    ]
    draft, more, other = candidates(["draft", written(tmp_path / "t.json", data)])
    assert draft.at(64, 48).samples == profiles()["draft"]["samples"]
    assert (more.at(64, 48).samples, more.at(64, 48).width, more.at(64, 48).profile) == (99, 64, "more")
    assert more.change == "standard: samples 99"
    assert other.change == "draft: denoising_quality FAST"


def test_what_decides_a_result_is_in_its_key_and_a_name_is_not() -> None:
    one = Candidate(name="a", settings={"samples": 9})
    assert one.key() == Candidate(name="b", settings={"samples": 9}, prediction="none").key()
    assert one.key() != Candidate(name="a", settings={"samples": 8}).key()
    assert one.key() != Candidate(name="a", settings={"samples": 9}, cycles={"use_guiding": True}).key()
    assert one.key() == Candidate(name="c", base="standard", settings={"samples": 9}).key()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("{", "unreadable JSON"),
        ({"settings": {}}, "name: Field required"),
        ({"name": "../x"}, "name: .*pattern"),
        ({"name": "a", "sampels": 3}, "sampels"),
        ({"name": "a", "settings": {"samples": 0}}, "settings: samples.*found 0"),
        ({"name": "a", "settings": {"sample": 3}}, "settings: sample: "),
        ({"name": "a", "base": "standrad"}, "did you mean 'standard'"),
        ({"name": "a", "settings": {"prefilter": "FAST"}}, "prefilter has no effect with object_samples"),
        ({"name": "a", "cycles": {"denoising_quality": "FAST"}}, "denoising_quality has no effect with object_samples"),
        ([{"name": "a"}, {"name": "a"}], "two candidates have the name a"),
    ],
)
def test_faults_are_said(tmp_path: Path, data: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        candidates([written(tmp_path / "t.json", data)])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: unreadable JSON"):
        candidates([str(tmp_path / "none.json")])


@pytest.mark.parametrize("path", sorted(TRIES.glob("*.json")), ids=lambda path: path.stem)
def test_committed_tries_can_be_run_and_predict_something(path: Path) -> None:
    assert all(each.prediction and each.change != each.base for each in candidates([str(path)]))
