"""Published annotations become items that show the same, and every disagreement is reported."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image
from PIL.PngImagePlugin import PngImageFile

from diorama.render.cli.specs import main
from diorama.scene_specs.benchmarks.malevic import Options, importing
from diorama.scene_specs.benchmarks.malevic.generate import malevic_spec
from diorama.scene_specs.benchmarks.malevic.importing import import_published
from diorama.scene_specs.benchmarks.malevic.verify import verify_spec
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.model.spec import EpisodeSpec
from tests.scene_specs.benchmarks.malevic.published_files import OBJECTS, SCENE, published

Entry = list[Any]


def data_of(item: EpisodeSpec) -> Any:
    return item.model_dump(mode="json", exclude_none=True, exclude_defaults=True)


def one_scene(folder: Path, objects: list[dict[str, str]], captions: list[Any]) -> Path:
    file = folder / "pos" / "annotations_0.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"7": [SCENE, {"objects": objects}, *captions]}))
    return file


def caption(color: str, shape: str, words: tuple[str, str], away: str, prob: tuple[str, str]) -> Any:
    """A pair of sentences; the true one's key for the distance ends in a colon."""
    rest = {"k": "0.2864", "vagueness": "same"}
    texts = [f"The {color} {shape} is a {word} object" for word in words]
    true = {"prob_RH_R_true": prob[0], "dist_from_thresh:": away, "caption_true": texts[0], **rest}
    return {
        "captions": [true, {"caption_false": texts[1], "prob_RH_R_false": prob[1], "dist_from_thresh": away, **rest}]
    }


@pytest.mark.alike
@pytest.mark.parametrize(
    ("name", "split"), [("sup1", "val"), ("pos", "test"), ("set-pos-hard", "test"), ("pos1", "train")]
)
def test_items_come_back_from_the_published_form(tmp_path: Path, name: str, split: str) -> None:
    file, questions = published(tmp_path, name, split, range(3, 15))
    images = tmp_path / name / "images"
    items = [data_of(item) for item in import_published(file, strict=True, questions=questions, images=images)]
    assert [item["id"] for item in items] == [f"malevic/published/{name}/{split}/{n:06d}" for n in range(12)]
    for number, item in enumerate(items, 3):
        assert verify_spec(item) == ""
        own = malevic_spec(Options(seed=5), name, split, number)
        assert item["frames"][0] == own["frames"][0]
        for key in ("question", "answer", "asked", "adjective", "number", "captions", "vagueness"):
            assert item["task"][key] == own["task"][key]


def test_two_questions_about_a_scene_and_two_variants_have_ids_of_their_own(tmp_path: Path) -> None:
    file, questions = published(tmp_path, "pos", "test", range(2), images=False)
    data = json.loads(questions.read_text())
    questions.write_text(json.dumps({"questions": [*data["questions"], data["questions"][1]]}))
    static, _ = published(tmp_path, "pos_static_dataset", "test", range(2), images=False)
    found = [*import_published(file, questions=questions), *import_published(static)]
    names = ["000000", "000001", "000001/2", "static/000000", "static/000001"]
    assert [item.id for item in found] == [f"malevic/published/pos/test/{name}" for name in names]
    assert {verify_spec(data_of(item)) for item in found[:3]} == {""}
    assert not any("the id" in verify_spec(data_of(item)) for item in found)


def test_triangles_without_images_fit_among_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file, questions = published(tmp_path, "set-pos-hard", "test", range(12), images=False)
    items = [data_of(item) for item in import_published(file, strict=True, questions=questions)]
    assert [verify_spec(item) for item in items] == [""] * 12
    assert "how triangles point is open in" in caplog.text


def test_a_scene_without_a_question_is_verified_too(tmp_path: Path) -> None:
    file, _ = published(tmp_path, "pos", "test", range(3), images=False)
    for item in map(data_of, import_published(file, strict=True)):
        assert "question" not in item["task"]
        assert verify_spec(item) == ""
        item["task"]["captions"].pop()
        assert "captions" in verify_spec(item)


def test_questions_of_a_generalization_set_name_it(tmp_path: Path) -> None:
    file, questions = published(tmp_path, "set-pos-compositional", "val", range(3))
    questions = questions.rename(questions.with_name("valF.json"))
    items = list(import_published(file, strict=True, questions=questions))
    assert {item.id.split("/")[2] for item in items} == {"generalization-F"}


