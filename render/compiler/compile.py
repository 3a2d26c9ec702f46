"""Compile an EpisodeSpec to a Scene, with every number filled in from the seed alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from diorama.render.compiler.assets import linked_colors, scene_assets
from diorama.render.compiler.attributes import Item, LinkedColors, draw_items, with_color_fact
from diorama.render.compiler.cameras import draw_lights, draw_views, first_eye, fit_clip_ranges, fit_frame
from diorama.render.compiler.constraints import claims_of
from diorama.render.compiler.layout import lay_out, lay_out_piles
from diorama.render.compiler.looks import with_look
from diorama.render.compiler.observers import check_gazes
from diorama.render.compiler.render_key import content_seed
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.outlines import outline_of
from diorama.scene_specs.asset_roots import in_asset_roots
from diorama.scene_specs.errors import CompileError
from diorama.scene_specs.language.rng import Keys
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneObject, SceneObserver, ScenePointer, Settings
from diorama.scene_specs.model.spec import EpisodeSpec, FrameSpec
from diorama.scene_specs.model.stage import Stage, stage_of


def _scene_object(index: int, item: Item, location: tuple[float, float, float]) -> SceneObject:
    decided = {name: getattr(item, name) for name in SceneObject.model_fields if name not in ("index", "location")}
    return SceneObject(index=index, location=location, **decided)


def _compile_frame(frame: FrameSpec, name: str, spec: EpisodeSpec, stage: Stage, linked: LinkedColors) -> SceneFrame:
    keys = Keys(spec.seed, spec.id, name)
    try:
        items = draw_items(frame, stage, keys, first_eye(frame, stage, keys), linked)
        views = draw_views(frame, stage, items, keys)
        # Where objects are decides on the clip range, so the search for a layout has no farthest depth.
        camera = Camera.of(views[0].camera, *stage.size)
        camera = replace(camera, clip=(camera.clip[0], math.inf))
        claims = claims_of(frame)
        layout = (lay_out_piles if claims else lay_out)(frame, items, camera, stage, keys)
        placed = [*zip(layout.items, layout.locations, strict=True)]
        pointer = None
        if layout.pointer is not None and frame.pointer is not None:
            assert layout.pointer.location is not None
            hand = with_color_fact(layout.pointer, frame.pointer.takes_color(linked))
            placed.append((hand, layout.pointer.location))
            pointer = ScenePointer(index=len(placed), target=frame.pointer.target)
        objects = tuple(_scene_object(index, item, place) for index, (item, place) in enumerate(placed, start=1))
        views = fit_clip_ranges(views, objects, stage.size)
    except CompileError as error:
        error.episode, error.frame = spec.id, name
        raise
    people = enumerate(frame.observers, start=len(placed) - len(frame.observers) + 1)
    compiled = SceneFrame(
        name=name,
        utterance=frame.utterance,
        truth=frame.truth,
        objects=objects,
        contacts=claims,
        pointer=pointer,
        observers=tuple(SceneObserver(index=index, looks_at=person.looks_at) for index, person in people),
        lights=draw_lights(frame, stage, keys),
        views=views,
        passes=tuple(frame.passes),
        seed=keys.bits31("cycles"),
        background=stage.background if frame.background is None else frame.background,
        fixation=frame.fixation,
        pixels=None if stage.pixels == "filtered" else "mean" if frame.antialias else "center",
    )
    if stage.sampling == "content":
        compiled = compiled.model_copy(update={"seed": content_seed(compiled)})
    return compiled


@in_asset_roots
def compile_episode(spec: EpisodeSpec | Scene, settings: Settings, asset_roots: Sequence[Path] = ()) -> Scene:
    """Compile a spec to a Scene; of a Scene only the settings change.

    Pure: a spec compiles identically on every machine with the same settings and assets. The image size and the profile
    move no object.

    Args:
        spec: a spec that `check_spec` accepts, or a Scene.
        asset_roots: folders of .blend files and meshes, in addition to the built-in assets.

    Raises:
        CompileError: no layout satisfies a frame within the bounds of the stage.
        SpecError: an observer of a Scene does not look at its target, or a material shows no color where the spec has
            one.
        AssetError: an asset is missing or outside the roots, or a .blend file can't be read.
        StageError: the stage does not exist.
    """
    if isinstance(spec, Scene):
        check_gazes(spec)
        size = (spec.settings.width, spec.settings.height)
        frames = tuple(fit_frame(frame, size, settings, spec.settings) for frame in spec.frames)
        return spec.model_copy(update={"settings": settings, "frames": frames})
    stage, linked = stage_of(spec), linked_colors(spec, asset_roots)
    compiled = (_compile_frame(frame, spec.frame_name(k), spec, stage, linked) for k, frame in enumerate(spec.frames))
    frames = tuple(fit_frame(frame, stage.size, settings, None) for frame in compiled)
    shapes = {item.shape for frame in frames for item in frame.objects if outline_of(item.shape, item.outline) is None}
    blends = {item.material.blend for frame in frames for item in frame.objects if item.material.blend is not None}
    scene = Scene(
        scene_version=1,
        id=spec.id,
        seed=spec.seed,
        stage=spec.stage,
        split=spec.split,
        settings=settings,
        assets=scene_assets(spec.stage, stage, shapes, blends, asset_roots),
        frames=frames,
        task=spec.task,
    )
    look = spec.chosen_look()
    return with_look(scene, look.name, look.variant)
