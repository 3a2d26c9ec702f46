"""Build the person who looks somewhere: `python -m diorama.assets.build.person [FOLDER]`.

A stylized person, 2 high, who faces -Y. Head, nose and eyes are large, so that the direction of the gaze is visible in
images of 320 x 240; hair covers the back of the head, so that a head seen from behind has no face. Beside the mesh,
the file stores `joint`, one number per vertex (0 body, 1 head, 2 and 3 its right and left eye), and `tint`, one row per
triangle: its linear color, or -1 where the clothes have the object's color.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from diorama.assets.build.meshes import Floats, Ints, write
from diorama.assets.build.surface import Field, blend, cut, flattened, round_cone, surface_nets

Point = tuple[float, float, float]
CLOTHES = (-1.0, -1.0, -1.0)
SKIN, HAIR, TROUSERS = (0.72, 0.38, 0.24), (0.035, 0.015, 0.006), (0.03, 0.035, 0.05)
WHITE, BLACK, NOSE, MOUTH = (0.9, 0.9, 0.9), (0.002, 0.002, 0.002), (0.75, 0.22, 0.13), (0.35, 0.02, 0.02)
NECK: Point = (0.0, 0.0, 0.14)
HEAD: Point = (0.0, 0.0, 0.52)
RADIUS = 0.44
EYES: tuple[Point, Point] = ((-0.165, -0.335, 0.60), (0.165, -0.335, 0.60))
BALL, PUPIL = 0.12, 0.072


def _ball(center: Point, radius: float) -> Field:
    return round_cone(center, (center[0], center[1], center[2] + 1e-6), radius, radius)


def _sides(field: Field) -> list[Field]:
    """Return a field and its mirror image."""
    return [field, lambda p: field(p * np.array([-1.0, 1.0, 1.0]))]


def _hair() -> Field:
    """Return a shell over the top and back of the head, which leaves the face free."""
    shell = _ball((0.0, 0.02, 0.54), RADIUS + 0.02)
    # The face is the part in front of a plane that leans backwards, and below the fringe.
    return cut(shell, (0.0, -0.80, -0.60), -0.30, 0.04)


def parts() -> list[tuple[Field, int, Point, float]]:
    """Return every part: its surface, joint, color, and the step of its grid."""
    torso = blend(
        [
            round_cone((0, 0, -0.02), (0, 0, -0.40), 0.17, 0.25),
            *_sides(round_cone((0, 0, 0), (0.2, 0, -0.03), 0.1, 0.1)),
        ],
        0.1,
    )
    arms = _sides(round_cone((0.27, 0, -0.04), (0.37, -0.03, -0.38), 0.09, 0.08))
    legs = _sides(round_cone((0.12, 0, -0.55), (0.13, 0, -0.88), 0.12, 0.10))
    shoes = _sides(round_cone((0.14, 0.02, -0.91), (0.15, -0.16, -0.92), 0.09, 0.075))
    hands = _sides(_ball((0.375, -0.035, -0.46), 0.075))
    ears = _sides(_ball((0.44, 0.02, 0.52), 0.09))
    mouth = flattened(_ball((0, -0.405, 0.35), 0.10), (0, -0.405, 0.35), (1.0, 0.35, 0.25))
    made: list[tuple[Field, int, Point, float]] = [
        (torso, 0, CLOTHES, 0.06),
        *((arm, 0, CLOTHES, 0.05) for arm in arms),
        (blend(legs, 0.05), 0, TROUSERS, 0.06),
        *((hand, 0, SKIN, 0.05) for hand in hands),
        *((shoe, 0, BLACK, 0.05) for shoe in shoes),
        (blend([_ball(HEAD, RADIUS), *ears, round_cone((0, 0, 0.0), (0, 0, 0.3), 0.11, 0.11)], 0.04), 1, SKIN, 0.06),
        (_hair(), 1, HAIR, 0.06),
        (round_cone((0, -0.41, 0.50), (0, -0.60, 0.46), 0.07, 0.085), 1, NOSE, 0.045),
        (mouth, 1, MOUTH, 0.03),
    ]
    for k, (x, y, z) in enumerate(EYES):
        made.append((_ball((x, y, z), BALL), 1, WHITE, 0.04))
        made.append((_ball((x, y - BALL + 0.05, z), PUPIL), 2 + k, BLACK, 0.03))
    return made


def mesh() -> tuple[Floats, Floats, Ints, dict[str, Floats]]:
    """Return vertices, normals, triangles, and the arrays `joint` and `tint`."""
    pieces, joints, tints, count = [], [], [], 0
    for field, joint, color, step in parts():
        vertices, normals, triangles = surface_nets(
            field, np.array([-0.8, -0.8, -1.2]), np.array([0.8, 0.8, 1.2]), step
        )
        pieces.append((vertices, normals, triangles + np.int32(count)))
        joints.append(np.full(len(vertices), float(joint)))
        tints.append(np.tile(color, (len(triangles), 1)))
        count += len(vertices)
    vertices, normals, triangles = (np.concatenate([piece[k] for piece in pieces]) for k in range(3))
    return (
        vertices,
        normals,
        triangles.astype(np.int32),
        {"joint": np.concatenate(joints), "tint": np.concatenate(tints)},
    )


def build(folder: Path) -> list[Path]:
    """Write the person and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    vertices, normals, triangles, data = mesh()
    path = folder / "person.npz"
    anchors = {"neck": NECK, "eye_right": EYES[0], "eye_left": EYES[1]}
    write(path, vertices, normals, triangles, anchors, data)
    return [path]


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "meshes")
