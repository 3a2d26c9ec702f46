"""What a record holds is enough for commands that only read: meshes of one's own need not be on the machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from diorama.render.api import compile_spec
from diorama.render.cli.specs import main
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.analysis.stats import gather
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.uses.export.biases import ObjectCounts
from diorama.render.uses.export.hub import annotation_data, object_extents
from diorama.render.uses.gallery.episode_facts import caption, search_row
from diorama.scene_specs.language.model_names import kind_of
from diorama.scene_specs.model.record import EpisodeRecord
from tests.factories import make_job

_CORNERS = [(x, y, z) for x in (-1, 1) for y in (-0.4, 0.4) for z in (-0.5, 0.5)]
_FACES = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")
_STACK = [
    {"name": "can", "shape": "cylinder", "color": "blue", "material": "metal", "size": 0.2},
    {"name": "board", "shape": {"mesh": "board.obj"}, "color": "red", "material": "rubber", "size": 0.9},
    {"name": "ball", "shape": "sphere", "color": "green", "material": "rubber", "size": 0.4},
    {"name": "cube", "shape": "cube", "color": "yellow", "material": "rubber", "size": 0.4},
]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> EpisodeRecord:
    """A can on a board whose mesh is gone."""
    root = tmp_path_factory.mktemp("meshes")
    text = "".join("v {} {} {}\n".format(*corner) for corner in _CORNERS) + "".join(f"f {face}\n" for face in _FACES)
    (root / "board.obj").write_text(text)
    stated = {"relation": "on", "subject": "can", "of": "board"}
    frame = {"objects": _STACK, "constraints": [stated, {"min_visible_pixels": 30}]}
    scene = compile_spec({"version": 1, "id": "a/1", "seed": 4, "frames": [frame]}, "draft", (160, 120), root)
    built = make_record(FakeRenderer(), scene, make_job(), scene.settings, [root])
    shutil.rmtree(root)
    return built


def without_extents(record: EpisodeRecord) -> EpisodeRecord:
    """Return the record as version 0.1 wrote it."""
    images = [
        image.model_copy(update={"annotation": image.annotation.model_copy(update={"extents": {}})})
        for image in record.images
    ]
    return record.model_copy(update={"images": images})


def asked(folder: Path, record: EpisodeRecord, *options: str) -> tuple[list[dict[str, Any]], str]:
    LanceStore.create(str(folder / "s.lance"), fsync=False).put([record])
    result: Result = CliRunner().invoke(main, ["questions", str(folder / "s.lance"), *options])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr


@pytest.mark.parametrize("old", [False, True])
def test_what_is_on_what_needs_no_mesh(record: EpisodeRecord, old: bool, tmp_path: Path) -> None:
    found, _ = asked(tmp_path, without_extents(record) if old else record, "--kind", "scenes")
    names = [item.name for item in record.images[0].annotation.objects]
    on = found[0]["relationships"]["on"]
    assert on[names.index("board")] == [names.index("can")] and sum(map(len, on)) == 1
    assert ("above" in found[0]["relationships"]) is not old


@pytest.mark.parametrize("old", [False, True])
def test_captions_say_what_is_on_what(record: EpisodeRecord, old: bool, tmp_path: Path) -> None:
    """The first object, too, of which nothing was said."""
    found, _ = asked(tmp_path, without_extents(record) if old else record, "--kind", "captions")
    assert "The cylinder is on top of the board." in found[0]["dense"]


@pytest.mark.parametrize("old", [False, True])
def test_a_sound_store_is_not_called_damaged(record: EpisodeRecord, old: bool, tmp_path: Path) -> None:
    source = without_extents(record) if old else record
    found, report = asked(tmp_path, source, "--family", "falls", "--per-image", "20")
    assert "damaged" not in report
    assert found


def test_what_is_not_known_is_left_out_and_counted(record: EpisodeRecord, tmp_path: Path) -> None:
    found, report = asked(tmp_path, without_extents(record), "--per-image", "200", "--seed", "3")
    programs = json.dumps([line["program"] for line in found])
    assert "1 image of older records" in report and "--asset-root" in report
    assert "on" in programs and "above" not in programs and "below" not in programs
    (tmp_path / "new").mkdir()
    _, report = asked(tmp_path / "new", record)
    assert "older records" not in report


def test_extents_of_meshes_that_are_gone(record: EpisodeRecord) -> None:
    extents = object_extents(record)
    assert extents["frame-0", "board"][2] == pytest.approx(0.72)
    (item, *_) = annotation_data(record.images[0], extents)["objects"]
    assert item["category"] == "cylinder" and len(item["extent"]) == 3
    assert {name for _, name in object_extents(without_extents(record))} == {"can", "ball", "cube"}


def test_poses_and_parameters_are_no_classes(tmp_path: Path) -> None:
    shapes = ("person:-5.6/-23.8", "person:10/0", "invented:branch/730743?bulbs=0.5", "invented:branch/12")
    frame = {"objects": [{"shape": shape, "color": "red", "material": "rubber", "size": 0.6} for shape in shapes]}
    scene = compile_spec({"version": 1, "id": "a/1", "frames": [frame]}, "draft", (160, 120))
    record = make_record(FakeRenderer(), scene, make_job(), scene.settings)
    store = LanceStore.create(str(tmp_path / "s.lance"), fsync=False)
    store.put([record])
    counted = {"person": 2, "invented branch": 2}
    assert gather(store, None, None).distributions["shape"].counts["all"] == counted
    assert search_row("", record, ())["shape"] == sorted(counted)
    shown = [kind_of(item.shape) for item in record.images[0].annotation.objects]
    assert shown == ["person", "person", "invented branch", "invented branch"]
    text = caption(record.images[0].annotation)
    assert "red rubber invented branch" in text and "?" not in text and "/" not in text
    counts = ObjectCounts()
    counts.add([row for batch in store.scan(["objects"]) for row in batch["objects"] or ()], 160, 120)
    assert "shape" in (line := next(counts.lines())) and "person 50.0 %" in line and "invented branch 50.0 %" in line
