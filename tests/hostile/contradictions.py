"""Invent contradictions in published files and count the refused ones.

    python -m tools contradictions [KIND...] [--invented 40] [--clean 600] [--seed 0]

For each benchmark, the tool writes items in the published form, changes one copy of a fact in some of them, and imports
each item with --strict and proves it. A changed value is one that another item has at the same place. Prints a row per
kind: invented contradictions, refused by name (the file or the episode is named), clean items, refused clean items, and
what passed. Exit code 1: a clean item was refused, or less than 39 of 40 contradictions.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.benchmarks.icca.transcripts import lines_of, read_transcripts
from diorama.scene_specs.benchmarks.iwisdm.export import task_file
from diorama.scene_specs.benchmarks.iwisdm.stimuli import VIEW_ANGLES
from diorama.scene_specs.benchmarks.iwisdm.truth import Truth
from diorama.scene_specs.benchmarks.malevic.sets import SETS
from diorama.scene_specs.benchmarks.mewl.export import files_of
from diorama.scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.benchmark import benchmark
from tests import factories
from tests.scene_specs.benchmarks.icca import pieces
from tests.scene_specs.benchmarks.kilogram.published import make_games, make_published
from tests.scene_specs.benchmarks.malevic.published_files import published
from tools.claims.published import without_warnings
from tools.programs import positive

HEAD = ("benchmark", "invented", "refused", "clean", "refused clean", "passed")
# Changed numbers differ by more than the rounding of published files.
LEAST_CHANGE = 0.02
Where = tuple[Path, tuple[str | int, ...]]


class Kind(NamedTuple):
    """A benchmark's items.

    Attributes:
        write: writes item number n into an empty folder.
        facts: file name -> the paths of facts in it that the item holds elsewhere, too; `*` is any index.
        read: imports and proves the item of a folder; returns or raises what is wrong.
    """

    write: Callable[[Path, int], None]
    facts: Mapping[str, str]
    read: Callable[[Path], str]


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)} (default: all)")
    parser.add_argument("--invented", type=positive, default=40, help="contradictions per kind")
    parser.add_argument("--clean", type=positive, default=600, help="clean items per kind")
    parser.add_argument("--seed", type=int, default=0)


def main(options: Namespace) -> int:
    """Print the table; 1 if a bar is missed."""
    rows = []
    with TemporaryDirectory() as work, without_warnings():
        for name in options.kinds or KINDS:
            rows.append(count(name, Path(work) / name, options.invented, options.clean, options.seed))
            sys.stderr.write(f"{rows[-1]}\n")
    sys.stdout.write(markdown_table(HEAD, rows))
    return int(any(row[4] or 40 * row[2] < 39 * row[1] for row in rows))


def count(name: str, work: Path, invented: int, clean: int, seed: int) -> tuple[str, int, int, int, int, str]:
    """Return the row of a kind."""
    kind = KINDS[name]
    items = [work / f"{number:04d}" for number in range(max(clean, invented))]
    for number, item in enumerate(items):
        item.mkdir(parents=True)
        kind.write(item, number)
    wrong = [said for item in items[:clean] if (said := refusal(kind, item))]
    known = values(kind, items)
    rng, passed = np.random.default_rng([seed, *name.encode()]), []
    for number in range(invented):
        copy = work / "changed"
        shutil.copytree(items[number], copy)
        what = change(kind, copy, known, rng)
        if not refusal(kind, copy):
            passed.append(what)
        shutil.rmtree(copy)
    return name, invented, invented - len(passed), clean, len(wrong), "; ".join([*passed, *wrong[:3]])


def refusal(kind: Kind, item: Path) -> str:
    """Return why an item is refused, "" if it is not."""
    try:
        return kind.read(item)
    except SpecError as error:
        return str(error)


def facts(kind: Kind, item: Path) -> Iterator[tuple[Where, str, Any]]:
    """Yield where the copied facts of an item are, what they are, and their values."""
    for pattern, paths in kind.facts.items():
        for file in sorted(item.rglob(pattern)):
            for path, value in leaves(loaded(file)):
                name = ".".join(
                    "*" if isinstance(key, int) and at < len(path) - 1 else str(key) for at, key in enumerate(path)
                )
                if re.fullmatch(paths, name):
                    yield (file.relative_to(item), path), f"{pattern}: {name}", value


def loaded(file: Path) -> Any:
    text = file.read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()] if file.suffix == ".jsonl" else json.loads(text)


def leaves(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield path and value of everything in JSON data that is no list and no object."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(value, (*path, key))
    else:
        yield path, data


def values(kind: Kind, items: list[Path]) -> dict[str, list[Any]]:
    """Return all values of each fact."""
    found: dict[str, list[Any]] = {}
    for item in items[:60]:
        for _, name, value in facts(kind, item):
            found.setdefault(name, []).append(value)
    return found


def differs(one: Any, two: Any) -> bool:
    """Return whether two values can't be the same fact."""
    try:
        return abs(float(one) - float(two)) > LEAST_CHANGE
    except (TypeError, ValueError):
        return bool(one != two)


