"""Reading files: every form of input, two passes, flat memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diorama.render.compiler import compile_episode
from diorama.render.compiler.render_key import render_key_of
from diorama.scene_specs.benchmarks.clevr import Options
from diorama.scene_specs.benchmarks.clevr.random_scenes import generate
from diorama.scene_specs.errors import SpecError
from diorama.scene_specs.language.diagnostics import PathDiagnostic
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.documents import Spool
from diorama.scene_specs.reading.source import SpecSource, parse_episode
from tests.scene_specs.reading.broken_cases import episode
from tests.scene_specs.strategies import damaged_specs


def lines_of(count: int, start: int = 0) -> str:
    return "".join(json.dumps(episode(id=f"e/{start + k}")) + "\n" for k in range(count))


def ids(source: SpecSource) -> list[str]:
    return [item.episode.id for item in source]


def faults_of(*names: Any) -> list[str]:
    return [str(diagnostic) for diagnostic in SpecSource(names).check()[0]]


@given(damaged_specs())
def test_any_json_is_an_episode_or_has_faults(value: Any) -> None:
    """Whatever stands in a file, nothing but SpecError comes of it, one diagnostic a place and each can be printed."""
    try:
        assert isinstance(parse_episode(json.dumps(value)), EpisodeSpec | Scene)
    except SpecError as error:
        assert error.diagnostics
        assert len({(diagnostic.path, diagnostic.problem) for diagnostic in error.diagnostics}) == len(
            error.diagnostics
        )
        assert all(str(diagnostic).isprintable() for diagnostic in error.diagnostics)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=8, unique=True), st.sampled_from([None, 0, 2]))
def test_a_list_and_lines_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[int], indent: Any
) -> None:
    folder = tmp_path_factory.mktemp("specs")
    episodes = [episode(id=f"e/{number}") for number in numbers]
    (folder / "a.json").write_text(json.dumps(episodes, indent=indent))
    (folder / "b.jsonl").write_text("\n\n".join(map(json.dumps, episodes)))
    for name in ("a.json", "b.jsonl"):
        source = SpecSource([folder / name])
        assert source.check() == ([], len(numbers))
        assert ids(source) == [f"e/{number}" for number in numbers]


def test_lines_of_episodes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n" + lines_of(2))
    (tmp_path / "b.json").write_text(
        "[\n" + json.dumps(episode(id="x"), indent=1) + ",\n\n" + json.dumps(episode(id="y")) + "]"
    )
    found = [(item.episode.id, item.line) for item in SpecSource([tmp_path])]
    assert found == [("e/0", 2), ("e/1", 3), ("x", 2), ("y", 10)]


def test_folders_globs_and_names_give_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for number, name in enumerate(["b.jsonl", "a.json", "sub/c.json"]):
        (tmp_path / name).write_text(lines_of(1, number))
    (tmp_path / "README.md").write_text("no spec")
    assert ids(SpecSource([tmp_path])) == ["e/1", "e/0", "e/2"]
    assert ids(SpecSource([tmp_path / "*.json*", tmp_path, tmp_path / "a.json"])) == ["e/1", "e/0", "e/2"]
    assert ids(SpecSource([f"{tmp_path}/**/*.json"])) == ["e/1", "e/2"]


def test_names_that_give_nothing_are_faults(tmp_path: Path) -> None:
    (tmp_path / "specs.json").write_text(lines_of(1))
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    names = ["spec.json", "*.jsonl", "empty", "notes.txt", "pipe.json", "a\0b.json", "specs.json"]
    found = faults_of(*(tmp_path / name if "\0" not in name else name for name in names))
    wanted = ["no such file (did you mean 'specs.json'?)", "no file matches", "a folder without", ".txt", "not a file"]
    for part, diagnostic in zip([*wanted, "no such file"], found, strict=True):
        assert part in diagnostic
    assert "no spec files named" in faults_of()[0]


def test_an_unreadable_file_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a patch, because whoever runs tests as root can read every file."""
    (tmp_path / "a.jsonl").write_text(lines_of(1))
    (tmp_path / "b.json").write_text(lines_of(1, 1))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr("diorama.scene_specs.reading.documents.read_foreign", refuse)
    found = faults_of(tmp_path / "a.jsonl", tmp_path / "b.json")
    assert [("can't be read: Permission denied" in diagnostic) for diagnostic in found] == [True, True]


@pytest.mark.parametrize(
    "text", [lines_of(3), "[" + ",".join(lines_of(3).splitlines()) + "]", json.dumps(episode(), indent=1)]
)
def test_standard_input_can_be_read_twice(text: str) -> None:
    with SpecSource(["-"], stdin=Spool([text.encode()])) as source:
        diagnostics, count = source.check()
        assert not diagnostics
        first = ids(source)
        assert (len(first), ids(source)) == (count, first)


