"""Pictures of a stimulus set in the published form become models, which imported and generated trials show."""

from __future__ import annotations

import io
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from diorama.scene_specs.benchmarks.iwisdm import Options, Pictures
from diorama.scene_specs.benchmarks.iwisdm.contrast import contrasts
from diorama.scene_specs.benchmarks.iwisdm.generate import generate, trial_specs
from diorama.scene_specs.benchmarks.iwisdm.pictures import read_models, write_models
from diorama.scene_specs.benchmarks.iwisdm.stimuli import VIEW_ANGLES, Stimuli
from diorama.scene_specs.benchmarks.iwisdm.verify import frames_of, verify_spec
from diorama.scene_specs.errors import DioramaError, SpecError
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.tasks.importing.pictures import read_picture
from tests.scene_specs.benchmarks.iwisdm.test_importing import INFO, OBJECTS, read, shown, written

# Category, object, angles of its pictures. Object 7 has no picture of its right, and its front is not angle 4.
OBJECTS_OF_SET = {("mugs", 4): {3: (0, 1, 2, 3), 12: (0, 1, 2, 3)}, ("cars", 0): {5: (0, 1, 2, 3), 7: (0, 1, 2, 4)}}


HEADER = "ref,ctg_mod,obj_mod,ang_mod,ctg"


def picture_of(*color: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (2, 2), color).save(stream, "PNG")
    return stream.getvalue()


def stimulus_set(folder: Path, split: str = "train", header: str = HEADER) -> Path:
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
    with pytest.raises(SpecError, match=r"an empty or a new folder \(delete what"):
        write_models(Pictures(folder=tmp_path / "set", split="train", out=out))


def test_a_damaged_set_is_named(tmp_path: Path) -> None:
    out = tmp_path / "models"
    with pytest.raises(SpecError, match="found 0 tables and 0 folders of split val"):
        write_models(Pictures(folder=stimulus_set(tmp_path / "set"), split="val", out=out))
    file = tmp_path / "set/train/34/image.png"
    for damage, problem in (
        (lambda: file.write_bytes(file.read_bytes()[:50]), "not an image: "),
        (lambda: file.write_bytes(b"GIF89a"), "not an image: expected a PNG file"),
        (file.unlink, "missing"),
    ):
        damage()
        with pytest.raises(SpecError) as caught:
            list(write_models(Pictures(folder=tmp_path / "set", split="train", out=out)).items)
        assert str(caught.value).startswith(f"{file}: {problem}") and "object at" not in str(caught.value)
        assert not out.exists(), "all pictures are read before the first model is written"
    with pytest.raises(DioramaError, match="--out"):
        write_models(Pictures(folder=tmp_path / "set", split="train", out=tmp_path / "set/train_meta.csv"))


@pytest.mark.parametrize(
    ("header", "row", "problem"),
    [
        ("a,b,c,d,e", "", "1: found no column ctg_mod, ref, obj_mod, ang_mod"),
        (HEADER, "1,4,0.0,0,mugs", r"2: obj_mod: found '0\.0'; expected a whole number of 0 or more"),
        (HEADER, "1,4,-1,0,mugs", "2: obj_mod: found '-1'; expected a whole number"),
        (HEADER, "1,4", "2: obj_mod: found ''; expected a whole number"),
        pytest.param(HEADER, f"1,4,0,0,{'m' * 140_000}", "2: field larger", id="long field"),
        ("ref,ctg_mod,obj_mod,ang_mod,x", "1,-1,0,0,mugs", "2: ctg_mod: found '-1'; expected a whole number"),
        ("ref,ctg_mod,obj_mod,ang_mod,x", "1,8,0,0,mugs", "2: found category 8 without a label"),
        (HEADER, "1,9,0,0,mugs", "found label 'mugs' for category 4, and 'mugs' and 9 elsewhere"),
        (HEADER, "1,4,0,0,vases", "found label 'mugs' for category 4, and 'vases' and 4 elsewhere"),
        (HEADER, "1,5,0,0,../../x", "found category '../../x'"),
    ],
)
def test_a_damaged_table_is_named(header: str, row: str, problem: str, tmp_path: Path) -> None:
    folder = stimulus_set(tmp_path / "set", header=f"{header}\n{row}")
    with pytest.raises(SpecError, match=f"^{re.escape(str(folder / 'train_meta.csv'))}:? ?{problem}"):
        write_models(Pictures(folder=folder, split="train", out=tmp_path / "models"))


