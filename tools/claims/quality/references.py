"""The scenes for measuring quality, and their references.

The 24 scenes are in scenes.jsonl. Each line is one frame of a MEWL episode of seed 9. There are two frames of each of
MEWL's nine tasks, one with much glass and one with none; two more of `number`, one of `pragmatic` (the hand), and three
crowds of 7, 8 and 10 objects, since MEWL has up to six. The first twelve are one of each task and the crowds, so that
`--limit 12` covers everything. scenes-77.jsonl and scenes-131.jsonl have 24 others each of the same kinds, of seeds 77
and 131, to confirm what was found.

A reference is a scene in thousands of plain samples, as two halves with different seeds. A half is kept as linear color
in a work folder. When both are there, their mean is written as a 16-bit PNG of display values, next to a JSON file that
describes it and gives its distance from the truth. The halves are independent, so their mean squared difference is four
times that of their mean from the truth.

Pillow, which writes our other images, has no 16-bit RGB; OpenImageIO, which comes with Blender, does.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler import compile_episode
from diorama.scene_specs.errors import AssetError, UsageError
from diorama.scene_specs.files.atomic import atomic_path, write_atomic
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene, Settings
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.source import parse_episode
from tools.claims.quality.measure import LinearRenderer
from tools.claims.quality.metrics import Picture, mse, psnr_of, unit
from tools.claims.quality.results import Size, read_facts

FILE = Path(__file__).with_name("scenes.jsonl")


@dataclass(frozen=True)
class TestScene:
    """A scene with one frame. name: number, task, objects, and how many of them are glass; a valid file name."""

    # Not a test class, despite its name.
    __test__ = False

    name: str
    spec: EpisodeSpec

    def compiled(self, settings: Settings) -> Scene:
        """Compile it with a profile's settings."""
        return compile_episode(self.spec, settings)

    def digest(self) -> str:
        """Return the SHA-256 of everything except settings that decides its image: numbers and hashes of assets."""
        scene = self.compiled(settings_for("standard", 320, 240))
        return hashlib.sha256(scene.model_dump_json(exclude={"settings", "task"}).encode()).hexdigest()


def scenes(limit: int | None = None, file: Path = FILE) -> list[TestScene]:
    """Return the scenes of a file, or the first `limit`. Raises UsageError for a missing file, SpecError."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"{file}: can't read the scenes: {error.strerror}") from error
    specs: list[EpisodeSpec] = [parse_episode(line, file.name) for line in lines if line.strip()]
    if not specs:
        raise UsageError(f"{file}: found no scene; expected one a line")
    return [TestScene(_name(k, spec), spec) for k, spec in enumerate(specs[:limit], start=1)]


def _name(number: int, spec: EpisodeSpec) -> str:
    frame = spec.frames[0]
    if frame.random_objects is not None:
        return f"{number:02d}-crowd-{frame.random_objects.count}"
    glass = sum(item.material == "glass" for item in frame.objects)
    # The task, in the ids of MEWL.
    task = (spec.id.split("/")[2:] or [spec.id.replace("/", "-")])[0]
    return f"{number:02d}-{task}-{len(frame.objects)}" + (f"-glass{glass}" if glass else "")


def _image_io() -> Any:
    """Return the module OpenImageIO of Blender's package, which has it beside the path."""
    (folder,) = Path(bpy.utils.resource_path("LOCAL")).glob("python/lib/*/site-packages")
    sys.path.append(str(folder))
    try:
        return import_module("OpenImageIO")
    finally:
        sys.path.remove(str(folder))


def write_png16(path: Path, picture: NDArray[np.uint16]) -> None:
    """Write an (H, W, 3) uint16 image atomically. Raises OSError."""
    with atomic_path(path) as temporary:
        image = _image_io().ImageBuf(np.ascontiguousarray(picture))
        if not image.write(str(temporary), fileformat="png"):
            raise OSError(f"{path}: {image.geterror()}")


def read_png16(path: Path) -> NDArray[np.uint16]:
    """Return the (H, W, 3) uint16 image of a file. Raises AssetError, which says what the file is instead."""
    image = _image_io().ImageBuf(str(path))
    found = f"{image.spec().nchannels} channels of {image.spec().format}" if image.read() else image.geterror()
    if found != "3 channels of uint16":
        raise AssetError(f"{path}: expected a 16-bit RGB PNG, found: {found}; make the references again")
    pixels: NDArray[np.uint16] = image.get_pixels(image.spec().format)
    return pixels


FOLDER = Path("docs/quality/references")
PROFILE = "reference"
HALVES = 2
_UP = 65535
# The keys of a reference's JSON file that are read again.
_FACTS = ("scene", "size", "samples", "own_psnr", "settings")


