"""Check that a library of models works.

    python -m tools check-shapenet ROOT [--category chairs] [--limit 200] [--json report.json]

ROOT: a ShapeNetCore, version 1 or 2, or a library of .glb files; see docs/shapenet.md. Reads every model and lists
diagnostics. Models are cached while they are read, so that later runs find them ready. Exit code 1 if a model can't be
read. docs/shapenet.md shows how to draw the models.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.language.model_names import word_of
from diorama.scene_specs.shapes.shapenet import library, load_model, set_library_environment
from tools.programs import positive

# Notes name files and counts; the report counts these kinds.
KINDS = (
    "is not there", "was found as", "was taken instead", "can't be read as a picture", "not defined", "not UTF-8",
    "no numbers", "without area", "doubled", "turned to look outwards", "made opaque", "had to be converted",
)  # fmt: skip


def names_of(category: str, limit: int | None) -> list[str]:
    """Return the names of the models of a category, or of "all", in order, at most `limit` per category."""
    source = library()
    wanted = source.categories() if category == "all" else [category]
    return [f"shapenet:{word}/#{k + 1}" for word in wanted for k in range(len(source.models(word)[:limit]))]


def report(read: list[str], broken: dict[str, str], noted: dict[str, list[str]]) -> str:
    """Return a summary: models per category, kinds of notes with their counts, and errors."""
    lines = []
    for category in dict.fromkeys(name.removeprefix("shapenet:").split("/")[0] for name in [*read, *broken]):
        good, bad = (sum(f":{category}/" in name for name in group) for group in (read, broken))
        lines.append(f"{category} {word_of(category)}: {good} read, {bad} broken")
    counts = Counter(kind for notes in noted.values() for note in notes for kind in KINDS if kind in note)
    lines += [f"  {count} x {kind}" for kind, count in counts.most_common()]
    lines += [f"broken: {name}: {text}" for name, text in broken.items()]
    lines.append(f"{len(read)} models read, {len(noted)} of them repaired, {len(broken)} broken")
    return "\n".join(lines) + "\n"


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("root", type=Path)
    parser.add_argument("--up", default="+y")
    parser.add_argument("--front", default="-z")
    parser.add_argument("--limit", type=positive, help="maximum number of models per category")
    parser.add_argument("--category", default="all")
    parser.add_argument("--json", type=Path, help="write every model's notes and errors to this file")


def main(options: Namespace) -> int:
    """Run the check; 1 if a model is broken."""
    set_library_environment((str(options.root.absolute()), options.up, options.front))
    read, broken, noted = list[str](), dict[str, str](), dict[str, list[str]]()
    models = [library().find(name)[0] for name in names_of(options.category, options.limit)]
    for name in tqdm(models, desc="reading", unit="model", disable=None, delay=2):
        try:
            if notes := list(load_model(name).notes):
                noted[name] = notes
            read.append(name)
        except DioramaError as error:
            broken[name] = str(error)
    sys.stdout.write(report(read, broken, noted))
    if options.json is not None:
        options.json.write_text(json.dumps({"read": read, "broken": broken, "notes": noted}, indent=1) + "\n")
    return int(bool(broken))
