"""Files in exactly the published forms are read: task files, today's and older trials, tables of stimulus sets."""

from __future__ import annotations

import copy
import json
import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from diorama.scene_specs.benchmarks.iwisdm.importing import import_published
from diorama.scene_specs.benchmarks.iwisdm.verify import verify_spec
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.importing.scenes import segment

EMPTY_OBJECT = {"name": "SNObject", "value": None, "category": {"name": "SNCategory", "value": None}}
EMPTY = [
    {"name": "Location", "value": None},
    {"name": "SNCategory", "value": None},
    EMPTY_OBJECT,
    {"name": "SNViewAngle", "value": None, "sn_object": EMPTY_OBJECT},
]


def got(name: str, last: int) -> Any:
    return {"name": name, "child": [{"name": "Select", "child": EMPTY, "when": f"last{last}"}]}


PLACE, KIND = {"name": "Location", "value": [0.981, 0.286]}, {"name": "SNCategory", "value": 2}
TASK = {
    "n_frames": 5,
    "first_shareable": 3,
    "whens": {"3": "last0", "5": "last2", "8": "last3", "10": "last4"},
    "operator": {
        "name": "Switch",
        "child": [
            {"name": "And", "child": [
                {"name": "NotSame", "child": [got("GetObject", 0), got("GetObject", 2)]},
                {"name": "IsSame", "child": [PLACE, got("GetLoc", 3)]},
            ]},
            {"name": "IsSame", "child": [got("GetCategory", 4), KIND]},
            {"name": "IsSame", "child": [got("GetViewAngle", 4), got("GetViewAngle", 0)]},
        ],
    },
}  # fmt: skip


def shown(epoch: int, space: tuple[int, int], category: int, number: int, angle: int = 0) -> Any:
    location = f"({0.319 + 0.5 * space[0]}, np.float64({0.15 + 0.5 * space[1]}))"
    return {
        "location": location, "space": list(space), "category": category, "object": number,
        "view angle": angle, "epochs": epoch, "is_distractor": False,
    }  # fmt: skip


OBJECTS = [shown(0, (1, 0), 4, 3), shown(2, (0, 1), 4, 3, 1)]
INFO = {
    "epochs": 3,
    "objects": [
        {"count": k, "obj": one, "tasks": [0], "attended_attr": {"0": ["object"]}} for k, one in enumerate(OBJECTS, 1)
    ],
    "instruction": "observe object 1, delay, observe object 2, identity of object 1 equals identity of object 2?",
    "answers": ["null", "null", "true"],
}
OLD = {
    "epochs": 2,
    "objects": [shown(0, (1, 0), 10, 150), shown(1, (0, 1), 2, 15)],
    "instruction": "observe object 1, observe object 2, loc of object 1 equal loc of object 2 ?",
    "answers": ["null", "false"],
}


