"""Line charts: every value has its mark, where it belongs."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from diorama.render.uses.draw.charts import Panel, line_chart

SVG = "{http://www.w3.org/2000/svg}"


def marks(text: str) -> list[tuple[float, float]]:
    found = ElementTree.fromstring(text).iter(f"{SVG}circle")
    return [(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in found]


@given(st.lists(st.floats(0, 500, width=32), min_size=1, max_size=6))
def test_marks_stand_as_high_as_their_values(values: list[float]) -> None:
    points = [(float(k + 1), value, value, value) for k, value in enumerate(values)]
    found = marks(line_chart("t", "x", [Panel("p", {"a": points})]))
    assert [x for x, _ in found] == sorted({x for x, _ in found})
    # Up is less; all in the panel.
    order = sorted(range(len(values)), key=lambda k: values[k])
    heights = [found[k][1] for k in order]
    assert heights == sorted(heights, reverse=True)
    assert all(60 < y <= 220 for _, y in found)


def test_groups_intervals_and_hostile_names() -> None:
    lines = {"a <b> & c": [(1.0, 0.5, 0.4, 0.6), (2.0, 0.7, 0.6, 0.8)], "d": [(2.0, 0.1, 0.0, 0.2)]}
    text = line_chart("t", "x", [Panel("p", lines, top=1.0, level=0.25), Panel("q", {}), Panel("r", {"d": lines["d"]})])
    assert len(marks(text)) == 4
    root = ElementTree.fromstring(text)
    said = [one.text for one in root.iter(f"{SVG}text")]
    assert "a <b> & c" in said
    assert {"p", "q", "r"} <= {*said}
    dashed = [one for one in root.iter(f"{SVG}line") if one.attrib.get("stroke-dasharray") == "2 2"]
    assert len(dashed) == 1
