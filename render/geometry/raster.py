"""A software id buffer: the object at each pixel's center, as in the id pass of a renderer.

Triangles are projected, culled and filled over numpy arrays of candidate (triangle, pixel) pairs. An edge shared by two
triangles evaluates to exactly opposite numbers on both sides, so a surface has no cracks. Matrix products are written
out, as in `camera`, so that every machine computes the same pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from diorama.render.geometry.camera import Camera, dot
from diorama.render.geometry.fill import Corners, fill
from diorama.render.geometry.ground import height_at, highest_before, on_sheet
from diorama.render.geometry.solid import Solid, solid
from diorama.scene_specs.model.scene import SceneObject
from diorama.scene_specs.model.stage import StageGround
from diorama.scene_specs.rotation import Floats, Vec, rotation_matrix, transpose

Indices = NDArray[np.intp]


class Pose(NamedTuple):
    """Where an object stands: Euler XYZ angles in degrees, scale, and location of the origin (Blender units)."""

    rotation_deg: Vec
    scale: float
    location: Vec


class Layer(NamedTuple):
    """One object alone in the image.

    Attributes:
        x: column of the top left pixel of its window.
        y: row of this pixel.
        depth: (h, w) along the camera's axis at pixel centers, Blender units; inf outside the object.
        truncated: whether its projection leaves the image.
    """

    x: int
    y: int
    depth: Floats
    truncated: bool

    @property
    def window(self) -> tuple[slice, slice]:
        """Its window as an index of an (H, W) array."""
        rows, columns = self.depth.shape
        return slice(self.y, self.y + rows), slice(self.x, self.x + columns)

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The pixels of the object, (h, w), in its window."""
        return np.isfinite(self.depth)

    def in_image(self, height: int, width: int) -> NDArray[np.bool_]:
        """Return the pixels of the object, (height, width), in an image."""
        image = np.zeros((height, width), dtype=bool)
        image[self.window] = self.mask
        return image

    @property
    def pixels(self) -> int:
        """Number of covered pixel centers."""
        return int(np.count_nonzero(self.mask))

    @property
    def box(self) -> tuple[int, int, int, int] | None:
        """Tight x, y, width, height in image pixels; None if no pixel is covered."""
        return mask_box(self.mask, self.x, self.y)


def mask_box(mask: NDArray[np.bool_], x: int = 0, y: int = 0) -> tuple[int, int, int, int] | None:
    """Return the tight x, y, width, height of a (h, w) mask with its top left pixel at (x, y); None if it is empty."""
    rows = np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return None
    columns = np.flatnonzero(mask[rows[0] : rows[-1] + 1].any(axis=0))
    return (x + int(columns[0]), y + int(rows[0]), int(columns[-1] - columns[0]) + 1, int(rows[-1] - rows[0]) + 1)


def model_view(pose: Pose, camera: Camera) -> tuple[list[list[float]], list[float]]:
    """Matrix rows and offset from mesh coordinates to the camera frame."""
    columns = transpose(rotation_matrix(pose.rotation_deg))
    (x, y, z), (cx, cy, cz) = pose.location, camera.location
    rows = [[dot(axis, column) * pose.scale for column in columns] for axis in camera.axes]
    return rows, [dot(axis, (x - cx, y - cy, z - cz)) for axis in camera.axes]


def camera_vertices(body: Solid, rows: list[list[float]], offset: list[float]) -> list[Floats]:
    """Return x right, y down, z forward of every vertex in the camera frame, (V,) each, Blender units."""
    vx, vy, vz = body.vertices
    return [vx * r[0] + vy * r[1] + vz * r[2] + t for r, t in zip(rows, offset, strict=True)]


def _facing_triangles(
    body: Solid, rows: list[list[float]], offset: list[float], scale: float, orthographic: bool
) -> Indices:
    """Triangles that face the camera: it lies on the outer side of their plane."""
    nx, ny, nz, plane = body.planes
    if orthographic:
        towards = rows[2]
        return np.flatnonzero(nx * towards[0] + ny * towards[1] + nz * towards[2] < 0)
    # The rows are orthogonal with length `scale`: the inverse is the transpose divided by the squared scale.
    square = scale * scale
    if not square:
        # A scale of 0, or one that rounds to 0, shows nothing.
        return np.zeros(0, dtype=np.intp)
    eye = [-(rows[0][k] * offset[0] + rows[1][k] * offset[1] + rows[2][k] * offset[2]) / square for k in range(3)]
    return np.flatnonzero(nx * eye[0] + ny * eye[1] + nz * eye[2] > plane)


def _clip_near(points: list[Floats], corners: Indices, near: float) -> tuple[list[Floats], Indices]:
    """Clip triangles to depths of at least `near`; returns the points with new ones appended, and the triangles."""
    stack, faces = np.stack(points, axis=1), corners.T
    inside = (stack[:, 2] >= near)[faces]
    kept = faces[inside.all(axis=1)].tolist()
    added: list[Floats] = []
    # One new point per edge, shared by both of its triangles.
    cuts: dict[tuple[int, int], int] = {}
    for face in faces[inside.any(axis=1) & ~inside.all(axis=1)].tolist():
        ring: list[int] = []
        for start, end in zip(face, face[1:] + face[:1], strict=True):
            if stack[start, 2] >= near:
                ring.append(start)
            if (stack[start, 2] >= near) != (stack[end, 2] >= near):
                edge = (min(start, end), max(start, end))
                if edge not in cuts:
                    p, q = stack[edge[0]], stack[edge[1]]
                    cuts[edge] = len(stack) + len(added)
                    added.append(p + (q - p) * ((near - p[2]) / (q[2] - p[2])))
                    added[-1][2] = near
                ring.append(cuts[edge])
        kept += [[ring[0], ring[k], ring[k + 1]] for k in range(1, len(ring) - 1)]
    extended = np.concatenate([stack, np.array(added)]) if added else stack
    return [*np.ascontiguousarray(extended.T)], np.array(kept, dtype=np.intp).reshape(-1, 3).T


