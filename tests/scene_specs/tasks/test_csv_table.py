"""Tables as text."""

from __future__ import annotations

from diorama.scene_specs.tasks.csv_table import csv_table


def test_texts_of_a_table_are_no_formulas() -> None:
    rows: list[list[object]] = [
        ["=1+1", "+a", "-a", "@a", "a=b", "'a"],
        [-1, -0.5, "-0.5", "+1e-9", "", "-"],
        ["-1+cmd|'/c calc'!A1", None],
    ]
    assert csv_table(rows, published=False) == (
        "'=1+1,'+a,'-a,'@a,a=b,'a\n-1,-0.5,-0.5,+1e-9,,'-\n'-1+cmd|'/c calc'!A1,\n"
    )
    # Programs of others expect each text as it is.
    assert csv_table(rows, published=True).startswith("=1+1,+a,-a,@a,")
