"""Names of models in specs, `shapenet:<category>/<model>` and `model:<file>`, and names of categories.

category: a synset of ShapeNetCore (eight digits, WordNet 3.0), one of the words below, or the name of a folder of the
user's library. model: the id, which is the name of its folder (or .glb file), or `#3` for the third model of the
category in the order of ids.

file: path of a model file below an asset root. With `?up=z` at its end, Z points up in the file, else Y. With
`?part=<name>`, one collection or object of a .blend file. A spec may also write {"mesh": <file>, "up": "z"}.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from diorama.scene_specs.language.person import is_person
from diorama.scene_specs.language.vocabulary import INVENTED_PREFIX, has_prefix

PREFIX = "shapenet:"
FILE_PREFIX = "model:"
# How the names of readable files end, in lower case.
MESH_SUFFIXES = (".glb", ".gltf", ".obj", ".ply", ".stl", ".fbx", ".usd", ".usda", ".usdc", ".usdz", ".blend", ".dae")
# Material of a model that keeps its own materials.
ORIGINAL = "original"
# Material of a model that keeps its own materials, in the object's color.
PAINTED = "painted"
# Material of a model that shows its own colors and textures as they are, without light.
UNLIT = "unlit"
# The node of a model's material that emits these.
UNLIT_NODE = "diorama unlit"
MODEL_MATERIALS = (ORIGINAL, PAINTED, UNLIT)

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}"
_FORM = re.compile(rf"{PREFIX}(?P<category>{_PART})/(?P<model>{_PART}|#[1-9][0-9]{{0,6}})")

_Z_UP, _OF_FILE = "?up=z", "?part="

# Synset -> ShapeNetCore's words (taxonomy.json), then those of iWISDM. Plurals are accepted, too.
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

# Synsets whose models have a front of their own: airplanes, cars, chairs, sofas, boats. Some benches have no back.
_FRONTED = ("02691156", "02958343", "03001627", "04256520", "04530566")


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
    """A parsed model name.

    Attributes:
        category: as written.
        model: an id, or "" if `number` selects the model.
        number: from 1; 0 if `model` selects it.
    """

    category: str
    model: str
    number: int = 0


class MeshFile(NamedTuple):
    """A parsed name of a model file.

    Attributes:
        path: as written.
        z_up: whether Z points up in the file.
        part: collection or object of a .blend file; "" for all of it.
    """

    path: str
    z_up: bool
    part: str


def is_model(shape: object) -> bool:
    """Return whether a shape is a model name, valid or not."""
    return has_prefix(shape, PREFIX, FILE_PREFIX)


def mesh_name(path: str, z_up: bool = False, part: str = "") -> str:
    """Return the name of a model file, or of a part of one."""
    return f"{FILE_PREFIX}{path}{_Z_UP if z_up else ''}{_OF_FILE if part else ''}{part}"


def parse_mesh(shape: str) -> MeshFile | None:
    """Parse the name of a model file; None if the shape is not one. The path may be invalid."""
    if not shape.startswith(FILE_PREFIX):
        return None
    path, _, part = shape.removeprefix(FILE_PREFIX).partition(_OF_FILE)
    return MeshFile(path.removesuffix(_Z_UP), path.endswith(_Z_UP), part)


def parse_model(shape: str) -> ModelName | None:
    """Parse a model name, None if it is invalid. Valid parts cannot leave a folder: no slash, no ".."."""
    match = _FORM.fullmatch(shape)
    if match is None or ".." in shape:
        return None
    model = match["model"]
    return ModelName(match["category"], "", int(model[1:])) if model[0] == "#" else ModelName(match["category"], model)


def has_front(shape: object) -> bool:
    """Return whether a shape is a model with a front of its own, which is where its file has the front."""
    name = parse_model(str(shape)) if is_model(shape) else None
    return name is not None and SYNSETS.get(name.category, name.category) in _FRONTED


def word_of(synset: str) -> str:
    """Return the first word for a synset; other names are returned unchanged."""
    return _WORDS.get(synset, synset).split()[0]


def shape_class(shape: str) -> str:
    """Return a shape without its parameters: `person`, `invented blob`, or the shape."""
    if has_prefix(shape, INVENTED_PREFIX):
        return f"invented {shape.removeprefix(INVENTED_PREFIX).partition('/')[0]}"
    return "person" if is_person(shape) else shape


def kind_of(shape: str) -> str:
    """Return the category of a shape: a model's word, a file's path without its end, or its `shape_class`."""
    mesh = parse_mesh(shape)
    if mesh is not None:
        return mesh.path.rpartition(".")[0]
    name = parse_model(shape)
    return shape_class(shape) if name is None else word_of(name.category)
