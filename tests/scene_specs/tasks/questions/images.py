"""Images for tests: four random ones of CLEVR, one with objects on others, and models."""

from __future__ import annotations

from functools import cache
from typing import Any

import diorama
from diorama.render.episode.make_record import make_record
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.tasks.questions.view import ImageView
from tests.factories import make_job

STACKED = [
    {"shape": "cube", "size": "large", "color": "red", "material": "rubber", "location": [1, 1]},
    {"shape": "sphere", "size": "small", "color": "blue", "material": "metal", "location": [1, 1, 1.75]},
    {"shape": "cylinder", "size": "large", "color": "green", "material": "metal", "location": [-1.5, -1.5]},
    {"shape": "cube", "size": "small", "color": "red", "material": "metal", "location": [-1.5, -1.5, 1.75]},
    {"shape": "shapenet:chairs/#1", "size": 0.7, "color": "cyan", "location": [-2, 2]},
    {"shape": "shapenet:cars/#1", "size": 0.7, "color": "yellow", "location": [2, -2]},
    {"shape": "sphere", "size": "small", "color": "gray", "material": "rubber", "location": [2.6, 0.6]},
]


def view(spec: Any) -> ImageView:
    """The first image of a spec, drawn with the fake renderer."""
    scene = diorama.compile_spec(spec, profile="draft", size=(160, 120))
    record = make_record(diorama.FakeRenderer(), scene, make_job(), scene.settings)
    return next(store_views([record]))


@cache
def stacked() -> ImageView:
    """Objects on others, and models."""
    return view({"version": 1, "id": "stacked", "frames": [{"objects": STACKED}]})


@cache
def images() -> tuple[ImageView, ...]:
    """All images."""
    return (*(view(spec) for spec in diorama.generate("clevr", count=4, seed=3, objects=(5, 9))), stacked())


ORIENTED: Any = {
    "objects": [
        {"name": "chair", "shape": "shapenet:chairs/#3", "size": 0.7, "color": "cyan", "material": "rubber"},
        {"name": "car", "shape": "shapenet:cars/#1", "size": 0.7, "color": "yellow", "material": "rubber"},
        {"name": "ball", "shape": "sphere", "size": "small", "color": "red", "material": "rubber"},
        {"name": "cube", "shape": "cube", "size": "small", "color": "blue", "material": "rubber"},
        {"name": "can", "shape": "cylinder", "size": "small", "color": "green", "material": "metal"},
    ],
    "observers": [{"name": "Anna", "looks_at": "cube", "color": "purple"}],
}


@cache
def oriented(seed: int = 1) -> ImageView:
    """A person, a chair and a car, which have fronts, and three objects without."""
    return view({"version": 1, "id": f"oriented/{seed}", "seed": seed, "frames": [ORIENTED]})


@cache
def touching() -> ImageView:
    """A ball on a cylinder on a cube, on which a plank leans, and a ball in a bowl."""
    plank = {"polygon": [[-0.05, -0.2], [0.05, -0.2], [0.05, 0.2], [-0.05, 0.2]], "height": 1.1}
    shapes = {"cube": ("cube", 0.7), "can": ("cylinder", 0.35), "ball": ("sphere", 0.25), "plank": (plank, None)}
    shapes |= {"bowl": ("bowl", 0.9), "egg": ("sphere", 0.26)}
    colors = ("red", "blue", "green", "yellow", "brown", "cyan")
    objects = [
        {"name": name, "shape": shape, "color": color, "material": "rubber"} | ({"size": size} if size else {})
        for (name, (shape, size)), color in zip(shapes.items(), colors, strict=True)
    ]
    pairs = ("can on cube", "ball on can", "plank leaning cube", "egg in bowl")
    stated = [dict(zip(("subject", "relation", "of"), text.split(), strict=True)) for text in pairs]
    frame = {"objects": objects, "constraints": [*stated, {"min_visible_pixels": 20}]}
    return view({"version": 1, "id": "touching", "seed": 2, "frames": [frame]})