def flip(objects: Entry, captions: Entry) -> None:
    objects[1]["size"] = "big"


def another_k(objects: Entry, captions: Entry) -> None:
    for item in objects:
        item["k"] = "0.31"


def another(index: int, key: str, value: str) -> Callable[[Entry, Entry], None]:
    return lambda objects, captions: objects[index].update({key: value})


def no_captions(objects: Entry, captions: Entry) -> None:
    captions.clear()


CAPTIONS = [
    caption("red", "square", ("big", "small"), "0.2864", ("0.9814", "0.0186")),
    caption("blue", "rectangle", ("small", "big"), "0.274", ("0.9773", "0.0227")),
    caption("red", "circle", ("small", "big"), "0.5975", ("1.0", "0.0")),
    caption("green", "triangle", ("small", "big"), "0.5378", ("1.0", "0.0")),
]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (flip, 'object 1: size: found "big"; expected "small"'),
        (another_k, "object 0: thresh_dist: found"),
        (another(2, "area", "7826"), 'object 2: area: found "7826"; expected "7825"'),
        (another(2, "vagueness", "different"), "object 2: vagueness"),
        (another(2, "thresh_dist", "0.5986"), "object 2: thresh_dist"),
        (another(2, "prob", "0.9"), "object 2: prob"),
        (another(2, "object_id", "3"), "object 2: object_id"),
        (no_captions, "True sentence 'The red square is a big object': found false; expected true"),
        (another(4, "cc", "700"), "overlap"),
    ],
)
def test_every_disagreement_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: Callable[[Entry, Entry], None], said: str
) -> None:
    objects, captions = json.loads(json.dumps([OBJECTS, CAPTIONS]))
    (right,) = import_published(one_scene(tmp_path / "right", objects, captions), strict=True)
    change(objects, captions)
    file = one_scene(tmp_path / "wrong", objects, captions)
    with pytest.raises(SpecError) as error:
        list(import_published(file, strict=True))
    assert said in str(error.value)
    with caplog.at_level(logging.WARNING):
        (item,) = import_published(file)
    assert said in caplog.text
    assert right.task is not None
    assert item.task is not None
    assert len(item.task["captions"]) == len(right.task["captions"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "not a file of MALeViC"),
        ("{", "pos/annotations_0.json"),
        ('{"0": 3}', "no scene 0"),
        ('{"0": [{"image_id": "0"}, {"objects": []}]}', "0.objects"),
        ('{"x": [{"image_id": "0"}, {"objects": []}]}', "no scene x"),
        (json.dumps({"01": [SCENE, {"objects": OBJECTS}]}), "no scene 01"),
        (json.dumps({"0": [SCENE, {"objects": [{**OBJECTS[0], "color": "pink"}]}]}), "color"),
        (json.dumps({"0": [SCENE, {"objects": [{**OBJECTS[0], "rr": "nan"}]}]}), "rr"),
        (json.dumps({"0": [SCENE, {"objects": [{**OBJECTS[0], "radius": "35"}]}]}), "radius"),
    ],
)
def test_what_is_no_annotation_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "pos" / "annotations_0.json"
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(SpecError, match=said.replace("[", r"\[")):
        list(import_published(file))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": "The red hexagon is a big object"}, "asks about no single object"),
        ({"question": "The {color} {shape} is a huge object"}, "asks about no single object"),
        ({"question": "The {color} {shape} is a biggest object"}, "asks about no single object"),
        ({"image_index": 99}, "no scene 99"),
        ({"image_index": "x"}, "image_index"),
        ({"answer": "maybe"}, "answer"),
    ],
)
def test_a_wrong_question_is_named_and_the_others_are_read(tmp_path: Path, change: Any, said: str) -> None:
    file, questions = published(tmp_path, "pos", "test", range(3))
    data = json.loads(questions.read_text())
    looks = dict(zip(("color", "shape"), data["questions"][1]["question"].split(" ")[1:3], strict=True))
    new = {key: value.format(**looks) if isinstance(value, str) else value for key, value in change.items()}
    data["questions"][1] |= new
    questions.write_text(json.dumps(data))
    found: list[EpisodeSpec] = []
    with pytest.raises(SpecError, match=said):
        found.extend(import_published(file, questions=questions))
    assert [item.id[-1] for item in found] == ["0", "2"]


