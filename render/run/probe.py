"""Test render in a separate process: `python -m diorama.render.run.probe DEVICE [SIZE]` prints a line of JSON.

`render-doctor` runs it, so that a crash or hang of Blender affects only this process. The image shows all built-in
materials, so that a GPU compiles all kernels that a run needs.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from diorama.render.machine.blender_series import require_module
from diorama.scene_specs.errors import DioramaError


def probe(device: str, size: int = 8) -> dict[str, Any]:
    """Import Blender, find devices, and render size x size pixels twice; with size 0, only find devices.

    Keys: bpy, found, kernels, import_s, and of renders: device, first_s, second_s.
    """
    require_module("bpy")
    start = time.perf_counter()
    from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
    from diorama.render.renderers.cycles.devices import survey

    facts = {**survey(device), "import_s": round(time.perf_counter() - start, 3)}
    if not size:
        return facts
    from diorama.render.compiler import compile_episode
    from diorama.scene_specs.language.registry import plugins
    from diorama.scene_specs.model.profiles import settings_for
    from diorama.scene_specs.model.spec import EpisodeSpec

    names = [name for name, registered in plugins("materials").items() if registered.own]
    objects = [{"shape": "sphere", "material": name, "size": "small"} for name in names]
    spec = EpisodeSpec.model_validate({"version": 1, "id": "doctor", "frames": [{"objects": objects}]})
    scene = compile_episode(spec, settings_for("draft", size, size))
    renderer = CyclesRenderer(device)
    seconds = []
    for _ in range(2):
        begin = time.perf_counter()
        renderer.render(scene, scene.frames[0], scene.frames[0].views[0])
        seconds.append(round(time.perf_counter() - begin, 3))
    info = renderer.info
    renderer.close()
    return {**facts, "device": info["device"], "first_s": seconds[0], "second_s": seconds[1]}


def main() -> None:
    """Print the probe, or {"error": ...}."""
    try:
        result = probe(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8)
    except DioramaError as error:
        result = {"error": str(error)}
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
