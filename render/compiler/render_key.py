"""What decides whether a stored episode is the one asked for, found without compiling it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from render import __version__
from render.compiler.assets import blend_digest, shape_asset
from render.compiler.pointer import MESHES
from render.model.record import RenderKey
from render.model.scene import Scene, Settings
from scene_specs.language.outlines import FLAT_SHAPES
from scene_specs.language.spec import EpisodeSpec, MaterialSpec, OutlineSpec
from scene_specs.language.stage import Stage, load_stage, stage_digest


def render_key_of(
    episode: EpisodeSpec | Scene, settings: Settings, renderer: str, asset_roots: Sequence[Path] = ()
) -> RenderKey:
    """The RenderKey of an episode. renderer: cycles, fake, ... Raises AssetError, StageError."""
    assets = dict(episode.assets) if isinstance(episode, Scene) else _assets_of(episode, asset_roots)
    return RenderKey(
        spec=episode.model_dump(mode="json", exclude_none=True),
        settings=settings.model_dump(mode="json"),
        assets=assets,
        version=__version__,
        renderer=renderer,
    )


@lru_cache(maxsize=64)
def _stage_digest(name: str) -> str:
    # Finding stages looks through all installed packages: 1.5 ms, of each of 40,000 episodes.
    return stage_digest(name)


def _assets_of(spec: EpisodeSpec, asset_roots: Sequence[Path]) -> dict[str, str]:
    """Name -> SHA-256 of every asset that the spec may use; drawn shapes count with all they may become."""
    stage = load_stage(spec.stage)
    assets = {f"stage:{stage.name}": _stage_digest(spec.stage)}
    for mesh in _meshes_of(spec, stage):
        name, digest = shape_asset(mesh)
        assets[name] = digest
    for frame in spec.frames:
        for given in [*(item.material for item in frame.objects), frame.pointer and frame.pointer.material]:
            if isinstance(given, MaterialSpec) and given.blend is not None:
                assets[f"blend:{given.blend}"] = blend_digest(given.blend, asset_roots)
    return dict(sorted(assets.items()))


def _meshes_of(spec: EpisodeSpec, stage: Stage) -> list[str]:
    names: dict[str, None] = {}
    if stage.ground is not None:
        names[stage.ground.mesh] = None
    for frame in spec.frames:
        for item in frame.objects:
            given = () if isinstance(item.shape, OutlineSpec) else (item.shape,) if item.shape else None
            names.update(dict.fromkeys(stage.defaults.shapes if given is None else given))
        if frame.pointer is not None:
            names[MESHES[frame.pointer.kind]] = None
        drawn = frame.random_objects
        if drawn is not None and drawn.combinations is not None:
            names.update(dict.fromkeys(shape for shape, _ in drawn.combinations))
        elif drawn is not None:
            names.update(dict.fromkeys(drawn.shapes or stage.defaults.shapes))
    return sorted(name for name in names if name not in FLAT_SHAPES)
