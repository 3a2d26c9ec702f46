"""`--format iwisdm`: the layout of the published iWISDM trials.

    <out>/<split>/<name>/trial<number>/frames/epoch<t>.png    8-bit RGB, t from 0
                                       task_info.json         epochs, objects, instruction, answers
                                       task<k>.json           the graph of task k, as in the published task files
                                       annotations.json       names of categories and models, boxes, masks, cameras

Each entry of `objects` holds `count` (its number in the instruction), `obj` (location as "(x, y)" in shares of the
image, x right, y down; space as [column, row]; category, object and view angle as numbers; epochs, its frame), the
`tasks` that use it and the attributes they attend to. `task_info.json` has one additional key, `diorama`: the identity
of the stored episode. `annotations.json` is not part of the published layout: it has the names behind the numbers of
categories and objects, for each object in the order of `objects` its frame, box and mask (COCO), and the camera of each
frame.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from render.export._episode_folders import export_folders
from render.export.atomic_output import indented_json
from render.model.record import EpisodeRecord
from scene_specs.benchmarks.iwisdm.stimuli import VIEW_ANGLES
from scene_specs.benchmarks.iwisdm.verify import frames_of_record, measured_location, truth_of

FORMAT_VERSION = 1
_ID = re.compile(r"iwisdm/([A-Za-z0-9_][A-Za-z0-9_.+-]*)/([A-Za-z0-9_][A-Za-z0-9_.+-]*)/([0-9]{1,9})(\+[a-z]+-[0-9]+)?")
# Diorama's names -> the published names.
_KEYS = {"location": "location", "category": "category", "identity": "object", "view_angle": "view angle"}
_OPERATORS = {"GetLocation": "GetLoc", "GetIdentity": "GetObject"}


def _folder(episode_id: str) -> Path:
    """`<split>/<name>/trial<number>`, with a contrast's suffix. Raises ValueError for an id that is not iWISDM's."""
    found = _ID.fullmatch(episode_id)
    if found is None:
        raise ValueError("not an iWISDM trial: expected an id iwisdm/<split>/<name>/<number>")
    split, name, number, member = found.groups(default="")
    return Path(split, name, f"trial{int(number)}{member}")


def files_of(record: EpisodeRecord, identity: Mapping[str, Any]) -> dict[str, bytes]:
    """Path -> content of a trial's folder. Raises SpecError if the record is not a trial or shows another one."""
    task = truth_of(record)
    info = info_file(record)
    files = {f"frames/epoch{number}.png": image.png for number, image in enumerate(record.images)}
    for number, question in enumerate(task["questions"]):
        files[f"task{number}.json"] = indented_json(task_file(question))
    files["annotations.json"] = indented_json(_annotations(record, task))
    files["task_info.json"] = indented_json({**info, "diorama": dict(identity)})
    return files


def info_file(record: EpisodeRecord) -> dict[str, Any]:
    """The published keys of task_info.json, as JSON data. Objects are described as the images show them."""
    task = truth_of(record)
    objects = []
    for frame, shown in enumerate(frames_of_record(record)):
        by_location = {item["location"]: item for item in shown}
        for planned in task["objects"]:
            if planned["frame"] == frame:
                item = _object(by_location[planned["location"]], task, frame, planned["is_distractor"])
                attended = {number: [_KEYS[name] for name in names] for number, names in planned["asked"].items()}
                tasks = [int(number) for number in attended]
                objects.append({"count": planned["number"], "obj": item, "tasks": tasks, "attended_attr": attended})
    return {
        "epochs": len(record.images),
        "objects": objects,
        "instruction": task["instruction"],
        "answers": list(task["answers"]),
    }


def _object(item: Mapping[str, str], task: Mapping[str, Any], frame: int, is_distractor: bool) -> dict[str, Any]:
    row, column = item["location"].split(" ")
    space = [int(column == "right"), int(row == "bottom")]
    return {
        # The center of the quadrant.
        "location": f"({0.25 + 0.5 * space[0]}, {0.25 + 0.5 * space[1]})",
        "space": space,
        "category": task["categories"].index(item["category"]),
        "object": task["models"].index(item["identity"]),
        "view angle": VIEW_ANGLES.index(item["view_angle"]),
        "epochs": frame,
        "is_distractor": is_distractor,
    }


def _annotations(record: EpisodeRecord, task: Mapping[str, Any]) -> dict[str, Any]:
    objects = []
    for planned in task["objects"]:
        image, location = record.images[planned["frame"]], planned["location"]
        item = next(item for item in image.annotation.objects if measured_location(item, image) == location)
        box = None if item.bbox is None else list(item.bbox)
        objects.append({"epochs": planned["frame"], "bbox": box, "mask": item.rle.model_dump(mode="json")})
    cameras = [image.annotation.camera.model_dump(mode="json") for image in record.images]
    names = {"categories": list(task["categories"]), "models": list(task["models"])}
    return {**names, "objects": objects, "cameras": cameras}


def task_file(question: Mapping[str, Any]) -> dict[str, Any]:
    """The graph of one task in the published form. `whens` count back from the frame of the answer, "last0".

    Node ids count depth first. first_shareable is the number of frames, because the trial already includes shared ones.
    """
    whens: dict[str, str] = {}
    counter = count()

    def node(data: Mapping[str, Any]) -> dict[str, Any]:
        number = next(counter)
        result: dict[str, Any] = {"name": _OPERATORS.get(data["name"], data["name"])}
        if "frame" in data:
            result["when"] = whens[str(number)] = f"last{question['answer_frame'] - data['frame']}"
        if "value" in data:
            result |= {"attribute": _KEYS[data["property"]], "value": data["value"]}
        return {**result, "child": [node(child) for child in data["child"]]}

    operator = node(question["operator"])
    frames = 1 + max(int(when.removeprefix("last")) for when in whens.values())
    return {"n_frames": frames, "first_shareable": frames, "whens": whens, "operator": operator}


export = partial(export_folders, version=FORMAT_VERSION, marked="task_info.json", folder_of=_folder, files_of=files_of)
