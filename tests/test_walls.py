"""The walls of the house stand, and would be seen to fall."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.walls import LAZY_IMPORTS, breaches, circles, import_graph, package_graph

PACKAGES = ("diorama.render", "diorama.scene_specs", "diorama.assets")
# Slow to import, and not needed to print a help text or to find a mistake in an option.
HEAVY = ("bpy", "ray", "numpy", "pydantic", "lance", "pyarrow", "PIL", "OpenEXR", "pycocotools")
_NAMES = ("batch", "specs", "export", "episode", "doctor", "eval", "store", "gallery")
COMMANDS = tuple(f"diorama.render.cli.{name}" for name in _NAMES)
# Where Blender or Ray is at home, these can't be imported without them; nor code of an export without its harness.
NEEDING = (
    "diorama.render.renderers.cycles",
    "diorama.render.ingest",
    "diorama.render.run",
    "diorama.assets.build",
    "diorama.render.uses.live.feed",
    "diorama.render.uses.live.stream",
    "diorama.render.uses.export.harness.",
)


def package_folder(package: str) -> Path:
    path = import_module(package).__file__
    assert path is not None
    return Path(path).parent


def run_python(code: str) -> str:
    """What `code` prints in a fresh interpreter; its error is the test's."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_package_keeps_the_walls(package: str) -> None:
    folder = package_folder(package)
    files = sorted(folder.rglob("*.py"))
    assert files
    found = [
        str(breach)
        for file in files
        for breach in breaches(file.relative_to(folder.parent).as_posix(), file.read_text("utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("module", COMMANDS)
def test_command_starts_light(module: str) -> None:
    printed = run_python(f"import {module}, sys; print(*[m for m in {HEAVY!r} if m in sys.modules])")
    assert not printed.split(), f"importing {module} imports {printed.strip()}; import them where they are used"


def test_everything_else_runs_without_blender_and_ray() -> None:
    """Compiling, reading, exporting and looking are for machines without Blender too."""
    names = [
        found.name
        for package in PACKAGES
        for found in pkgutil.walk_packages([str(package_folder(package))], f"{package}.")
        if not found.name.startswith(NEEDING)
    ]
    assert "diorama.render.geometry.camera" in names
    blocked = "import sys, importlib; sys.modules.update(dict.fromkeys(('bpy', 'mathutils', 'ray')))\n"
    run_python(blocked + f"for name in {names!r}: importlib.import_module(name)")


def all_sources() -> dict[str, str]:
    root = package_folder("diorama").parent
    # Links are followed only where a search begins.
    folders = [root / name.replace(".", "/") for name in ("diorama", *PACKAGES, "tools")]
    files = [file for folder in folders for file in folder.rglob("*.py")]
    return {file.relative_to(root).as_posix(): file.read_text("utf-8") for file in files}


def test_no_modules_and_no_packages_import_each_other_in_a_circle() -> None:
    sources = all_sources()
    assert circles(import_graph(sources)) == []
    assert circles(package_graph(sources)) == []


def test_data_classes_import_nothing_above_them() -> None:
    below = ("files", "language", "reports", "errors", "chat")

    def upward(sources: dict[str, str]) -> list[tuple[str, str]]:
        edges = [[end.removeprefix("diorama.scene_specs.") for end in edge] for edge in import_graph(sources).edges]
        names = [(a, b, a.partition(".")[0], b.partition(".")[0]) for a, b in edges]
        return [(a, b) for a, b, one, other in names if one in ("model", *below) and other not in (one, *below)]

    assert upward(all_sources()) == []
    planted = {
        "diorama/scene_specs/model/a.py": "import diorama.scene_specs.rotation",
        "diorama/scene_specs/rotation.py": "",
    }
    assert upward(planted) == [("model.a", "rotation")]


def test_a_circle_is_seen() -> None:
    sources = {
        "a/__init__.py": "",
        "a/b.py": "from a.c import f",
        "a/c.py": "def f():\n    from a import d",
        "a/d.py": "if TYPE_CHECKING:\n    import a.b",
        "a/e.py": "import a.b",
    }
    assert circles(import_graph(sources)) == [["a.b", "a.c", "a.d"]]


def test_a_circle_of_packages_is_seen_where_no_module_is_in_one() -> None:
    sources = {"a/b/x.py": "import a.c.x", "a/b/y.py": "", "a/c/x.py": "", "a/c/z/y.py": "import a.b.y"}
    assert circles(import_graph(sources)) == []
    assert circles(package_graph(sources)) == [["a.b", "a.c"]]


def test_a_circle_of_a_module_and_the_folder_beside_it_is_seen() -> None:
    sources = {"a/errors.py": "import a.reports.tables", "a/reports/tables.py": "", "a/reports/x.py": "import a.errors"}
    assert circles(import_graph(sources)) == []
    assert circles(package_graph(sources)) == [["a.errors", "a.reports"]]


def test_every_exemption_for_imports_inside_functions_is_used() -> None:
    """An exemption that nothing needs hides the next import."""
    root = package_folder("diorama.render").parent
    sources = {
        file.relative_to(root).as_posix(): file.read_text("utf-8")
        for package in ("render", "scene_specs")
        for file in (root / package).rglob("*.py")
    }
    for place, module in LAZY_IMPORTS:
        used = (text for path, text in sources.items() if path.startswith(place))
        assert any(re.search(rf"^ +(from|import) {re.escape(module)}", text, re.MULTILINE) for text in used), place


PLANTED = [
    ("render/store/x.py", "import bpy", "imports bpy"),
    ("render/cli/x.py", "def f():\n    from bpy.types import Mesh", "imports bpy.types.Mesh"),
    ("render/annotations/x.py", "import importlib\nimportlib.import_module('bpy')", "imports bpy"),
    ("render/compiler/x.py", "from mathutils import Vector", "imports mathutils"),
    ("render/renderers/cycles/x.py", "import ray", "imports ray"),
    ("render/run/x.py", "import click", "imports click"),
    ("scene_specs/x.py", "from diorama.render.api import compile_spec", "imports diorama.render.api"),
    ("scene_specs/x.py", "class A:\n    import diorama.render", "imports diorama.render"),
    (
        "scene_specs/x.py",
        "def f():\n    import diorama.render.api\n    return render",
        "imports diorama.render.api",
    ),
    ("render/cli/x.py", "print('done')", "print()"),
    ("render/store/x.py", "def f():\n    from diorama.scene_specs.model.record import RLE", "inside a function"),
    ("scene_specs/x.py", "import random", "imports random"),
    ("scene_specs/x.py", "from numpy.random import default_rng", "imports numpy.random.default_rng"),
    ("render/compiler/x.py", "import numpy as np\nnp.random.seed(1)", "uses np.random.seed"),
    ("render/compiler/x.py", "import numpy as np\nr = np.random.default_rng(3)", "uses np.random.default_rng"),
    ("render/compiler/x.py", "import numpy as np\nnp.random.Philox()", "without a seed"),
    ("render/compiler/x.py", "k = hash('a')", "hash()"),
    ("render/geometry/x.py", "import time", "imports time"),
    ("render/geometry/x.py", "import datetime\ndatetime.datetime.now()", "uses datetime.datetime.now"),
    ("scene_specs/x.py", "for x in {'a', 'b'}: f(x)", "iterates over the set"),
    ("scene_specs/x.py", "y = [x for x in set(names)]", "iterates over the set"),
    ("scene_specs/x.py", "y = list(set(a) - set(b))", "iterates over the set"),
    ("scene_specs/x.py", "y = ', '.join(a.keys() & b)", "iterates over the set"),
    ("scene_specs/x.py", "def f(names):\n    seen = set(names)\n    return [*seen]", "iterates over the set"),
    ("scene_specs/x.py", "def f(seen: set[str]):\n    for x in seen: g(x)", "iterates over the set"),
    ("scene_specs/x.py", "def f(seen: frozenset[str]):\n    yield from seen", "iterates over the set"),
    ("scene_specs/x.py", "s = {1, 2}\ns.pop()", "iterates over the set"),
    ("scene_specs/x.py", "import os\nos.listdir('.')", "listdir() unsorted"),
    ("scene_specs/x.py", "from glob import glob\nfor p in glob('*'): f(p)", "glob() unsorted"),
    ("scene_specs/x.py", "for p in path.rglob('*'): f(p)", "rglob() unsorted"),
]


@pytest.mark.parametrize(("path", "source", "expected"), PLANTED)
def test_planted_breach_is_found(path: str, source: str, expected: str) -> None:
    found = [str(breach) for breach in breaches(path, source)]
    assert any(expected in text for text in found), found


ALLOWED = [
    ("render/renderers/cycles/x.py", "import bpy\nfrom mathutils import Vector"),
    ("assets/build/x.py", "import bpy"),
    ("render/run/x.py", "import ray, time, random"),
    ("render/cli/x.py", "import click"),
    ("scene_specs/x.py", "from scene_specs.render import x"),
    ("render/compiler/x.py", "import numpy as np\nr = np.random.Generator(np.random.Philox(key=3))"),
    ("render/compiler/x.py", "def f(rng: np.random.Generator) -> float:\n    return rng.random()"),
    ("scene_specs/x.py", "for x in sorted({'a', 'b'}): f(x)"),
    ("scene_specs/x.py", "def f(seen: set[str]):\n    return 'a' in seen and any(x for x in seen)"),
    ("scene_specs/x.py", "def f(seen: set[str]):\n    pass\ndef g(seen: list[str]):\n    return [*seen]"),
    ("scene_specs/x.py", "y = {x for x in set(a)}"),
    ("scene_specs/x.py", "y = sorted(p for p in folder.glob('*') if p.is_file())"),
    ("scene_specs/x.py", "for k in a.keys(): f(k)"),
]


@pytest.mark.parametrize(("path", "source"), ALLOWED)
def test_what_is_allowed_passes(path: str, source: str) -> None:
    assert not breaches(path, source)


def test_breach_says_where_and_why() -> None:
    (breach,) = breaches("render/store/reader.py", "\n\nimport bpy")
    assert str(breach).startswith("render/store/reader.py:3: imports bpy, allowed only under render/renderers/cycles/")
    assert "Blender is not installed" in breach.why
