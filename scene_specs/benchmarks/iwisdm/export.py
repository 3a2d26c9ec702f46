"""`--format iwisdm`: the layout of the published iWISDM trials and task files.

    <out>/<split>/<name>/trials/trial<i>/frames/epoch<t>.png    8-bit RGB, t from 0
                                                task_info.json  epochs, objects, instruction, answers
                                         annotations.json       not published: names, boxes, masks, cameras
                         tasks/<i>.json                         the graph of the task, for their `read_task`

Each entry of `objects` holds `count` (its number in the instruction), `obj` (location as "(x, y)" in shares of the
image, x right, y down; space as [column, row]; category, object and view angle as numbers; epochs, its frame), the
`tasks` that use it and the attributes they attend to. A trial with several tasks has files `tasks/<i>_<k>.json`. Task
files have the trial's constants. `annotations.json` has the names behind the numbers of categories and objects, for
each object in the order of `objects` its frame, box and mask (COCO), the camera of each frame, and in `diorama` the
identity of the stored episode.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from diorama.scene_specs.benchmarks.iwisdm.published_tasks import PUBLISHED_NAMES
from diorama.scene_specs.benchmarks.iwisdm.stimuli import VIEW_ANGLES
from diorama.scene_specs.benchmarks.iwisdm.truth import CompleteTruth, Node, Question, Truth
from diorama.scene_specs.benchmarks.iwisdm.verify import frames_of_record, measured_location
from diorama.scene_specs.files.writing import indented_json
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.tasks.exporting.layouts import EpisodeFolders

_ID = re.compile(r"iwisdm/([A-Za-z0-9_][A-Za-z0-9_.+-]*)/([A-Za-z0-9_][A-Za-z0-9_.+-]*)/([0-9]{1,9})(\+[a-z]+-[0-9]+)?")
# Diorama's names -> the published names.
_KEYS = {"location": "location", "category": "category", "identity": "object", "view_angle": "view_angle"}
_EMPTY_CATEGORY = {"name": "SNCategory", "value": None}
_EMPTY_OBJECT = {"name": "SNObject", "value": None, "category": _EMPTY_CATEGORY}
# What a Select holds that picks the object of its frame.
_EMPTY = [
    {"name": "Location", "value": None},
    _EMPTY_CATEGORY,
    _EMPTY_OBJECT,
    {"name": "SNViewAngle", "value": None, "sn_object": _EMPTY_OBJECT},
]


def _split_location(episode_id: str) -> tuple[Path, str]:
    """`<split>/<name>`, and the number with a contrast's suffix. Raises ValueError for an id that is not iWISDM's."""
    match = _ID.fullmatch(episode_id)
    if match is None:
        raise ValueError("not an iWISDM trial: expected an id iwisdm/<split>/<name>/<number>")
    split, name, number, member = match.groups(default="")
    return Path(split, name), f"{int(number)}{member}"


def _trial_folder(episode_id: str) -> Path:
    """`<split>/<name>/trials/trial<number>`. Raises ValueError for an id that is not iWISDM's."""
    parent, number = _split_location(episode_id)
    return parent / "trials" / f"trial{number}"


def files_of(record: EpisodeRecord, identity: Mapping[str, Any]) -> dict[str, bytes]:
    """Path -> content of a trial's folder. Raises SpecError if the record is not a trial or shows another one."""
    files = {f"frames/epoch{number}.png": image.png for number, image in enumerate(record.images)}
    truth = CompleteTruth.of_record(record)
    files["frames/task_info.json"] = json.dumps(_info_file(record, truth)).encode()
    files["annotations.json"] = indented_json({**_annotation_data(record, truth), "diorama": dict(identity)})
    return files


def task_files(record: EpisodeRecord) -> dict[str, bytes]:
    """Path below `out` -> content of the task files. Raises SpecError if the record is not a trial."""
    truth, (parent, number) = CompleteTruth.of_record(record), _split_location(record.episode_id)
    several = len(truth.questions) > 1
    return {
        str(parent / "tasks" / (f"{number}_{k}.json" if several else f"{number}.json")): json.dumps(
            task_file(question, truth)
        ).encode()
        for k, question in enumerate(truth.questions)
    }


