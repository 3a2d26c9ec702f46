"""`python -m tools published` on small checkouts in the forms of MALeViC's and KiloGram's."""

from __future__ import annotations

import json
import logging
import shutil
from itertools import islice
from pathlib import Path

import pytest

from diorama.render.annotations.encode import encode_png
from diorama.render.compiler import compile_episode
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.benchmarks.kilogram.annotations import read_annotations
from diorama.scene_specs.benchmarks.kilogram.importing import import_published
from diorama.scene_specs.benchmarks.kilogram.measures import measures
from diorama.scene_specs.model.profiles import settings_for
from tests.scene_specs.benchmarks.kilogram.published import make_games, make_published
from tests.tools.claims.conftest import git
from tools.__main__ import main


@pytest.fixture
def checkout(malevic: Path, tmp_path: Path) -> Path:
    """A copy for each test."""
    return Path(shutil.copytree(malevic, tmp_path / "malevic"))


@pytest.mark.slow
def test_equal_files_and_images_pass_and_a_changed_label_does_not(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "data-hard" / "set-pos-hard" / "images" / "7.png").unlink()
    arguments = ["published", str(checkout), "--renderer", "fake"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "files are absent: data-hard/set-pos-hard/images/7.png." in out
    assert "changed" not in out
    assert "| examples/set-pos-hard: images redrawn | 2 | 0 | 0 |" in out
    assert "questions, tensors, words, classes | 80 | 0 | 0 |" in out
    assert "proved from what is shown | 80 | 0 | 0 |" in out
    file = checkout / "data-hard" / "set-pos-hard" / "annotation" / "test_annotation.json"
    text = file.read_text()
    file.write_text(text.replace('"size": "big"', '"size": "small"', 1))
    assert main(arguments) == 1
    out = capsys.readouterr().out
    assert "1 files are changed: data-hard/set-pos-hard/annotation/test_annotation.json." in out
    assert "| 1 | 0 | 80 scenes; 0: ? |" in out


@pytest.mark.slow
@pytest.mark.parametrize("fewer", [False, True])
def test_distributions_of_equal_items_are_equal(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fewer: bool
) -> None:
    shutil.rmtree(checkout / "examples")
    monkeypatch.setattr("tools.claims.crosschecks.malevic.SEEDS", (5,))
    if fewer:
        # Scenes with five objects only.
        file = checkout / "data-hard/set-pos-hard/annotation/test_annotation.json"
        kept = {key: one for key, one in json.loads(file.read_text()).items() if one[0]["n_objects"] == "5"}
        file.write_text(json.dumps(kept))
        asked = file.parents[1] / "dataset/test.json"
        questions = [one for one in json.loads(asked.read_text())["questions"] if str(one["image_index"]) in kept]
        asked.write_text(json.dumps({"info": {}, "questions": questions}))
    main(["published", str(checkout), "--items", "80"])
    (row,) = (line for line in capsys.readouterr().out.splitlines() if "seed 5" in line)
    assert f"set-pos-hard: {len(kept) if fewer else 80} published" in row
    assert ("objects 0.000 (p 1)" in row) == ("| 80 | 0 | 0 |" in row) == (not fewer)


@pytest.mark.slow
def test_what_is_absent_is_a_row_and_the_others_are_compared(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "data-hard" / "set-pos-hard" / "dataset" / "test.json").unlink()
    (checkout / "examples" / "set-pos-hard" / "1.png").unlink()
    assert main(["published", str(checkout), "--renderer", "fake"]) == 0
    out = capsys.readouterr().out
    assert "questions written back | 0 | 0 | 0 | data-hard/set-pos-hard/dataset/test.json is absent |" in out
    assert "proved from what is shown | 80 | 0 | 0 |" in out
    assert "| examples/set-pos-hard: images redrawn | 1 | 0 | 0 |" in out
    assert "absent: 1.png" in out
    (checkout / "examples" / "set-pos-hard" / "0.png").unlink()
    assert main(["published", str(checkout), "--renderer", "fake"]) == 0
    assert "images redrawn | 0 | 0 | 0 | 0 disagreements; absent: 0.png, 1.png |" in capsys.readouterr().out


@pytest.mark.slow
def test_rows_are_printed_as_soon_as_each_comparison_ends(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("later")

    monkeypatch.setattr("tools.claims.crosschecks.malevic._images", broken)
    logger = logging.getLogger("diorama.scene_specs.benchmarks")
    level = logger.level
    with pytest.raises(RuntimeError, match="later"):
        main(["published", str(checkout), "--renderer", "fake"])
    assert logger.level == level
    assert "proved from what is shown | 80 | 0 | 0 |" in capsys.readouterr().out


@pytest.mark.slow
def test_a_checkout_without_files_is_an_error(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(checkout / "data-hard")
    shutil.rmtree(checkout / "examples")
    assert main(["published", str(checkout), "--renderer", "fake"]) == 2
    assert "none of the files" in capsys.readouterr().err


def test_another_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["published", str(tmp_path)]) == 2
    assert "not a known benchmark" in capsys.readouterr().err


# The form of the published script: files relative to the working folder, texts `whole#part#part`.
CAPTIONS = """
import json
with open('../../data/dev/aug_dev.json') as f:
    data = json.load(f)
def a(name):
    name = name.removeprefix('a ')
    return name if name == 'fish' else ('an ' if name[0] in 'aeoU' else 'a ') + name
rs = []
for text in data['texts']:
    whole, *parts = map(a, text.split('#'))
    caption = ', '.join(parts[:-1]) + ', and ' * (len(parts) > 1) + ''.join(parts[-1:])
    rs.append(whole + ' with ' * (len(parts) > 0) + caption)
data['texts'] = rs
with open('../../data/dev/aug_dev_caption.json', 'w') as f:
    json.dump(data, f)
"""


@pytest.fixture
def kilogram(tmp_path: Path) -> Path:
    folder = tmp_path / "kilogram"
    inputs, util = folder / "models/preprocessing/model_inputs", folder / "tasks/human_baseline/util"
    for made in (inputs / "part+color", inputs / "caption_texts"):
        made.mkdir(parents=True)
    drawings, file, _ = make_published(folder / "dataset")
    (folder / "dataset/data_split.json").unlink()
    names = sorted(path.stem for path in drawings.iterdir())
    games = make_games(file, util / "val-texts")
    for condition, images in (("whole+black", util / "val-images-black"), ("part+color", util / "val-images")):
        images.mkdir()
        for game in islice(import_published(games / f"{condition}.json", svg=drawings, annotations=file), 1):
            scene = compile_episode(game, settings_for("draft", 224, 224))
            for frame in scene.frames:
                drawn = FakeRenderer().render(scene, frame, frame.views[0]).color
                (images / f"{(frame.truth or {})['image']}.png").write_bytes(encode_png(drawn))
    found, _ = read_annotations(file.read_text(), "dense.json")
    data = json.loads(file.read_text())
    file.write_text(json.dumps({name: {**data[name], **measures(items)} for name, items in found.items()}))
    split = {"train": names[:10], "heldout": names[10:11], "development": names[11:], "dense": ["page6-51"]}
    (inputs / "data_split.json").write_text(json.dumps(split))
    val = [(f"{name}_0", "thing#wing#beak") for name in names[:10]]
    (inputs / "part+color/val.py").write_text(f"val = {val}\n\n\nval_files = {names[:10]}")
    (inputs / "caption_texts/caption_contexts.py").write_text(CAPTIONS)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "published")
    return folder


@pytest.mark.slow
def test_kilogram_equal_passes_and_each_change_is_counted(kilogram: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["published", str(kilogram), "--renderer", "fake"]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "data_split.json: tangrams | 41 | 1 | 1 | page6-51: merged with others; 1 warnings |" in out
    assert "val.py: descriptions | 10 | 0 | 0 |" in out
    assert "dense.json: SND, PND, PSA | 40 | 0 | 0 |" in out
    assert out.count("written back | 20 | 0 | 0 | 2 games |") == 4
    assert out.count("images redrawn | 10 | 0 | 0 |") == 2
    shutil.rmtree(kilogram / "tasks/human_baseline/util/val-images-black")
    for name, old, new, row in [
        ("dataset/dense.json", '"snd": 0.', '"snd": 1.', "SND, PND, PSA | 40 | 1 | 0 |"),
        ("tasks/human_baseline/util/val-texts/part+black.json", "page1-", "page9-", "back | 20 | 1 | 0 | 2 games |"),
        (
            "tasks/human_baseline/util/val-texts/part+color.json",
            "page1-",
            "page9-",
            "| 20 | 61 | 0 | 1 games; expected 10 times",
        ),
        (
            "models/preprocessing/model_inputs/part+color/val.py",
            "page1-0_0",
            "page1-0_1",
            "descriptions | 10 | 2 | 0 |",
        ),
        (
            "models/preprocessing/model_inputs/caption_texts/caption_contexts.py",
            "else 'a '",
            "else 'the '",
            "captions | ",
        ),
    ]:
        file = kilogram / name
        text = file.read_text()
        file.write_text(text.replace(old, new, 1))
        assert main(arguments) == 1, name
        assert row in capsys.readouterr().out
        file.write_text(text)
