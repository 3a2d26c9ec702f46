"""Models of strangers that ask for much, or for what is not theirs: one line, bounded, and nothing else is opened."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import pytest

from tests.hostile.traps import ROOT
from tests.render.ingest.hostile_blends import KINDS
from tests.render.ingest.hostile_files import COLLADA, READ, REFUSED, write_all

pytestmark = pytest.mark.slow

# Seconds for a model that is stopped, and MB of a process that reads one, with Blender itself.
LONGEST, MOST = 45.0, 3000
CALLS = "openat,open,openat2,creat,execve,execveat,socket,connect,landlock_restrict_self,clone,clone3,fork,vfork"
_OPENED = re.compile(r"^(?:openat|open|openat2|creat)\(.* = \d+<(/.*)>$")
_STARTED = re.compile(r"^(?:clone|clone3|fork|vfork)\(.* = (\d+)(?:<.*>)?$")

BLENDS = {
    "image_outside": "is not there",
    "movie_outside": "can't be read as a picture",
    "tiles_outside": "can't be read as a picture",
    "generated_bomb": "1,600,000,000 pixels",
    "library_outside": "Permission denied",
    "animation": "animations left out",
    "cache_outside": "1 volume left out",
    "many_nodes": "nodes of materials; allowed",
    "nested_groups": "nodes of materials; allowed",
    "many_copies": "12,000,000 triangles; allowed",
    "nested_instances": "12,000,000 triangles; allowed",
}
STOPPED = ("many_nodes", "nested_groups", "many_copies", "nested_instances", "subdivided", "generated_bomb")


@dataclass(frozen=True)
class Ended:
    """What became of all models.

    Attributes:
        ends: name -> error or notes, and seconds.
        peak: MB of the largest process.
        held: name -> what a worker's Blender holds of it.
        reading: trace of the processes that read.
        showing: trace of the process that rendered.
        base: folder of all.
    """

    ends: dict[str, Any]
    peak: float
    held: dict[str, list[str]]
    reading: Path
    showing: Path
    base: Path


def run(*command: str | Path, trace: Path | None = None, base: Path) -> None:
    """Run a program of the tests, with a file of its calls for each thread."""
    traced: list[str | Path] = [] if trace is None else ["strace", "-ff", "-y", "-s", "500", "-o", trace / "calls"]
    traced += [] if trace is None else ["-e", f"trace={CALLS}"]
    if trace is not None:
        trace.mkdir()
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(base), "DIORAMA_CACHE": str(base / "cache")}
    full = [*traced, sys.executable, "-W", "ignore", "-m", *command]
    subprocess.run(full, check=True, capture_output=True, timeout=900, cwd=ROOT, env=environment)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    base = tmp_path_factory.mktemp("hostile")
    root, secret = base / "root", base / "secret"
    write_all(root, secret)
    run("tests.render.ingest.hostile_blends", root, secret, base=base)
    module = "tests.render.ingest.hostile_run"
    run(module, "read", root, base / "read.json", trace=base / "reading", base=base)
    run(module, "show", base / "read.json", base / "shown.json", trace=base / "showing", base=base)
    result, held = (json.loads((base / name).read_text()) for name in ("read.json", "shown.json"))
    return Ended(result["ends"], result["peak"], held, base / "reading", base / "showing", base)


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_one_line(ended: Ended, name: str) -> None:
    end = ended.ends[name.replace("/", "_")]
    assert "error" in end, end
    assert re.search(REFUSED[name][1], end["error"])


@pytest.mark.parametrize("name", READ)
def test_it_is_read_without_what_it_must_not_have(ended: Ended, name: str) -> None:
    end = ended.ends[name.replace("/", "_")]
    assert READ[name][1] in " ".join(end.get("notes", [end.get("error", "")]))


@pytest.mark.parametrize("name", COLLADA)
def test_entities_and_pictures_of_xml_are_not_opened(ended: Ended, name: str) -> None:
    end = ended.ends[name.replace("/", "_")]
    assert bpy.app.version < (5, 0) or "reads no .dae" in end["error"]


@pytest.mark.parametrize("name", [change.__name__ for change in KINDS])
def test_a_blend_is_refused_or_read_without_what_it_must_not_have(ended: Ended, name: str) -> None:
    end = ended.ends[name]
    assert ("error" in end) == (name in STOPPED), end
    assert BLENDS.get(name, "") in end.get("error", " ".join(end.get("notes", [])))


def test_each_ends_in_time_and_in_one_line(ended: Ended) -> None:
    assert len(ended.ends) == len(REFUSED) + len(READ) + len(COLLADA) + len(KINDS) >= 80
    for name, end in ended.ends.items():
        assert end["seconds"] < LONGEST, (name, end)
        for text in (end.get("error", ""), *end.get("notes", ())):
            assert "\n" not in text and "Traceback" not in text, (name, text)
    assert ended.peak < MOST


def test_a_worker_gets_meshes_materials_and_packed_images_alone(ended: Ended) -> None:
    read = {name for name, end in ended.ends.items() if "error" not in end}
    assert ended.held.keys() == read and len(read) > 25
    kinds = {text for texts in ended.held.values() for text in texts}
    assert kinds == {"MESH", "MATERIAL", "IMAGE"} or kinds == {"MESH", "MATERIAL", "IMAGE", "NODETREE"}, kinds


def threads(folder: Path) -> dict[str, list[str]]:
    """Number of a thread -> its calls."""
    return {path.name.rpartition(".")[2]: path.read_text().splitlines() for path in folder.iterdir()}


def confined(calls: dict[str, list[str]]) -> Iterator[str]:
    """Calls of the processes that read models, and of the threads they start, from when they are confined."""
    for lines in calls.values():
        starts = [k for k, line in enumerate(lines) if line.startswith("landlock_restrict_self") and "= 0" in line]
        waiting = [lines[starts[0] :]] if starts else []
        while waiting:
            own = waiting.pop()
            yield from own
            waiting += [calls.get(match[1], []) for line in own if (match := _STARTED.match(line))]


def opened(lines: Iterator[str]) -> set[Path]:
    return {Path(match[1]) for line in lines if (match := _OPENED.match(line))}


def is_below(path: Path, *folders: Path | str) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def test_no_file_outside_is_opened_while_a_model_is_read(ended: Ended) -> None:
    calls = threads(ended.reading)
    assert sum("landlock_restrict_self" in line for lines in calls.values() for line in lines) > 60
    paths = opened(confined(calls))
    libraries = [Path(prefix) / "lib" for prefix in (sys.prefix, sys.base_prefix)]
    inside: tuple[Path | str, ...] = (
        ended.base / "root",
        ended.base / "cache",
        Path(bpy.__file__).parent,
        *libraries,
        "/dev/null",
        "/dev/urandom",
    )
    assert len([path for path in paths if is_below(path, ended.base / "root")]) > 30
    assert [path for path in paths if not is_below(path, *inside)] == []
    started = [
        line for line in confined(calls) if line.startswith(("execve", "socket", "connect")) and " = -" not in line
    ]
    assert started == []
    assert not (ended.base / "secret/mark").exists()


def test_a_worker_opens_no_file_of_a_model(ended: Ended) -> None:
    paths = opened(line for lines in threads(ended.showing).values() for line in lines)
    of_test = {path for path in paths if is_below(path, ended.base)}
    known = (ended.base / "cache", ended.base / "read.json", ended.base / "shown.json", ended.base / ".config")
    assert len({path for path in of_test if path.suffix == ".blend"}) > 25
    assert {path for path in of_test if not is_below(path, *known)} == set()
    system = ("/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev", "/tmp", ROOT, sys.prefix, sys.base_prefix)
    assert {path for path in paths - of_test if not is_below(path, *system)} == set()
