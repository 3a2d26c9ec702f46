"""A renderer that renders equal images once per worker, with a limit on memory.

Only on stages with `"sampling": "content"`: there equal content has equal seeds, so a cached image is identical to the
one that would be rendered, bit for bit.
"""

from __future__ import annotations

import dataclasses
import pickle
import zlib
from collections import OrderedDict

from diorama.render.compiler.render_key import picture_key
from diorama.render.geometry.display import with_fixation
from diorama.scene_specs.model.passes import Passes, Renderer
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneView
from diorama.scene_specs.model.stage import scene_stage

# Compressed bytes; an image of iWISDM's size takes about 60 KB.
MOST_BYTES = 256 << 20


class CachingRenderer:
    """A cache of another renderer's images.

    Args:
        renderer: that renders what is not in the cache; closed with it.
        most_bytes: maximum size of the cache.
    """

    def __init__(self, renderer: Renderer, most_bytes: int = MOST_BYTES) -> None:
        self._inner, self._most = renderer, most_bytes
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    @property
    def info(self) -> dict[str, str]:
        """The info of the wrapped renderer."""
        return self._inner.info

    def render(self, scene: Scene, frame: SceneFrame, view: SceneView) -> Passes:
        """Render or reuse one view. Images are cached without fixation cross, which is added afterwards."""
        stage = scene_stage(scene)
        if stage.sampling != "content":
            return self._inner.render(scene, frame, view)
        bare = frame.model_copy(update={"fixation": None})
        key = picture_key(scene, bare, view)
        if key in self._kept:
            self._kept.move_to_end(key)
            passes: Passes = pickle.loads(zlib.decompress(self._kept[key]))
        else:
            passes = self._inner.render(scene, bare, view)
            self._remember(key, passes)
        if frame.fixation and stage.fixation is not None:
            passes = dataclasses.replace(passes, color=with_fixation(passes.color, stage.fixation))
        return passes

    def _remember(self, key: str, passes: Passes) -> None:
        # Without the seconds: a reused image takes none.
        self._kept[key] = zlib.compress(pickle.dumps(dataclasses.replace(passes, seconds={})), 1)
        while sum(map(len, self._kept.values())) > self._most:
            self._kept.popitem(last=False)

    def close(self) -> None:
        """Empty the cache and close the wrapped renderer."""
        self._kept.clear()
        self._inner.close()
