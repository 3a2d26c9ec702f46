"""Names of models in specs: `shapenet:<category>/<model>`, and the categories' words.

category: a synset of ShapeNetCore (eight digits, WordNet 3.0), one of the words below, or the name of a folder of the
user's own library. model: the id, which is the name of its folder (or of its .glb file), or `#3`, the third of the
category's models in the order of their ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

PREFIX = "shapenet:"
# The material of a model that keeps its own.
ORIGINAL = "original"
# Its own materials, all in the object's color.
PAINTED = "painted"

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
_FORM = re.compile(rf"{PREFIX}(?P<category>{_PART})/(?P<model>{_PART}|#[1-9][0-9]{{0,6}})")

# Synset -> ShapeNetCore's own words for it, then those of iWISDM; each also in the plural. Source: its taxonomy.json.
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "02691156": "airplane plane aeroplane",
        "02747177": "ashcan trash_bin",
        "02773838": "bag",
        "02801938": "basket",
        "02808440": "bathtub",
        "02818832": "bed",
        "02828884": "bench",
        "02843684": "birdhouse",
        "02871439": "bookshelf",
        "02876657": "bottle",
        "02880940": "bowl",
        "02924116": "bus",
        "02933112": "cabinet",
        "02942699": "camera",
        "02946921": "can",
        "02954340": "cap",
        "02958343": "car",
        "02992529": "cellphone",
        "03001627": "chair",
        "03046257": "clock",
        "03085013": "keyboard",
        "03207941": "dishwasher",
        "03211117": "display",
        "03261776": "earphone",
        "03325088": "faucet",
        "03337140": "file_cabinet",
        "03467517": "guitar",
        "03513137": "helmet",
        "03593526": "jar",
        "03624134": "knife",
        "03636649": "lamp lighting",
        "03642806": "laptop",
        "03691459": "loudspeaker",
        "03710193": "mailbox",
        "03759954": "microphone",
        "03761084": "microwave",
        "03790512": "motorcycle",
        "03797390": "mug",
        "03928116": "piano",
        "03938244": "pillow",
        "03948459": "pistol",
        "03991062": "pot",
        "04004475": "printer",
        "04074963": "remote_control",
        "04090263": "rifle",
        "04099429": "rocket",
        "04225987": "skateboard",
        "04256520": "sofa couch",
        "04330267": "stove",
        "04379243": "table",
        "04401088": "telephone",
        "04460130": "tower",
        "04468005": "train",
        "04530566": "watercraft vessel boat",
        "04554684": "washer",
    }
)


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    return {"bookshelf": "bookshelves", "knife": "knives"}.get(word, f"{word}s")


# Word -> synset.
SYNSETS: Mapping[str, str] = MappingProxyType(
    {
        form: synset
        for synset, words in _WORDS.items()
        for word in words.split()
        for form in ((word,) if word == "lighting" else (word, _plural(word)))
    }
)


class ModelName(NamedTuple):
    """category: as written. model: an id, or "" where `number` counts, from 1."""

    category: str
    model: str
    number: int = 0


def is_model(shape: object) -> bool:
    """Whether a shape is (meant as) a model's name."""
    return isinstance(shape, str) and shape.startswith(PREFIX)


def parse_model(shape: str) -> ModelName | None:
    """The parts of a model's name; None if it isn't one. What it accepts can't leave a folder: no slash, no ".."."""
    match = _FORM.fullmatch(shape)
    if match is None or ".." in shape:
        return None
    model = match["model"]
    return ModelName(match["category"], "", int(model[1:])) if model[0] == "#" else ModelName(match["category"], model)


def word_of(synset: str) -> str:
    """The first word for a synset; a name that is none is its own."""
    return _WORDS.get(synset, synset).split()[0]


def kind_of(shape: str) -> str:
    """What a shape is a case of: the word for a model's category, any other shape itself."""
    name = parse_model(shape)
    return shape if name is None else word_of(name.category)
