"""Drawings, tables, transcripts, annotations and scene files of strangers: each is read or refused within bounds."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from diorama.scene_specs.benchmarks.clevr.importing import import_published as import_clevr
from diorama.scene_specs.benchmarks.icca.game_folders import read_game
from diorama.scene_specs.benchmarks.icca.transcripts import transcripts_of
from diorama.scene_specs.benchmarks.iwisdm.reader import UnreadableError, read
from diorama.scene_specs.benchmarks.kilogram.annotations import read_annotations
from diorama.scene_specs.benchmarks.kilogram.svg import SvgError, parse_svg, parse_transform
from diorama.scene_specs.benchmarks.mewl.importing import import_published as import_mewl
from diorama.scene_specs.errors import SpecError, spec_error
from diorama.scene_specs.language.diagnostics import did_you_mean
from tests.hostile.mangling import Watch
from tests.hostile.traps import run_bounded
from tests.marks import slow
from tests.scene_specs.benchmarks.icca.pieces import game, write
from tests.scene_specs.benchmarks.kilogram.drawings import seven, svg

LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))


@contextmanager
def bounded(seconds: float = 2.0, clock: Callable[[], float] = time.process_time) -> Iterator[None]:
    """Fail where the block takes longer, on the processor unless another clock is given."""
    start = clock()
    yield
    assert clock() - start < seconds


@pytest.mark.parametrize(
    "text",
    [
        f'<!DOCTYPE s [<!ENTITY l0 "ha">{LAUGHS}]><svg viewBox="0 0 1 1"><g id="&l9;"/></svg>',
        '<!DOCTYPE s [<!ENTITY e SYSTEM "file:///etc/passwd">]><svg viewBox="0 0 1 1"><g>&e;</g></svg>',
        '<!DOCTYPE s SYSTEM "http://127.0.0.1:9/x.dtd"><svg viewBox="0 0 1 1"/>',
        svg('<image href="file:///etc/passwd"/>' + seven()),
        svg('<use xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="http://127.0.0.1:9/#a"/>' + seven()),
        svg("<g>" * 70_000 + "</g>" * 70_000),
        svg("<g/>" * 100_000),
        svg('<polygon id="1" points="' + "1e999 " * 99 + '"/>'),
        svg('<polygon id="1" points="' + "9" * 900_000 + '"/>'),
        svg(f'<g transform="{" " * 900_000}x">{seven()}</g>'),
        svg(f'<g transform="{"scale(1e9)" * 32}">{seven()}</g>'),
        f'<svg width="{"0" * 900_000}x" height="1">{seven()}</svg>',
        f'<svg viewBox="0 0 1e300 1e300">{seven()}</svg>',
        "<?xml version='1.0' encoding='utf-7'?><svg/>",
    ],
    ids=range(14),
)
def test_a_hostile_drawing_is_refused_and_opens_nothing(tmp_path: Path, text: str | bytes) -> None:
    watch = Watch(tmp_path)
    watch.on = True
    try:
        with bounded(), pytest.raises(SvgError):
            parse_svg(text if isinstance(text, bytes) else text.encode(), "a")
    finally:
        watch.on = False
    assert watch.found == []


def test_links_of_a_drawing_are_not_followed(tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    linked = svg('<a xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="file:///etc/passwd">' + seven() + "</a>")
    watch.on = True
    parse_svg(linked, "a")
    watch.on = False
    assert watch.found == []


def test_steps_of_a_transform_may_have_space_before_them() -> None:
    assert parse_transform(" , translate (1 2) ,\n scale(2.)") == (2.0, 0.0, 0.0, 2.0, 1.0, 2.0)


def test_an_instruction_of_many_details_is_refused_at_once() -> None:
    with bounded(), pytest.raises(UnreadableError):
        read("observe object 1" + " with x: y" * 2000, [[{"x": "y"}]])


@pytest.mark.parametrize("text", ["x" * 200_000, "a,b\n" * 3_000_000, '"' + "\n" * 300_000])
def test_a_hostile_table_is_refused(tmp_path: Path, text: str) -> None:
    folder = write(tmp_path, game())
    (folder / f"trials_for_{folder.name}.csv").write_text(text)
    with bounded(10), pytest.raises(SpecError):
        read_game(folder)


def test_a_pipe_as_an_image_of_a_game_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, game())
    image = folder / game().images[0]
    image.unlink()
    os.mkfifo(image)
    with bounded(60, time.monotonic), pytest.raises(SpecError, match="not a regular file"):
        read_game(folder)


def test_a_game_folder_of_many_images_is_described_in_a_line(tmp_path: Path) -> None:
    folder = write(tmp_path, game())
    for number in range(2000):
        (folder / f"{number:0200}.png").touch()
    with pytest.raises(SpecError) as caught:
        read_game(folder)
    assert len(caught.value.diagnostics[0].problem) < 4000


@pytest.mark.parametrize("line", ["{}", *slow("x", '{"icca_transcript": 1}', "[" * 1000)])
def test_a_transcript_of_a_million_lines_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f"{line}\n" * (1_000_000 if len(line) < 100 else 50_000))
    done = run_bounded("render-specs", "icca", "score", path)
    assert done.code == 2, done.err[-500:]
    assert done.peak < 2000
    assert len(done.err) < 100_000


def test_a_key_given_twice_among_many_is_found_at_once() -> None:
    text = "{" + ",".join(f'"k{k}": 0' for k in [*range(100_000), 99_999]) + "}"
    with bounded(5):
        assert "given twice" in str(read_annotations(text, "a")[1][0])


def test_a_hint_among_many_names_takes_a_moment() -> None:
    with bounded(3):
        did_you_mean("no-such-file-name.json", (f"some-long-file-name-{k:06d}.json" for k in range(100_000)))


@pytest.mark.slow
def test_a_folder_of_many_files_is_read(tmp_path: Path) -> None:
    for number in range(100_000):
        (tmp_path / f"{number}.svg").touch()
    done = run_bounded("render-specs", "kilogram", "drawings", tmp_path, "--strict")
    assert done.code == 2
    assert done.peak < 2000


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "\x1b[2J\n", "x" * 5000])
def test_names_in_scene_files_are_refused_not_obeyed(tmp_path: Path, name: str) -> None:
    item = {"name": name, "shape": "cube", "color": "red", "material": "rubber", "size": "large",
            "3d_coords": [0, 0, 0.7], "rotation": 0}  # fmt: skip
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"objects": [item], "split": name, "image_filename": name}))
    for importer in (import_clevr, import_mewl):
        with pytest.raises(SpecError, match="name"):
            list(importer(path))
    info = {"context_panels": [{"name": name}], "question": {}}
    (tmp_path / "info.json").write_text(json.dumps(info))
    with pytest.raises(SpecError):
        list(import_mewl(tmp_path))


def test_a_diagnostic_is_one_line_that_a_terminal_does_not_obey() -> None:
    error = spec_error("found\nerror: all is well \x1b[2J\u202e", file="a\nb\x9b31m.json")
    assert str(error) == "a\\nb\\x9b31m.json: found\\nerror: all is well \\x1b[2J\\u202e"


@pytest.mark.slow
def test_names_of_files_are_escaped(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a\x1b]0;owned\x07\nerror: b.svg").write_text("<svg")
    (folder / "a\x1b]0;owned\x07\nerror: b.json").write_text("{")
    path = str(folder / "a\x1b]0;owned\x07\nerror: b.json")
    drawings = ("kilogram", "drawings", str(folder), "--strict")
    for words in (("check", path), ("import", path), drawings, ("kilogram", "naming", path),
                  ("icca", "score", path), ("iwisdm", "--count", "1", "--config", path)):  # fmt: skip
        done = run_bounded("render-specs", *words)
        assert done.code == 2, (words, done.err)
        assert "\x1b" not in done.out + done.err, words
        assert "\nerror: b" not in done.out + done.err, words


def test_transcripts_tell_lines_apart_by_line_feeds_only() -> None:
    with pytest.raises(SpecError, match=":2: invalid JSON"):
        transcripts_of("\n{}\u2028", "t")
