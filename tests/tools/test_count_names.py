"""The counter of names sees every kind of binding, and the limits of its check bite."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter

import pytest

from tools.count_names import bound_names, main, problems, product_files

EVERY_BINDING = """
def read(found, *found_rest, key=None, **options):
    found = other = found
    found += 1
    found: int = 2
    for found, (found, b) in []: pass
    with a as found: pass
    [found for found in [] if (found := 1)]
    lambda found: found
    try: pass
    except ValueError as found: pass
    match b:
        case [found, *found]: pass
        case {"a": found, **found}: pass
    found.attribute = b[found] = 1
class found: found = 1
def found(): return found
from a import found
"""


def test_each_binding_counts_and_no_use_does() -> None:
    counts = bound_names(EVERY_BINDING)
    assert counts["found"] == 16
    assert counts["found_rest"] == counts["key"] == counts["options"] == counts["other"] == 1
    assert not {"attribute", "a", "read", "ValueError"} & {*counts}


def test_the_limits_bite() -> None:
    assert problems(Counter(found=150, one=200, made=50, name=10_000, result=100)) == []
    assert problems(Counter(found=150, one=200, made=51)) == ["found, made, one: bound 401 times; allowed 400"]
    assert problems(Counter(result=101)) == ["result: bound 101 times; allowed 100"]


def test_the_product_keeps_the_limits(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(product_files()) > 300
    assert not [path for path in product_files() if {"tests", "tools", "build"} & {*path.parts[-4:-1]}]
    assert main(Namespace(check=True, where="self")) == 0
    assert "render/store/lance/reader.py" in capsys.readouterr().out
