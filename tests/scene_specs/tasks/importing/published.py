"""Scene files as CLEVR and MEWL publish them, made here from a camera that we know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from diorama.render.geometry.camera import Camera
from diorama.scene_specs.language.vocabulary import COLORS, MEWL_MATERIALS, SHAPES, SIZES
from diorama.scene_specs.model.scene import SceneCamera
from diorama.scene_specs.model.stage import load_stage

Vec = tuple[float, float, float]
NOMINAL = load_stage("clevr").camera


def camera_at(location: Vec, size: tuple[int, int]) -> Camera:
    """The published camera, moved to a location: the renderer's own, not the importer's."""
    scene = SceneCamera(
        location=location, look_at=(0, 0, 0), lens=NOMINAL.lens, sensor_width=NOMINAL.sensor_width, clip=NOMINAL.clip
    )
    return Camera.of(scene, *size)


def jittered(rng: np.random.Generator) -> Vec:
    """A location as the published generators draw it."""
    x, y, z = (float(base + move) for base, move in zip(NOMINAL.location, rng.uniform(-0.5, 0.5, 3), strict=True))
    return (x, y, z)


def scene(
    rng: np.random.Generator, location: Vec, count: int, size: tuple[int, int], names: bool = False
) -> dict[str, Any]:
    """A scene of `count` objects. Places and depths are rounded to 32 bits, pixels to integers, as in the files."""
    camera = camera_at(location, size)
    objects = []
    for index in range(count):
        word = str(rng.choice(list(SIZES)))
        place = [float(np.float32(v)) for v in (*rng.uniform(-3, 3, 2), SIZES[word])]
        x, y, depth = camera.project(np.array([place]))[0]
        entry = {"shape": str(rng.choice(SHAPES)), "size": word, "material": str(rng.choice(MEWL_MATERIALS))}
        entry["color"] = str(rng.choice(list(COLORS)))
        numbers = {"3d_coords": place, "rotation": float(rng.uniform(0, 360))}
        numbers["pixel_coords"] = [round(float(x)), round(float(y)), float(np.float32(depth))]
        objects.append(({"name": f"o{index}"} if names else {}) | entry | numbers)
    directions = {"right": [0.6563, 0.7545, 0.0], "behind": [-0.7545, 0.6563, 0.0]}
    return {"objects": objects, "directions": directions, "relationships": {}}


def clevr_file(path: Path, scenes: list[dict[str, Any]]) -> Path:
    """`CLEVR_val_scenes.json`."""
    named = [
        {"image_index": k, "image_filename": f"CLEVR_val_{k:06d}.png", "split": "val"} | one
        for k, one in enumerate(scenes)
    ]
    path.write_text(json.dumps({"info": {"split": "val", "version": "1.0"}, "scenes": named}))
    return path


def mewl_folder(root: Path, rng: np.random.Generator) -> tuple[Path, list[Vec]]:
    """One episode of `shape`, seven images; and the camera of each."""
    folder = root / "train" / "shape" / "12"
    folder.mkdir(parents=True)
    names = ["supri #3", "supri #77", "ecle #1", "ecle #100", "toma #9", "toma #143"]
    cameras, looks = [], []
    for name in [*names, "question"]:
        cameras.append(jittered(rng))
        drawn = scene(rng, cameras[-1], 3, (320, 240), names=True)
        looks.append([[item[key] for key in ("shape", "color", "material", "size")] for item in drawn["objects"]])
        (folder / f"{name}.json").write_text(json.dumps(drawn))
    info = {
        "objects": {},
        "word-concept": {"supri": "cube", "ecle": "sphere", "toma": "cylinder"},
        "context_panels": [{"name": name, "objects": look} for name, look in zip(names, looks, strict=False)],
        "question": {"objects": looks[-1], "choices": ["supri", "ecle", "toma", "gip", "wom"], "answer": "ecle"},
    }
    (folder / "info.json").write_text(json.dumps(info))
    return folder, cameras
