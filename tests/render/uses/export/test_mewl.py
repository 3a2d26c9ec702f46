"""`--format mewl`, read back by a reader written from the description of the published files alone."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from pycocotools import mask as coco

from diorama.render.cli.specs import main as render_specs
from diorama.render.compiler import compile_episode
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import format_of
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from diorama.scene_specs.benchmarks.mewl.importing import import_published as import_mewl
from diorama.scene_specs.benchmarks.mewl.verify import verify_record, verify_spec, verify_view
from diorama.scene_specs.benchmarks.mewl.view import learner_view
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories

SIDES = ("left", "right", "front", "behind")


def rendered(task: str, number: int = 7, /, **changes: Any) -> EpisodeRecord:
    spec = {**mewl_spec(4, "val", task, number), **changes}
    job = factories.make_job(spec)
    return make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings_for("draft", 320, 240))


@pytest.fixture(scope="module")
def records() -> dict[str, EpisodeRecord]:
    return {task: rendered(task) for task in TASKS}


@pytest.fixture(scope="module")
def folder(records: dict[str, EpisodeRecord], tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("mewl")
    store = LanceStore.create(str(base / "s.lance"), fsync=False)
    store.put(list(records.values()))
    report = run(store, base / "out")
    assert (report.exported, report.failed) == (9, [])
    return base


def run(store: LanceStore, out: Path, **options: Any) -> ExportReport:
    return format_of("mewl").export(store, out, ExportOptions(**options), lambda _: None)


def read(folder: Path) -> Any:
    """What a published episode's folder says, checked for form on the way."""
    info = json.loads((folder / "info.json").read_text())
    images = []
    for panel in [*info["context_panels"], {**info["question"], "name": "question"}]:
        assert (folder / f"{panel['name']}.png").read_bytes().startswith(b"\x89PNG")
        scene = json.loads((folder / f"{panel['name']}.json").read_text())
        listed = [[o["shape"], o["color"], o["material"], o["size"]] for o in scene["objects"]]
        assert listed == panel["objects"]
        images.append({**scene, "said": panel["name"].split(" #")[0], "arrow": panel.get("arrow_idx")})
    return {**info, "images": images}


@pytest.mark.parametrize("task", TASKS)
def test_it_reads_back(task: str, folder: Path, records: dict[str, EpisodeRecord]) -> None:
    record = records[task]
    truth = record.scene.task
    assert truth is not None
    found = read(folder / "out" / "val" / task / "7")
    assert len(found["context_panels"]) == 6
    assert found["word-concept"] == truth["words"]
    assert (found["question"]["choices"], found["question"]["answer"]) == (truth["options"], truth["answer"])
    assert [image["said"] for image in found["images"][:6]] == [f.utterance for f in record.scene.frames[:6]]
    if task in ("shape", "color", "material"):
        names = {panel["name"] for panel in found["context_panels"]}
        assert names <= {*found["objects"]}
        assert all(found["objects"][panel["name"]] == panel["objects"][0] for panel in found["context_panels"])
    for image, stored, frame in zip(found["images"], record.images, record.scene.frames, strict=True):
        check_image(image, stored.annotation, len(frame.objects), task)


def check_image(image: Any, truth: Any, count: int, task: str) -> None:
    assert len(image["objects"]) == count
    for item, known in zip(image["objects"], truth.objects, strict=True):
        mask = coco.decode(item["mask"])
        assert mask.shape == (240, 320)
        rows, columns = np.nonzero(mask)
        x, y, width, height = item["bbox"]
        assert (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1) == (x, y, x + width, y + height)
        assert item["3d_coords"] == list(known.location)
        assert math.degrees(item["rotation"]) == pytest.approx(known.rotation_deg[2])
        assert item["pixel_coords"] == list(known.pixel_center)
    assert (image["arrow"] is None) == (task != "pragmatic")
    if task == "pragmatic":
        assert [image["objects"][3][key] for key in ("shape", "color", "material", "size")] == [
            "arrow", "yellow", "rubber", "small",
        ]  # fmt: skip
        assert image["points_to"] == image["arrow"]
        assert truth.objects[image["arrow"]].name == truth.pointer.target
    check_relations(image)


def check_relations(image: Any) -> None:
    """Each named object's relations follow from places and directions; those without a name are left out."""
    named = {o["name"]: np.array(o["3d_coords"]) for o in image["objects"] if o["name"] is not None}
    assert {*image["relationships"]} == {*SIDES} <= {*image["directions"]}
    for side in SIDES:
        along = np.array(image["directions"][side])
        expected = {a: {b for b in named if b != a and (named[b] - named[a]) @ along > 0.2} for a in named}
        assert {a: {*others} for a, others in image["relationships"][side].items()} == expected


def test_names(folder: Path) -> None:
    def names(task: str) -> list[list[str | None]]:
        return [[o["name"] for o in image["objects"]] for image in read(folder / "out/val" / task / "7")["images"]]

    assert all(name is None for row in names("number") for name in row)
    assert all(row.count(None) == 1 for row in names("bootstrap"))
    assert all(row.count(None) == 3 and row[3] is None for row in names("pragmatic"))
    assert not any(None in row for row in names("object") + names("relation"))


