"""What a frame's pictures depend on, without names and without what is only carried.

On stages whose sampling goes by content, two frames that show the same have the same seed, so that a picture made for
one is that of the other, bit for bit, whichever was rendered first and whether it was rendered again or not.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from render.model.scene import Scene, SceneFrame, SceneView
from scene_specs.language.model_names import is_model

_CARRIED = {"name", "utterance", "truth", "pointer", "fixation"}


def _shown(frame: SceneFrame, leave_out: set[str]) -> dict[str, Any]:
    shown = frame.model_dump(mode="json", exclude=_CARRIED | leave_out)
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
    """31 bits from what the frame shows, for a seed of Cycles; background and fixation cross are laid over it later."""
    shown = _shown(frame, {"seed", "passes", "background"})
    return int.from_bytes(hashlib.sha256(_text(shown)).digest()[:4], "little") >> 1


def picture_key(scene: Scene, frame: SceneFrame, view: SceneView) -> str:
    """SHA-256 of all that decides a picture's passes: what is shown, settings, stage, assets. Hexadecimal.

    Models that only other frames of the Scene show don't count: equal frames of two episodes are the same picture.
    """
    here = {item.shape for item in frame.objects}
    parts = {
        "frame": _shown(frame, {"views"}),
        "camera": view.camera.model_dump(mode="json"),
        "settings": scene.settings.model_dump(mode="json"),
        "stage": scene.stage,
        "assets": {name: made for name, made in scene.assets.items() if not is_model(name) or name in here},
    }
    return hashlib.sha256(_text(parts)).hexdigest()