def test_faults_of_standard_input_have_lines() -> None:
    diagnostics, count = SpecSource(["-"], stdin=Spool([(lines_of(2) + '{"id": }\n').encode()])).check()
    assert count == 2
    assert [str(diagnostic).split(": ")[0] for diagnostic in diagnostics] == ["-:3"]


def test_ids_are_unique_over_files_and_letter_case(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(lines_of(2))
    (tmp_path / "b.json").write_text(json.dumps([episode(id="E/1"), episode(id="e/3"), episode(id="e/3")]))
    diagnostics, count = SpecSource([tmp_path]).check()
    assert count == 3
    assert [(diagnostic.line, diagnostic.path) for diagnostic in diagnostics] == [(1, "id"), (1, "id")]
    assert f"{tmp_path / 'a.jsonl'}:2" in diagnostics[0].problem


def test_the_id_of_a_broken_episode_is_taken_too(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(episode(id="x", seed=-1)) + "\n" + json.dumps(episode(id="x")))
    assert [diagnostic.path for diagnostic in SpecSource([tmp_path]).check()[0]] == ["seed", "id"]


def test_a_file_that_changes_after_the_check_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines_of(1))
    source = SpecSource([file])
    source.check()
    file.write_text(lines_of(2))
    with pytest.raises(SpecError, match="changed after it was checked"):
        ids(source)


def test_a_file_replaced_by_one_of_the_same_size_and_date_is_refused(tmp_path: Path) -> None:
    file, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    file.write_text(lines_of(1))
    other.write_text(lines_of(1, start=1))
    os.utime(other, ns=(0, file.stat().st_mtime_ns))
    source = SpecSource([file])
    source.check()
    other.rename(file)
    with pytest.raises(SpecError, match="changed after it was checked"):
        ids(source)


def test_a_file_with_another_number_and_date_but_its_contents_is_read(tmp_path: Path) -> None:
    """As some network file systems show a file that nobody touched."""
    file, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    file.write_text(lines_of(2))
    source = SpecSource([file])
    source.check()
    other.write_text(lines_of(2))
    os.utime(other, ns=(0, 1))
    other.rename(file)
    assert len(ids(source)) == 2


def test_reading_without_a_check_checks_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(episode(stage="nowhere")))
    with pytest.raises(SpecError, match="stage"):
        ids(SpecSource([tmp_path]))


def test_form_and_meaning_are_reported_together() -> None:
    wrong = {"objects": [{"colour": "red", "shape": "cub"}, {"size": "huge", "location": [9, 9]}], "passes": ["depths"]}
    with pytest.raises(SpecError) as caught:
        parse_episode(json.dumps(episode(frames=[wrong])))
    places = {diagnostic.path.removeprefix("frames[0].") for diagnostic in caught.value.diagnostics}
    wanted = {"objects[0].colour", "objects[0].shape", "objects[1].size", "passes[0]"}
    assert places == wanted | {"objects[1].location[0]", "objects[1].location[1]"}


def test_what_follows_from_a_fault_is_no_fault() -> None:
    """A misspelt relation doesn't make the constraint an empty one, a wrong name no dangling one."""
    frame = {"objects": [{"nme": "a"}, {"name": "b"}], "constraints": [{"relation": "left", "subject": "a", "of": "b"}]}
    for wrong in (frame, {"objects": [{"name": "a"}, {"name": "b"}], "constraints": [{"relation": 3, "subject": "a"}]}):
        with pytest.raises(SpecError) as caught:
            parse_episode(json.dumps(episode(frames=[wrong])))
        assert len(caught.value.diagnostics) == 1


def test_a_line_too_long_is_a_fault_and_the_next_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diorama.scene_specs.reading.documents.MAX_EPISODE_BYTES", 1000)
    (tmp_path / "a.jsonl").write_text(json.dumps(episode(task={"x": "y" * 5000})) + "\n" + lines_of(1))
    diagnostics, count = SpecSource([tmp_path]).check()
    assert ([diagnostic.line for diagnostic in diagnostics], count) == ([1], 1)


def test_a_file_with_errors_in_all_lines_is_not_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text("{}\n" * 20_000)
    diagnostics, count = SpecSource([file]).check()
    assert (count, len(diagnostics) < 10_010) == (0, True)
    assert diagnostics[-1].line < 10_000 and "was not read" in diagnostics[-1].problem
    # Fewer are all listed.
    file.write_text("{}\n" * 1000)
    assert SpecSource([file]).check()[0][-1].line == 1000


def test_a_line_of_zeros_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diorama.scene_specs.reading.documents.MAX_EPISODE_BYTES", 100)
    (tmp_path / "zeros.jsonl").write_bytes(b"\0" * 300 + b"\n{}\n")
    (diagnostic,) = SpecSource([tmp_path / "zeros.jsonl"]).check()[0]
    assert "a line of more than" in diagnostic.problem