@pytest.mark.parametrize("task", TASKS)
def test_the_importer_reads_it_and_the_same_scene_comes_out(
    task: str, folder: Path, records: dict[str, EpisodeRecord]
) -> None:
    (spec,) = import_mewl(folder / "out" / "val" / task, "nominal")
    assert spec.id == f"mewl/val/{task}/7"
    # Its relations now follow from the places, which must prove it as the demands did.
    task_truth = records[task].scene.task or {}
    data: Any = spec.model_dump(mode="json", exclude_none=True)
    assert verify_view(learner_view(data), task_truth["answer"]) == ""
    scene = compile_episode(spec, settings_for("draft", 320, 240))
    for ours, theirs in zip(scene.frames, records[task].scene.frames, strict=True):
        assert ours.utterance == theirs.utterance
        for one, two in zip(ours.objects, theirs.objects, strict=True):
            assert (one.shape, one.color, one.material, one.size) == (two.shape, two.color, two.material, two.size)
            assert one.location == pytest.approx(two.location, abs=1e-6)


def test_what_is_there_is_left_and_what_differs_is_named(folder: Path, tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered("shape"), factories.make_record("demo/1")])
    report = run(store, tmp_path / "out")
    assert report.exported == 1
    assert report.failed == ["episode demo/1: not a MEWL episode: expected an id mewl/<split>/<task>/<number>"]
    before = {path.name: path.read_bytes() for path in (tmp_path / "out/val/shape/7").iterdir()}
    again = run(store, tmp_path / "out")
    assert (again.exported, again.skipped) == (0, 1)
    info = tmp_path / "out/val/shape/7/info.json"
    info.write_text("{}")
    assert len(run(store, tmp_path / "out").differing) == 1
    assert run(store, tmp_path / "out", overwrite=True).exported == 1
    assert {path.name: path.read_bytes() for path in (tmp_path / "out/val/shape/7").iterdir()} == before


def test_incomplete_rows_are_reported_and_the_others_exported(tmp_path: Path) -> None:
    spec = mewl_spec(4, "val", "color", 1)
    spec["frames"][0]["objects"][0]["color"] = [10, 20, 30]
    task = mewl_spec(4, "val", "bootstrap", 0)["task"]
    wrong: list[Any]
    wrong = [{"words": [1, 2]}, {"words": {"w": 3}}, {"name": ["bootstrap"]}, {"options": []}, {"options": ["a"] * 51}]
    records = [rendered("bootstrap", k, task={**task, **change}) for k, change in enumerate(wrong)]
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([*records, rendered("color", 1, frames=spec["frames"]), rendered("shape", 2)])
    assert "no lexicon fits the contexts" in verify_record(rendered("color", 1, frames=spec["frames"]))
    report = run(store, tmp_path / "out")
    assert report.exported == 1
    said = ["task.words: found", "task: 'w': found 3; allowed: an object", "task.name: found", "task.options: found"]
    for line, part in zip(report.failed, [*said, "task.options: found", "mewl: KeyError"], strict=True):
        assert part in line


@pytest.mark.parametrize("task", TASKS)
def test_the_rendered_truth_proves_the_episode(task: str, records: dict[str, EpisodeRecord]) -> None:
    assert verify_record(records[task]) == ""


def test_a_picture_that_breaks_its_episode_is_found(records: dict[str, EpisodeRecord], tmp_path: Path) -> None:
    record = records["number"]
    last = record.images[6]
    hidden = [o.model_copy(update={"visible_pixels": 3}) for o in last.annotation.objects[:1]]
    annotation = last.annotation.model_copy(update={"objects": [*hidden, *last.annotation.objects[1:]]})
    images = [*record.images[:6], last.model_copy(update={"annotation": annotation})]
    broken = record.model_copy(update={"images": images})
    assert verify_record(broken) != ""
    mirrored = records["relation"]
    swapped = []
    words = (mirrored.scene.task or {})["words"]
    sideways = next(word for word, relation in words.items() if relation in ("left", "right"))
    first = next(frame.name for frame in mirrored.scene.frames if sideways in (frame.utterance or ""))
    for image in mirrored.images:
        relations = image.annotation.relations
        other = {"left": relations["right"], "right": relations["left"]}
        changed = image.annotation.model_copy(update={"relations": {**relations, **other}})
        swapped.append(image.model_copy(update={"annotation": changed}) if image.frame == first else image)
    assert verify_record(mirrored.model_copy(update={"images": swapped})) != ""
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([broken, records["object"], factories.make_record("demo/1")])
    store.close()
    done = CliRunner().invoke(render_specs, ["check", "--prove", "--store", str(tmp_path / "s.lance")])
    assert done.exit_code == 2
    assert f"episode {broken.episode_id}: task: " in done.output
    assert "episode demo/1" not in done.output and "(1 unverified: " in done.output
    assert records["object"].episode_id not in done.output