def test_the_command_reads_them_and_other_benchmarks_have_no_questions(tmp_path: Path) -> None:
    file, questions = published(tmp_path, "pos1", "test", range(3))
    out = tmp_path / "specs.jsonl"
    more = ["--questions", str(questions), "--images", str(tmp_path / "pos1" / "images"), "--out", str(out)]
    done = CliRunner().invoke(main, ["import", "--from", "malevic", str(file), *more])
    assert (done.exit_code, len(out.read_text().splitlines())) == (0, 3)
    assert CliRunner().invoke(main, ["check", "--prove", str(out)]).exit_code == 0
    refused = CliRunner().invoke(main, ["import", "--from", "clevr", str(file), "--questions", str(questions)])
    assert refused.exit_code == 2
    assert "--questions" in refused.stderr
    other = tmp_path / "annotations_0.json"
    other.write_text("{}")
    assert "names a set" in CliRunner().invoke(main, ["import", "--from", "malevic", str(other)]).stderr


@pytest.mark.parametrize(("old", "new"), [(" is a ", " is the "), (" object", " thing"), ("The ", "A ")])
def test_a_sentence_in_other_words_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, old: str, new: str
) -> None:
    file, questions = published(tmp_path, "pos", "test", range(2), images=False)
    questions.write_text(questions.read_text().replace(old, new, 1))
    with pytest.raises(SpecError, match=f"question: found .*{new.strip()}"):
        list(import_published(file, strict=True, questions=questions))
    assert len(list(import_published(file, questions=questions))) == 2
    assert "question: found" in caplog.text


def flat_image(side: int) -> bytes:
    """A PNG of few bytes and many pixels."""
    stream = io.BytesIO()
    Image.new("P", (side, side)).save(stream, "PNG")
    return stream.getvalue()


def damaged_image() -> bytes:
    """A PNG whose second chunk has a broken checksum."""
    content = bytearray(flat_image(64))
    content[content.index(b"PLTE") + 5] ^= 0xFF
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: flat_image(4097), "4097x4097 pixels"),
        (lambda: flat_image(9500), "9500x9500 pixels"),
        (damaged_image, "not an image"),
        (lambda: b"GIF89a", "not an image"),
    ],
)
def test_an_image_that_can_not_be_is_refused_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Callable[[], bytes], said: str
) -> None:
    file, _ = published(tmp_path, "pos", "test", range(1), images=False)
    decode = PngImageFile.load_prepare

    def small(image: PngImageFile) -> None:
        assert max(image.size) <= 4096, "decoded"
        decode(image)

    monkeypatch.setattr(PngImageFile, "load_prepare", small)
    (tmp_path / "pos" / "images" / "0.png").write_bytes(content())
    with pytest.raises(SpecError, match=said):
        list(import_published(file, images=tmp_path / "pos" / "images"))


@pytest.mark.parametrize("value", [10**400, "1e999", None, [1]])
def test_numbers_of_any_size_are_disagreements(tmp_path: Path, value: Any) -> None:
    file, _ = published(tmp_path, "pos", "test", range(1), images=False)
    data = json.loads(file.read_text())
    data["0"][0]["n_objects"] = value
    file.write_text(json.dumps(data))
    with pytest.raises(SpecError, match="n_objects: found"):
        list(import_published(file, strict=True))


