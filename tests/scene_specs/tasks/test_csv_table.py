"""Tables as text."""

from __future__ import annotations

from diorama.scene_specs.tasks.csv_table import csv_table


def test_texts_of_a_table_are_as_they_are() -> None:
    rows: list[list[object]] = [["=1+1", "a,b", 'a"b'], [-1, -0.5, None]]
    assert csv_table(rows) == '=1+1,"a,b","a""b"\n-1,-0.5,\n'
