"""Where the files of a gallery are, and data as script files.

    <out>/index.html                    the page
          gallery.json                  marks the folder as a gallery; its store and version
          static/                       scripts and style
          episodes/<abc>/<key>/         an episode: page.js, thumbnail.webp, 0.png, 1.png, ...
          data/rows.jsonl               one row of facts per episode; a rerun reads it to skip finished episodes
          data/<hash>/*.js              the same as columns, for the page

The key of an episode is a hash of its id and contents, so a changed episode has another folder, and files that an open
page may still read are never overwritten. An update deletes those that it replaces, and the page then asks to be
reloaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from itertools import chain
from pathlib import Path
from string import Template
from typing import Any

from diorama.render import __version__
from diorama.render.store.rows import finite_json
from diorama.render.uses.io.atomic_output import below, remove_folder
from diorama.render.uses.io.written_files import WrittenFiles
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.foreign import read_foreign
from diorama.scene_specs.language.vocabulary import COLORS

FORMAT_VERSION = 1
MARKER = "gallery.json"
PAGE = "index.html"
EPISODES = "episodes"
ROWS = "data/rows.jsonl"
# 4,096 folders: 10 episodes in each for a store of 40,000, 250 for a million.
_PREFIX = 3
# Harmless in a script file, but not if one is ever inlined in a page. U+2028 and U+2029 end a line in old JavaScript.
_ESCAPED = re.compile("[<>&\u2028\u2029]")


def key_of(episode_id: str, sha256: str | None, text_sha256: str | None) -> str:
    """20 hexadecimal digits that change with an episode's images, annotations, job or provenance."""
    return hashlib.sha256(json.dumps([FORMAT_VERSION, episode_id, sha256, text_sha256]).encode()).hexdigest()[:20]


def folder_of(key: str) -> Path:
    """Return the folder of an episode, below the gallery's."""
    return Path(EPISODES, key[:_PREFIX], key)


def check_target(out: Path) -> None:
    """Raise UsageError for a folder that is not empty and not a gallery, or that has links in place of its own."""
    try:
        # Without the temporary files of a build that was killed.
        names = sorted(path.name for path in out.iterdir() if path.suffix != ".part") if out.exists() else []
    except OSError as error:
        raise UsageError(f"--out {out}: can't be a gallery's folder: {error.strerror or error}") from error
    if names and "gallery" not in read_marker(out):
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise UsageError(f"--out {out}: holds something else than a gallery ({shown}); pass another folder")
    for folder in (EPISODES, "data", "static"):
        for path in below(out, folder).glob("*"):
            below(out, path.relative_to(out))


def read_marker(out: Path) -> dict[str, Any]:
    """Return what a folder says about its gallery; {} if it is none."""
    try:
        marker = json.loads(read_foreign(out / MARKER))
    except (OSError, ValueError):
        return {}
    return marker if isinstance(marker, dict) else {}


def read_rows(out: Path) -> dict[str, str]:
    """Key -> row (JSON text) of the episodes whose folders are complete; incomplete lines are left out."""
    try:
        lines = read_foreign(out / ROWS).decode(errors="replace").split("\n")
    except OSError:
        return {}
    # Anything after the last line break is an incomplete line.
    by_key = {line[8:28]: line for line in lines[:-1] if line.startswith('{"key":"') and line.endswith("}")}
    return {key: row for key, row in by_key.items() if _has_all_files(out / folder_of(key), row)}


def _has_all_files(folder: Path, row: str) -> bool:
    """Whether an episode has all its files; a power failure may leave empty ones."""
    try:
        names = chain(("page.js", "thumbnail.webp"), (f"{number}.png" for number in range(json.loads(row)["images"])))
        # Faster than asking for the size of each file by its name.
        with os.scandir(folder) as files:
            sizes = {file.name: file.stat().st_size for file in files}
        return not folder.is_symlink() and all(sizes.get(name) for name in names)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def stale_folders(out: Path, keys: Mapping[str, Any]) -> Iterator[Path]:
    """Folders of episodes that are not among the keys, and partial folders of an interrupted run."""
    for prefix in own_folders(out, EPISODES, f"[0-9a-f]{{{_PREFIX}}}"):
        for path in own_folders(out, str(prefix), r"[0-9a-f]{20}|\.[0-9a-f]{20}\.partial"):
            if path.name not in keys:
                yield path


def own_folders(out: Path, folder: str, form: str) -> list[Path]:
    """Folders in a folder below `out`, relative to `out`, whose names have a form; others are not the gallery's."""
    paths = below(out, folder).glob("*")
    return sorted(Path(folder, path.name) for path in paths if path.is_dir() and re.fullmatch(form, path.name))


