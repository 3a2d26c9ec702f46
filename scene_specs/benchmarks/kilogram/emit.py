"""Games and single images as specs: flat on the `tangram` stage, or as wooden pieces on CLEVR's table.

Objects of a frame depend only on what is visible, so equal images have equal objects in all episodes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence

from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.annotations import Annotations
from diorama.scene_specs.benchmarks.kilogram.dataset import Dataset
from diorama.scene_specs.benchmarks.kilogram.examples import AUG, RGB, SIZE, Example, Game, subsets, whole_example
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES, XY, inset
from diorama.scene_specs.benchmarks.kilogram.truth import Part
from diorama.scene_specs.model.spec import EpisodeData, FrameData, ObjectData

# On the table, in Blender units: longer side of the figure, thickness of a piece, gap between pieces, and location of
# the camera, which is higher than CLEVR's so that the far end is not too small.
SPAN = 6.0
THICK = 0.3
GAP = 0.06
EYE = (4.75, -4.13, 7.51)
CAMERA = {"location": list(EYE), "look_at": [0.0, 0.0, 0.0], "jitter": 0.3}
AREA = {"x": [-4.0, 4.0], "y": [-4.0, 4.0]}
WOOD = {"blend": "materials/wood.blend", "group": "Wood"}
# Dark gray instead of black, so that shading is visible.
TABLE_RGB: Mapping[str, tuple[int, int, int]] = {**RGB, "black": (38, 35, 33)}


def objects_of(dataset: Dataset, example: Example, condition: str, options: Options) -> list[ObjectData]:
    """Return the seven pieces as objects, named piece-1 to piece-7."""
    colors = example.colors(condition)
    figure = dataset.figures[example.tangram]
    prisms, margin = options.world == "3d", options.margin
    side, gap = (SPAN, GAP) if prisms else (options.size - 2 * margin, options.border)
    if options.published_border and not prisms:
        gap = side / figure.squared()[2]
    objects = list[ObjectData]()
    for piece, polygon, color in zip(PIECES, figure.placed(side), colors, strict=True):
        drawn = inset(polygon, gap / 2) or polygon
        origin, corners = _about_middle(_on_table(drawn) if prisms else [(x + margin, y + margin) for x, y in drawn])
        item: ObjectData = {"name": f"piece-{piece}", "shape": {"polygon": corners}, "color": color}
        if prisms:
            item["shape"]["height"] = THICK
            item |= {"color": list(TABLE_RGB[color]), "material": WOOD, "size": 1.0}
        objects.append({**item, "location": origin, "rotation_deg": 0})
    return objects


def _on_table(corners: Sequence[XY]) -> list[XY]:
    """Return corners of a drawing on the table, upright for the camera: up in the drawing points away from it."""
    x, y, _ = EYE
    length = math.hypot(x, y)
    right, away = (-y / length, x / length), (-x / length, -y / length)
    flat = [(px - SPAN / 2, SPAN / 2 - py) for px, py in corners]
    return [(px * right[0] + py * away[0], px * right[1] + py * away[1]) for px, py in flat]


def _about_middle(corners: Sequence[XY]) -> tuple[list[float], list[list[float]]]:
    """Return the mean of the corners, and the corners relative to it."""
    middle = [_round_coordinate(sum(corner[k] for corner in corners) / len(corners)) for k in (0, 1)]
    return middle, [[_round_coordinate(x - middle[0]), _round_coordinate(y - middle[1])] for x, y in corners]


def _round_coordinate(value: float) -> float:
    return round(value, 5) + 0.0


def drawn_digest(objects: Sequence[ObjectData], parts: Sequence[Part]) -> str:
    """Return a digest of where all pieces lie and which part each belongs to.

    Imported figures have it in their truth, as `drawn`, because their drawings are not at hand when they are verified.
    """
    places = [
        [item["name"], float(item.get("rotation_deg") or 0), float(item.get("size") or 0)]
        + [float(value) for point in (*item["shape"]["polygon"], item["location"]) for value in point]
        for item in objects
    ]
    return hashlib.sha256(json.dumps([places, [[part.name, part.pieces] for part in parts]]).encode()).hexdigest()[:16]


def frame_of(dataset: Dataset, example: Example, condition: str, options: Options, name: str) -> FrameData:
    """Return an image with its utterance as a frame.

    `truth` is a Figure, as JSON data.
    """
    colors = example.colors(condition)
    parts = [
        {"name": part, "pieces": list(pieces), "shown": k in example.shown, "color": colors[pieces[0] - 1]}
        for k, (part, pieces) in enumerate(example.parts)
    ]
    frame: FrameData = {"name": name, "utterance": example.text(condition)}
    frame["objects"] = objects_of(dataset, example, condition, options)
    if options.world == "3d":
        frame["camera"] = CAMERA
        frame["area"] = AREA
        # Pieces of a figure touch, so no distance is required.
        frame["constraints"] = [{"min_distance": 0}, {"axis_margin": 0}, {"min_visible_pixels": 0}]
    elif not options.sharp:
        frame["antialias"] = True
    frame["truth"] = {
        "tangram": example.tangram,
        "annotation": example.annotation.number,
        "whole": example.annotation.whole,
        "parts": parts,
        "hash_text": example.hashed(condition),
        "image": example.image(condition),
    }
    return frame


def _episode_data(identity: str, options: Options) -> EpisodeData:
    spec: EpisodeData = {"version": 1, "id": identity, "seed": options.seed}
    if options.world == "3d":
        return {**spec, "stage": "clevr", "split": options.split}
    return {**spec, "stage": "tangram", "canvas": [options.size, options.size], "split": options.split}


def drawings_fact(dataset: Dataset) -> dict[str, str]:
    """Return whose drawings were used, as part of a task; {} for Diorama's own."""
    return {"drawings": dataset.source} if dataset.source else {}


