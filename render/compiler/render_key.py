"""What decides whether a stored episode is the requested one, found without compiling it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from diorama.render.compiler.assets import scene_assets
from diorama.render.compiler.cameras import fits
from diorama.render.compiler.plugins import plugin_assets
from diorama.render.compiler.pointer import MESHES
from diorama.render.geometry.asset_roots import in_asset_roots
from diorama.render.model.blender_series import key_suffix
from diorama.render.model.record import RenderKey
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.language.outlines import FLAT_SHAPES
from diorama.scene_specs.language.scene import Scene, Settings
from diorama.scene_specs.language.spec import EpisodeSpec, FrameSpec, MaterialSpec, OutlineSpec, RandomObjectsSpec
from diorama.scene_specs.language.stage import Stage, flat_layers, stage_of

# Part of every job hash. Raise it only when the same spec gives other images or other annotations: then every stored
# episode counts as outdated. The package's own version is in the provenance.
IDENTITY_VERSION = "0.1.0"
# Added for flat images whose aspect ratio is not that of the canvas: 0.1.0 cropped them.
_FITTED = "+fitted"
# Added where random_objects lists colors or materials for models: 0.1.0 ignored them.
_LISTED = "+listed"
# Added where `distinct` may compare other things than 0.1.0, which compared values as written.
_DISTINCT = "+distinct"
# Added where flat objects are in layers of which the stage's file says nothing: 0.1.0 had them in one plane.
_LAYERED = "+layered"


@in_asset_roots
def render_key_of(
    episode: EpisodeSpec | Scene, settings: Settings, renderer: str, asset_roots: Sequence[Path] = ()
) -> RenderKey:
    """Return the RenderKey of an episode. renderer: as in RunOptions. Raises AssetError, StageError, UsageError."""
    if isinstance(episode, Scene):
        assets, size = episode.assets, (episode.settings.width, episode.settings.height)
        listed = seen = layered = False
        flat = any(frame.pixels is not None for frame in episode.frames)
        materials = {item.material.name for frame in episode.frames for item in frame.objects}
        episode = episode.model_copy(update={"settings": settings})
    else:
        stage = stage_of(episode)
        made_of = list(_materials_of(episode, stage))
        blends = [material.blend for material in made_of if isinstance(material, MaterialSpec) and material.blend]
        assets = scene_assets(episode.stage, stage, _meshes_of(episode, stage), blends, asset_roots)
        materials = {material if isinstance(material, str) else material.name or "" for material in made_of}
        size, flat = stage.size, stage.pixels != "filtered"
        listed = any(_lists_for_models(frame, stage) for frame in episode.frames)
        seen = any(_distinct_by_sight(frame, stage) for frame in episode.frames)
        layered = any(flat_layers(frame, stage) is not None for frame in episode.frames)
    passes = [name for frame in episode.frames for name in frame.passes]
    suffix = _LISTED * listed + _DISTINCT * seen + _LAYERED * layered
    suffix += _FITTED * (flat and not fits(size, settings)) + key_suffix(renderer)
    return RenderKey(
        spec=episode.model_dump(mode="json", exclude_none=True),
        settings=settings.model_dump(mode="json"),
        assets={**assets, **plugin_assets(assets, materials, renderer, passes)},
        version=IDENTITY_VERSION + suffix,
        renderer=renderer,
    )


def _materials_of(spec: EpisodeSpec, stage: Stage) -> Iterator[str | MaterialSpec]:
    """Yield every material that the spec may use."""
    for frame in spec.frames:
        for item in frame.objects:
            yield from (item.material,) if item.material else stage.defaults.materials
        if frame.pointer is not None and frame.pointer.material:
            yield frame.pointer.material
        elif frame.pointer is not None and stage.pointer is not None:
            yield stage.pointer.material
        if frame.random_objects is not None:
            yield from frame.random_objects.materials or stage.defaults.materials


def _lists_for_models(frame: FrameSpec, stage: Stage) -> bool:
    """Whether the spec lists colors or materials of random objects that may be models."""
    drawn = frame.random_objects
    if drawn is None or not (drawn.colors or drawn.materials or drawn.combinations):
        return False
    return any(map(is_model, _drawn_shapes(drawn, stage)))


def _distinct_by_sight(frame: FrameSpec, stage: Stage) -> bool:
    """Whether `distinct` compares models, objects that fill places, or listed values with other forms than words."""
    drawn = frame.random_objects
    if drawn is None or not drawn.distinct:
        return False
    if stage.places is not None or any(map(is_model, _drawn_shapes(drawn, stage))):
        return True
    return any(
        not isinstance(item.size, str | None) or isinstance(item.material, MaterialSpec) or not _is_plain(item.shape)
        for item in frame.objects
    )


def _is_plain(shape: object) -> bool:
    """Whether a shape of a spec is open or the name of one of Diorama's."""
    return shape is None or (isinstance(shape, str) and not is_model(shape))


def _meshes_of(spec: EpisodeSpec, stage: Stage) -> set[str]:
    """Return every mesh and model that the spec may use; a shape left open counts as all that it may become."""
    names: set[str] = set()
    for frame in spec.frames:
        for item in frame.objects:
            if not isinstance(item.shape, OutlineSpec):
                names.update((item.shape,) if item.shape else stage.defaults.shapes)
        if frame.pointer is not None:
            names.add(MESHES[frame.pointer.kind])
        drawn = frame.random_objects
        if drawn is not None:
            names.update(_drawn_shapes(drawn, stage))
    return names - FLAT_SHAPES.keys()


def _drawn_shapes(drawn: RandomObjectsSpec, stage: Stage) -> Sequence[str]:
    """Return the shapes that random objects may have."""
    return [shape for shape, _ in drawn.combinations or ()] or drawn.shapes or stage.defaults.shapes
