"""Build the small ShapeNet-layout library: `python -m diorama.assets.build.shapenet_mini [FOLDER]`."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from diorama.assets.build.shapenet_mini.library import CATEGORIES
from diorama.assets.build.shapenet_mini.writer import model_id, write_model
from diorama.scene_specs.language.model_names import PREFIX
from diorama.scene_specs.shapes.shapenet import Library
from diorama.scene_specs.shapes.shapenet.loading import ARRAYS, DECIMALS, TRIANGLES, ModelCache

LIBRARY = Path(__file__).resolve().parents[2] / "shapenet_mini"


def build(folder: Path) -> None:
    """Write all categories, `taxonomy.json` (ShapeNet's) and `catalog.json` (what each model is) into `folder`."""
    taxonomy, catalogue = [], []
    for category in sorted(CATEGORIES, key=lambda category: category.synset):
        rows = []
        for builder in category.builders:
            model, identity = builder(), model_id(category.name, builder.__name__)
            count = write_model(folder / category.synset / identity / "models", identity, model)
            rows.append({"id": identity, "name": builder.__name__, "title": model.title, "triangles": count})
        taxonomy.append(
            {"synsetId": category.synset, "name": category.lemmas, "children": [], "numInstances": len(rows)}
        )
        rows.sort(key=lambda row: str(row["id"]))
        catalogue.append({"category": category.name, "synset": category.synset, "models": rows})
    _write_json(folder / "taxonomy.json", taxonomy)
    _write_json(folder / "catalogue.json", {"version": 1, "categories": catalogue})


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="ascii")


def write_triangles(library: Library) -> None:
    """Write the triangles of a library beside its models, so that nobody needs Blender to measure them."""
    stored: dict[str, Any] = {}
    for name in [f"{category}/{number}" for category in library.categories() for number in library.models(category)]:
        shape = f"{PREFIX}{name}"
        # Its files are those of the package, and don't change.
        facts = asdict(ModelCache(library.find(shape)[1], library).make(shape)) | {"files": []}
        del facts["path"], facts["blend"]
        # Numbers of seven decimals.
        facts["vertices"] = np.rint(facts["vertices"] * DECIMALS).astype(np.int32)
        stored |= {f"{name}/{key}": facts.pop(key) for key in ARRAYS}
        stored[f"{name}/facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    np.savez_compressed(library.root / TRIANGLES, **stored)


def main() -> None:
    """Build in a temporary folder and replace the library only when complete; an unrelated folder is an error."""
    folder = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else LIBRARY
    if folder.exists() and not (folder / "catalogue.json").is_file():
        raise SystemExit(
            f"{folder}: is there and no library of ours (no catalogue.json); name a folder that is not there"
        )
    made = folder.with_name(folder.name + ".part")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    build(made)
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)
    write_triangles(Library(folder))


if __name__ == "__main__":
    main()