def _info_file(record: EpisodeRecord, truth: Truth) -> dict[str, Any]:
    """Return the published keys of task_info.json, as JSON data. Objects are described as the images show them."""
    objects = []
    for frame, shown in enumerate(frames_of_record(record, truth)):
        by_location = {item["location"]: item for item in shown}
        for planned in truth.objects:
            if planned.frame == frame:
                item = _object_data(by_location[planned.location], truth, frame, planned.is_distractor)
                attended = {number: [_KEYS[name] for name in names] for number, names in planned.asked.items()}
                tasks = [int(number) for number in attended]
                objects.append({"count": planned.number, "obj": item, "tasks": tasks, "attended_attr": attended})
    return {
        "epochs": len(record.images),
        "objects": objects,
        "instruction": truth.instruction,
        "answers": list(truth.answers),
    }


def _object_data(item: Mapping[str, str], truth: Truth, frame: int, is_distractor: bool) -> dict[str, Any]:
    space = _column_and_row(item["location"])
    return {
        # The center of the quadrant.
        "location": f"({0.25 + 0.5 * space[0]}, {0.25 + 0.5 * space[1]})",
        "space": space,
        "category": truth.categories.index(item["category"]),
        "object": truth.models.index(item["identity"]),
        "view angle": VIEW_ANGLES.index(item["view_angle"]),
        "epochs": frame,
        "is_distractor": is_distractor,
    }


def _column_and_row(location: str) -> list[int]:
    """[column, row] of a quadrant."""
    row, column = location.split(" ")
    return [int(column == "right"), int(row == "bottom")]


def _annotation_data(record: EpisodeRecord, truth: Truth) -> dict[str, Any]:
    objects = []
    for planned in truth.objects:
        image, location = record.images[planned.frame], planned.location
        item = next(item for item in image.annotation.objects if measured_location(item, image) == location)
        box = None if item.bbox is None else list(item.bbox)
        objects.append({"epochs": planned.frame, "bbox": box, "mask": item.rle.model_dump(mode="json")})
    cameras = [image.annotation.camera.model_dump(mode="json") for image in record.images]
    names = {"categories": list(truth.categories), "models": list(truth.models)}
    return {**names, "objects": objects, "cameras": cameras}


def task_file(question: Question, truth: Truth) -> dict[str, Any]:
    """Return the graph of one task in the published form. `whens` count back from the frame of the answer, "last0".

    Node ids count depth first. first_shareable is the number of frames, because the trial already includes shared ones.
    """
    whens: dict[str, str] = {}
    counter = count()

    def node(own: Node) -> dict[str, Any]:
        number = next(counter)
        if own.property is not None and own.value is not None:
            return _published_constant(own.property, own.value, truth)
        result: dict[str, Any] = {"name": PUBLISHED_NAMES.get(own.name, own.name)}
        result["child"] = [node(child) for child in own.child]
        if own.frame is not None:
            result["child"] = result["child"] or _EMPTY
            result["when"] = whens[str(number)] = f"last{question.answer_frame - own.frame}"
        return result

    operator = node(question.operator)
    frames = 1 + max(int(when.removeprefix("last")) for when in whens.values())
    return {"n_frames": frames, "first_shareable": frames, "whens": whens, "operator": operator}


def _published_constant(name: str, value: str, truth: Truth) -> dict[str, Any]:
    """Return a constant as the published code writes it; of a view angle, the object is open."""
    if name == "location":
        x, y = (0.25 + 0.5 * part for part in _column_and_row(value))
        return {"name": "Location", "value": [x, y]}
    if name == "category":
        return {"name": "SNCategory", "value": truth.categories.index(value)}
    if name == "view_angle":
        return {"name": "SNViewAngle", "value": VIEW_ANGLES.index(value), "sn_object": _EMPTY_OBJECT}
    category = {"name": "SNCategory", "value": truth.categories.index(value.split("/")[0])}
    return {"name": "SNObject", "value": truth.models.index(value), "category": category}


FOLDERS = EpisodeFolders(2, "annotations.json", _trial_folder, files_of, task_files)
