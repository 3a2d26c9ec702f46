"""Change published items at random; count what the commands notice.

    python -m tools tampering [BENCHMARK...] [--changes 100] [--seed 0]

For each benchmark, the tool makes a small set in four places: specs, a store, the files that Diorama writes (`export`),
and the same files as others publish them, without what only Diorama writes (`imported`). Each change alters one unit of
a place, drawn uniformly: a leaf of JSON data, a cell of a table, a file, or a row. The new value is one that another
unit of this kind has; if there is none, a value of the same type. Fields that nothing else in the place determines are
left out; FREE lists them. The tool knows no verifier: it calls the commands that a user would, and a change is noticed
if one of them ends with another exit code than 0. Exit code 1: an unchanged place is refused, or less than 97 % of a
benchmark's changes are noticed.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import logging
import re
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import lance
import numpy as np
import pyarrow as pa

from diorama.scene_specs.files.tables import markdown_table
from tools.programs import positive

PLACES = ("specs", "store", "export", "imported")
PLAYERS = ("--speaker", "scripted", "--listener", "literal")
LEAST_SHARE = 0.97
HEAD = ("benchmark", "place", "units", "left out, %", "changes", "noticed")
# How each benchmark's small set is made: options of `render-specs`, one call per file of specs.
SPECS: Mapping[str, tuple[str, ...]] = {
    "icca": ("icca --contexts 4 --seed 1", "icca --contexts 2 --source tangram --seed 2"),
    "iwisdm": tuple(f"iwisdm --benchmark {level} --count 4 --seed 1" for level in ("low", "medium", "high")),
    "kilogram": ("kilogram --condition four --contexts 1 --seed 1 --split dev",),
    "malevic": ("malevic --set main --split val --count 3 --seed 1", "malevic --set hard --split test --count 2"),
    "mewl": ("mewl --split val --count 2 --seed 1",),
}
# Games of KiloGram are large.
MOST_SPECS = {"kilogram": 16}
SIZE = {"malevic": "256x256", "kilogram": "224x224", "iwisdm": "64x64"}
# Not among what others publish: tables for a notebook, and games that were not played.
UNREAD = {"icca": ("records_*",)}
# Tasks of MEWL with fewer objects than a camera can be computed from.
FEW = ("shape", "color", "material", "composite", "number")
# What nothing else in a place determines: patterns of `<place> <kind of unit>`, in which a list's index is [] and a
# number #. Specs of MEWL also name the task.
_LOOKS = r"frames\[\]\.objects\[\]\."
FREE: Mapping[str, Sequence[str]] = {
    "icca": (
        r"specs .*(seed|area\..*|camera\..*|rotation_deg|location\[\]|constraints.*|number|version|background.*)",
        r"specs .*objects\[\]\.(shape\.polygon.*|shape\.height|material\.\w+)|specs .*(antialias|canvas\[\])",
        r"specs .*truth\.(annotation|whole)",
        r"(export|imported) .*trials.*\.csv (time|iterationName)|imported .*trials.*\.csv msg",
        r"imported t\.jsonl (message|usage.*|speaker|listener|speaker_variant|form)|imported file \.png",
    ),
    "iwisdm": (
        r"specs .*(seed|view\.elevation_deg|fixation|task\.(number|task|name)|version|objects\[\]\.name)",
        r"imported .*(obj\.(object|category|view angle)|first_shareable)",
    ),
    "kilogram": (r"specs .*(seed|version|antialias|task\.number)",),
    "malevic": (r"specs .*(seed|version)",),
    "mewl": (
        r"specs \w+ (seed|version|.*objects\[\]\.name|task\.options\[\])",
        rf"specs (relation|composite) {_LOOKS}(size|material)",
        rf"specs (number|pragmatic|bootstrap) {_LOOKS}\w+",
        r"specs (relation|bootstrap) frames\[\]\.constraints\[\]\..*",
        r"imported .*rotation",
        rf"imported ({'|'.join(FEW)}) .*(pixel_coords\[\]|3d_coords\[\])",
        r"imported (shape|color|material) info\.json objects\..*",
    ),
}
# Of Diorama alone: files, and keys of JSON files.
OWN_FILES = ("SHA256SUMS", "annotations.json", "game.json", ".diorama-export.json", "vocab.json", "*.h5")
OWN_KEYS = ("diorama", "camera", "bbox", "mask", "sha256")
Keys = tuple[str | int, ...]


class Unit(NamedTuple):
    """What a change alters.

    Attributes:
        file: relative to the place; of a store the name of the column.
        kind: units of one kind have values of one type.
        keys: where the leaf is in the file; () for the complete file.
    """

    file: str
    kind: str
    keys: Keys
    value: Any


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="BENCHMARK", help=f"{', '.join(SPECS)} (default: all)")
    parser.add_argument("--changes", type=positive, default=100, help="per benchmark and place")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--places", nargs="*", default=PLACES, choices=PLACES, help="default: all")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the sets here")


def main(options: Namespace) -> int:
    """Print the table and every miss; 1 if a bar is missed."""
    rows, misses, failed = [], [], False
    with TemporaryDirectory() as temporary:
        for name in options.names or SPECS:
            work = (options.keep or Path(temporary)) / name
            make_set(name, work)
            noticed = total = 0
            for place in options.places:
                row, missed, refused = judge(name, place, work, options.changes, options.seed)
                rows.append(row)
                sys.stderr.write(f"{row}\n")
                misses += [f"- {name}, {place}: {text}\n" for text in missed]
                failed |= refused
                noticed, total = noticed + row[-1], total + row[-2]
            rows.append((name, "all", "", "", total, noticed))
            failed |= noticed < LEAST_SHARE * total
    sys.stdout.write(markdown_table(HEAD, rows) + "\nMisses:\n\n" + "".join(misses))
    return int(failed)


def run(line: str | Sequence[object], log: list[str] | None = None) -> int:
    """Return the exit code of a command of Diorama, run in this process."""
    program, *arguments = line.split() if isinstance(line, str) else map(str, line)
    main_of = import_module(f"diorama.render.cli.{program.removeprefix('render-')}").main
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            main_of(arguments)
        except SystemExit as error:
            code = int(error.code or 0)
        finally:
            logging.getLogger().handlers.clear()
    if log is not None:
        log.append(output.getvalue())
    return code


def make_set(name: str, work: Path) -> None:
    """Write the four places of a benchmark. Raises RuntimeError if a command fails."""

    def call(*line: object) -> None:
        log: list[str] = []
        if not work.with_suffix(".done").exists() and run(line, log):
            raise RuntimeError(f"{line}: {log}")

    specs, store = work / "specs", work / "store"
    specs.mkdir(parents=True, exist_ok=True)
    for number, options in enumerate(SPECS[name]):
        call("render-specs", *options.split(), "--out", specs / f"{number}.jsonl")
    files = sorted(specs.glob("*.jsonl"))
    for file in files if name in MOST_SPECS else ():
        lines = file.read_text("utf-8").splitlines(keepends=True)
        file.write_text("".join(lines[: MOST_SPECS[name]]), "utf-8")
    rendered = ("--renderer", "fake", "--profile", "draft", "--size", SIZE.get(name, "64x48"))
    call("render-batch", *files, *rendered, "--out", store)
    export = work / "export"
    if name == "icca":
        call("render-specs", "icca", "games", store, "--out", export)
        call(
            "render-specs",
            "icca",
            "play",
            export,
            *PLAYERS,
            "--out",
            export / "t.jsonl",
            "--folders",
            export / "played",
        )
    else:
        call("render-export", store, "--format", name, "--out", export)
    work.with_suffix(".done").touch()
    shutil.rmtree(work / "imported", ignore_errors=True)
    shutil.copytree(export, work / "imported", ignore=shutil.ignore_patterns(*OWN_FILES, *UNREAD.get(name, ())))
    for folder in (work / "imported").glob("[0-9]*_*"):
        shutil.rmtree(folder)
    for file in (work / "imported").rglob("*.json*"):
        dump(file, _without_own(loaded(file)))


def _without_own(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_own(value) for key, value in data.items() if key not in OWN_KEYS}
    if not isinstance(data, list):
        return data
    # Of lines, those of transcripts, only the header has one.
    lines = [{key: value for key, value in line.items() if key != "sha256"} for line in data if isinstance(line, dict)]
    return lines if lines and "icca_transcript" in lines[0] else [*map(_without_own, data)]


def commands(name: str, place: str, root: Path, work: Path) -> Iterator[Sequence[object]]:
    """Yield the commands by which a user would check a place."""
    out = root.parent / "imported.jsonl"
    out.unlink(missing_ok=True)
    if place == "specs":
        yield ("render-specs", "check", "--prove", *sorted(root.glob("*.jsonl")))
    elif place == "store":
        yield ("render-store", "verify", root)
        yield ("render-specs", "check", "--prove", "--store", root)
    elif name == "icca":
        if place == "export":
            yield ("render-specs", "icca", "play", *sorted(root.glob("[0-9]*_*")), *PLAYERS, "--out", out)
        yield ("render-specs", "icca", "score", root / "played", root / "t.jsonl")
    else:
        yield from imports(name, root, out)
        if place == "export":
            yield ("render-export", work / "store", "--format", name, "--out", root)


def imports(name: str, root: Path, out: Path) -> Iterator[Sequence[object]]:
    """Yield imports of all files of a folder, each followed by the proof of what it gives."""
    calls: list[tuple[object, ...]] = []
    if name == "malevic":
        for questions in sorted(root.glob("*_dataset/*.json")):
            if not questions.name.startswith(("annotations", "vocab")):
                scenes = questions.with_name(f"annotations_{questions.name}")
                calls.append((scenes, "--questions", questions, "--images", questions.with_suffix("")))
    elif name == "kilogram":
        for games in sorted(root.glob("*/texts/controlled/*.json")):
            if "stimuli" not in games.name:
                calls.append((games, "--images", games.parents[2] / "images/color"))
    elif name == "iwisdm":
        calls += [(folder,) for folder in sorted(root.glob("*/*/t*s"))]
    else:
        calls += [(folder, *(("--camera", "nominal") * (folder.name in FEW))) for folder in sorted(root.glob("*/*"))]
    for arguments in calls:
        out.unlink(missing_ok=True)
        yield ("render-specs", "import", "--from", name, "--strict", *arguments, "--out", out)
        yield ("render-specs", "check", "--prove", out)


def leaves(data: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    """Yield keys and value of everything in JSON data that is no list and no object."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, (*keys, key))
    else:
        yield keys, data