def test_labels_become_names_of_categories(tmp_path: Path) -> None:
    folder = stimulus_set(tmp_path / "set")
    table = folder / "train_meta.csv"
    table.write_text(table.read_text().replace("mugs", "Coffee Mugs"))
    out = tmp_path / "models"
    list(write_models(Pictures(folder=folder, split="train", out=out)).items)
    trial = tmp_path / "trial0/frames/task_info.json"
    question = "observe object 1, delay, observe object 2, category of object 2 equals Coffee Mugs?"
    plain = json.loads(json.dumps(INFO["objects"]))
    for one, asked in zip(plain, ({}, {"0": ["category"]}), strict=True):
        one |= {"attended_attr": asked, "tasks": [*map(int, asked)]}
    info = INFO | {"instruction": question, "objects": plain}
    (spec,) = read(written(trial, info), images=out, strict=True)
    assert spec["task"]["instruction"].endswith("equals coffee-mugs?")
    assert spec["frames"][0]["objects"][0]["shape"] == "shapenet:coffee-mugs/picture-3"
    table.write_text(f"{table.read_text()}0,9,0,0,coffee mugs\n")
    with pytest.raises(SpecError, match="found label 'coffee-mugs' for category 9"):
        read(trial, images=folder)


def test_stimuli_need_two_categories_with_all_four_sides(tmp_path: Path) -> None:
    folder = stimulus_set(tmp_path / "set")
    series = write_models(Pictures(folder=folder, split="train", out=tmp_path / "models"))
    assert series.done == f"4 models in {tmp_path / 'models'}, 3 with all four sides"
    table = folder / "train_meta.csv"
    table.write_text(re.sub("[0-9]+,0,5,0,cars\n", "", table.read_text()))
    out = tmp_path / "fewer"
    series = write_models(Pictures(folder=folder, split="train", out=out))
    assert len(list(series.items)) == 4 and "2 with all four sides; no stimuli.json" in series.done
    assert not (out / "stimuli.json").exists() and (out / "train_meta.csv").exists()


def test_a_palette_picture_with_transparency_is_read_quietly(tmp_path: Path) -> None:
    Image.new("P", (2, 2)).save(tmp_path / "image.png", transparency=b"\0\x80")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_picture(tmp_path / "image.png").shape == (2, 2, 3)


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


def test_a_trial_of_an_export_shows_what_its_names_say(tmp_path: Path) -> None:
    """Exports number categories alphabetically and objects over all categories, unlike the set."""
    path = written(tmp_path / "trial0/frames/task_info.json", INFO | {"objects": [shown(0, (1, 0), 1, 1)] * 1})
    names = written(tmp_path / "trial0/annotations.json", {"models": ["cars/picture-5", "mugs/picture-12"]})
    models = models_of(tmp_path)
    for images in (models, None):
        (spec,) = read(path, images=images)
        assert spec["stage"] == "pictures" and spec["task"]["models"] == ["cars/picture-5", "mugs/picture-12"]
        assert spec["frames"][0]["objects"][0]["shape"] == "shapenet:mugs/picture-12"
    for listed, images, problem in (
        (["cars/picture-5", "mugs/picture-99"], models, "from angle 0, which no picture shows"),
        (["mugs/picture-12", "cars/picture-5", "cars/picture-6"], None, "object 1 from .* annotations.json does not"),
        (["cars/#1"], None, r"annotations\.json: expected two or more categories; found 1"),
    ):
        written(names, {"models": listed})
        with pytest.raises(SpecError, match=problem):
            read(path, images=images)
    # These are Diorama's models, whose pictures the set has under the same numbers.
    written(names, {"models": ["cars/#1", "mugs/#1"]})
    written(path, INFO)
    (spec,) = read(path, images=models)
    assert spec["frames"][0]["objects"][0]["shape"] == "shapenet:mugs/picture-3"


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


def test_contrasts_of_pictures_show_those_of_the_trial_from_there() -> None:
    """A model of pictures may lack those of other sides."""
    stimuli = Stimuli({name: tuple(f"picture-{k}" for k in range(9)) for name in ("cars", "mugs")})
    offered = 0
    for spec in trial_specs(Options(task="memory-scanning", settings={"items": "12"}, count=8), stimuli):
        visible = {(seen["identity"], seen["view_angle"]) for row in frames_of(spec) for seen in row}
        for edit in contrasts(spec, "shape", generator(0, "x", "y")):
            (seen,) = frames_of(edit.data)[edit.frame]
            assert (seen["identity"], seen["view_angle"]) in visible
            offered += 1
    assert offered


def test_pictures_and_models_have_stages_of_their_own() -> None:
    assert Stimuli({"cars": ("#1", "picture-x"), "mugs": ("#1",)}).stage == "quadrants"
    with pytest.raises(SpecError, match=r"found picture-\.\.\. and other models"):
        Stimuli({"cars": ("#1",), "mugs": ("picture-1",)})
