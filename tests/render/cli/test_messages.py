"""Messages say one thing, once, and about the right place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from diorama.render.cli.batch import main as batch
from diorama.render.cli.specs import main as specs
from diorama.render.cli.store import main as stores
from diorama.render.run import doctor
from diorama.render.store.lance.errors import reason

CUBE = {"shape": "cube", "color": [240, 191, 29]}
S3 = (
    "LanceError(IO): Generic S3 error: Error performing list request: Error performing GET http://127.0.0.1:9/bucket?"
    "list-type=2&prefix=x in 362.9ms, after 3 retries - HTTP error: error sending request, /rust/io.rs:1"
)


def write(path: Path, *episodes: Any) -> str:
    path.write_text("".join(json.dumps(one) + "\n" for one in episodes))
    return str(path)


def spec(**changes: Any) -> dict[str, Any]:
    return {"version": 1, "id": "a", "frames": [{"objects": [CUBE | changes]}]}


def check(*files: str) -> str:
    return CliRunner().invoke(specs, ["check", *files]).stderr


@pytest.mark.parametrize(("name", "meant"), [("nothere.json", ""), ("crowed.json", "crowd.json"), ("crowd.jso", "")])
def test_only_similar_files_are_offered(tmp_path: Path, name: str, meant: str) -> None:
    for other in ("16_pointer.json", "crowd.json"):
        write(tmp_path / other, spec())
    said = check(str(tmp_path / name))
    assert "no such file" in said and ("did you mean" in said) == bool(meant) and meant in said


def test_one_error_for_an_absolute_path(tmp_path: Path) -> None:
    said = check(write(tmp_path / "a.json", spec(shape={"mesh": "/abs/x.glb"})))
    assert "1 error\n" in said and said.count("/abs/x.glb") == 1


def test_a_repeated_id_is_where_it_stands(tmp_path: Path) -> None:
    text = json.dumps(spec(), indent=1)
    other = json.dumps({"version": 1, "frames": spec()["frames"], "id": "a"}, indent=1)
    path = tmp_path / "two.json"
    path.write_text(f"[\n{text},\n{other}\n]")
    line = max(number for number, line in enumerate(path.read_text().splitlines(), 1) if '"id"' in line)
    assert f"two.json:{line}: episode a: id:" in check(str(path))


def test_a_size_that_never_fits_names_its_object(tmp_path: Path) -> None:
    episode = spec()
    episode["frames"][0]["objects"] = [CUBE, CUBE | {"size": 9}, CUBE]
    assert "frames[0].objects[1]: no room" in check(write(tmp_path / "a.json", episode))


@pytest.mark.slow
def test_the_words_of_a_stored_episode(tmp_path: Path) -> None:
    store = str(tmp_path / "s.lance")
    given = [write(tmp_path / "a.json", spec()), "--renderer", "fake", "--size", "64x48", "--out", store]
    assert CliRunner().invoke(batch, given).exit_code == 0
    shown = CliRunner().invoke(stores, ["show", store, "a"]).output
    assert "renderer:   fake 1\n" in shown and "name fake" not in shown and "240,191,29" in shown


def test_gpu_is_no_device() -> None:
    said = CliRunner().invoke(batch, ["x.json", "--device", "gpu"]).stderr
    assert "cuda or optix (NVIDIA)" in said


def test_no_words_of_lance() -> None:
    assert reason(OSError(S3)) == "http://127.0.0.1:9 does not answer; check AWS_ENDPOINT and the network"
    assert reason(OSError("LanceError(IO): No such file (os error 2), /rust/io.rs:1")) == "No such file (os error 2)"


def test_what_only_reads_need_not_render(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    found = {one.name: one.ok for one in doctor.examine("cpu", str(tmp_path / "s.lance"))}
    assert found["rendering"] is None and False not in found.values()
    assert not {"ray", "blender", "libraries"} & found.keys()