def kinds_of(unconstrained: bool, size: int) -> list[str]:
    """Return what an id says about games: `random`, and the number of tangrams if it is not 10."""
    return ["random"] * unconstrained + [f"of{size}"] * (size != SIZE)


def game_spec(dataset: Dataset, game: Game, condition: str, options: Options) -> EpisodeData:
    """Return a reference game as a spec: ten frames, of which `task.text` describes the one named `task.answer`.

    Id: `kilogram/<split>/<condition>/<tangram>_<annotation>/<number>`, for `aug` with the number of shown parts, or
    with their subset, before <number>; `kinds_of` follow the condition.
    """
    target = game.examples[0]
    named = {f"image-{place}": game.examples[k] for place, k in enumerate(game.order)}
    level = [f"{len(target.shown)}of{len(target.parts)}"] if condition == AUG else []
    if level and options.targets == "subsets":
        level = [f"subset-{target.shown_mask}"]
    kinds = kinds_of(options.unconstrained, options.context_size)
    identity = "/".join(["kilogram", options.split, condition, *kinds, target.annotation.key, *level, str(game.number)])
    task = {
        "benchmark": "kilogram",
        "name": condition,
        "number": game.number,
        "text": target.text(condition),
        "target": target.tangram,
        "part_count": len(target.parts),
        "shown_parts": len(target.shown),
        "options": list(named),
        "answer": f"image-{game.order.index(0)}",
        **({"unconstrained": True} if options.unconstrained else {}),
        **drawings_fact(dataset),
    }
    return {
        **_episode_data(identity, options),
        "frames": [frame_of(dataset, example, condition, options, name) for name, example in named.items()],
        "task": task,
    }


def picture_specs(
    dataset: Dataset, annotations: Annotations, condition: str, options: Options
) -> Iterator[EpisodeData]:
    """Yield an episode per annotation with one image, for `aug` with a frame for each subset of parts.

    Id: `kilogram/<split>/<condition>/<tangram>_<annotation>`.
    """
    for items in annotations.values():
        for item in items:
            example = whole_example(item, options.seed)
            shown = list(subsets(example, options.seed)) if condition == AUG else [example]
            named = {f"subset-{subset.shown_mask}" if condition == AUG else "image": subset for subset in shown}
            task = {"benchmark": "kilogram", "name": condition, "target": item.tangram, "part_count": item.parts}
            task |= drawings_fact(dataset)
            yield {
                **_episode_data(f"kilogram/{options.split}/{condition}/{item.key}", options),
                "frames": [frame_of(dataset, subset, condition, options, name) for name, subset in named.items()],
                "task": task,
            }