def change(kind: Kind, item: Path, known: Mapping[str, list[Any]], rng: np.random.Generator) -> str:
    """Change a fact of an item, and return which. Kinds of facts are equally likely."""
    by_name: dict[str, list[tuple[Where, Any]]] = {}
    for where, name, value in facts(kind, item):
        if any(differs(other, value) for other in known[name]):
            by_name.setdefault(name, []).append((where, value))
    name = sorted(by_name)[int(rng.integers(len(by_name)))]
    (file, path), old = by_name[name][int(rng.integers(len(by_name[name])))]
    others = [other for other in known[name] if differs(other, old)]
    new = others[int(rng.integers(len(others)))]
    data = loaded(item / file)
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    lines = data if file.suffix == ".jsonl" else [data]
    (item / file).write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    return f"{name} {old!r} to {new!r}"


def imported(name: str, path: Path, **options: Any) -> list[Any]:
    """Return the specs of an import with --strict. Raises SpecError."""
    episodes = benchmark(name).function("importing:import_published")(path, "recover", True, **options)
    return [one.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for one in episodes]


def proved(name: str, specs: list[Any]) -> str:
    """Return why an episode does not prove, with its id, "" if all do."""
    verify = benchmark(name).function("verify:verify_spec")
    return next((f"{one['id']}: {said}" for one in specs if (said := verify(one))), "")


def write_mewl(item: Path, number: int) -> None:
    spec = mewl_spec(3, "val", TASKS[number % len(TASKS)], number)
    episode, settings = EpisodeSpec.model_validate(spec), settings_for("draft", 120, 90)
    record = make_record(FakeRenderer(), episode, factories.make_job(spec), settings)
    folder = item / "val" / spec["task"]["name"] / str(number)
    folder.mkdir(parents=True)
    for name, content in files_of(record, {}).items():
        (folder / name).write_bytes(content)


def write_malevic(item: Path, number: int) -> None:
    names = [name for name, one in SETS.items() if "test" in one.splits]
    published(item, names[number % len(names)], "test", range(number, number + 1), images=False)


def read_malevic(item: Path) -> str:
    (file,), (questions,) = item.glob("*/annotation/*.json"), item.glob("*/dataset/*.json")
    return proved("malevic", imported("malevic", file, questions=questions))


def write_kilogram(item: Path, number: int) -> None:
    """Two games of ten drawings, in an order of the item's own, and the specs that they give."""
    drawings, descriptions, _ = make_published(item, 30)
    folder = make_games(descriptions, item / "development/controlled")
    rng = np.random.default_rng(number)
    rows = json.loads((folder / "part+color.json").read_text("utf-8"))
    pairs = list(dict.fromkeys(zip(rows["images"], rows["texts"], strict=True)))
    games = [[pairs[k] for k in rng.permutation(10)] for _ in range(2)]
    columns = {
        "targets": [game[0][0] for game in games for _ in game],
        "images": [image for game in games for image, _ in game],
        "texts": [text for game in games for _, text in game],
    }
    for file in folder.glob("*.json"):
        if file.name != "part+color.json":
            file.unlink()
    (folder / "part+color.json").write_text(json.dumps(columns))
    specs = imported("kilogram", folder / "part+color.json", svg=drawings, annotations=descriptions)
    (item / "specs.jsonl").write_text("".join(json.dumps(one) + "\n" for one in specs))


def read_kilogram(item: Path) -> str:
    files = {"svg": item / "tangrams-svg", "annotations": item / "dense.json"}
    games = imported("kilogram", item / "development/controlled/part+color.json", **files)
    return proved("kilogram", games) or proved("kilogram", loaded(item / "specs.jsonl"))


