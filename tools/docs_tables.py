"""Check the tables in the docs that models or plug-ins define.

    python -m tools docs-tables              # prints the rows that are out of date
    python -m tools docs-tables --write      # updates the pages

A model gives the types, limits, defaults and meanings of its table of fields. docs/images/materials.json is the spec of
the picture below the table of materials. Exit codes: 0 up to date, 1 out of date.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any

from diorama.render.cli.plugin_help import summary
from diorama.render.passes import row_of
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.language.registry import plugins, singular
from diorama.scene_specs.model import spec
from diorama.scene_specs.model.materials import load_material
from diorama.scene_specs.model.schema import meanings

DOCS = Path(__file__).resolve().parents[1] / "docs"
TABLE = re.compile(r"(<!-- (\w+): python -m tools docs-tables --write -->\n)(.*?)(<!-- end of \2 -->\n)", re.DOTALL)
# Models without a table: their fields are listed where they occur.
LISTED = ("LookSpec", "ObjectViewSpec")
_SEGMENT = "[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}"
# A pattern that is not here is shown as it is.
PATTERNS = {
    "": "text",
    "^[^?]*$": "text without `?`",
    "^[A-Za-z0-9_][A-Za-z0-9_ +#-]{0,99}$": "name",
    "^[A-Za-z0-9_.+-]{1,50}$": "1 to 50 letters, digits and `_ . + -`",
    f"^{_SEGMENT}(/{_SEGMENT}){{0,7}}$": "1 to 8 segments joined by `/`",
}
LIMITS = (
    ("at least", ("minimum", "minItems", "minLength")),
    ("above", ("exclusiveMinimum",)),
    ("up to", ("maximum", "maxItems", "maxLength", "maxProperties")),
    ("below", ("exclusiveMaximum",)),
)


def _updated(page: str, table: re.Match[str]) -> str:
    # Links inside a page have no file name.
    return f"{table[1]}{table_of(table[2])}{table[4]}".replace(f"({page}#", "(#")


def table_of(name: str) -> str:
    """Return the Markdown table of a model's fields, or of Diorama's plug-ins of a noun."""
    if name.endswith("Spec"):
        return _fields(getattr(spec, name))
    if name == "passes":
        passes = ((key, row_of(key)) for key, registered in plugins(name).items() if registered.own)
        rows = [(f"`{key}`", " x ".join(map(str, row.shape)), row.dtype, row.unit, row.meaning) for key, row in passes]
        return markdown_table(("pass", "shape", "type", "unit", "meaning"), rows)
    rows = []
    for plugin, registered in plugins(name).items():
        if registered.own:
            rows.append((f"`{plugin}`", "", "", "", summary(registered).removeprefix(f"`{plugin}`: ")))
            for key, field in load_material(plugin, name).Parameters.model_json_schema()["properties"].items():
                rows.append(("", f"`{key}`", _kind(field, {}), _default(field), field["description"]))
    return markdown_table((singular(name), "parameter", "type", "default", "meaning"), rows)


def _fields(model: type[spec.SpecPart]) -> str:
    schema, texts, rows = model.model_json_schema(), meanings(model), []
    for key, field in schema["properties"].items():
        meaning, _, default = texts[key].partition(". Default: ")
        rows.append((f"`{key}`", _kind(field, schema.get("$defs", {})), default or _default(field), meaning))
    return markdown_table(("field", "type", "default", "meaning"), rows)


def _default(field: dict[str, Any]) -> str:
    value = field.get("default", ...)
    if value is ...:
        return "**required**"
    if value is None:
        return "-"
    if value in ([], {}):
        return "empty"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"`{value}`" if isinstance(value, str) else f"{value}".lower()


def _kind(field: dict[str, Any], models: dict[str, Any]) -> str:
    """Return the type and the limits of a value with this JSON Schema.

    Args:
        models: name -> JSON Schema.
    """
    if "anyOf" in field:
        return ", or ".join(dict.fromkeys(_kind(part, models) for part in field["anyOf"] if part.get("type") != "null"))
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        inner = (f"`{key}`: {_kind(one, models)}" for key, one in models[name]["properties"].items())
        return f"object of {', '.join(inner)}" if name in LISTED else "object"
    if words := field.get("enum", [field["const"]] if "const" in field else ()):
        return ", ".join(f"`{word}`" for word in words)
    limits = _limits(field)
    if items := field.get("prefixItems"):
        (kind,) = {_kind(item, models) for item in items}
        vector = kind == "number (-10,000 to 10,000)"
        return f"`[{', '.join('xyz'[: len(items)])}]`" if vector else re.sub(r"^\w+", rf"{len(items)} \g<0>s", kind)
    if inside := field.get("items", field.get("additionalProperties")):
        each = "" if inside is True else f": {_kind(inside, models)}"
        return f"{'list' if 'items' in field else 'object'}{limits}{each}"
    if field["type"] == "string":
        pattern = field.get("pattern", "")
        return PATTERNS.get(pattern, f"text of the form `{pattern}`") + limits.replace(")", " characters)")
    return "true or false" if field["type"] == "boolean" else f"{field['type']}{limits}"


def _limits(field: dict[str, Any]) -> str:
    found = {words: field[key] for words, keys in LIMITS for key in keys if key in field}
    shown = {words: "2^63" if value == 2**63 else f"{value:,.10g}" for words, value in found.items()}
    if shown.keys() == {"at least", "up to"}:
        return f" ({shown['at least']} to {shown['up to']})"
    return f" ({', '.join(f'{words} {value}' for words, value in shown.items())})" if shown else ""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="update the pages")


def main(options: Namespace) -> int:
    """Compare or write the pages."""
    late = list[str]()
    for page in sorted(DOCS.rglob("*.md")):
        old = page.read_text("utf-8")
        new = TABLE.sub(partial(_updated, page.name), old)
        if options.write and old != new:
            page.write_text(new, "utf-8")
        else:
            late += unified_diff(old.splitlines(True), new.splitlines(True), str(page), "up to date", n=0)
    sys.stdout.writelines(late)
    return int(bool(late))
