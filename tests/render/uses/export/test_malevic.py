"""`--format malevic`, read back by a reader written from the description of the published files alone."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from PIL import Image

from diorama.render.annotations.encode import encode_png
from diorama.render.cli.specs import main
from diorama.render.compiler import compile_episode
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export import format_of
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.render.uses.io.atomic_output import put_file
from diorama.scene_specs.benchmarks.malevic import Options
from diorama.scene_specs.benchmarks.malevic.generate import malevic_spec
from diorama.scene_specs.benchmarks.malevic.verify import verify_record
from diorama.scene_specs.errors import SpecError, UsageError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import RLE, EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from tests import factories
from tests.render.uses.export.helpers import contents, unfinished

SETS = (("sup1", "train"), ("sup1", "test"), ("pos", "test"), ("set-pos-compositional", "test-unseen"))


def rendered(name: str, split: str, number: int, **changes: Any) -> EpisodeRecord:
    spec = {**malevic_spec(Options(seed=4), name, split, number), **changes}
    job = factories.make_job(spec)
    return make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings_for("draft", 224, 224))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("malevic")
    store = LanceStore.create(str(folder / "s.lance"), fsync=False)
    store.put([rendered(name, split, number) for name, split in SETS for number in (0, 3, 41)])
    report = run(store, folder / "out")
    assert (report.exported, report.failed) == (12, [])
    return folder


def run(store: LanceStore, out: Path, **options: Any) -> ExportReport:
    return format_of("malevic").export(store, out, ExportOptions(**options), lambda _: None)


@pytest.mark.parametrize(("name", "split"), SETS)
def test_the_files_say_what_published_ones_say(base: Path, name: str, split: str) -> None:
    folder, part = base / "out" / f"{name}_vague_dataset", split.replace("-", "_")
    questions = json.loads((folder / f"{part}.json").read_text())
    notes = json.loads((folder / f"annotations_{part}.json").read_text())
    assert questions["info"] == {}
    assert list(notes) == ["0", "1", "2"]
    for index, (entry, number) in enumerate(zip(questions["questions"], (0, 3, 41), strict=True)):
        task = malevic_spec(Options(seed=4), name, split, number)["task"]
        scene, objects, *captions = notes[str(index)]
        assert Image.open(io.BytesIO((folder / part / entry["image_filename"]).read_bytes())).size == (224, 224)
        assert (entry["image_index"], entry["question_index"], entry["split"]) == (index, index, part.partition("_")[0])
        assert (entry["question"], entry["answer"], entry["program"]) == (task["question"], task["answer"], [])
        assert entry["question_family_index"] == ("big" in task["question"])
        side = {"yes": "caption_true", "no": "caption_false"}[task["answer"]]
        assert task["question"] in [pair.get(side) for caption in captions for pair in caption["captions"]]
        check_scene(scene, objects["objects"], number)
        check_objects(objects["objects"], name)


def check_scene(scene: dict[str, str], objects: list[dict[str, str]], number: int) -> None:
    """Ten keys, all strings, that follow from the objects."""
    areas, radii = [int(item["area"]) for item in objects], [int(item["radius"]) for item in objects]
    assert scene == {
        "image_id": str(number), "image_url": f"{number}.png", "n_objects": str(len(objects)),
        "n_colors": str(len({item["color"] for item in objects})), "total_area_px": str(sum(areas)),
        "avg_area_px": str(round(sum(areas) / len(areas), 4)), "min_area": str(min(areas)),
        "max_area": str(max(areas)), "min_radius": str(min(radii)), "max_radius": str(max(radii)),
    }  # fmt: skip


def check_objects(objects: list[dict[str, str]], name: str) -> None:
    """Twelve keys an object (eight of superlatives), all strings."""
    for number, item in enumerate(objects):
        assert {type(value) for value in item.values()} == {str}
        assert len(item) == (8 if name == "sup1" else 12)
        assert item["object_id"] == str(number)
        if name == "sup1":
            assert item["size"] in ("biggest", "smallest", "NA")
            continue
        assert item["size"] in ("big", "small")
        assert (item["thresh_dist"] == "nan") == (item["prob"] == "0.5") or float(item["thresh_dist"]) < 0.01
        assert 0 <= float(item["prob"]) <= 1
        halves = [item[key] for key in ("rr", "cc") if "." in item[key]]
        assert len(halves) == (item["shape"] == "rectangle")


def test_a_second_run_writes_nothing_and_a_changed_picture_is_named(base: Path) -> None:
    store = LanceStore.open(str(base / "s.lance"))
    report = run(store, base / "out")
    assert (report.exported, report.skipped, report.differing) == (0, 12, [])
    picture = base / "out" / "pos_vague_dataset" / "test" / "1.png"
    whole = picture.read_bytes()
    picture.write_bytes(b"other")
    assert "other contents" in run(store, base / "out").differing[0]
    assert run(store, base / "out", overwrite=True).exported == 1
    assert picture.read_bytes() == whole


def test_only_the_item_that_differs_is_refused_and_the_lists_stay(base: Path, tmp_path: Path) -> None:
    shutil.copytree(base / "out", tmp_path / "out")
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    stored = LanceStore.open(str(base / "s.lance"))
    records = stored.get_many(sorted(key for key, _ in stored.ids()))

    def darker(pixels: NDArray[np.uint8]) -> None:
        pixels //= 2

    # The first of its split: the numbers of the others count from it.
    changed = next(record for record in records if record.episode_id.startswith("malevic/pos/test/"))
    store.put([painted(record, darker) if record is changed else record for record in records])
    before = contents(tmp_path / "out")
    report = run(store, tmp_path / "out")
    assert [line.split(":")[0] for line in report.differing] == [f"episode {changed.episode_id}"]
    assert (report.exported, report.skipped) == (0, 11)
    assert contents(tmp_path / "out") == before
    assert unfinished(tmp_path / "out") == []
    assert run(store, tmp_path / "out", overwrite=True).exported == 1
    run(store, tmp_path / "fresh")
    # The record also has the digests before.
    both = [contents(tmp_path / name) for name in ("out", "fresh")]
    assert both[0].keys() == both[1].keys()
    assert {name for name, digest in both[0].items() if both[1][name] != digest} == {".diorama-export.json"}


def test_what_is_no_item_is_named(tmp_path: Path) -> None:
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    task = malevic_spec(Options(seed=4), "pos", "test", 1)["task"]
    store.put([
        rendered("pos", "test", 1, task={"benchmark": "mewl"}),
        rendered("pos", "test", 2, task={**task, "objects": [{"shape": "circle"}]}),
    ])  # fmt: skip
    report = run(store, tmp_path / "out")
    for said, line in zip(("task.benchmark: found", "task.objects[0].color: required"), report.failed, strict=True):
        assert said in line
    assert report.exported == 0


def painted(record: EpisodeRecord, change: Callable[[NDArray[np.uint8]], None]) -> EpisodeRecord:
    """The record with another picture."""
    with Image.open(io.BytesIO(record.images[0].png)) as picture:
        pixels = np.array(picture.convert("RGB"))
    change(pixels)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return record.model_copy(update={"images": (record.images[0].model_copy(update={"png": file.getvalue()}),)})


def test_a_picture_or_a_scene_that_shows_something_else_is_found() -> None:
    record = rendered("pos", "test", 3)
    assert verify_record(record) == ""
    asked = record.images[0].annotation.objects[0]
    assert asked.bbox is not None
    middle = (asked.bbox[1] + asked.bbox[3] // 2, asked.bbox[0] + asked.bbox[2] // 2)

    def spot(pixels: NDArray[np.uint8]) -> None:
        pixels[middle] = (1, 2, 3)

    def beside(pixels: NDArray[np.uint8]) -> None:
        pixels[tuple(np.argwhere(~pixels.any(axis=2))[0])] = (255, 0, 0)

    assert verify_record(painted(record, spot)).startswith("object-0: not all of its pixels are")
    assert verify_record(painted(record, beside)) == "1 pixels of no object are not black"
    task = record.scene.task or {}
    lie = record.scene.model_copy(update={"task": {**task, "answer": {"yes": "no", "no": "yes"}[task["answer"]]}})
    assert verify_record(record.model_copy(update={"scene": lie})).startswith("answer: found")
    _, *rest = record.images[0].annotation.objects
    masks = {"annotation": record.images[0].annotation.model_copy(update={"objects": (rest[0], *rest)})}
    moved = record.model_copy(update={"images": (record.images[0].model_copy(update=masks),)})
    assert verify_record(moved).startswith(f"{rest[0].name}: ")
    with pytest.raises(SpecError, match=r"task\.benchmark: required key"):
        verify_record(record.model_copy(update={"scene": record.scene.model_copy(update={"task": None})}))


def test_an_incomplete_item_is_reported_and_the_others_exported(tmp_path: Path) -> None:
    task = malevic_spec(Options(seed=4), "pos", "test", 0)["task"]
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered("pos", "test", 0, task={**task, "k": 1e308}), rendered("pos", "test", 1)])
    report = run(store, tmp_path / "out")
    assert (report.exported, len(report.failed)) == (1, 1)
    assert "task.k: found 1e+308; allowed: at most 2" in report.failed[0]


def test_images_that_version_0_1_0_cropped_are_called_outdated() -> None:
    record = rendered("pos", "test", 3)
    (image,) = record.images
    band = slice(28, 196)
    pixels = np.ascontiguousarray(image.color()[band])
    cut = [item.model_copy(update={"rle": RLE.of(item.rle.mask()[band])}) for item in image.annotation.objects]
    annotation = image.annotation.model_copy(update={"objects": tuple(cut)})
    update = {"png": encode_png(pixels), "height": 168, "annotation": annotation}
    cropped = record.model_copy(update={"images": (image.model_copy(update=update),)})
    assert verify_record(cropped).startswith("outdated: version 0.1.0 cropped")
    assert verify_record(painted(cropped, lambda pixels: pixels.fill(9))).startswith("object-0: ")


def test_stored_prisms_are_verified_from_their_scene() -> None:
    spec = malevic_spec(Options(seed=4, world="3d"), "pos", "test", 3)
    settings = settings_for("draft", 160, 120)
    record = make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), factories.make_job(spec), settings)
    assert verify_record(record) == ""
    frame = record.scene.frames[0]
    larger = frame.objects[0].model_copy(update={"scale": frame.objects[0].scale * 1.01})
    frames = (frame.model_copy(update={"objects": (larger, *frame.objects[1:])}),)
    changed = record.model_copy(update={"scene": record.scene.model_copy(update={"frames": frames})})
    assert "no size class" in verify_record(changed)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"shape": "cube"}, 'shape: found "cube"'),
        ({"radius": 121}, "radius: found 121"),
        ({"row": 0.0}, "row: found 0"),
        ({"size": None}, "size: found null"),
    ],
)
def test_a_stored_description_that_the_image_contradicts_is_refused(change: Any, reason: str) -> None:
    record = rendered("pos", "test", 3)
    task = dict(record.scene.task or {})
    task["objects"] = [{**task["objects"][0], **change}, *task["objects"][1:]]
    scene = record.scene.model_copy(update={"task": task})
    assert reason in verify_record(record.model_copy(update={"scene": scene}))


def test_an_image_and_masks_of_another_scene_are_refused() -> None:
    """Image and masks agree with each other, and the scene says otherwise."""
    one = rendered("pos", "test", 3)
    for number in range(4, 40):
        other = rendered("pos", "test", number)
        if len(other.scene.frames[0].objects) == len(one.scene.frames[0].objects):
            break
    assert "object-" in verify_record(one.model_copy(update={"images": other.images}))


def test_pixels_of_an_antialiased_picture_are_mixed_and_not_compared() -> None:
    record = rendered("pos", "test", 3)
    frame = record.scene.frames[0].model_copy(update={"pixels": "mean"})
    smooth = record.model_copy(update={"scene": record.scene.model_copy(update={"frames": (frame,)})})
    assert verify_record(painted(smooth, lambda pixels: pixels.fill(77))) == ""
    assert verify_record(painted(record, lambda pixels: pixels.fill(77))) != ""


def test_what_was_rendered_is_proved_by_the_command(base: Path) -> None:
    done = CliRunner().invoke(main, ["check", "--prove", "--store", str(base / "s.lance")])
    assert (done.exit_code, done.output) == (0, "12 episodes, no errors, all proved\n")


def test_words_and_tensors_are_those_of_the_training_scripts(base: Path) -> None:
    words = {
        "sup1": "The biggest blue circle green is rectangle red smallest square the triangle white yellow",
        "pos": "The a big blue circle green is object rectangle red small square triangle white yellow",
    }
    for name, text in words.items():
        folder = base / "out" / f"{name}_vague_dataset"
        vocabulary = json.loads((folder / "vocab.json").read_text())
        special = {"<NULL>": 0, "<START>": 1, "<END>": 2, "<UNK>": 3}
        numbers = special | {word: 4 + k for k, word in enumerate(text.split(" "))}
        assert vocabulary["question_token_to_idx"] == numbers
        assert vocabulary["answer_token_to_idx"] == special | {"no": 4, "yes": 5}
        assert vocabulary["program_token_to_idx"] == special
        questions = json.loads((folder / "test.json").read_text())["questions"]
        with h5py.File(folder / "test_questions.h5") as file:
            assert {key: (file[key].shape, str(file[key].dtype)) for key in file} == {
                "questions": ((3, 9), "int32"), "answers": ((3,), "int64"), "image_idxs": ((3,), "int64"),
                "orig_idxs": ((3,), "int64"), "question_families": ((3,), "int64"),
            }  # fmt: skip
            assert file["image_idxs"][:].tolist() == file["orig_idxs"][:].tolist() == [0, 1, 2]
            assert file["answers"][:].tolist() == [4 + (one["answer"] == "yes") for one in questions]
            assert file["question_families"][:].tolist() == [one["question_family_index"] for one in questions]
            read = {number: word for word, number in numbers.items()}
            for row, one in zip(file["questions"][:].tolist(), questions, strict=True):
                assert " ".join(read[number] for number in row) == f"<START> {one['question']} <END>"


def test_an_item_without_a_question_is_not_exported(tmp_path: Path) -> None:
    spec = malevic_spec(Options(seed=4), "pos", "test", 1)
    task = {key: value for key, value in spec["task"].items() if key not in ("question", "answer")}
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([rendered("pos", "test", 1, task=task), rendered("pos", "test", 2)])
    report = run(store, tmp_path / "out")
    assert report.exported == 1
    assert ["there is no question" in line for line in report.failed] == [True]


@pytest.mark.parametrize(
    "change",
    [
        {"variant": "/../../../evil/x"},
        {"variant": None},
        {"name": ["pos"]},
        {"captions": [{}]},
        {"number": None, "adjective": 3},
        {"k": None},
    ],
)
def test_a_stored_task_of_somebody_else_writes_nothing_elsewhere(tmp_path: Path, change: Any) -> None:
    record = rendered("pos", "test", 1)
    task = {**(record.scene.task or {}), **change}
    if change.get("number", 1) is None:
        del task["adjective"]
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([record.model_copy(update={"scene": record.scene.model_copy(update={"task": task})})])
    report = run(store, tmp_path / "a" / "b" / "c" / "d")
    assert (report.exported, len(report.failed)) == (0, 1)
    assert not (tmp_path / "a" / "evil").exists()
    assert contents(tmp_path / "a") == {}


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="leads out of this folder"):
        put_file(tmp_path / "out", name, b"", overwrite=False)
    assert [*tmp_path.iterdir()] == []


def test_tensors_of_an_earlier_export_go_when_there_can_be_no_new_ones(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(base / "out", tmp_path / "out")
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert [*(tmp_path / "out").glob("*/*_questions.h5")] != []
    assert run(LanceStore.open(str(base / "s.lance")), tmp_path / "out").failed == []
    assert [*(tmp_path / "out").glob("*/*_questions.h5")] == []


@pytest.mark.parametrize("sizes", [((320, 240), (224, 224)), ((240, 320), (160, 120)), ((224, 224), (320, 240))])
def test_a_scene_at_another_aspect_ratio_is_still_proved(sizes: tuple[tuple[int, int], ...]) -> None:
    spec = malevic_spec(Options(seed=4), "pos", "test", 3)
    scene = compile_episode(EpisodeSpec.model_validate(spec), settings_for("draft", *sizes[0]))
    settings = settings_for("draft", *sizes[1])
    record = make_record(FakeRenderer(), scene, factories.make_job(spec), settings)
    assert verify_record(record) == ""


def test_a_rendered_background_or_stage_of_another_item_is_refused() -> None:
    record = rendered("pos", "test", 3)
    frame = record.scene.frames[0].model_copy(update={"background": (255, 0, 0)})
    for change, said in (
        ({"frames": (frame,)}, "background: found [255, 0, 0]"),
        ({"stage": "clevr"}, 'stage: found "clevr"'),
    ):
        changed = record.model_copy(update={"scene": record.scene.model_copy(update=change)})
        assert said in verify_record(changed)
