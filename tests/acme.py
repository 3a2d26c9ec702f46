"""The package of docs/extending.md: its files, and a folder of them as if it were installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.distributions import write_distribution

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/extending.md"
NAMES = (
    "pyproject.toml", "make_shapes.py", "acme/benchmarks/acme.py", "acme/exports/acme.py",
    "acme/families/drop.py", "acme/materials/velvet.py", "acme/grounds/cork.py", "acme/looks/pinboard.json",
    "acme/passes/inverse_depth.py", "acme/renderers/fog.py", "acme/stages/evening.json",
)  # fmt: skip


def blocks(kind: str) -> list[str]:
    """The fenced blocks of the page of one kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def files() -> dict[str, str]:
    """Path -> text of the blocks that are files: the paragraph before such a block names it."""
    found = {}
    for before, text in re.findall(
        r"((?:^[^\n]+\n)+)\n```(?:python|toml|json)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    ):
        name = next((name for name in re.findall(r"`([\w/.]+\.\w+)`", before) if name in NAMES), None)
        if name is not None:
            found[name] = text
    return found


def write_package(folder: Path) -> None:
    """Write the files of the page into a folder, and make the shape."""
    assert set(files()) == set(NAMES)
    for name, text in files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    subprocess.run([sys.executable, "make_shapes.py"], cwd=folder, check=True, timeout=240)


def write_installed(folder: Path) -> None:
    """Write the package into a folder with the metadata that pip would write; see tests.distributions.installed."""
    write_package(folder)
    points = tomllib.loads(files()["pyproject.toml"])["project"]["entry-points"]
    lines = {
        group.removeprefix("diorama."): "\n".join(f"{name} = {value}" for name, value in one.items())
        for group, one in points.items()
    }
    write_distribution(folder, "acme-diorama", lines, {})