@pytest.mark.slow
def test_memory_is_flat(tmp_path: Path) -> None:
    """Ten times the episodes, less than the memory of a hundredth of them more."""

    def peak(count: int) -> int:
        file = tmp_path / f"{count}.jsonl"
        with file.open("w") as stream:
            stream.writelines(json.dumps(spec) + "\n" for spec in generate(Options(count=count)).items)
        source = SpecSource([file])
        tracemalloc.start()
        source.check()
        for _ in source:
            pass
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    peak(10)
    few, many = peak(100), peak(2000)
    # 16 bytes of digest in a dictionary cost about 150; a whole episode costs over 10,000.
    assert many - few < 1900 * 300


def test_a_scene_is_told_from_a_spec() -> None:
    with pytest.raises(SpecError) as caught:
        parse_episode(json.dumps({"scene_version": 1, "id": "a"}))
    assert "settings" in {diagnostic.path for diagnostic in caught.value.diagnostics}


def test_a_wrong_field_of_a_pointer_does_not_hide_other_diagnostics() -> None:
    frame = {"objects": [{"name": "a", "shape": "cone"}], "pointer": {"target": "a", "kind": "foot"}}
    with pytest.raises(SpecError) as caught:
        parse_episode(json.dumps(episode(frames=[frame])))
    paths = {diagnostic.path for diagnostic in caught.value.diagnostics}
    assert paths == {"frames[0].pointer.kind", "frames[0].objects[0].shape"}


def test_a_scene_is_read_without_the_renderer() -> None:
    text = compile_episode(parse_episode(json.dumps(episode())), settings_for("draft", 32, 32)).to_json()
    code = (
        "import sys; from diorama.scene_specs.reading.source import parse_episode;"
        "scene = parse_episode(sys.stdin.read());"
        "assert scene.to_json() and scene._repr_html_() is None; print('diorama.render' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_schema_of_an_editor_is_no_part_of_an_episode(tmp_path: Path) -> None:
    plain = episode(frames=[{"objects": [{"shape": "cube"}]}])
    named = {"$schema": "./diorama.schema.json", **plain}
    assert parse_episode(json.dumps(named)).model_dump_json() == parse_episode(json.dumps(plain)).model_dump_json()
    keys = [
        render_key_of(parse_episode(json.dumps(one)), settings_for("draft", 64, 48), "fake") for one in (named, plain)
    ]
    assert keys[0].hash() == keys[1].hash()
    (tmp_path / "list.json").write_text(json.dumps([named, named | {"id": "e/2"}]))
    (tmp_path / "lines.jsonl").write_text(json.dumps(named | {"id": "e/3"}) + "\n")
    source = SpecSource([tmp_path])
    assert source.check() == ([], 3)
    assert len(ids(source)) == 3


def test_a_further_check_sees_what_is_left_of_an_invalid_episode(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps(episode(seeds=3, frames=[{"objects": [{"shape": "shapenet:chairs/#99"}]}]), indent=1))

    def more(spec: EpisodeSpec | Scene) -> list[PathDiagnostic]:
        return [PathDiagnostic(("frames", 0, "objects", 0, "shape"), f"missing {spec.frames[0].objects[0].shape}")]

    diagnostics, _ = SpecSource([file], more=more).check()
    shape, seeds = sorted(diagnostics, key=lambda diagnostic: diagnostic.path)
    assert (seeds.path, shape.path, shape.line) == ("seeds", "frames[0].objects[0].shape", 8)


def test_parts_share_out_the_episodes_of_all_files(tmp_path: Path) -> None:
    spec = {"version": 1, "frames": [{"objects": [{"shape": "cube"}]}]}
    named = [spec | {"id": f"e{number}"} for number in range(11)]
    (tmp_path / "a.jsonl").write_text("\n\n".join(map(json.dumps, named[:5])))
    (tmp_path / "b.json").write_text(json.dumps(named[5:9]))
    (tmp_path / "c.json").write_text(json.dumps(named[9]))
    (tmp_path / "d.jsonl").write_text(json.dumps(named[10]))
    parts = []
    for number in (1, 2, 3):
        source = SpecSource([str(tmp_path)])
        source.part = (number, 3)
        # A file without an episode of the part is not an empty one.
        diagnostics, count = source.check()
        assert not diagnostics
        parts.append([item.episode.id for item in source])
        assert len(parts[-1]) == count
    assert parts == [[f"e{k}" for k in range(first, 11, 3)] for first in range(3)]
    # Each part reports its own diagnostics only; a line of another is not even parsed.
    (tmp_path / "d.jsonl").write_text("{")
    source = SpecSource([str(tmp_path)])
    source.part = (3, 3)
    assert source.check() == ([], 3)
    source.part = (2, 3)
    diagnostics, _ = source.check()
    assert {diagnostic.file for diagnostic in diagnostics} == {str(tmp_path / "d.jsonl")}
