"""Renderers by name: the built-in ones, and classes of other packages."""

from __future__ import annotations

import pytest

from render.model.errors import UsageError
from render.renderers.factory import make_renderer
from render.renderers.fake import FakeRenderer


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "cycle",
            r"unknown renderer 'cycle'; there are: cycles, fake, or package.module:Class \(did you mean 'cycles'",
        ),
        ("tests.nowhere", "unknown renderer 'tests.nowhere'"),
        (":Negative", "unknown renderer ':Negative'"),
        ("tests.nowhere:Negative", "can't import Negative from module tests.nowhere: .*No module named"),
        ("render.renderers.fake:Real", "can't import Real from module render.renderers.fake: .*no attribute 'Real'"),
    ],
)
def test_an_unknown_renderer_is_an_error_that_names_it(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make_renderer(name)


def test_a_name_gives_a_renderer() -> None:
    assert isinstance(make_renderer("fake"), FakeRenderer)
    assert type(make_renderer("tests.render.run.renderers:Slow")).__name__ == "Slow"