def kind_of(keys: Keys) -> str:
    """Return the kind of a leaf: its keys without indices and numbers."""
    return "".join("[]" if isinstance(key, int) else f".{re.sub('[0-9]+', '#', key)}" for key in keys).lstrip(".")


def loaded(file: Path) -> Any:
    """Return the data of a text file: JSON, or the rows of a table."""
    text = file.read_text("utf-8")
    if file.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    return [*csv.DictReader(io.StringIO(text, newline=""))] if file.suffix == ".csv" else json.loads(text)


def dump(file: Path, data: Any) -> None:
    """Write what `loaded` returns."""
    if file.suffix == ".csv":
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, [*data[0]])
            writer.writeheader()
            writer.writerows(data)
    else:
        lines = data if file.suffix == ".jsonl" else [data]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def units_of(name: str, place: str, root: Path) -> Iterator[Unit]:
    """Yield all units of a place."""
    if place == "store":
        rows = lance.dataset(str(root)).to_table().to_pylist()
        for number, row in enumerate(rows):
            yield Unit("row", "row", (number,), None)
            for column, value in row.items():
                data = json.loads(value) if isinstance(value, str) and value[:1] in "[{" else value
                for keys, leaf in leaves(data):
                    yield Unit(column, f"{column} {kind_of(keys)}", (number, *keys), leaf)
        return
    for file in sorted(path for path in root.rglob("*") if path.is_file() and path.name != ".diorama-export.json"):
        path = file.relative_to(root).as_posix()
        yield Unit(path, f"file {file.suffix}", (), None)
        if file.suffix not in (".json", ".jsonl", ".csv"):
            continue
        label = re.sub("[0-9]+", "#", file.name) if place != "specs" else ""
        data = loaded(file)
        for number in range(len(data)) if isinstance(data, list) else ():
            yield Unit(path, f"row {label}", (number,), None)
        for keys, value in leaves(data):
            if name == "mewl":
                label = data[keys[0]]["task"]["name"] if place == "specs" else f"{file.parents[1].name} {file.name}"
            kind = f"{label} {kind_of(keys[isinstance(data, list) :])}"
            yield Unit(path, re.sub("[0-9]+", "#", kind).lstrip(), keys, value)


