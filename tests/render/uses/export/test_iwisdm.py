"""`--format iwisdm`, read back by a reader written from the description of the published files alone."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pycocotools import mask as coco

from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import format_of
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.scene_specs.benchmarks.iwisdm import Options
from diorama.scene_specs.benchmarks.iwisdm.autotask_config import benchmark_limits, published_form
from diorama.scene_specs.benchmarks.iwisdm.generate import trial_specs
from diorama.scene_specs.benchmarks.iwisdm.importing import import_published
from diorama.scene_specs.benchmarks.iwisdm.reader import read
from diorama.scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, VIEW_ANGLES
from diorama.scene_specs.benchmarks.iwisdm.truth import CompleteTruth
from diorama.scene_specs.benchmarks.iwisdm.verify import frames_of_record, verify_record
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.tasks.items import items_of
from tests import factories
from tests.render.uses.export.helpers import projected

PLACES = {(0, 0): "top left", (1, 0): "top right", (0, 1): "bottom left", (1, 1): "bottom right"}


def made(spec: Any) -> EpisodeRecord:
    job = factories.make_job(dict(spec))
    return make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings_for("draft", 224, 224))


@pytest.fixture(scope="module")
def specs() -> list[Any]:
    sources: list[Any] = [{"benchmark": "low"}, {"benchmark": "high"}, {"benchmark": "low", "chain": 2}]
    sources += [{"task": task} for task in ("odr", "dual-n-back", "search-and-report", "task-switching")]
    shared: Any = {"count": 2, "seed": 6, "balanced": True, "distractors": 1, "distractor_frames": 1}
    return [spec for source in sources for spec in trial_specs(Options(**source, **shared))]


@pytest.fixture(scope="module")
def records(specs: list[Any]) -> list[EpisodeRecord]:
    return [made(spec) for spec in specs]


@pytest.fixture(scope="module")
def folder(records: list[EpisodeRecord], tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("iwisdm")
    store = LanceStore.create(str(base / "s.lance"), fsync=False)
    store.put(records)
    report = run(store, base / "out")
    assert (report.exported, report.failed) == (len(records), [])
    return base


def run(store: LanceStore, out: Path, **options: Any) -> ExportReport:
    return format_of("iwisdm").export(store, out, ExportOptions(**options), lambda _: None)


def trial(folder: Path, spec: Any) -> Path:
    _, split, name, number = str(spec["id"]).split("/")
    return folder / "out" / split / name / "trials" / f"trial{int(number)}"


def info_of(trial: Path) -> Any:
    return json.loads((trial / "frames/task_info.json").read_text())


def test_cameras_project_the_objects(folder: Path, records: list[EpisodeRecord], specs: list[Any]) -> None:
    """With parallel rays; the focal length is in pixels per Blender unit."""
    for record, spec in zip(records, specs, strict=True):
        cameras = json.loads((trial(folder, spec) / "annotations.json").read_text())["cameras"]
        for camera, image in zip(cameras, record.images, strict=True):
            assert camera["projection"] == "orthographic"
            for item in image.annotation.objects:
                assert projected(camera, item.location) == pytest.approx(item.pixel_center, abs=1e-4)


def test_imports_show_what_was_exported(folder: Path, specs: list[Any]) -> None:
    for spec in specs:
        (again,) = import_published(trial(folder, spec), strict=True)
        assert [[item.shape for item in frame.objects] for frame in again.frames] == [
            [item["shape"] for item in frame.get("objects", ())] for frame in spec["frames"]
        ]


def test_it_reads_back(folder: Path, specs: list[Any]) -> None:
    """By the published description: what the frames of task_info.json show answers its instruction (I2, I9, I14)."""
    asked: set[str] = set()
    for spec in specs:
        info = info_of(trial(folder, spec))
        names = json.loads((trial(folder, spec) / "annotations.json").read_text())
        frames: list[list[dict[str, str]]] = [[] for _ in range(info["epochs"])]
        counts: dict[int, int] = {}
        for one in info["objects"]:
            obj = one["obj"]
            numbers = re.fullmatch(r"\((\d\.\d+), (\d\.\d+)\)", obj["location"])
            assert numbers is not None
            x, y = map(float, numbers.groups())
            assert obj["space"] == [int(x > 0.5), int(y > 0.5)]
            assert abs(x - 0.5) + abs(y - 0.5) >= 0.2
            assert counts.setdefault(obj["epochs"], one["count"]) == one["count"]
            assert not obj["is_distractor"] or not (one["tasks"] or one["attended_attr"])
            assert {*map(int, one["attended_attr"])} == {*one["tasks"]}
            asked |= {name for names in one["attended_attr"].values() for name in names}
            frames[obj["epochs"]].append(
                {
                    "location": PLACES[obj["space"][0], obj["space"][1]],
                    "category": names["categories"][obj["category"]],
                    "identity": names["models"][obj["object"]],
                    "view_angle": ("front", "left", "back", "right")[obj["view angle"]],
                }
            )
        assert sorted(counts.values()) == list(range(1, len(counts) + 1))
        assert list(read(info["instruction"], frames).answers) == info["answers"] == spec["task"]["answers"]
    # attended_attr has the names of the published properties, which are not all keys of an object ("view angle").
    assert asked == {"location", "category", "object", "view_angle"}


def test_pictures(folder: Path, specs: list[Any]) -> None:
    """I11 (boxes), I13: a PNG a frame, RGB, 224 x 224; an object stays in its quadrant."""
    for spec in specs:
        base = trial(folder, spec)
        info = info_of(base)
        paths = sorted((base / "frames").glob("*.png"))
        assert sorted(path.name for path in base.iterdir()) == ["SHA256SUMS", "annotations.json", "frames"]
        assert {*info} == {"epochs", "objects", "instruction", "answers"}
        assert [path.name for path in paths] == [f"epoch{k}.png" for k in range(info["epochs"])]
        for path in paths:
            picture = Image.open(io.BytesIO(path.read_bytes()))
            assert (picture.size, picture.mode) == ((224, 224), "RGB")
        annotations = json.loads((base / "annotations.json").read_text())
        for item, one in zip(annotations["objects"], info["objects"], strict=True):
            assert item["epochs"] == one["obj"]["epochs"]
            x, y, width, height = item["bbox"]
            assert [x // 112, y // 112] == one["obj"]["space"]
            assert x // 112 == (x + width - 1) // 112
            assert y // 112 == (y + height - 1) // 112
            assert list(coco.toBbox(item["mask"])) == item["bbox"]


def test_task_files_count_back_from_the_answer(folder: Path, specs: list[Any]) -> None:
    for spec in specs:
        for number, question in enumerate(spec["task"]["questions"]):
            at, several = trial(folder, spec), len(spec["task"]["questions"]) > 1
            name = at.name.removeprefix("trial") + (f"_{number}" if several else "")
            task = json.loads((at.parents[1] / "tasks" / f"{name}.json").read_text())
            assert {*task} == {"n_frames", "first_shareable", "whens", "operator"}
            check_node(task["operator"], question["operator"], spec["task"])
            looks = sorted(question["answer_frame"] - int(when[4:]) for when in task["whens"].values())
            assert looks == sorted(selected(question["operator"]))
            assert task["n_frames"] == 1 + max(int(when[4:]) for when in task["whens"].values())


def check_node(node: Any, own: Any, task: Any) -> None:
    """A node is named as in the published code; constants have a number or the middle of a place."""
    if "value" in own:
        if own["property"] == "location":
            assert node["name"] == "Location"
            x, y = node["value"]
            assert PLACES[int(x > 0.5), int(y > 0.5)] == own["value"]
        elif own["property"] == "category":
            assert node == {"name": "SNCategory", "value": task["categories"].index(own["value"])}
        return
    published = {"GetLocation": "GetLoc", "GetIdentity": "GetObject"}
    assert node["name"] == published.get(own["name"], own["name"])
    if own["name"] == "Select" and not own["child"]:
        assert [child["name"] for child in node["child"]] == ["Location", "SNCategory", "SNObject", "SNViewAngle"]
        assert all(child["value"] is None for child in node["child"])
        return
    for child, other in zip(node["child"], own["child"], strict=True):
        check_node(child, other, task)


def selected(operator: Any) -> list[int]:
    own = [operator["frame"]] if "frame" in operator else []
    return own + [frame for child in operator["child"] for frame in selected(child)]


def test_again_skips_and_damage_is_seen(folder: Path, specs: list[Any]) -> None:
    store = LanceStore.open(str(folder / "s.lance"))
    assert run(store, folder / "out").skipped == len(specs)
    info = trial(folder, specs[0]) / "annotations.json"
    before = info.read_bytes()
    info.write_text("{}")
    assert len(run(store, folder / "out").differing) == 1
    assert run(store, folder / "out", overwrite=True).exported == 1
    assert info.read_bytes() == before


def test_rendered_truth_is_proved_and_damage_is_found(records: list[EpisodeRecord]) -> None:
    for record in records:
        assert verify_record(record) == ""
    record = next(record for record in records if "low-all-6" in record.episode_id)
    image = record.images[0]
    item = image.annotation.objects[0]
    assert item.bbox is not None
    x, y, width, height = item.bbox
    damages: list[tuple[Any, str]] = [
        ({"bbox": ((x + 112) % 224, y, width, height)}, "expected none there"),
        ({"bbox": None}, "nothing is visible"),
        ({"shape": "cube"}, "found shape 'cube'"),
    ]
    for changes, problem in damages:
        other = item.model_copy(update=changes)
        annotation = image.annotation.model_copy(update={"objects": [other, *image.annotation.objects[1:]]})
        images = [image.model_copy(update={"annotation": annotation}), *record.images[1:]]
        with pytest.raises(SpecError, match=problem):
            frames_of_record(record.model_copy(update={"images": images}), CompleteTruth.of_record(record))


def test_the_cross_is_there_until_the_answer(records: list[EpisodeRecord]) -> None:
    """I12."""
    for record in records:
        answers = (record.scene.task or {})["answers"]
        for answer, image in zip(answers, record.images, strict=True):
            pixels = np.asarray(Image.open(io.BytesIO(image.png)))
            assert (pixels[112, 112] == 255).all() == (answer == "null")
            assert (pixels[99:126, 112] == 255).all() == (answer == "null")


def test_others_are_named(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    spec = {"version": 1, "id": "iwisdm/val/low/000000", "frames": [{"objects": [{"shape": "cube"}]}]}
    store.put([made(spec), made({**spec, "id": "demo/a"})])
    report = run(store, tmp_path / "out")
    assert report.exported == 0
    assert "not an iWISDM trial" in " ".join(report.failed)
    assert "task.benchmark: required key" in " ".join(report.failed)
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def node(name: str, *child: Any, **more: Any) -> Any:
    return {"name": name, "child": [*child], **more}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"objects": [{}]}, "task.objects[0].number: required key"),
        ({"questions": [{"answer_frame": 5, "answer": "true", "operator": {"name": "IsSame"}}]}, "operator.child"),
        *(
            ({"questions": [{"answer_frame": 5, "answer": "true", "operator": operator}]}, said)
            for operator, said in (
                (node("Select", frame=None), "Select: found []; allowed: frame of a Select"),
                (node("CONST", property="location", value=None), "CONST: found ["),
                (node("CONST", value="cars"), "CONST: found ["),
                (node("IsSame"), "found no Select"),
                (node("GetCategory", node("Select", frame=0), value=None), ""),
            )
        ),
        ({"models": []}, "task: objects[0].object: found"),
        ({"objects": []}, "expected none there"),
        ({"answers": "null"}, "task.answers: found"),
    ],
)
def test_trials_that_lack_something_are_named_and_the_others_written(
    records: list[EpisodeRecord], tmp_path: Path, change: Any, said: str
) -> None:
    scene = records[0].scene
    broken = scene.model_copy(update={"id": "iwisdm/train/low/000009", "task": {**(scene.task or {}), **change}})
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([records[0].model_copy(update={"episode_id": broken.id, "scene": broken}), records[1]])
    report = run(store, tmp_path / "out")
    assert report.exported == 1 + (not said)
    assert len(report.failed) == bool(said) and said in str(report.failed)


def test_sides_and_models_are_options_where_they_are_answers(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    published = json.loads(published_form(benchmark_limits("low", "identity")).model_dump_json())
    for name, options in (("GetViewAngle", VIEW_ANGLES), ("GetObject", DEFAULT.values("identity"))):
        operators = published["op_dict"] | {name: published["op_dict"]["GetObject"]}
        file.write_text(json.dumps({**published, "root_ops": [name], "op_dict": operators}))
        (spec,) = trial_specs(Options(config=file, count=1))
        (item,) = items_of(made(spec))
        assert item.answer == spec["task"]["answers"][0] and item.options[14:] == options


def test_an_object_that_is_not_there_is_found(records: list[EpisodeRecord]) -> None:
    record = records[0]
    at = next(k for k, image in enumerate(record.images) if image.annotation.objects)
    images = [*record.images]
    images[at] = images[at].model_copy(update={"annotation": images[at].annotation.model_copy(update={"objects": []})})
    with pytest.raises(SpecError, match="expected an object there"):
        frames_of_record(record.model_copy(update={"images": images}), CompleteTruth.of_record(record))


def test_an_object_beyond_the_last_frame_is_named(records: list[EpisodeRecord]) -> None:
    truth = CompleteTruth.of_record(records[0])
    late = truth.model_copy(update={"objects": (truth.objects[0].model_copy(update={"frame": 99}),)})
    with pytest.raises(SpecError, match="found frame 99; there are"):
        frames_of_record(records[0], late)
