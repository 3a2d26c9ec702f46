"""Candidates: what is requested is what is rendered, and what is wrong is named."""

from __future__ import annotations

import pytest

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.profiles import profiles
from tools.claims.quality.candidates import candidate_key, candidate_settings, check_candidates, published_samples


def test_a_profile_and_the_published_renderer() -> None:
    assert candidate_settings("draft", 64, 48).samples == profiles()["draft"]["samples"]
    published = candidate_settings("published-99", 64, 48)
    assert (published.samples, published.width, published.object_samples) == (99, 64, 0)
    names = ("published-99", "published-0", "published-x", "draft")
    assert [published_samples(name) for name in names] == [99, 0, 0, 0]


def test_what_decides_a_result_is_in_its_key() -> None:
    keys = [candidate_key(name) for name in ("draft", "standard", "published-9", "published-8")]
    assert all(keys.count(key) == 1 for key in keys)
    assert "profile" not in keys[0]["settings"]


@pytest.mark.parametrize(
    ("names", "message"), [(["standrad"], "did you mean 'standard'"), (["draft", "draft"], "named twice")]
)
def test_wrong_candidates_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_candidates(names)