def script_call(function: str, *values: Any) -> str:
    """One line of JavaScript that calls `function` with the values as JSON strings.

    A page opened from a disk may load script files, but no JSON files. JSON.parse keeps the key `__proto__`, which an
    object literal would not. NaN and infinities become the strings "nan", "inf", "-inf".
    """
    return f"{function}({', '.join(_script_literal(value) for value in values)});\n"


def _script_literal(value: Any) -> str:
    text = finite_json(value).replace("\\", "\\\\").replace("'", "\\'")
    text = _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    return f"JSON.parse('{text}')"


_ROWS_PER_FILE = 4096
# Columns with one word, with a set of words, and with plain values.
WORDS = ("benchmark", "task", "split", "profile", "stage")
SETS = ("shape", "color", "material", "checks")
VALUES = ("id", "key", "images", "objects", "visible", "seconds", "created")
_SITE = resources.files("diorama.render.uses.gallery") / "site"
# In the order in which the page loads them.
_SCRIPTS = (
    *("base.js", "data.js", "search.js", "list.js", "masks.js", "picture.js", "tree.js", "about.js", "task.js"),
    *("pair.js", "episode.js", "keys.js", "main.js"),
)


def _new_numbering() -> defaultdict[str, int]:
    """Word -> number, counted from 0 in the order of first use."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def page_files() -> dict[str, bytes]:
    """Name -> content of the scripts and styles."""
    files = (item for item in _SITE.iterdir() if item.name.endswith((".js", ".css", ".svg")))
    return {f"static/{item.name}": item.read_bytes() for item in files}


def write_index(written: WrittenFiles, rows: Sequence[str], facts: dict[str, Any]) -> None:
    """Write the page of a gallery and its index, then delete the previous index.

    Args:
        rows: JSON (diorama.render.uses.gallery.episode_facts) in the order of the list.
        facts: facts about the gallery, for its heading.
    """
    files = dict(_script_files(rows, facts))
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{files[name]}\0".encode())
    folder = f"data/{digest.hexdigest()[:12]}"
    static = page_files()
    page = {PAGE: _page_html(static, [f"{folder}/{name}" for name in files if not name.startswith("text-")], facts)}
    written.put({**{f"{folder}/{name}": text for name, text in files.items()}, **static, **page})
    for old in own_folders(written.out, "data", "[0-9a-f]{12}"):
        if str(old) != folder:
            remove_folder(written.out, old, r"(index|text)-\d+\.js|gallery\.js")


def _page_html(static: dict[str, bytes], data: Sequence[str], facts: dict[str, Any]) -> str:
    # A browser that has cached the scripts of an older gallery must load the new ones.
    urls = {Path(name).name: f"{name}?{hashlib.sha256(content).hexdigest()[:8]}" for name, content in static.items()}
    scripts = [*(urls[name] for name in _SCRIPTS), *data]
    return Template((_SITE / "index.html").read_text("utf-8").removesuffix("\n")).substitute(
        version=__version__,
        # These references for quotes are in the pages of older galleries.
        title=escape(facts["title"], quote=False).replace("'", "&#39;").replace('"', "&#34;"),
        icon=urls["icon.svg"],
        style=urls["gallery.css"],
        scripts="\n".join(f'<script defer src="{url}"></script>' for url in scripts),
    )


def _script_files(rows: Sequence[str], facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(file name, content): the columns, the texts, and last `gallery.js`, which lists what the numbers stand for."""
    words = {name: _new_numbering() for name in (*WORDS, *SETS, "things")}
    sets = {name: _new_numbering() for name in SETS}
    damaged: dict[str, list[str]] = {}
    texts = []
    for number, start in enumerate(range(0, len(rows), _ROWS_PER_FILE)):
        chunk = [json.loads(row) for row in rows[start : start + _ROWS_PER_FILE]]
        damaged.update({row["id"]: row["problems"] for row in chunk if "problems" in row})
        yield f"index-{number:04}.js", script_call("Gallery.data.columns", number, _search_columns(chunk, words, sets))
        searched = {
            "text": [row["text"] for row in chunk],
            "things": [[words["things"][text] for text in row["things"]] for row in chunk],
        }
        texts.append(f"text-{number:04}.js")
        yield texts[-1], script_call("Gallery.data.texts", number, searched)
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


def _search_columns(
    chunk: Sequence[dict[str, Any]], words: dict[str, defaultdict[str, int]], sets: dict[str, defaultdict[str, int]]
) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {name: [row[name] for row in chunk] for name in VALUES}
    for name in WORDS:
        columns[name] = [-1 if row[name] is None else words[name][row[name]] for row in chunk]
    for name in SETS:
        columns[name] = [sets[name][json.dumps([words[name][word] for word in row[name]])] for row in chunk]
    return columns
