"""What was measured, kept picture by picture, so that a stopped run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from render import __version__
from render.model.errors import AssetError
from render.model.png import decode_png
from tools.quality.files import write_whole
from tools.quality.metrics import Picture, unit
from tools.quality.sources import sources

FOLDER = Path("build/quality")
_FIELDS = ("seconds", "cpu", "truth", "annotation", "load", "about")


@dataclass(frozen=True)
class Result:
    """One picture by one candidate.

    seconds: by step. cpu: seconds of processors, all threads together. truth, annotation: SHA-256 (measure.Measured).
    load: the machine's load when it was measured, a core; above 1 its seconds say little.
    about: what the candidate says of itself (change, prediction, base).
    """

    candidate: str
    scene: str
    seconds: dict[str, float]
    cpu: float
    truth: str
    annotation: str
    load: float
    about: dict[str, str]
    folder: Path

    @property
    def total(self) -> float:
        """Seconds of everything."""
        return sum(self.seconds.values())

    @property
    def picture(self) -> Picture:
        """(H, W, 3) display values, 0 to 1. Raises AssetError."""
        path = self.folder / self.candidate / f"{self.scene}.png"
        try:
            return unit(decode_png(path.read_bytes()))
        except OSError as error:
            raise AssetError(f"{path}: no readable picture: {error}; delete its .json and run again") from error


def key_of(*decides: Any) -> str:
    """SHA-256 of what a kept result must have been measured with, to be taken again; versions and code are added."""
    facts = [*decides, __version__, metadata.version("bpy"), sources()]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def load_a_core() -> float:
    """The machine's load of the last minute, a core."""
    return round(os.getloadavg()[0] / (os.cpu_count() or 1), 2)


def is_kept(folder: Path, candidate: str, scene: str, key: str) -> bool:
    """Whether this very result is there."""
    facts = _read(folder / candidate / f"{scene}.json")
    return facts is not None and facts.get("key") == key and (folder / candidate / f"{scene}.png").is_file()


def keep(
    folder: Path,
    candidate: str,
    scene: str,
    key: str,
    png: bytes,
    seconds: dict[str, float],
    cpu: float,
    truth: str = "",
    annotation: str = "",
    about: dict[str, str] | None = None,
) -> None:
    """Write one result; the JSON file last, because its being there says that the picture is, too."""
    facts = {
        "key": key,
        "seconds": seconds,
        "cpu": cpu,
        "truth": truth,
        "annotation": annotation,
        "load": load_a_core(),
        "about": about or {},
    }
    path = folder / candidate / f"{scene}.json"
    # An older result must not stand beside the newer picture.
    path.unlink(missing_ok=True)
    write_whole(path.with_suffix(".png"), png)
    write_whole(path, (json.dumps(facts, indent=1) + "\n").encode())


def results_in(folder: Path, candidate: str) -> dict[str, Result]:
    """Scene -> result, of one candidate. Raises AssetError for a damaged file."""
    found = {}
    for path in sorted((folder / candidate).glob("*.json")):
        facts = _read(path)
        if facts is not None:
            missing = [name for name in _FIELDS if name not in facts]
            if missing:
                raise _damaged(path, f"found no {', '.join(missing)}")
            found[path.stem] = Result(candidate, path.stem, folder=folder, **{name: facts[name] for name in _FIELDS})
    return found


def candidates_in(folder: Path) -> list[str]:
    """Names of the candidates that have results, sorted."""
    return sorted(path.name for path in folder.glob("*") if any(path.glob("*.json")))


def _read(path: Path) -> dict[str, Any] | None:
    try:
        facts = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(facts, dict):
        raise _damaged(path, f"found a {type(facts).__name__}, expected an object")
    return facts


def _damaged(path: Path, problem: str) -> AssetError:
    return AssetError(f"{path}: damaged: {problem}; delete it and run again")