def write_iwisdm(item: Path, number: int) -> None:
    level = ("low", "medium", "high")[number % 3]
    (spec,) = diorama.generate("iwisdm", benchmark=level, count=1, seed=number)
    task, truth = spec["task"], Truth.of_spec(spec)
    names = {"location": "location", "category": "category", "identity": "object", "view_angle": "view_angle"}
    objects = []
    for one in task["objects"]:
        space = [int("right" in one["location"]), int("bottom" in one["location"])]
        shown: Any = {"location": str((0.25 + 0.5 * space[0], 0.25 + 0.5 * space[1])), "space": space}
        shown |= {key: one[key] for key in ("category", "object", "is_distractor")}
        shown |= {"view angle": VIEW_ANGLES.index(one["view_angle"]), "epochs": one["frame"]}
        asked = {key: [names[name] for name in listed] for key, listed in one["asked"].items()}
        objects.append({"count": one["number"], "obj": shown, "tasks": [*map(int, asked)], "attended_attr": asked})
    info: Any = {"epochs": len(spec["frames"]), "objects": objects}
    info |= {key: task[key] for key in ("instruction", "answers")}
    trial = item / "low/trials/trial0"
    (trial / "frames").mkdir(parents=True)
    (item / "low/tasks").mkdir()
    (trial / "frames/task_info.json").write_text(json.dumps(info))
    (trial / "annotations.json").write_text(json.dumps({"models": task["models"]}))
    (item / "low/tasks/0.json").write_text(json.dumps(task_file(truth.questions[0], truth)))


def write_icca(item: Path, number: int) -> None:
    """A game folder and the transcript of the game."""
    game, setup = pieces.game(number), pieces.setup(("L1", "L3", "L6")[number % 3])
    players = ("scripted", "random")
    text = "".join(f"{line}\n" for line in lines_of(game, setup, players, pieces.played(game, *players, setup)))
    (item / "t.jsonl").write_text(text, "utf-8")


def read_icca(item: Path) -> str:
    read_transcripts(item / "t.jsonl")
    return ""


_LOOK = "(shape|color|material|size)"
KINDS: Mapping[str, Kind] = {
    "mewl": Kind(
        write_mewl,
        {
            "info.json": r"(context_panels\.\*|question)\.(objects\.\*\.\d|arrow_idx)|question\.answer",
            "question.json": rf"objects\.\*\.({_LOOK}|3d_coords\.2|pixel_coords\.\d)|points_to",
        },
        lambda item: proved("mewl", imported("mewl", item)),
    ),
    "malevic": Kind(
        write_malevic,
        {
            "*_annotation.json": r"\d+\.\*\.(n_objects|n_colors|total_area_px|avg_area_px|m\w\w_(area|radius))|"
            r"\d+\.\*\.objects\.\*\.(radius|area|size|k|thresh_dist|vagueness|prob)|\d+\.\*\.captions\.\*\.caption\w+",
            "test.json": r"questions\.\*\.(question|answer|split|question_family_index|image_filename\w*)",
        },
        read_malevic,
    ),
    "kilogram": Kind(
        write_kilogram,
        {
            "part+color.json": r"(targets|images|texts)\.\d+",
            "specs.jsonl": r"\*\.frames\.\*\.(utterance|objects\.\*\.(color|location\.\d|shape\.polygon\.\*\.\d)|"
            r"truth\.(tangram|whole|hash_text|image|parts\.\*\.(name|color|pieces\.\d)))|\*\.task\.(text|target|answer)",
        },
        read_kilogram,
    ),
    "iwisdm": Kind(
        write_iwisdm,
        {
            "task_info.json": r"epochs|objects\.\*\.(count|tasks\.\d|attended_attr\.\d\.\d)|instruction|answers\.\d|"
            r"objects\.\*\.obj\.(location|space\.\d|category|epochs)",
            "0.json": r"operator\.name|operator\.child.*\.when",
        },
        lambda item: proved("iwisdm", imported("iwisdm", item / "low/trials")),
    ),
    "icca": Kind(
        write_icca,
        {
            "t.jsonl": r"\*\.(trial|repetition|target|(speaker|listener)_label|choice|correct|game|seed)|"
            r"\*\.(shown|order|images)\.\d",
        },
        read_icca,
    ),
}
