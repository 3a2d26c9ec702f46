"""Check the table of materials in docs/spec.md against their models.

    python -m tools docs-tables              # prints what is out of date
    python -m tools docs-tables --write      # updates the page

docs/images/materials.json is the spec of the picture below the table. Exit codes: 0 up to date, 1 out of date.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from diorama.scene_specs.language.materials import load_material
from diorama.scene_specs.language.registry import plugins

PAGE = Path(__file__).resolve().parents[1] / "docs/spec.md"
BEGIN, END = "<!-- materials: python -m tools docs-tables --write -->\n", "<!-- end of materials -->\n"


def material_table() -> str:
    """Return the Markdown table of Diorama's materials and their parameters."""
    rows = ["| material | parameter | range | default | meaning |", "|---|---|---|---|---|"]
    for name, registered in plugins("materials").items():
        if registered.own:
            rows.append(f"| `{name}` | | | | {registered.summary().removeprefix(f'`{name}`: ')} |")
            for key, field in load_material(name).Parameters.model_json_schema()["properties"].items():
                low = f"{field['minimum']} to" if "minimum" in field else f"above {field['exclusiveMinimum']:g}, up to"
                limits = f"{low} {field['maximum']:g}"
                rows.append(f"| | `{key}` | {limits} | {field['default']:.4g} | {field['description']} |")
    return "\n".join(rows) + "\n"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="update the page")


def main(options: Namespace) -> int:
    """Compare or write the page."""
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    old, _, after = rest.partition(END)
    table = material_table()
    if options.write:
        PAGE.write_text(before + BEGIN + table + END + after, "utf-8")
    elif old != table:
        sys.stdout.write(f"{PAGE}: expected this table; write it: python -m tools docs-tables --write\n\n{table}")
        return 1
    return 0
