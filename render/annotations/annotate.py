"""The annotation of one image: measured from its own passes where possible, analytic where stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations, product

import numpy as np

from diorama.render.geometry.camera import Camera, dot
from diorama.render.geometry.contact import contact_relations
from diorama.render.geometry.meshes import pointing_ray
from diorama.render.geometry.observer import clear_sides, eye_camera, front_of, seen_by
from diorama.render.geometry.raster import Layer, mask_box, object_layer
from diorama.render.geometry.solid import world_vertices
from diorama.scene_specs.errors import RenderError
from diorama.scene_specs.language.vocabulary import RELATIONS
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.record import (
    RLE,
    CameraAnnotation,
    Extent,
    FrameAnnotation,
    ObjectAnnotation,
    ObserverAnnotation,
    PointerAnnotation,
)
from diorama.scene_specs.model.scene import Scene, SceneFrame, SceneObject, SceneView
from diorama.scene_specs.model.stage import scene_stage
from diorama.scene_specs.rotation import (
    Matrix,
    Quaternion,
    Vec,
    matrix_quaternion,
    multiply,
    rotation_matrix,
    rounded,
    rounded3,
    transpose,
)

# Fields that an object's annotation has from the Scene.
_AS_IN_SCENE = ("index", "name", "shape", "color", "color_linear", "size", "scale", "location", "rotation_deg")


def _quaternion(matrix: Matrix) -> Quaternion:
    w, x, y, z = (round(v, 6) + 0.0 for v in matrix_quaternion(matrix))
    return (w, x, y, z)


def camera_annotation(camera: Camera) -> CameraAnnotation:
    """Return a camera; its rotation maps its frame (x right, y down, z forward) to the world. Pixel centers: .5."""
    inner, outer = camera.matrices()
    turned = [(*rounded3((x, y, z), 9), round(t, 9) + 0.0) for x, y, z, t in outer]
    return CameraAnnotation(
        location=rounded3(camera.location),
        rotation=_quaternion(transpose(camera.axes)),
        intrinsics=(rounded3(inner[0], 9), rounded3(inner[1], 9), inner[2]),
        extrinsics=(turned[0], turned[1], turned[2], (0.0, 0.0, 0.0, 1.0)),
        clip=camera.clip,
        projection="orthographic" if camera.orthographic else "perspective",
    )


def relations_of(
    objects: Sequence[SceneObject], directions: dict[str, Vec], threshold: float
) -> dict[str, dict[str, list[str]]]:
    """relation -> name of A -> names of all B with (B - A) . direction > threshold, in the order of the objects."""
    table: dict[str, dict[str, list[str]]] = {}
    for relation in RELATIONS:
        along = [dot(item.location, directions[relation]) for item in objects]
        table[relation] = {
            a.name: [b.name for b, there in zip(objects, along, strict=True) if b is not a and there - here > threshold]
            for a, here in zip(objects, along, strict=True)
        }
    return table


def _center(camera: Camera, location: Vec) -> tuple[Vec, Vec]:
    """Pixel x, y and depth of a world point, and the point in the camera frame."""
    delta = (location[0] - camera.location[0], location[1] - camera.location[1], location[2] - camera.location[2])
    x, y, z = (dot(row, delta) for row in camera.axes)
    # A point in the plane of a perspective camera has no pixel; it gets one far outside instead of infinity.
    depth = 1.0 if camera.orthographic else z if abs(z) > 1e-9 else 1e-9
    pixel = (camera.center[0] + camera.focal * x / depth, camera.center[1] + camera.focal * y / depth, z)
    return rounded3(pixel), rounded3((x, y, z))


def object_annotation(
    item: SceneObject, camera: Camera, alone: Layer, passes: Passes, amodal: bool = False
) -> ObjectAnnotation:
    """Return the annotation of one object in one image.

    Args:
        alone: the object without the others.
        passes: passes of the image.
        amodal: whether the annotation has the mask of the whole object.
    """
    mask = passes.ids == item.index
    visible = int(np.count_nonzero(mask))
    pixels = alone.pixels
    turn = rotation_matrix(item.rotation_deg)
    pixel_center, camera_location = _center(camera, item.location)
    coverage = None
    if passes.coverage is not None:
        coverage = round(float(passes.coverage[item.index - 1].sum(dtype=np.float64)), 6)
    return ObjectAnnotation(
        **{name: getattr(item, name) for name in _AS_IN_SCENE},
        material=item.material.name,
        rotation=_quaternion(turn),
        camera_location=camera_location,
        camera_rotation=_quaternion(multiply(camera.axes, turn)),
        pixel_center=pixel_center,
        bbox=mask_box(mask),
        amodal_bbox=alone.box,
        rle=RLE.of(mask),
        visible_pixels=visible,
        alone_pixels=pixels,
        visible_fraction=round(min(visible / pixels, 1.0), 6) if pixels else 0.0,
        truncated=alone.truncated,
        coverage_pixels=coverage,
        amodal_rle=RLE.of(alone.in_image(*mask.shape)) if amodal else None,
    )


def pointer_annotation(frame: SceneFrame, camera: Camera) -> PointerAnnotation | None:
    """Return the pointer of a frame in an image, None if there is none. Raises AssetError if its mesh can't point."""
    if frame.pointer is None:
        return None
    item = frame.objects[frame.pointer.index - 1]
    knuckle, tip = pointing_ray(item.shape, item.rotation_deg, item.scale, item.location)
    return PointerAnnotation(
        name=item.name,
        target=frame.pointer.target,
        knuckle=rounded3(knuckle),
        fingertip=rounded3(tip),
        fingertip_pixel=_center(camera, tip)[0],
    )


