"""The references: each scene in thousands of plain samples, as two halves with seeds of their own.

A half is kept as linear color in a work folder; when both are there, their mean is written as a 16-bit PNG of display
values, with a JSON file beside it that says what it is and how far it may be from the truth. The halves are
independent, so their mean squared difference is four times that of their mean from the truth.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from render.model.errors import AssetError, UsageError
from render.model.profiles import settings_for
from tools.quality.files import write_whole
from tools.quality.metrics import Picture, mse, psnr_of, unit
from tools.quality.png16 import read_png16, write_png16
from tools.quality.scenes import TestScene
from tools.quality.tuned import TunedRenderer

FOLDER = Path("docs/quality/references")
PROFILE = "reference"
HALVES = 2
_UP = 65535
# Of a reference's JSON file, what is read again.
_FACTS = ("scene", "size", "samples", "own_psnr", "settings")


@dataclass(frozen=True)
class Reference:
    """picture: (H, W, 3) display values, 0 to 1. samples: a pixel. own_psnr: dB, how far it may be from the truth."""

    picture: Picture
    samples: int
    own_psnr: float


def seed_of(scene: TestScene, half: int) -> int:
    """Cycles' seed of one half: neither a candidate's, whose samples would otherwise be part of the reference's, nor
    the other's.
    """
    return int.from_bytes(hashlib.sha256(f"reference {half} {scene.spec.id}".encode()).digest()[:4], "big") >> 1


def display16(linear: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The sRGB curve of linear color, clipped, as 16 bits; same shape."""
    clipped = np.clip(linear.astype(np.float64), 0.0, 1.0)
    curve = np.where(clipped <= 0.0031308, 12.92 * clipped, 1.055 * clipped ** (1 / 2.4) - 0.055)
    steps: NDArray[np.uint16] = np.rint(curve * _UP).astype(np.uint16)
    return steps


def own_mse(halves: Sequence[NDArray[np.float32]]) -> float:
    """Mean squared error, of display values, to be expected of the mean of two halves."""
    first, second = (unit(display16(half)) for half in halves)
    return mse(first, second) / 4


def load_reference(folder: Path, scene: TestScene) -> Reference:
    """The reference of a scene. Raises AssetError where it is missing or of another scene."""
    facts = _facts(folder, scene)
    if facts is None:
        raise AssetError(
            f"{folder / scene.name}.json: no reference of scene {scene.name}; make it: bench_quality references"
        )
    if facts["scene"] != scene.digest():
        raise AssetError(
            f"{folder / scene.name}.json: made of another scene (or another version of its assets) than "
            f"{scene.name} is now; delete it and make it again: bench_quality references"
        )
    other = _other_settings(facts)
    if other:
        raise AssetError(
            f"{folder / scene.name}.json: made with other settings than profile {PROFILE!r} has now: "
            f"{', '.join(other)}; delete it and make it again: bench_quality references"
        )
    return Reference(unit(read_png16(folder / f"{scene.name}.png")), facts["samples"], facts["own_psnr"])


def have_reference(folder: Path, scene: TestScene, samples: int, size: tuple[int, int]) -> bool:
    """Whether one is there that is as good as asked. Raises UsageError for one of another size."""
    facts = _facts(folder, scene)
    if facts is None or facts["scene"] != scene.digest() or not (folder / f"{scene.name}.png").is_file():
        return False
    if facts["size"] != list(size):
        raise UsageError(
            f"{folder}: found references of {facts['size']} pixels, asked for {list(size)}; use another --references"
        )
    return bool(facts["samples"] >= samples) and not _other_settings(facts)


def _kept_settings(width: int, height: int) -> dict[str, Any]:
    """What of the profile's settings a reference remembers: all that is not said beside them."""
    aside = {"profile", "samples", "glass_samples", "width", "height"}
    return settings_for(PROFILE, width, height).model_dump(mode="json", exclude=aside)


def _other_settings(facts: dict[str, Any]) -> list[str]:
    """Those that the profile has otherwise now. A setting that is younger than the reference is not one of them."""
    now = _kept_settings(*facts["size"])
    kept = facts["settings"].items()
    return [f"{key} {value}, now {now.get(key)}" for key, value in kept if key not in now or now[key] != value]


def _facts(folder: Path, scene: TestScene) -> dict[str, Any] | None:
    path = folder / f"{scene.name}.json"
    try:
        facts = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise AssetError(f"{path}: damaged: {error}; delete it and make it again") from error
    missing = [key for key in _FACTS if key not in facts] if isinstance(facts, dict) else list(_FACTS)
    if missing:
        raise AssetError(f"{path}: damaged: found no {', '.join(missing)}; delete it and make it again")
    return dict(facts)


def make_half(
    renderer: TunedRenderer, scene: TestScene, half: int, samples: int, size: tuple[int, int], work: Path
) -> NDArray[np.float32]:
    """One half in linear color, (H, W, 3) float32; from the work folder where it lies there already."""
    settings = settings_for(PROFILE, *size).model_copy(update={"samples": samples})
    key = hashlib.sha256(f"{scene.digest()} {settings.model_dump_json()} {renderer.info['bpy']}".encode()).hexdigest()
    path = work / f"{scene.name}.{half}.{key[:16]}.npy"
    if path.is_file():
        kept: NDArray[np.float32] = np.load(path, allow_pickle=False)
        return kept
    compiled = scene.compiled(settings)
    frame = compiled.frames[0].model_copy(update={"seed": seed_of(scene, half)})
    renderer.tune()
    renderer.render(compiled, frame, frame.views[0])
    out = io.BytesIO()
    np.save(out, renderer.linear, allow_pickle=False)
    write_whole(path, out.getvalue())
    return renderer.linear


def make_reference(
    renderer: TunedRenderer,
    scene: TestScene,
    samples: int,
    size: tuple[int, int],
    folder: Path,
    work: Path,
    done: Callable[[], object],
) -> None:
    """Make one scene's reference of `samples` in all. done: called after each half."""
    halves = []
    for half in range(HALVES):
        halves.append(make_half(renderer, scene, half, samples // HALVES, size, work))
        done()
    facts = {
        "scene": scene.digest(),
        "id": scene.spec.id,
        "size": list(size),
        "samples": samples,
        "seeds": [seed_of(scene, half) for half in range(HALVES)],
        "own_psnr": round(psnr_of(own_mse(halves)), 2),
        "settings": _kept_settings(*size),
        "renderer": renderer.info,
    }
    write_png16(folder / f"{scene.name}.png", display16(np.mean(halves, axis=0, dtype=np.float32)))
    # Last, because its being there says that the picture is, too.
    write_whole(folder / f"{scene.name}.json", (json.dumps(facts, indent=1) + "\n").encode())
