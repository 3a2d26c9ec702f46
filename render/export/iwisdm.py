"""`--format iwisdm`: the layout of the published iWISDM trials.

    <out>/<split>/<name>/trial<number>/frames/epoch<t>.png    8-bit RGB, t from 0
                                       task_info.json         epochs, objects, instruction, answers
                                       task<k>.json           the graph of task k, as the published task files
                                       annotations.json       names of categories and models, boxes and masks

`objects` holds, for each object, `count` (its number in the instruction), `obj` (location as "(x, y)" in shares of the
picture, x right, y down; space as [column, row]; category, object and view angle as numbers; epochs, its frame),
`tasks` that use it and what they attend to. `task_info.json` has one key more than the published one, `diorama`: which
stored episode this is. `annotations.json` is ours: what the numbers of categories and objects count, and for each
object in the order of `objects` its frame, box and mask (COCO).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from render.export._episode_folders import export_folders
from render.export.protocol import ExportOptions, ExportReport
from render.model.record import EpisodeRecord
from render.store.episode_store import EpisodeReader
from scene_specs.benchmarks.iwisdm.stimuli import VIEW_ANGLES
from scene_specs.benchmarks.iwisdm.verify import frames_of_record, measured_location, truth_of

FORMAT_VERSION = 1
_ID = re.compile(r"iwisdm/([A-Za-z0-9_][A-Za-z0-9_.+-]*)/([A-Za-z0-9_][A-Za-z0-9_.+-]*)/([0-9]{1,9})")
# Names of the published files.
_KEYS = {"location": "location", "category": "category", "identity": "object", "view_angle": "view angle"}
_OPERATORS = {"GetLocation": "GetLoc", "GetIdentity": "GetObject"}


def export(store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None]) -> ExportReport:
    """Write iWISDM trials below `out`; see render.export.protocol.Exporter. Others are named in the report."""
    return export_folders(
        store, out, options, progress, version=FORMAT_VERSION, marked="task_info.json", folder_of=_folder,
        files_of=files_of,
    )  # fmt: skip


def _folder(episode_id: str) -> Path:
    """`<split>/<name>/trial<number>`. Raises ValueError for an id that is not iWISDM's."""
    found = _ID.fullmatch(episode_id)
    if found is None:
        raise ValueError("no iWISDM trial: expected an id iwisdm/<split>/<name>/<number>")
    split, name, number = found.groups()
    return Path(split, name, f"trial{int(number)}")


def files_of(record: EpisodeRecord, marks: Mapping[str, Any]) -> dict[str, bytes]:
    """Path -> content of a trial's folder. Raises SpecError for what is no iWISDM trial, or shows something else."""
    task = truth_of(record)
    info = info_file(record)
    files = {f"frames/epoch{number}.png": image.png for number, image in enumerate(record.images)}
    for number, question in enumerate(task["questions"]):
        files[f"task{number}.json"] = _json(task_file(question))
    files["annotations.json"] = _json(_annotations(record, task))
    files["task_info.json"] = _json({**info, "diorama": dict(marks)})
    return files


def info_file(record: EpisodeRecord) -> dict[str, Any]:
    """The published keys of task_info.json, as JSON data; what objects are is what the pictures show."""
    task = truth_of(record)
    objects = []
    for frame, shown in enumerate(frames_of_record(record)):
        seen = {item["location"]: item for item in shown}
        for meant in (one for one in task["objects"] if one["frame"] == frame):
            item = seen[meant["location"]]
            objects.append(
                {
                    "count": meant["number"],
                    "obj": _object(item, task, frame, meant["is_distractor"]),
                    "tasks": [int(number) for number in meant["asked"]],
                    "attended_attr": {
                        number: [_KEYS[name] for name in names] for number, names in meant["asked"].items()
                    },
                }
            )
    return {
        "epochs": len(record.images),
        "objects": objects,
        "instruction": task["instruction"],
        "answers": list(task["answers"]),
    }


def _object(item: Mapping[str, str], task: Mapping[str, Any], frame: int, ignored: bool) -> dict[str, Any]:
    row, column = item["location"].split(" ")
    space = [int(column == "right"), int(row == "bottom")]
    return {
        # The middle of the quadrant, where it was placed.
        "location": f"({0.25 + 0.5 * space[0]}, {0.25 + 0.5 * space[1]})",
        "space": space,
        "category": task["categories"].index(item["category"]),
        "object": task["models"].index(item["identity"]),
        "view angle": VIEW_ANGLES.index(item["view_angle"]),
        "epochs": frame,
        "is_distractor": ignored,
    }


def _annotations(record: EpisodeRecord, task: Mapping[str, Any]) -> dict[str, Any]:
    objects = []
    for meant in task["objects"]:
        image = record.images[meant["frame"]]
        item = next(one for one in image.annotation.objects if measured_location(one, image) == meant["location"])
        box = None if item.bbox is None else list(item.bbox)
        objects.append({"epochs": meant["frame"], "bbox": box, "mask": item.rle.model_dump(mode="json")})
    return {"categories": list(task["categories"]), "models": list(task["models"]), "objects": objects}


def task_file(question: Mapping[str, Any]) -> dict[str, Any]:
    """The graph of one task in the published form: `whens` count from the frame of the answer, "last0" is that frame.

    Node ids count depth first. first_shareable is the number of frames: whatever the trial shares is in it already.
    """
    whens: dict[str, str] = {}
    counter = iter(range(10**6))

    def node(data: Mapping[str, Any]) -> dict[str, Any]:
        number = next(counter)
        found: dict[str, Any] = {"name": _OPERATORS.get(data["name"], data["name"])}
        if "frame" in data:
            found["when"] = whens[str(number)] = f"last{question['answer_frame'] - data['frame']}"
        if "value" in data:
            found |= {"attribute": _KEYS[data["property"]], "value": data["value"]}
        return {**found, "child": [node(child) for child in data["child"]]}

    operator = node(question["operator"])
    frames = 1 + max(int(when.removeprefix("last")) for when in whens.values())
    return {"n_frames": frames, "first_shareable": frames, "whens": whens, "operator": operator}


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()
