"""Compile an EpisodeSpec to a Scene, with every number filled in from the seed alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from diorama.render.compiler.assets import scene_assets
from diorama.render.compiler.attributes import Item, draw_items
from diorama.render.compiler.cameras import draw_lights, draw_views, first_eye, fit_frame
from diorama.render.compiler.constraints import Rules, rules_of
from diorama.render.compiler.looks import with_look
from diorama.render.compiler.placement import Floats, Ground2, Search
from diorama.render.compiler.pointer import Placer, placer_of, quadrants
from diorama.render.compiler.render_key import content_seed
from diorama.render.compiler.visibility import VisibilityCounter, is_in_frame
from diorama.render.geometry.asset_roots import in_asset_roots
from diorama.render.geometry.camera import Camera
from diorama.render.geometry.ground import is_between
from diorama.render.geometry.outlines import outline_of
from diorama.render.geometry.rotation import Vec
from diorama.render.model.errors import CompileError
from diorama.scene_specs.language.rng import Keys
from diorama.scene_specs.language.scene import Scene, SceneFrame, SceneObject, ScenePointer, Settings
from diorama.scene_specs.language.spec import EpisodeSpec, FrameSpec
from diorama.scene_specs.language.stage import Stage, stage_of
from diorama.scene_specs.language.tables import counted

# Layouts computed together: few at first, because one of the first usually succeeds.
_BATCHES = (4, 8, 16, 32)
_QUARTERS = (
    ". With a pointer, the first of three objects is always in the left quarter, the second in the rear one and the "
    "third in the right one: list them in another order, or specify `area`"
)


@dataclass(frozen=True)
class Layout:
    """Where the objects of a frame stand.

    Attributes:
        locations: of all objects, Blender units.
        restarts: number of discarded layouts.
        refused: constraint -> candidates that it rejected.
        pointer: with location and rotation; None without one.
    """

    locations: tuple[Vec, ...]
    restarts: int
    refused: dict[str, int]
    pointer: Item | None = None


def _broken_pairs(rules: Rules, fixed: Sequence[tuple[int, Vec]], ground: Ground2) -> Iterator[str]:
    place = {k: (x, y) for k, (x, y, _) in fixed}
    along = [{k: ground.along(axis, *at) for k, at in place.items()} for axis in (0, 1)]
    for demand in rules.demands:
        if demand.low in place and demand.high in place:
            gap = along[demand.axis][demand.high] - along[demand.axis][demand.low]
            if not gap > demand.margin:
                yield f"{demand.label}: they differ by {gap:.3f}"
    for i, j in combinations(sorted(place), 2):
        both = f"of {rules.names[i]} and {rules.names[j]}"
        gap = min(abs(known[i] - known[j]) for known in along)
        if rules.margin_stated and gap < rules.axis_margin:
            yield f"{rules.margin_label} {both}: {gap:.3f}"
        dx, dy = place[i][0] - place[j][0], place[i][1] - place[j][1]
        distance = float(rules.gap(j, i, np.float64(dx), np.float64(dy)))  # type: ignore[arg-type]
        if rules.distance_stated and distance < rules.min_distance:
            yield f"{rules.distance_label} {both}: {distance:.3f}"


def _broken_visibility(
    rules: Rules, items: Sequence[Item], fixed: Sequence[tuple[int, Vec]], visibility: VisibilityCounter
) -> Iterator[str]:
    if rules.frame_stated:
        for k, location in fixed:
            if not is_in_frame(items[k], location, visibility.camera):
                yield f"in_frame of {rules.names[k]}"
    if any(rules.visible_stated[k] and rules.visible[k] for k, _ in fixed):
        # Other objects will hide more of them, so these alone must leave enough visible.
        for k, pixels in visibility.visible(fixed).items():
            if rules.visible_stated[k] and pixels < rules.visible[k]:
                yield f"{rules.visible_label(k)}: {pixels} visible"


def _check_demands(rules: Rules) -> None:
    for axis in (0, 1):
        wrong = {*np.flatnonzero(np.diagonal(rules.least(axis)) >= 0).tolist()}
        if wrong:
            cycle = [d.label for d in rules.demands if d.axis == axis and {d.low, d.high} <= wrong]
            raise CompileError(f"relations contradict each other: {'; '.join(cycle)}")


def _floors(rules: Rules, fixed: Sequence[tuple[int, Vec]], visibility: VisibilityCounter) -> list[int]:
    """Minimum visible pixels of each object.

    An object with a specified location, without its own constraint, may show less than the stage's minimum if other
    specified objects hide it. The objects that the layout places may not hide more.
    """
    floors = list(rules.visible)
    unstated = [k for k, _ in fixed if floors[k] and not rules.visible_stated[k]]
    shown = visibility.visible(fixed) if unstated else {}
    for k in unstated:
        floors[k] = min(floors[k], shown[k])
    return floors


def _check_ground(layout: Layout, items: Sequence[Item], rules: Rules, camera: Camera, stage: Stage) -> None:
    """Refuse a camera below or behind the ground, where objects that must be visible are not."""
    if stage.ground is None or camera.orthographic:
        return
    for k, (item, (x, y, z)) in enumerate(zip(items, layout.locations, strict=True)):
        demanded = rules.visible[k] and (item.location is None or rules.visible_stated[k])
        if demanded and is_between(stage.ground, camera.location, (x, y, z + item.reach)):
            problem = f"the ground is between the camera and {rules.names[k]}; raise the camera or bring it nearer"
            raise CompileError(f"{rules.visible_label(k)}: {problem}, or allow 0 visible pixels")


def _locations(items: Sequence[Item], places: Floats) -> tuple[Vec, ...]:
    return tuple(item.location or (x, y, item.height) for item, (x, y) in zip(items, places.tolist(), strict=True))


def _search(
    search: Search, stage: Stage, keys: Keys, floors: Sequence[int], placer: Placer | None, quarters: bool
) -> Layout:
    items, rules, limit = search.items, search.rules, stage.placement.restarts + 1
    generator = keys.generator("placement")
    refused: dict[str, int] = {}
    tried = batch = 0
    while tried < limit:
        size = min(_BATCHES[min(batch, len(_BATCHES) - 1)], limit - tried)
        batch += 1
        # Drawn layout by layout, so that the numbers do not depend on the batch size.
        places, alive, tally = search.batch(generator.random((size, len(search.order), search.tries, 2)))
        for row in range(size):
            if alive[row]:
                locations = _locations(items, places[row])
                shown = search.visibility.visible(list(enumerate(locations))) if any(floors) else {}
                hidden = [k for k, pixels in shown.items() if pixels < floors[k]]
                pointer = placer.place(locations, floors, refused) if placer is not None and not hidden else None
                if not hidden and (placer is None or pointer is not None):
                    return Layout(locations, tried + row, refused, pointer)
                for k in hidden:
                    refused[rules.visible_label(k)] = refused.get(rules.visible_label(k), 0) + 1
            for label, counts in tally.refused.items():
                if counts[row]:
                    refused[label] = refused.get(label, 0) + int(counts[row])
        tried += size
    if not search.order:
        raise CompileError("no location for the pointer among the specified objects", refused)
    objects = counted(len(items), "object")
    problem = f"no valid layout of {objects} in {limit} attempts with {search.tries} locations per object"
    raise CompileError(problem + _QUARTERS * quarters, refused)


def lay_out(frame: FrameSpec, items: Sequence[Item], rules: Rules, camera: Camera, stage: Stage, keys: Keys) -> Layout:
    """Find locations for all objects of a frame.

    Args:
        camera: the first view's, at the stage's own size.

    Raises:
        CompileError: specified locations break a constraint, relations contradict each other, or the search found
            nothing.
    """
    area = frame.area or stage.placement.area
    directions = camera.directions()
    right, front = directions["right"], directions["front"]
    ground = Ground2(area.x, area.y, (right[0], right[1]), (front[0], front[1]))
    visibility = VisibilityCounter(items, camera, stage.ground)
    fixed = [(k, item.location) for k, item in enumerate(items) if item.location is not None]
    _check_demands(rules)
    broken = [*_broken_pairs(rules, fixed, ground), *_broken_visibility(rules, items, fixed, visibility)]
    if broken:
        raise CompileError(f"the specified locations break constraints of the frame: {'; '.join(broken)}")
    grounds = [ground] * len(items)
    pointer_ground = ground
    areas = quadrants(frame, items, stage.pointer)
    if areas is not None:
        *grounds, pointer_ground = [replace(ground, x=x, y=y) for x, y in areas]
        rules = replace(rules, front_margin=False)
    placer = None
    if frame.pointer is not None:
        placer = placer_of(frame.pointer, stage, pointer_ground, rules, visibility, keys)
    search = Search(items, rules, grounds, visibility, stage.placement.tries)
    layout = _search(search, stage, keys, _floors(rules, fixed, visibility), placer, areas is not None)
    _check_ground(layout, items, rules, camera, stage)
    return layout


def _object(index: int, item: Item, location: tuple[float, float, float]) -> SceneObject:
    decided = {name: getattr(item, name) for name in SceneObject.model_fields if name not in ("index", "location")}
    return SceneObject(index=index, location=location, **decided)


def _compile_frame(frame: FrameSpec, name: str, spec: EpisodeSpec, stage: Stage) -> tuple[SceneFrame, Layout]:
    keys = Keys(spec.seed, spec.id, name)
    try:
        items = draw_items(frame, stage, keys, first_eye(frame, stage, keys))
        views = draw_views(frame, stage, items, keys)
        rules = rules_of(frame, items, stage.placement)
        layout = lay_out(frame, items, rules, Camera.of(views[0].camera, *stage.size), stage, keys)
    except CompileError as error:
        error.episode, error.frame = spec.id, name
        raise
    placed = [*zip(items, layout.locations, strict=True)]
    pointer = None
    if layout.pointer is not None and frame.pointer is not None:
        assert layout.pointer.location is not None
        placed.append((layout.pointer, layout.pointer.location))
        pointer = ScenePointer(index=len(placed), target=frame.pointer.target)
    objects = tuple(_object(index, item, place) for index, (item, place) in enumerate(placed, start=1))
    compiled = SceneFrame(
        name=name,
        utterance=frame.utterance,
        truth=frame.truth,
        objects=objects,
        pointer=pointer,
        lights=draw_lights(frame, stage, keys),
        views=views,
        passes=frame.passes,
        seed=keys.bits31("cycles"),
        background=stage.background if frame.background is None else frame.background,
        fixation=frame.fixation,
        pixels=None if stage.pixels == "filtered" else "mean" if frame.antialias else "center",
    )
    if stage.sampling == "content":
        compiled = compiled.model_copy(update={"seed": content_seed(compiled)})
    return compiled, layout


@in_asset_roots
def compile_with_report(
    spec: EpisodeSpec, settings: Settings, asset_roots: Sequence[Path] = ()
) -> tuple[Scene, tuple[Layout, ...]]:
    """Compile a spec; return its Scene and the layout of each frame. Arguments and errors: see `compile_episode`."""
    stage = stage_of(spec)
    compiled = (_compile_frame(frame, spec.frame_name(k), spec, stage) for k, frame in enumerate(spec.frames))
    frames, layouts = zip(*compiled, strict=True)
    frames = tuple(fit_frame(frame, stage.size, settings) for frame in frames)
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
    return with_look(scene, look.name, look.variant), layouts


def compile_episode(spec: EpisodeSpec | Scene, settings: Settings, asset_roots: Sequence[Path] = ()) -> Scene:
    """Compile a spec to a Scene; of a Scene only the settings change.

    Pure: a spec compiles identically on every machine with the same settings and assets. The image size and the profile
    move no object.

    Args:
        spec: as `check_spec` accepts it, or a Scene.
        asset_roots: folders of .blend files and meshes, in addition to the built-in assets.

    Raises:
        CompileError: no layout satisfies a frame within the bounds of the stage.
        AssetError: an asset is missing or outside the roots.
        StageError: the stage does not exist.
    """
    if isinstance(spec, Scene):
        size = (spec.settings.width, spec.settings.height)
        frames = tuple(fit_frame(frame, size, settings, spec.settings) for frame in spec.frames)
        return spec.model_copy(update={"settings": settings, "frames": frames})
    return compile_with_report(spec, settings, asset_roots)[0]