def another(value: Any, others: Sequence[Any], rng: np.random.Generator) -> Any:
    """Return another value of the same type; None if there is none."""
    unlike = [other for other in others if other != value and isinstance(other, type(value))]
    if unlike:
        return unlike[int(rng.integers(len(unlike)))]
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return round(value * 1.25 + 0.25, 4)
        case bytes():
            return value[: len(value) // 2]
    return None


def change(unit: Unit, value: Any, root: Path, siblings: Sequence[Unit], rng: np.random.Generator) -> str:
    """Change a unit of a folder; return in words how, "" if it can't be changed."""
    file = root / unit.file
    if unit.keys == ():
        unlike = [other.file for other in siblings if (root / other.file).read_bytes() != file.read_bytes()]
        if not unlike:
            return ""
        source = unlike[int(rng.integers(len(unlike)))]
        shutil.copyfile(root / source, file)
        return f"{unit.file}: the content of {source}"
    data = loaded(file)
    at: Any = data
    for key in unit.keys[:-1]:
        at = at[key]
    if unit.kind.startswith("row "):
        rows = [row for row in data if row != data[unit.keys[0]]]
        if not rows:
            return ""
        value = rows[int(rng.integers(len(rows)))]
    at[unit.keys[-1]] = value
    dump(file, data)
    return f"{unit.kind} of {unit.file} {list(unit.keys)}: {unit.value!r:.60} to {str(value)!r:.60}"


def change_store(unit: Unit, value: Any, source: Path, target: Path, rng: np.random.Generator) -> str:
    """Write a copy of a store with one unit changed; return in words how, "" if it can't be changed."""
    dataset = lance.dataset(str(source))
    rows = dataset.to_table().to_pylist()
    number, *keys = unit.keys
    if unit.file == "row":
        other = rows[int(rng.integers(len(rows)))]
        if other is rows[number]:
            return ""
        rows[number] = {**other, "episode_id": rows[number]["episode_id"]}
    else:
        stored = rows[number][unit.file]
        data: Any = {"": json.loads(stored) if isinstance(stored, str) and stored[:1] in "[{" else stored}
        at = data
        for key in ("", *keys[:-1]) if keys else ():
            at = at[key]
        at[keys[-1] if keys else ""] = value
        text = isinstance(stored, str) and stored[:1] in "[{"
        rows[number][unit.file] = json.dumps(data[""], separators=(",", ":"), ensure_ascii=False) if text else data[""]
    lance.write_dataset(pa.Table.from_pylist(rows, schema=dataset.schema), str(target))
    return f"{unit.kind} of row {number} {keys}: {unit.value!r:.60} to {str(value)!r:.60}"


def judge(name: str, place: str, work: Path, changes: int, seed: int) -> tuple[tuple[Any, ...], list[str], bool]:
    """Return the row of a place, its misses, and whether the unchanged place is refused."""
    rng = np.random.default_rng([seed, *f"{name} {place}".encode()])
    units = [*units_of(name, place, work / place)]
    free = re.compile("|".join(FREE[name]))
    kept = [unit for unit in units if not free.fullmatch(f"{place} {unit.kind}")]
    by_kind: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_kind[unit.kind].append(unit)
    constant = {
        kind for kind, listed in by_kind.items()
        if isinstance(listed[0].value, str | type(None)) and listed[0].keys and not kind.startswith("row")
        and len({unit.value for unit in listed}) == 1
    }  # fmt: skip
    # Of constant texts there is no other valid value.
    kept = [unit for unit in kept if unit.kind not in constant]
    missed, done, folder = [], 0, work / "changed"
    log: list[str] = []
    refused = noticed(name, place, work / place, work, log)
    if refused:
        sys.stderr.write(f"{name}, {place}: refused unchanged: {log[-1][-600:]}\n")
    while done < changes:
        unit = kept[int(rng.integers(len(kept)))]
        value = another(unit.value, [other.value for other in by_kind[unit.kind]], rng)
        shutil.rmtree(folder, ignore_errors=True)
        if unit.keys and not unit.kind.startswith("row") and value is None:
            continue
        root = folder / place
        if place == "store":
            text = change_store(unit, value, work / place, root, rng)
        else:
            shutil.copytree(work / place, root)
            text = change(unit, value, root, by_kind[unit.kind], rng)
        if not text:
            continue
        done += 1
        if not noticed(name, place, root, work, log):
            missed.append(text)
            sys.stderr.write(f"miss: {name}, {place}: {text}\n")
    share = f"{100 * (1 - len(kept) / len(units)):.1f}"
    return (name, place, len(units), share, changes, changes - len(missed)), missed, refused


def noticed(name: str, place: str, root: Path, work: Path, log: list[str]) -> bool:
    """Return whether a command refuses a place."""
    return any(run(line, log) for line in commands(name, place, root, work))