@dataclass(frozen=True)
class Reference:
    """A reference.

    picture: (H, W, 3) display values, 0 to 1. samples: per pixel. own_psnr: estimated PSNR against the truth, dB.
    """

    picture: Picture
    samples: int
    own_psnr: float


def seed_of(scene: TestScene, half: int) -> int:
    """Return Cycles' seed of one half.

    It differs from the other half's and from the candidates', whose samples would otherwise be part of the reference.
    """
    return int.from_bytes(hashlib.sha256(f"reference {half} {scene.spec.id}".encode()).digest()[:4], "big") >> 1


def display16(linear: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Apply the sRGB curve to linear color, clipped, as 16 bits; same shape."""
    clipped = np.clip(linear.astype(np.float64), 0.0, 1.0)
    curve = np.where(clipped <= 0.0031308, 12.92 * clipped, 1.055 * clipped ** (1 / 2.4) - 0.055)
    steps: NDArray[np.uint16] = np.rint(curve * _UP).astype(np.uint16)
    return steps


def own_mse(halves: Sequence[NDArray[np.float32]]) -> float:
    """Return the expected mean squared error, of display values, of the mean of two halves."""
    first, second = (unit(display16(half)) for half in halves)
    return mse(first, second) / 4


def load_reference(folder: Path, scene: TestScene) -> Reference:
    """Return the reference of a scene. Raises AssetError if it is missing or belongs to another scene."""
    facts = read_facts(folder / f"{scene.name}.json", _FACTS) or {}
    if problem := _problem(facts, scene):
        raise AssetError(f"{folder / scene.name}.json: {problem}; make it: bench-quality references")
    return Reference(unit(read_png16(folder / f"{scene.name}.png")), facts["samples"], facts["own_psnr"])


def have_reference(folder: Path, scene: TestScene, samples: int, size: Size) -> bool:
    """Return whether there is a reference of at least `samples`. Raises UsageError for one of another size."""
    facts = read_facts(folder / f"{scene.name}.json", _FACTS) or {}
    if facts and facts["scene"] == scene.digest() and facts["size"] != list(size):
        sizes = f"found references of {facts['size']} pixels, asked for {list(size)}"
        raise UsageError(f"{folder}: {sizes}; use another --references")
    there = not _problem(facts, scene) and (folder / f"{scene.name}.png").is_file()
    return bool(there and facts["samples"] >= samples)


def _problem(facts: dict[str, Any], scene: TestScene) -> str:
    """Return why a scene has no reference with these facts, {} without a file; "" if it has.

    Settings that are newer than the reference don't count.
    """
    if not facts:
        return f"no reference of scene {scene.name}"
    if facts["scene"] != scene.digest():
        return f"made from another version of {scene.name} or its assets"
    now, kept = _kept_settings(*facts["size"]), facts["settings"].items()
    other = [f"{key} {value}, now {now.get(key)}" for key, value in kept if key not in now or now[key] != value]
    return f"made with other settings than profile {PROFILE!r} has now: {', '.join(other)}" if other else ""


def _kept_settings(width: int, height: int) -> dict[str, Any]:
    """Return the profile settings that a reference's file keeps: all that its other keys don't give."""
    excluded = {"profile", "samples", "glass_samples", "width", "height"}
    return settings_for(PROFILE, width, height).model_dump(mode="json", exclude=excluded)


def make_half(
    renderer: LinearRenderer, scene: TestScene, half: int, samples: int, size: Size, work: Path
) -> NDArray[np.float32]:
    """Return one half in linear color, (H, W, 3) float32, from the work folder if it is there, or rendered."""
    settings = settings_for(PROFILE, *size).model_copy(update={"samples": samples})
    key = hashlib.sha256(f"{scene.digest()} {settings.model_dump_json()} {renderer.info['bpy']}".encode()).hexdigest()
    path = work / f"{scene.name}.{half}.{key[:16]}.npy"
    if path.is_file():
        kept: NDArray[np.float32] = np.load(path, allow_pickle=False)
        return kept
    compiled = scene.compiled(settings)
    frame = compiled.frames[0].model_copy(update={"seed": seed_of(scene, half)})
    renderer.render(compiled, frame, frame.views[0])
    out = io.BytesIO()
    np.save(out, renderer.linear, allow_pickle=False)
    write_atomic(path, out.getvalue())
    return renderer.linear


def make_reference(
    renderer: LinearRenderer, scene: TestScene, samples: int, size: Size, folder: Path, work: Path
) -> None:
    """Render and write one scene's reference of `samples` in total."""
    halves = [make_half(renderer, scene, half, samples // HALVES, size, work) for half in range(HALVES)]
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
    # Last, since it marks the reference as complete.
    write_atomic(folder / f"{scene.name}.json", json.dumps(facts, indent=1) + "\n")