def written(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path


def read(path: Path, **options: Any) -> list[Any]:
    return [one.model_dump(mode="json", exclude_defaults=True) for one in import_published(path, **options)]


def test_a_task_file_gives_a_trial_of_this_task(tmp_path: Path) -> None:
    (spec,) = read(written(tmp_path / "low_all/7.json", TASK))
    assert spec["id"] == "iwisdm/published/low_all/7"
    assert [len(frame.get("objects", ())) for frame in spec["frames"]] == [1, 1, 1, 0, 1]
    assert spec["task"]["instruction"] == (
        "observe object 1, observe object 2, observe object 3, delay, observe object 4, if identity of object 4 not "
        "equals identity of object 3 and top right equals location of object 2, then category of object 1 equals cars? "
        "else view_angle of object 1 equals view_angle of object 4?"
    )
    assert verify_spec(spec) == ""
    assert read(tmp_path / "low_all/7.json") == [spec]


def test_trials_of_today_and_of_older_versions(tmp_path: Path) -> None:
    written(tmp_path / "trials/trial10/frames/task_info.json", INFO)
    written(tmp_path / "trials/trial9/frames/task_info.json", {**INFO, "answers": ["null", "null", "false"]})
    written(tmp_path / "older/trial1/trial_info", OLD)
    written(tmp_path / "older/notes.json", {"not": "theirs"})
    older, ninth, tenth = read(tmp_path)
    assert [one["id"] for one in (older, ninth, tenth)] == [
        "iwisdm/published/older/1", f"iwisdm/published/{segment(tmp_path.name)}-trials/9",
        f"iwisdm/published/{segment(tmp_path.name)}-trials/10",
    ]  # fmt: skip
    assert [verify_spec(one) == "" for one in (older, ninth, tenth)] == [True, False, True]
    # Equal stimuli are equal models; a category without a name gets one that is free.
    first, _, last = (frame.get("objects", [{}])[0] for frame in tenth["frames"])
    assert first["shape"] == last["shape"] == "shapenet:couches/#4"
    assert (first["place"], last["place"]) == ("top_right", "bottom_left")
    shapes = [frame["objects"][0]["shape"] for frame in older["frames"]]
    assert shapes == ["shapenet:benches/#1", "shapenet:cars/#1"]
    assert tenth["task"]["objects"][1]["asked"] == {"0": ["identity"]}
    assert [frame["fixation"] for frame in tenth["frames"][:2]] == [True, True]


def test_each_file_of_an_export_has_an_id_of_its_own(tmp_path: Path) -> None:
    for split in ("train", "val"):
        for name in ("0_0", "0_1", "1_0", "2"):
            written(tmp_path / f"{split}/low-all-0/tasks/{name}.json", TASK)
        for name in ("trial0", "trial0+shape-1", "trial1"):
            written(tmp_path / f"{split}/low-all-0/trials/{name}/frames/task_info.json", INFO)
    # The published write_task names files so.
    written(tmp_path / "mine/task_12.json", TASK)
    ids = [one["id"].removeprefix("iwisdm/published/") for one in read(tmp_path)]
    own = ["tasks-0/0", "tasks-1/0", "tasks-0/1", "tasks/2", "trials/0+shape-1", "trials/0", "trials/1"]
    assert ids == ["mine/12", *(f"{split}-low-all-0-{one}" for split in ("train", "val") for one in own)]


def test_a_wrong_answer_is_a_warning_or_an_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path / "trial0/frames/task_info.json", {**INFO, "answers": ["null", "null", "false"]})
    with caplog.at_level(logging.WARNING):
        assert len(read(path)) == 1
    assert "stored answer is 'false'" in caplog.text
    with pytest.raises(SpecError, match="stored answer is 'false'"):
        read(path, strict=True)


