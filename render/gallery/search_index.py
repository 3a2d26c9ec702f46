"""The index of a gallery: facts of episodes as columns, in script files of a few thousand episodes each.

Repeated values (a task, a set of colors) are numbers in a column and listed once. Searchable texts have their own
files, which the page loads at the first search.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from diorama.render import __version__
from diorama.render.gallery.gallery_files import own_folders, script_call
from diorama.render.io.atomic_output import put_file, remove_folder
from diorama.scene_specs.language.vocabulary import COLORS

_ROWS_PER_FILE = 4096
# Columns with one word, with a set of words, and with plain values.
WORDS = ("benchmark", "task", "split", "profile", "stage")
SETS = ("shape", "color", "material", "checks")
VALUES = ("id", "key", "images", "objects", "visible", "seconds", "created")
_SITE = resources.files("diorama.render.gallery") / "site"


def _numbering() -> defaultdict[str, int]:
    """Word -> number, counted from 0 in the order of first use."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def write_index(out: Path, rows: Sequence[str], facts: dict[str, Any]) -> None:
    """Write the page of a gallery and its index, then delete the previous index.

    rows: JSON (diorama.render.gallery.episode_facts) in the order of the list. facts: of the gallery, for its heading.
    """
    files = dict(_scripts(rows, facts))
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{files[name]}\0".encode())
    folder = f"data/{digest.hexdigest()[:12]}"
    for name, text in files.items():
        put_file(out, f"{folder}/{name}", text.encode(), overwrite=True)
    static = {item.name: item.read_bytes() for item in _SITE.iterdir() if item.name.endswith((".js", ".css", ".svg"))}
    for name, content in static.items():
        put_file(out, f"static/{name}", content, overwrite=True)
    listed = [f"{folder}/{name}" for name in files if not name.startswith("text-")]
    put_file(out, "index.html", _page(static, listed, facts).encode(), overwrite=True)
    for old in own_folders(out, "data", "[0-9a-f]{12}"):
        if str(old) != folder:
            remove_folder(out, old)


def _page(static: dict[str, bytes], data: Sequence[str], facts: dict[str, Any]) -> str:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((_SITE / "index.html.j2").read_text("utf-8"))
    # A browser that has cached the scripts of an older gallery must load the new ones.
    marks = {name: hashlib.sha256(content).hexdigest()[:8] for name, content in static.items()}
    return template.render(title=facts["title"], static=marks, data=data, version=__version__)


def _scripts(rows: Sequence[str], facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(file name, content): the columns, the texts, and last `gallery.js`, which lists what the numbers stand for."""
    words = {name: _numbering() for name in (*WORDS, *SETS, "things")}
    sets = {name: _numbering() for name in SETS}
    damaged: dict[str, list[str]] = {}
    texts = []
    for number, start in enumerate(range(0, len(rows), _ROWS_PER_FILE)):
        chunk = [json.loads(row) for row in rows[start : start + _ROWS_PER_FILE]]
        damaged.update({row["id"]: row["problems"] for row in chunk if "problems" in row})
        yield f"index-{number:04}.js", script_call("Gallery.data.columns", number, _columns(chunk, words, sets))
        found = {
            "text": [row["text"] for row in chunk],
            "things": [[words["things"][text] for text in row["things"]] for row in chunk],
        }
        texts.append(f"text-{number:04}.js")
        yield texts[-1], script_call("Gallery.data.texts", number, found)
    head = {
        **facts,
        "episodes": len(rows),
        "words": {name: list(numbers) for name, numbers in words.items()},
        "sets": {name: [json.loads(words) for words in numbers] for name, numbers in sets.items()},
        "texts": texts,
        "palette": dict(COLORS),
        "damaged": damaged,
    }
    yield "gallery.js", script_call("Gallery.data.begin", head)


def _columns(
    chunk: Sequence[dict[str, Any]], words: dict[str, defaultdict[str, int]], sets: dict[str, defaultdict[str, int]]
) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [row[name] for row in chunk] for name in VALUES}
    for name in WORDS:
        columns[name] = [-1 if row[name] is None else words[name][row[name]] for row in chunk]
    for name in SETS:
        columns[name] = [sets[name][json.dumps([words[name][word] for word in row[name]])] for row in chunk]
    return columns
