"""Check the tables of materials, grounds and patterns in the docs.

    python -m tools docs-tables              # prints what is out of date
    python -m tools docs-tables --write      # updates the pages

docs/images/materials.json is the spec of the picture below the table of materials. Exit codes: 0 up to date, 1 out of
date.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from diorama.scene_specs.language.materials import load_material
from diorama.scene_specs.language.registry import plugins, singular

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = {"materials": DOCS / "fields.md", "grounds": DOCS / "looks.md", "patterns": DOCS / "looks.md"}
BEGIN, END = "<!-- {}: python -m tools docs-tables --write -->\n", "<!-- end of {} -->\n"


def table_of(noun: str) -> str:
    """Return the Markdown table of Diorama's plug-ins of a noun and their parameters."""
    rows = [f"| {singular(noun)} | parameter | range | default | meaning |", "|---|---|---|---|---|"]
    for name, registered in plugins(noun).items():
        if registered.own:
            rows.append(f"| `{name}` | | | | {registered.summary().removeprefix(f'`{name}`: ')} |")
            for key, field in load_material(name, noun).Parameters.model_json_schema()["properties"].items():
                default = field["default"]
                shown = f"{default:.4g}" if isinstance(default, float) else str(default).lower()
                rows.append(f"| | `{key}` | {_limits(field)} | {shown} | {field['description']} |")
    return "\n".join(rows) + "\n"


def _limits(field: dict[str, object]) -> str:
    low = field.get("minimum", field.get("exclusiveMinimum"))
    if low is None:
        return "true or false" if field["type"] == "boolean" else "3 numbers, at least 0"
    high = field.get("maximum")
    if high is None:
        return f"above {low:g}" if "exclusiveMinimum" in field else f"at least {low:g}"
    return f"{low} to {high:g}" if "minimum" in field else f"above {low:g}, up to {high:g}"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="update the pages")


def main(options: Namespace) -> int:
    """Compare or write the pages."""
    late = 0
    for noun, page in PAGES.items():
        begin, end, text, table = BEGIN.format(noun), END.format(noun), page.read_text("utf-8"), table_of(noun)
        before, _, rest = text.partition(begin)
        old, _, after = rest.partition(end)
        if options.write:
            page.write_text(before + begin + table + end + after, "utf-8")
        elif old != table:
            sys.stdout.write(f"{page}: expected this table; write it: python -m tools docs-tables --write\n\n{table}")
            late = 1
    return late