def test_tables_of_a_stimulus_set_name_categories(tmp_path: Path) -> None:
    path = written(tmp_path / "trial0/frames/task_info.json", INFO)
    table = tmp_path / "set/train_meta.csv"
    table.parent.mkdir()
    table.write_text("ref,ctg_mod,obj_mod,ang_mod,ctg\n0,4,3,0,mugs\n1,0,1,0,cars\n")
    (spec,) = read(path, images=table.parent)
    assert spec["frames"][0]["objects"][0]["shape"] == "shapenet:mugs/#4"
    assert spec["task"]["categories"] == ["cars", "mugs"]
    for text, problem in (
        ("ref,ctg_mod,ctg\n0,7,cars\n1,0,boats\n", "has no name"),
        ("a,b\n1,2\n", "found no column ctg_mod"),
        ("ref,ctg_mod\n0\n", "expected a whole number"),
        ("ref,ctg_mod\n", "found no table .* or only empty ones"),
    ):
        table.write_text(text)
        with pytest.raises(SpecError, match=problem):
            read(path, images=table.parent)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("n_frames", 0), "n_frames"),
        (("operator", {"name": "Guess", "child": []}), "Guess"),
        (("operator", {"name": "IsSame", "child": [PLACE, PLACE]}), "can't have the children"),
        (("operator", got("GetLoc", 5)), "found when 'last5'; expected last0 to last4"),
        (("operator", {"name": "IsSame", "child": [got("GetLoc", 4), {"name": "Location", "value": 3}]}), "location 3"),
        (("operator", {"name": "GetLoc", "child": 3}), "operator.child: found 3: Input should be a valid list"),
        (("operator", {"name": ["GetLoc"]}), "operator.name: found .*: Input should be a valid string"),
        (("operator", PLACE), "found a constant in place of a question"),
        (("operator", EMPTY[0]), "found a constant in place of a question"),
        (("operator", {"name": "IsSame", "child": [got("GetLoc", 4), {**PLACE, "value": ["0", {}]}]}), "shares of the"),
        (("operator", {"name": "IsSame", "child": [got("GetCategory", 4), {**KIND, "value": True}]}), "from 0 to 7"),
        (
            ("operator", {"name": "GetLoc", "child": [{"name": "Select", "child": [{"name": []}], "when": "last0"}]}),
            "operator.child.0.child.0.name: found",
        ),
    ],
)
def test_damaged_task_files_are_named(change: tuple[str, Any], problem: str, tmp_path: Path) -> None:
    path = written(tmp_path / "tasks/0.json", {**TASK, change[0]: change[1]})
    written(tmp_path / "tasks/1.json", TASK)
    found: list[EpisodeSpec] = []
    with pytest.raises(SpecError, match=problem) as failure:
        found.extend(import_published(tmp_path))
    assert len(found) == 1 and [one.file for one in failure.value.diagnostics] == [str(path)]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"space": [2, 0]}, "space"),
        ({"epochs": 7}, "found epoch 7"),
        ({"view angle": 4}, "found view angle 4; expected 0 to 3"),
        ({"view angle": -5}, "found view angle -5"),
        ({"category": "cars"}, "category"),
        ({"object": -1}, "object"),
        ({"space": [0, 1], "epochs": 2}, "found two objects of epoch 2 at bottom left"),
    ],
)
def test_damaged_trials_are_named(change: Any, problem: str, tmp_path: Path) -> None:
    info = copy.deepcopy(INFO)
    info["objects"][0]["obj"] |= change  # type: ignore[index]
    with pytest.raises(SpecError, match=problem):
        read(written(tmp_path / "trial0/frames/task_info.json", info))
    for answers in ([], ["true"]):
        written(tmp_path / "trial0/frames/task_info.json", {**INFO, "objects": [], "answers": answers})
        written(tmp_path / "trial1/frames/task_info.json", INFO)
        found = import_published(tmp_path)
        assert next(found).id.endswith("/1")
        with pytest.raises(SpecError, match=f"trial0.*found {len(answers)} answers; expected one for each of 3 epochs"):
            next(found)
    with pytest.raises(SpecError, match="found no task file and no trial"):
        read(written(tmp_path / "empty/x", 1).parent)


def changed(entry: int, **values: Any) -> Any:
    """The published trial with other values of an object, which are those of `obj` where it has them."""
    info = copy.deepcopy(INFO)
    one = info["objects"][entry]  # type: ignore[index]
    for key, value in values.items():
        (one["obj"] if key in one["obj"] else one)[key] = value
    return info


CONTRADICTIONS = [
    (changed(1, location="(0.8, 0.2)"), r"objects\[1\]\.space: found \[0, 1\]; expected \[1, 0\]"),
    (changed(1, count=3), r"objects\[1\]\.count: found 3; expected 2"),
    (changed(0, tasks=[0, 1]), r'objects\[0\]\.tasks: found \["0", "1"\]; expected \["0"\]'),
    (changed(0, attended_attr={"0": ["location"]}), r'asked: found \["location"\]; expected \["id'),
    (changed(1, epochs=1), "contradicts the words"),
    (changed(0, is_distractor=True), r"objects\[0\]\.obj\.is_distractor: found true; expected false"),
]


@pytest.mark.parametrize(("info", "problem"), CONTRADICTIONS)
def test_copies_of_a_fact_are_compared(tmp_path: Path, info: Any, problem: str) -> None:
    path = written(tmp_path / "trial0/frames/task_info.json", info)
    assert len(read(path)) == 1
    with pytest.raises(SpecError, match=problem):
        read(path, strict=True)