def test_an_export_of_any_size_keeps_its_cameras(tmp_path: Path) -> None:
    spec = mewl_spec(4, "val", "shape", 3)
    job = factories.make_job(spec)
    record = make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings_for("draft", 200, 220))
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([record])
    run(store, tmp_path / "out")
    (found,) = import_mewl(tmp_path / "out", strict=True)
    for ours, stored in zip(found.frames, record.scene.frames, strict=True):
        # One object per image: its pixel coordinates alone would not give the camera.
        assert ours.camera is not None and ours.camera.location == pytest.approx(stored.views[0].camera.location)
    file = tmp_path / "out/val/shape/3/question.json"
    scene = json.loads(file.read_text())
    scene["objects"][0]["pixel_coords"][0] += 5
    file.write_text(json.dumps(scene))
    with pytest.raises(SpecError, match=r"question\.json: objects\[0\]\.pixel_coords: is not where"):
        list(import_mewl(tmp_path / "out"))
    with pytest.raises(SpecError, match=r"camera: found .* the camera of an export"):
        file.write_text(json.dumps({**scene, "camera": {**scene["camera"], "intrinsics": [[0] * 3] * 3}}))
        list(import_mewl(tmp_path / "out"))


CONTRADICTIONS: list[tuple[str, str, tuple[str | int, ...], Any, str]] = [
    ("pragmatic", "info", ("context_panels", 2, "arrow_idx"), 3, "context_panels[2].arrow_idx"),
    ("pragmatic", "question", ("points_to",), None, "question.arrow_idx"),
    ("object", "info", ("context_panels", 0, "objects", 1, 3), None, "context_panels[0].objects"),
    ("bootstrap", "info", ("question", "objects", 0, 0), None, "question.objects"),
    ("number", "question", ("objects", 0, "color"), None, "question.objects"),
    ("composite", "question", ("objects", 0, "size"), None, "objects[0].3d_coords[2]"),
]


@pytest.mark.parametrize(("task", "name", "path", "value", "named"), CONTRADICTIONS)
def test_copies_of_a_fact_are_compared(
    task: str, name: str, path: tuple[str | int, ...], value: Any, named: str, folder: Path, tmp_path: Path
) -> None:
    """With the value, or with another of the same kind."""
    shutil.copytree(folder / "out/val" / task, tmp_path / "val" / task)
    file = tmp_path / "val" / task / "7" / f"{name}.json"
    data = json.loads(file.read_text())
    at = data
    for key in path[:-1]:
        at = at[key]
    others: dict[Any, Any] = {"color": "red", "size": "large", 3: "large", 0: "cube", "points_to": 0}
    again = {"red": "blue", "large": "small", "cube": "sphere", 0: 1}
    if value is None:
        value = others[path[-1]]
        value = again[value] if at[path[-1]] == value else value
    at[path[-1]] = value
    file.write_text(json.dumps(data))
    with pytest.raises(SpecError, match=re.escape(f": {named}: ")):
        list(import_mewl(tmp_path))


def test_an_imported_contradiction_is_not_proved(folder: Path) -> None:
    (spec,) = import_mewl(folder / "out/val/pragmatic", "nominal")
    data: Any = spec.model_dump(mode="json", exclude_none=True)
    assert verify_spec(data) == ""
    data["task"]["info"]["question"]["objects"][0][1] = "pink"
    assert verify_spec(data).startswith("info: ")


def test_a_changed_export_is_refused_and_said(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "out/val/relation", tmp_path / "val/relation")
    specs = ["import", "--from", "mewl", str(tmp_path), "--out", str(tmp_path / "x.jsonl")]
    assert CliRunner().invoke(render_specs, [*specs, "--strict"]).exit_code == 0
    pictures = sorted(tmp_path.rglob("*.png"))[:2]
    content = [path.read_bytes() for path in pictures]
    for path, other in zip(pictures, reversed(content), strict=True):
        path.write_bytes(other)
    refused = CliRunner().invoke(render_specs, [*specs, "--strict"])
    assert refused.exit_code == 2
    for path in pictures:
        assert f"{path}: found the SHA-256 " in refused.stderr
    assert "restore the file, or remove SHA256SUMS" in refused.stderr
    warned = CliRunner().invoke(render_specs, specs)
    assert warned.exit_code == 0 and "found the SHA-256" in warned.stderr
    pictures[0].unlink()
    assert "can't be read: No such file" in CliRunner().invoke(render_specs, [*specs, "--strict"]).stderr


def test_recovered_cameras_that_make_an_utterance_false_are_said(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(data: Any) -> str:
        places = [frame["camera"]["location"] for frame in data["frames"]]
        return "no lexicon fits" if any(place != places[0] for place in places) else ""

    monkeypatch.setattr("diorama.scene_specs.benchmarks.mewl.importing.verify_spec", found)
    assert len([*import_mewl(folder / "out/val/relation")]) == 1
    with pytest.raises(SpecError, match=r"seen by the recovered cameras: no lexicon fits .*pass --camera nominal"):
        list(import_mewl(folder / "out/val/relation", "recover", True))
    assert len([*import_mewl(folder / "out/val/relation", "nominal", True)]) == 1