def observer_annotations(scene: Scene, frame: SceneFrame) -> list[ObserverAnnotation]:
    """Return what each observer of a frame sees, the same in all views.

    Raises:
        StageError: the stage can't be read.
        AssetError: a mesh can't be read, or is no person.
    """
    annotations, ground = [], scene_stage(scene).ground
    for observer in frame.observers:
        person = frame.objects[observer.index - 1]
        eye = eye_camera(person)
        annotations.append(
            ObserverAnnotation(
                name=person.name,
                looks_at=observer.looks_at,
                eye=rounded3(eye.location),
                gaze=rounded3(eye.forward),
                visible=seen_by(person, frame.objects, ground),
            )
        )
    return annotations


def extent_of(item: SceneObject) -> Extent:
    """Return (lowest, highest) x, y and z of an object's mesh in the world. Raises AssetError."""
    x, y, z = ((rounded(axis.min()), rounded(axis.max())) for axis in world_vertices(item).T)
    return (x, y, z)


def standing(frame: SceneFrame) -> list[SceneObject]:
    """Return the objects of a frame without its pointer."""
    return [item for item in frame.objects if frame.pointer is None or item.index != frame.pointer.index]


def fronts_of(frame: SceneFrame, objects: Sequence[SceneObject]) -> dict[str, tuple[float, float]]:
    """Name -> direction of an object's own front, or of the gaze of a person; none if nothing depends on fronts."""
    if not frame.observers and all(item.front_deg is None for item in objects):
        return {}
    fronts = {item.name: front_of(item.shape, item.rotation_deg, item.front_deg) for item in objects}
    return {name: (rounded(front[0]), rounded(front[1])) for name, front in fronts.items() if front is not None}


def viewpoints_of(
    objects: Sequence[SceneObject],
    fronts: Mapping[str, tuple[float, float]],
    observers: Sequence[ObserverAnnotation],
    threshold: float,
) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Where objects clearly are, by their own fronts and from the places of observers; see FrameAnnotation.

    What is in front of or behind an object with a front is not said from the place of somebody else, as it would be
    taken for the object's own front.

    Args:
        threshold: Blender units.
    """
    eyes = {person.name: person.eye for person in observers}
    viewpoints: dict[str, dict[str, dict[str, list[str]]]] = {name: {side: {} for side in RELATIONS} for name in fronts}
    for viewer, (of, subject) in product(fronts, permutations(objects, 2)):
        own = of.name == viewer
        if subject.name != viewer and (own or viewer in eyes):
            eye = None if own else eyes[viewer]
            for side in clear_sides(subject.location, of.location, fronts[viewer], eye, threshold):
                if own or side in ("left", "right") or of.name not in fronts:
                    viewpoints[viewer][side].setdefault(of.name, []).append(subject.name)
    return viewpoints


def object_layers(scene: Scene, frame: SceneFrame, view: SceneView, width: int, height: int) -> list[Layer]:
    """Each object of a frame alone in an image, by the software id buffer.

    Raises:
        StageError: the stage is unknown, or its file is wrong.
        AssetError: a model, mesh, material or file of assets is missing or damaged.
    """
    camera, ground = Camera.of(view.camera, width, height), scene_stage(scene).ground
    return [object_layer(item, camera, ground) for item in frame.objects]


def annotate(
    scene: Scene,
    frame: SceneFrame,
    view: SceneView,
    passes: Passes,
    layers: Sequence[Layer] | None = None,
    observers: Sequence[ObserverAnnotation] | None = None,
) -> FrameAnnotation:
    """Return the annotation of one image, at the size of its passes.

    Deterministic: floats are rounded to 6 decimals, matrices to 9.

    Args:
        layers: result of `object_layers`, None to draw them.
        observers: result of `observer_annotations`, None to compute them.

    Raises:
        RenderError: the id pass contains an id without an object in the frame.
        StageError: the stage can't be read.
        AssetError: a mesh can't be read.
    """
    height, width = passes.ids.shape
    highest = int(passes.ids.max(initial=0))
    if highest > len(frame.objects):
        raise RenderError(
            f"episode {scene.id}: image {frame.image_name(view)}: the id pass has instance {highest}, "
            f"but the frame has {len(frame.objects)} objects"
        )
    stage = scene_stage(scene)
    layers = layers or object_layers(scene, frame, view, width, height)
    camera = Camera.of(view.camera, width, height)
    directions = camera.directions()
    # Relations leave the pointer out, as in the published annotations.
    objects = standing(frame)
    people = observer_annotations(scene, frame) if observers is None else list(observers)
    fronts, threshold = fronts_of(frame, objects), stage.placement.relation_threshold
    return FrameAnnotation(
        camera=camera_annotation(camera),
        directions={name: rounded3(direction) for name, direction in directions.items()},
        relations=relations_of(objects, directions, threshold) | (contact_relations(objects) if frame.contacts else {}),
        objects=[
            object_annotation(item, camera, alone, passes, "amodal" in frame.passes)
            for item, alone in zip(frame.objects, layers, strict=True)
        ],
        pointer=pointer_annotation(frame, camera),
        observers=people,
        fronts=fronts,
        viewpoints=viewpoints_of(objects, fronts, people, threshold),
        extents={item.name: extent_of(item) for item in frame.objects},
    )
