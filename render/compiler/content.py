"""Keys of the content that decides an image: without names and without metadata of the frame.

On stages with `"sampling": "content"`, two frames with the same content have the same seed, so an image of one is
identical to that of the other, bit for bit, in any order and whether it was rendered again or cached.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.language.scene import Scene, SceneFrame, SceneView

_METADATA = {"name", "utterance", "truth", "pointer", "fixation"}


def _shown(frame: SceneFrame, leave_out: set[str]) -> dict[str, Any]:
    shown = frame.model_dump(mode="json", exclude=_METADATA | leave_out)
    if frame.pixels is None:
        del shown["pixels"]
    for item in shown["objects"]:
        del item["name"]
        if item["outline"] is None:
            del item["outline"]
    for view in shown.get("views", ()):
        del view["name"]
    return shown


def _text(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def content_seed(frame: SceneFrame) -> int:
    """Return a seed for Cycles of 31 bits from the content; background and fixation cross are composited afterwards."""
    shown = _shown(frame, {"seed", "passes", "background"})
    return int.from_bytes(hashlib.sha256(_text(shown)).digest()[:4], "little") >> 1


def picture_key(scene: Scene, frame: SceneFrame, view: SceneView) -> str:
    """Return the hexadecimal SHA-256 of all that decides the passes of an image: content, settings, stage, assets.

    Leaves out models that only other frames of the Scene show, so that equal frames of two episodes have equal keys.
    """
    here = {item.shape for item in frame.objects}
    parts = {
        "frame": _shown(frame, {"views"}),
        "camera": view.camera.model_dump(mode="json"),
        **({} if view.glass is None else {"glass": view.glass}),
        "settings": scene.settings.model_dump(mode="json"),
        "stage": scene.stage,
        "assets": {name: digest for name, digest in scene.assets.items() if not is_model(name) or name in here},
    }
    return hashlib.sha256(_text(parts)).hexdigest()
