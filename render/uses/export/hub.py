"""What the Hugging Face hub and its package `datasets` read of an export: the head of README.md, and types of columns.

`datasets` guesses types from the first rows of JSON and fails where a list is empty there or a value null. So what is
JSON in an export has its types here, taken from the classes that describe it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel

from diorama.render.uses.items.image_views import extents_of
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.language.model_names import kind_of
from diorama.scene_specs.model.record import (
    CameraAnnotation,
    EpisodeRecord,
    ImageRecord,
    ObjectAnnotation,
    PointerAnnotation,
)
from diorama.scene_specs.rotation import Vec, rounded
from diorama.scene_specs.tasks.items import Item, item_id

_SIMPLE = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def arrow_type(hint: Any) -> pa.DataType:
    """Return the Arrow type of a Python type: of a model a struct of its fields, of lists and tuples a list."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    kind, inner = get_origin(hint), [argument for argument in get_args(hint) if argument not in (NoneType, ...)]
    if kind in (list, tuple):
        return pa.list_(arrow_type(inner[0]))
    if kind is Literal:
        return pa.string()
    if kind is not None:
        return arrow_type(inner[0])
    fields: Mapping[str, Any] = hint.model_fields
    return pa.struct([(name, arrow_type(field.annotation)) for name, field in fields.items()])


class _Relation(BaseModel):
    relation: str
    of: str
    objects: list[str]


class _Question(BaseModel):
    id: str
    task: str
    question: str
    images: list[str]
    options: list[str]
    answer: str
    pair: str | None


_DIRECTIONS = pa.struct([(name, arrow_type(Vec)) for name in ("left", "right", "front", "behind", "above", "below")])
ADDED_TO_OBJECTS = (("category", pa.string()), ("extent", arrow_type(Vec)))
_OBJECT_TYPE = pa.struct([*arrow_type(ObjectAnnotation), *ADDED_TO_OBJECTS])
# Of `typed_truth`.
IMAGE_TYPE = pa.struct([
    *((name, pa.string()) for name in ("name", "frame", "view")), ("width", pa.int64()), ("height", pa.int64()),
    ("utterance", pa.string()), ("camera", arrow_type(CameraAnnotation)), ("directions", _DIRECTIONS),
    ("relations", arrow_type(list[_Relation])), ("objects", pa.list_(_OBJECT_TYPE)),
    ("pointer", arrow_type(PointerAnnotation)),
])  # fmt: skip
# Of `question_rows`.
QUESTIONS_TYPE = arrow_type(list[_Question])


def object_extents(record: EpisodeRecord) -> dict[tuple[str, str], list[float]]:
    """(frame, name) -> width, depth and height of an object in the world; none for unknown ones (see extents_of)."""
    frames = {frame.name: frame for frame in record.scene.frames}
    return {
        (image.frame, name): [rounded(high - low) for low, high in extent]
        for image in record.images
        for name, extent in extents_of(image.annotation, frames.get(image.frame)).items()
    }


def annotation_data(image: ImageRecord, extents: Mapping[tuple[str, str], list[float]]) -> dict[str, Any]:
    """Return the annotation of an image as JSON data, with the category and extent of each object."""
    data = image.annotation.model_dump(mode="json", exclude={"extents"})
    for item in data["objects"]:
        item |= {"category": kind_of(item["shape"]), "extent": extents.get((image.frame, item["name"]))}
    return data


def episode_facts(record: EpisodeRecord) -> dict[str, Any]:
    """Task and contrast of an episode as JSON data; None if it has none."""
    contrast = record.scene.contrast
    return {"task": record.scene.task, "contrast": contrast and contrast.model_dump(mode="json")}


def episode_texts(record: EpisodeRecord) -> dict[str, str | None]:
    """Return the same as texts: the keys of tasks differ."""
    facts = episode_facts(record).items()
    return {name: None if value is None else json.dumps(value, ensure_ascii=False) for name, value in facts}


def typed_truth(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the truth of an image, as IMAGE_TYPE has it: no key is the name of an object.

    Args:
        facts: name, frame, view, width, height, utterance and `annotation_data` of an image.
    """
    listed = [
        {"relation": relation, "of": name, "objects": others}
        for relation, related in facts["relations"].items()
        for name, others in related.items()
    ]
    return {field.name: facts.get(field.name) for field in IMAGE_TYPE} | {"relations": listed}


def question_rows(episode_id: str, items: Iterable[Item]) -> list[dict[str, Any]]:
    """Return an episode's questions as QUESTIONS_TYPE has them; `<image>` in a text stands for the next image."""
    return [
        {
            "id": item_id(episode_id, item), "task": item.task,
            "question": "".join(part.text or "<image>" for part in item.parts),
            "images": [part.image for part in item.parts if part.image], "options": [*item.options],
            "answer": item.answer, "pair": item.pair or None,
        }
        for item in items
    ]  # fmt: skip


def hub_split(split: str) -> str:
    """Return the name of a split for the package `datasets`, which allows letters, digits and _ only."""
    return re.sub(r"[^A-Za-z0-9_]", "_", split)


def check_hub_splits(splits: Iterable[str]) -> None:
    """Raise UsageError if two splits have one name on the hub."""
    split_by_name: dict[str, str] = {}
    for split in splits:
        name = hub_split(split)
        if split_by_name.setdefault(name, split) != split:
            both = f"{split_by_name[name]} and {split}"
            raise UsageError(f"splits {both}: found one name on the hub, {name}, for both; export one with --split")


def size_category(episodes: int) -> str:
    """Return the name of a size on the hub."""
    sizes = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}
    return next((name for most, name in sizes.items() if episodes < most), "n>1M")


def cell(text: str) -> str:
    """Return a text as a table's cell; a task name may contain anything, and must not end the cell or become HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;").replace("\n", " ")


def head(values: Mapping[str, Any]) -> str:
    """Return the lines between `---` at the beginning of README.md."""
    # JSON is YAML.
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return "\n".join(["---", *lines, "---", ""])


def data_files(files: Mapping[str, str | Sequence[str]], **options: Any) -> dict[str, Any]:
    """Return the value of README.md's head that says which files are data.

    Args:
        files: split -> pattern or patterns; see check_hub_splits.
        options: options of the builder of `datasets`.
    """
    listed = [{"split": hub_split(split), "path": path} for split, path in files.items()]
    return {"configs": [{"config_name": "default", "data_files": listed, **options}]}


def features(type_: pa.StructType, **more: str) -> dict[str, Any]:
    """Return the value of README.md's head that says which columns there are.

    Args:
        more: others, name -> type of `datasets`.
    """
    columns = [*_column_descriptions(type_), *({"name": name, "dtype": kind} for name, kind in more.items())]
    return {"dataset_info": {"features": columns}}


def _column_descriptions(type_: pa.StructType) -> list[dict[str, Any]]:
    return [{"name": field.name, **_column_description(field.type)} for field in type_]


def _column_description(type_: pa.DataType) -> dict[str, Any]:
    if pa.types.is_struct(type_):
        return {"struct": _column_descriptions(type_)}
    if pa.types.is_list(type_):
        inner = type_.value_type
        return {"list": _column_descriptions(inner) if pa.types.is_struct(inner) else _column_description(inner)}
    return {"dtype": {"double": "float64"}.get(str(type_), str(type_))}
