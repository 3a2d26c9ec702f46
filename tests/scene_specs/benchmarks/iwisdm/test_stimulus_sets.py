"""Pictures of a stimulus set in the published form become models, which imported and generated trials show."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from scene_specs.benchmarks.iwisdm import Options, Pictures
from scene_specs.benchmarks.iwisdm.generate import generate
from scene_specs.benchmarks.iwisdm.pictures import read_models, write_models
from scene_specs.benchmarks.iwisdm.stimuli import VIEW_ANGLES, Stimuli
from scene_specs.benchmarks.iwisdm.verify import verify_spec
from scene_specs.language.errors import DioramaError, SpecError
from tests.scene_specs.benchmarks.iwisdm.test_importing import INFO, OBJECTS, read, shown, written

# Category, object, angles of its pictures. Object 7 has no picture of its right, and its front is not angle 4.
OBJECTS_OF_SET = {("mugs", 4): {3: (0, 1, 2, 3), 12: (0, 1, 2, 3)}, ("cars", 0): {5: (0, 1, 2, 3), 7: (0, 1, 2, 4)}}


def picture_of(*color: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (2, 2), color).save(stream, "PNG")
    return stream.getvalue()


def stimulus_set(folder: Path, split: str = "train", header: str = "ref,ctg_mod,obj_mod,ang_mod,ctg") -> Path:
    """A set in which each picture is told by its color. Object 3 has two pictures of its front, 20 and 100."""
    rows, ref = [header, "100,4,3,0,mugs"], 20
    (folder / split / "100").mkdir(parents=True)
    for (category, number), objects in OBJECTS_OF_SET.items():
        for item, angles in objects.items():
            for angle in angles:
                rows.append(f"{ref},{number},{item},{angle},{category}")
                (folder / split / str(ref)).mkdir()
                (folder / split / str(ref) / "image.png").write_bytes(picture_of(number, item, angle))
                ref += 1
    (folder / f"{split}_meta.csv").write_text("\n".join(rows) + "\n")
    return folder


def models_of(folder: Path, split: Any = "train") -> Path:
    out = folder / "models"
    list(write_models(Pictures(folder=stimulus_set(folder / "set", split), split=split, out=out)).items)
    return out


def test_each_side_of_a_model_has_its_picture(tmp_path: Path) -> None:
    out = models_of(tmp_path)
    for side, name in enumerate(VIEW_ANGLES):
        assert (out / f"mugs/picture-3/{name}.png").read_bytes() == picture_of(4, 3, side)
    assert read_models(out)["cars/picture-7"] == {0, 1, 2}
    assert json.loads((out / "stimuli.json").read_text()) == {
        "mugs": ["picture-3", "picture-12"],
        "cars": ["picture-5"],
    }
    with pytest.raises(SpecError, match="an empty or a new folder"):
        write_models(Pictures(folder=tmp_path / "set", split="train", out=out))


def test_a_damaged_set_is_named(tmp_path: Path) -> None:
    out = tmp_path / "models"
    with pytest.raises(SpecError, match="found 0 tables and 0 folders of split val"):
        write_models(Pictures(folder=stimulus_set(tmp_path / "set"), split="val", out=out))
    file = tmp_path / "set/train/20/image.png"
    for damage in (lambda: file.write_bytes(file.read_bytes()[:40]), file.unlink):
        damage()
        with pytest.raises(SpecError, match="not an image") as caught:
            list(write_models(Pictures(folder=tmp_path / "set", split="train", out=out)).items)
        assert [one.file for one in caught.value.diagnostics] == [str(file)]
    with pytest.raises(DioramaError, match="--out"):
        write_models(Pictures(folder=tmp_path / "set", split="train", out=tmp_path / "set/train_meta.csv"))
    with pytest.raises(SpecError, match="expected columns ref"):
        write_models(Pictures(folder=stimulus_set(tmp_path / "other", header="a,b,c,d,e"), split="train", out=out))


def test_trials_show_the_pictures(tmp_path: Path) -> None:
    path = written(tmp_path / "trial0/frames/task_info.json", INFO)
    (spec,) = read(path, images=models_of(tmp_path), strict=True)
    assert spec["stage"] == "pictures"
    first, _, last = (frame.get("objects", [{}])[0] for frame in spec["frames"])
    assert first == {
        "name": "top_right", "place": "top_right", "shape": "shapenet:mugs/picture-3", "material": "unlit",
        "size": 56.0, "view": {},
    }  # fmt: skip
    assert (last["shape"], last["view"]) == (first["shape"], {"yaw_deg": 90.0})
    assert spec["task"]["categories"] == ["cars", "mugs"]
    assert [one["object"] for one in spec["task"]["objects"]] == [2, 2]


@pytest.mark.parametrize("other", [(4, 3, 4), (4, 3, -1), (4, 5, 0), (1, 3, 0), (0, 7, 3)])
def test_a_stimulus_without_a_picture_is_named(other: tuple[int, int, int], tmp_path: Path) -> None:
    info = {**INFO, "objects": [shown(0, (1, 0), *other), OBJECTS[1]]}
    path = written(tmp_path / "trial0/frames/task_info.json", info)
    category, number, angle = other
    with pytest.raises(SpecError, match=f"found category {category}, object {number} from angle {angle}, which no"):
        read(path, images=models_of(tmp_path))


def test_generated_trials_show_the_pictures(tmp_path: Path) -> None:
    file = models_of(tmp_path) / "stimuli.json"
    specs = list(generate(Options(benchmark="low", count=20, stimuli=file)).items)
    items = [item for spec in specs for frame in spec["frames"] for item in frame.get("objects", ())]
    assert {spec["stage"] for spec in specs} == {"pictures"}
    assert {item["shape"] for item in items} == {
        f"shapenet:{one}" for one in ("mugs/picture-3", "mugs/picture-12", "cars/picture-5")
    }
    assert {item["view"]["yaw_deg"] for item in items} == {0, 90, 180, 270}
    assert {item["view"]["elevation_deg"] for item in items} == {0}
    assert not any(map(verify_spec, specs))


def test_pictures_and_models_have_stages_of_their_own() -> None:
    assert Stimuli({"cars": ("#1", "picture-x"), "mugs": ("#1",)}).stage == "quadrants"
    with pytest.raises(SpecError, match=r"found picture-\.\.\. and other models"):
        Stimuli({"cars": ("#1",), "mugs": ("picture-1",)})
