"""The eight categories, with the offsets and names that ShapeNetCore v2 gives them, and their eight models each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from diorama.assets.build.shapenet_mini import benches, boats, cars, chairs, couches, lighting, planes, tables
from diorama.assets.build.shapenet_mini.model import Model

Builder = Callable[[], Model]


@dataclass(frozen=True)
class Category:
    """name: as iWISDM has it; synset: WordNet 3.0 offset; lemmas: its words, as in ShapeNet's taxonomy.json."""

    name: str
    synset: str
    lemmas: str
    builders: tuple[Builder, ...]


CATEGORIES = (
    Category("benches", "02828884", "bench", benches.MODELS),
    Category("boats", "04530566", "vessel,watercraft", boats.MODELS),
    Category("cars", "02958343", "car,auto,automobile,machine,motorcar", cars.MODELS),
    Category("chairs", "03001627", "chair", chairs.MODELS),
    Category("couches", "04256520", "sofa,couch,lounge", couches.MODELS),
    Category("lighting", "03636649", "lamp", lighting.MODELS),
    Category("planes", "02691156", "airplane,aeroplane,plane", planes.MODELS),
    Category("tables", "04379243", "table", tables.MODELS),
)
