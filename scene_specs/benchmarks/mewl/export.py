"""`--format mewl`: the layout of the published MEWL dataset, with a box and a mask for every object.

    <out>/<split>/<task>/<number>/<utterance>.png    a context; in shape, color and material `<word> #<k>.png`
                                  <utterance>.json   its scene file, with `camera`; objects have `bbox`, `mask` (COCO)
                                  question.png, question.json
                                  info.json          objects, word-concept, context_panels, question

The hand of pragmatic is always the fourth object, ["arrow", "yellow", "rubber", "small"]. `info.json` has one
additional key, `diorama`: the identity of the stored episode. A folder gets its name once it is complete.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diorama.scene_specs.benchmarks.mewl.copies import HAND
from diorama.scene_specs.benchmarks.mewl.draft import OBJECT_NUMBER, OBJECTS, TYPES
from diorama.scene_specs.benchmarks.mewl.truth import Truth
from diorama.scene_specs.benchmarks.mewl.view import view_of_record, without_pointer
from diorama.scene_specs.files.writing import indented_json
from diorama.scene_specs.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation
from diorama.scene_specs.model.scene import SceneFrame
from diorama.scene_specs.tasks.exporting.layouts import EpisodeFolders

_ID = re.compile(r"mewl/([A-Za-z0-9_][A-Za-z0-9_.+-]*)/([a-z]+)/([A-Za-z0-9_][A-Za-z0-9_.+-]*)")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 #_-]{0,180}")
_UNNAMED = re.compile(r"object-\d+")


def _episode_folder(episode_id: str) -> Path:
    """`<split>/<task>/<number>`. Raises ValueError for an id that is not MEWL's."""
    match = _ID.fullmatch(episode_id)
    if match is None:
        raise ValueError("not a MEWL episode: expected an id mewl/<split>/<task>/<number>")
    split, task, number = match.groups()
    return Path(split, task, str(int(number)) if number.isdecimal() else number)


def files_of(record: EpisodeRecord, identity: Mapping[str, Any]) -> dict[str, bytes]:
    """File name -> content of an episode's folder.

    Raises:
        SpecError: if it is not a MEWL episode.
        ValueError: for image names that can't be file names or are not unique.
    """
    truth = Truth.of_record(record)
    # Raises SpecError.
    view_of_record(record, truth)
    frames = {frame.name: frame for frame in record.scene.frames}
    shown = [frames[image.frame] for image in record.images]
    scenes = [scene_file(image, frame) for image, frame in zip(record.images, shown, strict=True)]
    names = [_image_name(truth.name, frame, scene) for frame, scene in zip(shown, scenes, strict=True)]
    names[-1] = "question"
    files: dict[str, bytes] = {}
    for name, image, scene in zip(names, record.images, scenes, strict=True):
        if not _FILE.fullmatch(name) or f"{name}.png" in files:
            raise ValueError(f"image {image.name}: its file name {name!r} is invalid or not unique in MEWL's layout")
        files[f"{name}.png"] = image.png
        files[f"{name}.json"] = indented_json(scene)
    files["info.json"] = indented_json({**_info_file(truth, names, scenes), "diorama": dict(identity)})
    return files


def _image_name(task: str, frame: SceneFrame, scene: Mapping[str, Any]) -> str:
    """Return the utterance; in tasks with repeated words followed by the number of its only object among the 144."""
    utterance = frame.utterance or ""
    if task not in ("shape", "color", "material"):
        return utterance
    item = scene["objects"][0]
    return f"{utterance} #{OBJECT_NUMBER[(item['shape'], item['color'], item['material'], item['size'])]}"


def _published_names(items: list[ObjectAnnotation], frame: SceneFrame) -> list[str | None]:
    """Return the objects' names in the published files: from the generator or an imported file, None if unnamed."""
    match frame.truth:
        case {"names": list(names)} if len(names) == len(items):
            return names
    return [None if _UNNAMED.fullmatch(item.name) else item.name for item in items]


def scene_file(image: ImageRecord, frame: SceneFrame) -> dict[str, Any]:
    """Return the scene file of an image, as JSON data. Raises ValueError for an object of unknown color or size."""
    annotation = image.annotation
    items = without_pointer(annotation.objects, annotation.pointer)
    names = _published_names(items, frame)
    known = {item.name: name for item, name in zip(items, names, strict=True) if name is not None}
    objects = [_object_data(item, name) for item, name in zip(items, names, strict=True)]
    scene: dict[str, Any] = {}
    if annotation.pointer is not None:
        hand = next(item for item in annotation.objects if item.name == annotation.pointer.name)
        objects.append({**_object_data(hand, None), **dict(zip(TYPES, HAND, strict=True))})
        scene["points_to"] = [item.name for item in items].index(annotation.pointer.target)
    return {
        **scene,
        "objects": objects,
        "directions": {name: list(direction) for name, direction in annotation.directions.items()},
        "relationships": {
            relation: {known[a]: [known[b] for b in others if b in known] for a, others in table.items() if a in known}
            for relation, table in annotation.relations.items()
        },
        "camera": annotation.camera.model_dump(mode="json"),
    }


def _object_data(item: ObjectAnnotation, name: str | None) -> dict[str, Any]:
    return {
        "name": name,
        "shape": item.shape,
        "size": item.size,
        "material": item.material,
        "color": item.color,
        "3d_coords": list(item.location),
        # The published files have radians, as Blender does.
        "rotation": math.radians(item.rotation_deg[2]),
        "pixel_coords": list(item.pixel_center),
        "bbox": None if item.bbox is None else list(item.bbox),
        "mask": item.rle.model_dump(mode="json"),
    }


def _look_words(item: Mapping[str, Any]) -> list[str]:
    return [item[kind] for kind in TYPES]


def _info_file(truth: Truth, names: list[str], scenes: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the episode's info.json, as JSON data."""
    panels = []
    for name, scene in zip(names, scenes, strict=True):
        panel: dict[str, Any] = {"name": name, "objects": [_look_words(item) for item in scene["objects"]]}
        if "points_to" in scene:
            panel["arrow_idx"] = scene["points_to"]
        panels.append(panel)
    question = panels.pop()
    del question["name"]
    return {
        "objects": _all_objects(truth, scenes),
        "word-concept": truth.meanings,
        "context_panels": panels,
        "question": {"choices": truth.options, "answer": truth.answer, **question},
    }


def _all_objects(truth: Truth, scenes: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Name -> attributes of the objects that words name; in shape, color and material of all objects that words fit.

    Objects of number have no names and get numbers.
    """
    task, words = truth.name, truth.meanings
    if task in ("object", "bootstrap"):
        return {word: list(item) for word, item in words.items() if isinstance(item, tuple)}
    if task in ("shape", "color", "material"):
        at, named = TYPES.index(task), {value: word for word, value in words.items()}
        return {f"{named[item[at]]} #{k}": list(item) for k, item in enumerate(OBJECTS) if item[at] in named}
    listed = [item for scene in scenes for item in scene["objects"] if item["shape"] != HAND[0]]
    if task == "number":
        return {f"#{k}": _look_words(item) for k, item in enumerate(listed)}
    return {item["name"]: _look_words(item) for item in listed if item["name"] is not None}


FOLDERS = EpisodeFolders(1, "info.json", _episode_folder, files_of)
