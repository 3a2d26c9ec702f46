"""Renderers by name: the built-in ones, and classes of other packages."""

from __future__ import annotations

from pathlib import Path

import pytest

from diorama.render.renderers import make_renderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.errors import PluginError
from tests.distributions import installed, write_distribution


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "cycle",
            r"unknown renderer 'cycle'; there are: cycles, fake; did you mean 'cycles'",
        ),
        ("tests.nowhere", "unknown renderer 'tests.nowhere'"),
        (":Negative", "renderer ':Negative': can't import :Negative: ValueError"),
        ("tests.nowhere:Negative", "can't import tests.nowhere:Negative: .*No module named"),
        (
            "diorama.render.renderers.fake:Real",
            "can't import diorama.render.renderers.fake:Real: .*no attribute 'Real'",
        ),
    ],
)
def test_an_unknown_renderer_is_an_error_that_names_it(name: str, words: str) -> None:
    with pytest.raises(PluginError, match=words):
        make_renderer(name)


def test_a_name_gives_a_renderer() -> None:
    assert isinstance(make_renderer("fake"), FakeRenderer)
    assert type(make_renderer("tests.render.run.renderers:Slow")).__name__ == "Slow"


def test_a_registered_renderer_gets_the_device(tmp_path: Path) -> None:
    code = "class Brush:\n    @classmethod\n    def create_renderer(cls, *what): return what\nclass Plain: ...\n"
    points = "brush = lab_brush:Brush\nplain = lab_brush:Plain"
    write_distribution(tmp_path, "lab", {"renderers": points}, {"lab_brush.py": code})
    with installed(tmp_path):
        given: object = make_renderer("brush", "cuda", 3, (tmp_path,))
        assert given == ("cuda", 3, (tmp_path,))
        assert type(make_renderer("plain")).__name__ == "Plain"
