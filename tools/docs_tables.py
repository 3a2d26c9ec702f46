"""Check the table of materials in docs/spec.md, and render its picture.

    python -m tools docs-tables              # prints what is out of date
    python -m tools docs-tables --write      # updates the page
    python -m tools docs-tables --picture    # renders docs/images/materials.png with Cycles

Exit codes: 0 up to date, 1 out of date.
"""

from __future__ import annotations

import difflib
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from PIL import Image

from render.api import compile_spec, render_scene
from render.gallery.tile_grid import Tile, tile_grid
from scene_specs.language.materials import load_material
from scene_specs.language.registry import plugins

DOCS = Path(__file__).resolve().parents[1] / "docs"
BEGIN, END = "<!-- materials: python -m tools docs-tables --write -->\n", "<!-- end of materials -->\n"
# What the second row of the picture shows.
CHANGED: dict[str, dict[str, float]] = {
    "emission": {"strength": 3.0},
    "glass": {"ior": 1.5},
    "matte": {"roughness": 1.0},
    "metal": {"roughness": 0.1},
    "rubber": {"roughness": 0.2},
}


def own_materials() -> list[str]:
    """Return the names of Diorama's materials."""
    return [name for name, registered in plugins("materials").items() if registered.own]


def material_table() -> str:
    """Return the Markdown table of all materials and their parameters."""
    rows = ["| material | parameter | range | default | meaning |", "|---|---|---|---|---|"]
    for name in own_materials():
        manual = plugins("materials")[name].summary().removeprefix(f"`{name}`: ")
        rows.append(f"| `{name}` | | | | {manual} |")
        fields = load_material(name).Parameters.model_json_schema()["properties"]
        rows += [f"| | `{key}` | {_range(f)} | {f['default']:.4g} | {f['description']} |" for key, f in fields.items()]
    return "\n".join(rows) + "\n"


def _range(field: dict[str, Any]) -> str:
    low = f"above {field['exclusiveMinimum']:g}" if "exclusiveMinimum" in field else f"{field['minimum']:g}"
    return f"{low} to {field['maximum']:g}"


def updated(page: str) -> str:
    """Return a page with the current table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + material_table() + END + rest.partition(END)[2]


def render_picture(path: Path) -> None:
    """Render a sheet of all materials with their defaults, and below with a changed parameter."""
    tiles = []
    for changed in (False, True):
        for name in own_materials():
            parameters = CHANGED.get(name, {}) if changed else {}
            caption = " ".join([name, *(f"{key} {value:g}" for key, value in parameters.items())])
            tiles.append(Tile(_render({"name": name, **parameters}), caption))
    path.parent.mkdir(exist_ok=True)
    tile_grid(tiles, len(own_materials()), gap=6, font_size=11).save(path, format="PNG", optimize=True)


def _render(material: dict[str, Any]) -> Image.Image:
    objects = [
        {"shape": "sphere", "color": "blue", "size": "large", "material": material, "location": [0.0, 0.0]},
        {"shape": "cube", "color": "red", "size": "small", "material": "rubber", "location": [-1.3, 0.7]},
    ]
    camera = {"location": [3.4, -2.9, 2.0], "look_at": [-0.2, 0.1, 0.6], "lens": 45.0, "jitter": 0.0}
    spec = {"version": 1, "id": "materials", "frames": [{"objects": objects, "camera": camera}]}
    return Image.fromarray(render_scene(compile_spec(spec, size=(160, 120)), device="cpu")[0].passes.color)


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="update the page")
    parser.add_argument("--picture", action="store_true", help="render the picture")


def main(options: Namespace) -> int:
    """Compare or write the page."""
    if options.picture:
        render_picture(DOCS / "images/materials.png")
    page = (DOCS / "spec.md").read_text("utf-8")
    wanted = updated(page)
    if options.write:
        (DOCS / "spec.md").write_text(wanted, "utf-8")
    elif wanted != page:
        lines = difflib.unified_diff(page.splitlines(), wanted.splitlines(), "docs/spec.md", "models", lineterm="", n=0)
        sys.stdout.write("\n".join(lines) + "\nupdate it: python -m tools docs-tables --write\n")
        return 1
    return 0
