"""Keep measurements image by image, so that a stopped run continues."""

from __future__ import annotations

import ast
import hashlib
import json
import os
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from diorama.render import __version__
from diorama.scene_specs.errors import AssetError
from diorama.scene_specs.files.atomic import write_atomic
from diorama.scene_specs.model.pictures import decode_png
from tools.claims.quality.metrics import Picture, unit

# (width, height) in pixels.
Size = tuple[int, int]

FOLDER = Path("build/quality")
_MEASURED = ("seconds", "cpu", "truth")
_FIELDS = (*_MEASURED, "load")


_ROOT = Path(__file__).parents[3]
# The compiler's work is in a scene's digest, and a profile's in a candidate's settings.
_FILES = (
    "render/renderers/cycles", "render/annotations", "render/geometry", "render/episode/make_record.py",
    "scene_specs/rotation.py", "scene_specs/shapes/shapenet", "tools/claims/quality/measure.py",
    "tools/claims/quality/published.py",
)  # fmt: skip


@lru_cache(maxsize=1)
def sources(root: Path = _ROOT, paths: tuple[str, ...] = _FILES) -> str:
    """Return the SHA-256 of the code of these files in the order of their names, without comments and docstrings.

    Raises FileNotFoundError for a missing file or folder.
    """
    found = hashlib.sha256()
    for name in paths:
        path = root / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            code = _code(file.read_text("utf-8"))
            found.update(f"{file.relative_to(root).as_posix()}\n{code}\n".encode())
    return found.hexdigest()


def _code(text: str) -> str:
    """Return a module's syntax tree without its docstrings, nor other constants that are statements."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [one for one in body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return ast.dump(tree)


@dataclass(frozen=True)
class Cost:
    """The cost of one image.

    seconds: by step. cpu: processor seconds of all threads together, which other programs disturb far less.
    """

    seconds: dict[str, float]
    cpu: float

    @property
    def total(self) -> float:
        """The seconds of all steps."""
        return sum(self.seconds.values())


@dataclass(frozen=True)
class Measured(Cost):
    """A measured image.

    png: the image, 8-bit RGB. truth: SHA-256 of boxes and masks.
    """

    png: bytes
    truth: str = ""


@dataclass(frozen=True)
class Result(Cost):
    """A kept result of one candidate on one scene.

    truth: as in Measured. load: the machine's load per core during the measurement; above 1 the seconds say
    little. path: the JSON file; the PNG is next to it.
    """

    truth: str
    load: float
    path: Path = field(kw_only=True)

    @property
    def candidate(self) -> str:
        """The name of the candidate."""
        return self.path.parent.name

    @property
    def scene(self) -> str:
        """The name of the scene."""
        return self.path.stem

    @property
    def picture(self) -> Picture:
        """(H, W, 3) display values, 0 to 1. Raises AssetError."""
        path = self.path.with_suffix(".png")
        try:
            return unit(decode_png(path.read_bytes()))
        except OSError as error:
            raise AssetError(f"{path}: unreadable image: {error}; delete its .json and run again") from error


def key_of(*decides: Any) -> str:
    """Return the SHA-256 of everything that decides a result; versions and code are added."""
    facts = [*decides, __version__, metadata.version("bpy"), sources()]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def is_kept(folder: Path, candidate: str, scene: str, key: str) -> bool:
    """Return whether the result with this key is there."""
    facts = read_facts(folder / candidate / f"{scene}.json", ("key",))
    return facts is not None and facts["key"] == key and (folder / candidate / f"{scene}.png").is_file()


def keep(folder: Path, candidate: str, scene: str, key: str, measured: Measured) -> None:
    """Write one result; the JSON file last, since it marks the result as complete."""
    costs = {name: getattr(measured, name) for name in _MEASURED}
    facts = {"key": key, **costs, "load": round(os.getloadavg()[0] / (os.cpu_count() or 1), 2)}
    path = folder / candidate / f"{scene}.json"
    # An older result must not describe the newer image.
    path.unlink(missing_ok=True)
    write_atomic(path.with_suffix(".png"), measured.png)
    write_atomic(path, json.dumps(facts, indent=1) + "\n")


def results_in(folder: Path, candidate: str) -> dict[str, Result]:
    """Return the results of one candidate by scene. Raises AssetError for a damaged file."""
    kept = {path: read_facts(path, _FIELDS) for path in sorted((folder / candidate).glob("*.json"))}
    return {path.stem: Result(*(facts[name] for name in _FIELDS), path=path) for path, facts in kept.items() if facts}


def candidates_in(folder: Path) -> list[str]:
    """Return the names of the candidates that have results, sorted."""
    return sorted(path.name for path in folder.glob("*") if any(path.glob("*.json")))


def read_facts(path: Path, keys: tuple[str, ...]) -> dict[str, Any] | None:
    """Return the object in a JSON file, None if there is no file.

    Raises AssetError if the file is damaged or lacks one of the keys.
    """
    try:
        facts: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if not isinstance(facts, dict):
            raise ValueError(f"found a {type(facts).__name__}, expected an object")
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise AssetError(f"{path}: damaged: {error}; delete it and run again") from error
    if missing := [key for key in keys if key not in facts]:
        raise AssetError(f"{path}: damaged: missing {', '.join(missing)}; delete it and run again")
    return facts