def test_images_of_frames_that_lack_are_named(tmp_path: Path) -> None:
    path = written(tmp_path / "trial0/frames/task_info.json", INFO)
    for number in (0, 2):
        draw_frame(path.parent, number)
    with pytest.raises(SpecError, match=r'images of frames: found .*; expected \["epoch0.png", "epoch1.png", "epoch2'):
        read(path, strict=True)
    draw_frame(path.parent, 1)
    assert len(read(path, strict=True)) == 1
    draw_frame(path.parent, 3)
    with pytest.raises(SpecError, match=r'"epoch3.png"\]; expected'):
        read(path, strict=True)


def draw_frame(folder: Path, number: int) -> None:
    """Draw a frame of INFO as published: objects in their quadrants, and the cross."""
    pixels = np.zeros((224, 224, 3), dtype=np.uint8)
    entries: Any = INFO["objects"]
    for entry in entries:
        if entry["obj"]["epochs"] == number:
            column, row = entry["obj"]["space"]
            pixels[row * 112 + 20 : row * 112 + 90, column * 112 + 20 : column * 112 + 90] = 90
    pixels[110:115, 99:126] = pixels[99:126, 110:115] = 255
    Image.fromarray(pixels).save(folder / f"epoch{number}.png")


def test_images_of_other_frames_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "trial0/frames/task_info.json", INFO)
    for number in range(3):
        draw_frame(path.parent, number)
    assert len(read(path, strict=True)) == 1
    (path.parent / "epoch0.png").replace(path.parent / "kept.png")
    (path.parent / "epoch1.png").replace(path.parent / "epoch0.png")
    (path.parent / "kept.png").replace(path.parent / "epoch1.png")
    with pytest.raises(SpecError, match=r"epoch0\.png, quadrants with an object: found \[.*; expected \["):
        read(path, strict=True)
    (path.parent / "epoch0.png").write_bytes(b"garbage")
    with pytest.raises(SpecError, match=r"epoch0\.png: not an image"):
        read(path, strict=True)


def test_a_task_file_beside_an_exported_trial_must_ask_the_same(tmp_path: Path) -> None:
    models = {"models": [f"{name}/#{k}" for name in ("benches", "boats", "cars", "couches", "planes") for k in (1, 2)]}
    objects = [
        {"count": k, "obj": shown(at, (1, 0), 3, 6), "tasks": [0], "attended_attr": {"0": ["object"]}}
        for k, at in ((1, 0), (2, 2))
    ]
    written(tmp_path / "low/trials/trial0/annotations.json", models)
    info = written(tmp_path / "low/trials/trial0/frames/task_info.json", {**INFO, "objects": objects})
    graph = {"name": "IsSame", "child": [got("GetObject", 2), got("GetObject", 0)]}
    written(tmp_path / "low/tasks/0.json", {"n_frames": 3, "operator": graph})
    (spec,) = read(info, strict=True)
    assert [one["answer"] for one in spec["task"]["questions"]] == ["true"]
    assert verify_spec(spec) == ""
    for name, getter, problem in (
        ("NotSame", "GetObject", r'answer: found "true"; expected "false"'),
        (
            "IsSame",
            "GetCategory",
            r'instruction: found "identity of object 1 .*; expected "category of object 1 equals',
        ),
    ):
        changed_graph = {"name": name, "child": [got(getter, 2), got(getter, 0)]}
        written(tmp_path / "low/tasks/0.json", {"n_frames": 3, "operator": changed_graph})
        with pytest.raises(SpecError, match=problem):
            read(info, strict=True)
        # The spec holds the graph: proving it finds the same.
        (other,) = read(info)
        assert re.search(problem, verify_spec(other))
    data = copy.deepcopy(spec)
    data["task"]["objects"][0]["location"] = "bottom left"
    assert verify_spec(data).startswith("objects[0]: found {")
    data = copy.deepcopy(spec)
    data["task"]["objects"][1]["number"] = 7
    assert "objects[1].number: found 7; expected 2" in verify_spec(data)