def test_options_that_would_change_nothing_are_refused(tmp_path: Path) -> None:
    file, questions = published(tmp_path, "pos", "test", range(2), images=False)
    packed = tmp_path / "images.tar.gz"
    packed.write_bytes(b"x")
    (tmp_path / "empty").mkdir()
    for given, said in (
        ([str(file), "--images", str(packed)], "--images"),
        ([str(file), "--images", str(tmp_path / "empty")], "of no scene"),
        ([str(file), "--questions", str(tmp_path)], "--questions"),
        ([str(file), str(file), "--questions", str(questions)], "found 2 FILES"),
    ):
        refused = CliRunner().invoke(main, ["import", "--from", "malevic", *given])
        assert (refused.exit_code, said in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("split", "val", 'split: found "val"; expected "test"'),
        ("image_filename", "7.png", 'image_filename: found "7.png"; expected "1.png"'),
        ("question_family_index", 7, "question_family_index: found 7"),
    ],
)
def test_copies_in_a_question_are_compared(tmp_path: Path, key: str, value: object, named: str) -> None:
    file, questions = published(tmp_path, "pos", "test", range(3), images=False)
    data = json.loads(questions.read_text())
    data["questions"][1][key] = value
    questions.write_text(json.dumps(data))
    assert len(list(import_published(file, questions=questions))) == 3
    with pytest.raises(SpecError, match=rf"questions\[1\]\.{re.escape(named)}"):
        list(import_published(file, strict=True, questions=questions))


def test_numbers_are_compared_as_numbers(tmp_path: Path) -> None:
    file, _ = published(tmp_path, "pos", "test", range(1), images=False)
    data = json.loads(file.read_text())
    for item in data["0"][1]["objects"]:
        item["k"] += "000"
        item["area"] += ".0"
    file.write_text(json.dumps(data))
    assert len(list(import_published(file, strict=True))) == 1
    data["0"][1]["objects"][1]["area"] = "3601"
    file.write_text(json.dumps(data))
    with pytest.raises(SpecError, match='object 1: area: found "3601"'):
        list(import_published(file, strict=True))


def test_an_unusable_row_is_left_out_and_named(tmp_path: Path) -> None:
    file, _ = published(tmp_path, "pos", "test", range(3), images=False)
    data = json.loads(file.read_text())
    data["1"][1]["objects"][0]["color"] = "pink"
    file.write_text(json.dumps(data))
    out = tmp_path / "specs.jsonl"
    arguments = ["import", "--from", "malevic", str(file), "--out", str(out)]
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, len(out.read_text().splitlines())) == (1, 2)
    assert "left out: " in done.stderr and "pink" in done.stderr and "2 episodes, 1 error" in done.stderr
    assert CliRunner().invoke(main, [*arguments, "--strict"]).exit_code == 2
    data.pop("1")
    file.write_text(json.dumps(data))
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0 and "2 episodes" in done.stderr


def test_known_exceptions_of_published_files_are_not_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, _ = published(tmp_path, "pos", "test", range(2), images=False)
    data = json.loads(file.read_text())
    data["1"][1]["objects"][0]["size"] = "other"
    file.write_text(json.dumps(data))
    with pytest.raises(SpecError, match="size: found"):
        list(import_published(file, strict=True))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    monkeypatch.setitem(importing._EXCEPTIONS, digest, frozenset({"1"}))
    assert len(list(import_published(file, strict=True))) == 2


def test_images_show_every_object(tmp_path: Path) -> None:
    """Also those that are no triangles; a published image in another size, with margins, is as good."""
    file, questions = published(tmp_path, "pos", "test", range(2))
    (picture,) = sorted(tmp_path.rglob("0.png"))
    assert len(list(import_published(file, strict=True, questions=questions, images=picture.parent))) == 2
    pixels = np.asarray(Image.open(picture).convert("RGB"))
    for square in (picture.parent / f"{number}.png" for number in range(2)):
        wide = np.pad(np.asarray(Image.open(square).convert("RGB")), ((0, 0), (40, 40), (0, 0)))
        Image.fromarray(wide).save(square)
    assert len(list(import_published(file, strict=True, questions=questions, images=picture.parent))) == 2
    for shown, problem in ((np.zeros_like(pixels), "points of its color"), (pixels[::-1], "points of its color")):
        Image.fromarray(shown).save(picture)
        with pytest.raises(SpecError, match=rf"0: objects\[0\], a \w+ \w+: {problem}: found \d; expected"):
            list(import_published(file, strict=True, questions=questions, images=picture.parent))
    spotted = pixels.copy()
    spotted[np.nonzero((pixels == 0).all(axis=2))] = 255
    Image.fromarray(spotted).save(picture)
    with pytest.raises(SpecError, match="0: number of colored pixels: found"):
        list(import_published(file, strict=True, questions=questions, images=picture.parent))
