"""Growth is found where it is, and the tables hold what was asked."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.__main__ import main as run_tool
from tools.measuring import bench_scaling
from tools.measuring.bench_scaling import episode, exponent


@given(st.floats(-1, 3), st.floats(0.001, 100))
def test_the_power_is_found(power: float, first: float) -> None:
    numbers = [1, 2, 5, 10]
    assert exponent(numbers, [first * n**power for n in numbers]) == pytest.approx(power, abs=1e-6)


def test_more_objects_are_more_of_the_same() -> None:
    few, many = (episode(0, count).frames[0].objects for count in (3, 9))
    assert [item.material for item in many] == 3 * [item.material for item in few]
    assert {item.size for item in many} == {"large", "small"}


def test_tables_of_a_small_run(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["draft", "--objects", "2", "1", "--sizes", "64x48", "32x24", "--size", "32x24", "--rounds", "1"]
    code = run_tool(["bench-scaling", *asked])
    text = capsys.readouterr().out
    assert re.findall(r"^\| (\w+) \|", text, re.MULTILINE) == ["objects", "1", "2", "pixels", "32x24", "64x48"]
    assert text.count("| sampling s | denoising s |") == 2 and "| annotate s |" in text
    grown = [float(power) for power in re.findall(r"to the power of (.*)\.", text)]
    assert len(grown) == 2
    # Printed with two decimals.
    assert code == int(max(grown) > bench_scaling.LINEAR) or abs(max(grown) - bench_scaling.LINEAR) < 0.006