def _project_points(points: list[Floats], camera: Camera) -> tuple[list[Floats], Floats, float]:
    """x and y in pixels; the closeness, which is linear in them; and the depth of the plane where it is 0.

    Closeness is 1 / depth or, with parallel rays, the distance in front of a plane beyond all points.
    """
    if camera.orthographic:
        beyond = float(points[2].max()) + 1.0
        return [camera.center[k] + camera.focal * points[k] for k in range(2)], beyond - points[2], beyond
    inverse = 1.0 / np.maximum(points[2], camera.clip[0])
    return [camera.center[k] + camera.focal * points[k] * inverse for k in range(2)], inverse, np.inf


def rasterize(body: Solid, pose: Pose, camera: Camera, ground: StageGround | None = None) -> Layer:
    """Draw one object alone at the image size of the camera, without what is below ground or out of the clip range."""
    rows, offset = model_view(pose, camera)
    points = camera_vertices(body, rows, offset)
    near, far = camera.clip
    corners = body.corners
    unclipped = bool(points[2].min() >= near)
    if not unclipped:
        points, corners = _clip_near(points, corners, near)
    elif body.closed:
        seen = _facing_triangles(body, rows, offset, pose.scale, camera.orthographic)
        corners = corners.take(seen, axis=1)
    if not corners.size:
        return Layer(0, 0, np.full((0, 0), np.inf), True)
    screen, closeness, beyond = _project_points(points, camera)
    used = slice(None) if unclipped else np.unique(corners)
    ends = [(float(v[used].min()), float(v[used].max())) for v in screen]
    truncated = not unclipped or min(ends[0][0], ends[1][0], camera.width - ends[0][1], camera.height - ends[1][1]) < 0
    x0, x1 = max(math.ceil(ends[0][0] - 0.5), 0), min(math.floor(ends[0][1] - 0.5), camera.width - 1)
    y0, y1 = max(math.ceil(ends[1][0] - 0.5), 0), min(math.floor(ends[1][1] - 0.5), camera.height - 1)
    if x1 < x0 or y1 < y0:
        return Layer(0, 0, np.full((0, 0), np.inf), truncated)
    triangles = Corners(screen[0], screen[1], closeness, corners)
    nearest = fill(triangles, (x0, y0, x1, y1), both_sides=not (unclipped and body.closed))
    with np.errstate(divide="ignore"):
        depth = np.where(nearest > 0, beyond - nearest, np.inf) if camera.orthographic else 1.0 / nearest
    depth[depth > far] = np.inf
    layer = Layer(x0, y0, depth, truncated)
    if ground is not None:
        _hide_below_ground(layer, body, pose, camera, ground)
    return layer


def object_layer(item: SceneObject, camera: Camera, ground: StageGround | None = None) -> Layer:
    """Draw an object of a Scene alone in the image; see `rasterize`.

    Raises:
        AssetError: its mesh can't be read.
    """
    pose = Pose(item.rotation_deg, item.scale, item.location)
    return rasterize(solid(item.shape, item.outline), pose, camera, ground)


def _hide_below_ground(layer: Layer, body: Solid, pose: Pose, camera: Camera, ground: StageGround) -> None:
    """Remove pixels below the ground, which rises slightly while objects stand on z = 0."""
    reach = body.radius * pose.scale
    along = pose.location[0] * ground.direction[0] + pose.location[1] * ground.direction[1] + reach
    highest = highest_before(ground, along)
    if pose.location[2] - reach >= highest:
        return
    rows, columns = np.nonzero(np.isfinite(layer.depth))
    if not len(rows):
        return
    depth = layer.depth[rows, columns]
    x, y, z = camera.unproject(columns + np.float64(layer.x + 0.5), rows + np.float64(layer.y + 0.5), depth)
    (low,) = (z < highest).nonzero()
    if not len(low):
        return
    x, y = x[low], y[low]
    under = low[(z[low] < height_at(ground, x, y)) & on_sheet(ground, x, y)]
    layer.depth[rows[under], columns[under]] = np.inf


def compose(layers: Sequence[Layer], width: int, height: int) -> tuple[NDArray[np.uint16], Floats]:
    """Combine layers; the earlier one wins a tie.

    Returns:
        Ids (H, W), 1 + the position of the nearest layer or 0 for none, and depth (H, W), inf for none.
    """
    ids = np.zeros((height, width), dtype=np.uint16)
    depth = np.full((height, width), np.inf)
    for number, layer in enumerate(layers, start=1):
        window = layer.window
        closer = layer.depth < depth[window]
        ids[window][closer] = number
        depth[window][closer] = layer.depth[closer]
    return ids, depth
