"""Text of a stranger's store on a terminal: nothing that a terminal would obey is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hostile.traps import changed, make_store, run_bounded
from tests.render.store.rendered import rendered

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store whose ids, splits, tasks, utterances and names hold terminal escapes."""
    record = rendered("demo/a")
    scene = record.scene
    frames = tuple(
        frame.model_copy(update={"utterance": f"word{ESCAPE}", "name": f"f{ESCAPE}{number}"})
        for number, frame in enumerate(scene.frames)
    )
    task = {"benchmark": f"demo{ESCAPE}", "name": f"color{ESCAPE}", "options": [ESCAPE], "answer": ESCAPE}
    hostile = changed(
        record,
        episode_id=f"demo/{ESCAPE}",
        scene=scene.model_copy(
            update={"id": f"demo/{ESCAPE}", "split": f"val{ESCAPE}", "frames": frames, "task": task, "stage": "clevr"}
        ),
        job=record.job.model_copy(update={"spec": {**record.job.spec, "id": f"demo/{ESCAPE}", "task": task}}),
        provenance=record.provenance.model_copy(update={"device": f"CPU{ESCAPE}", "cpu": ESCAPE}),
        images=[image.model_copy(update={"name": f"f{ESCAPE}{number}"}) for number, image in enumerate(record.images)],
    )
    # Ids and names are checked when a record is read; the rest of a hostile store is free text.
    free = rendered("demo/free")
    utterances = tuple(frame.model_copy(update={"utterance": f"word{ESCAPE}"}) for frame in free.scene.frames)
    free = changed(
        free,
        scene=free.scene.model_copy(update={"frames": utterances, "task": task}),
        provenance=free.provenance.model_copy(update={"device": f"CPU{ESCAPE}", "cpu": ESCAPE}),
    )
    return make_store(tmp_path_factory.mktemp("escapes"), [rendered("demo/fine"), hostile, free])


@pytest.mark.alike
@pytest.mark.parametrize(
    "arguments",
    [
        ("render-store", "ls", "STORE"),
        ("render-store", "ls", "STORE", "--sort", "smallest-box"),
        ("render-store", "show", "STORE", f"demo/{ESCAPE}"),
        ("render-store", "show", "STORE", "demo/free"),
        ("render-store", "verify", "STORE"),
        ("render-store", "stats", "STORE"),
        ("render-store", "history", "STORE"),
        ("render-store", "history", "STORE", f"demo/{ESCAPE}"),
        ("render-store", "diff", "STORE", "STORE"),
        ("render-store", "delete", "STORE", f"demo/{ESCAPE}x"),
        ("render-store", "ls", f"STORE{ESCAPE}"),
        ("render-export", "STORE", "--format", "folder", "--out", "OUT"),
        ("render-export", "STORE", "--format", "coco", "--out", "OUT"),
        ("render-gallery", "STORE", "--out", "OUT"),
        ("render-episode", "STORE", f"demo/{ESCAPE}", "--sheet", "OUT"),
        ("render-specs", "check", "--prove", "--store", "STORE"),
    ],
    ids=lambda arguments: "-".join(arguments[:3]).replace(ESCAPE, "ESC"),
)
def test_a_command_prints_no_terminal_escapes(store: str, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    words = [word.replace("STORE", store).replace("OUT", str(tmp_path / "out")) for word in arguments]
    done = run_bounded(*words)
    assert "Traceback" not in done.err, done.err
    for text in (done.out, done.err):
        assert [character for character in text if not character.isprintable() and character not in "\n\t"] == [], text


@pytest.mark.slow
def test_json_stays_json_and_keeps_every_character(store: str) -> None:
    """C1 control characters and U+202E are raw in the JSON that Python writes without `ensure_ascii`."""
    listed = run_bounded("render-store", "ls", store, "--json").out
    assert f"demo/{ESCAPE}" in [json.loads(line)["episode_id"] for line in listed.splitlines()]
    shown = run_bounded("render-store", "verify", store, "--json").out
    assert f"demo/{ESCAPE}" in [item["episode"] for item in json.loads(shown)["damaged"]]
    free = run_bounded("render-store", "show", store, "demo/free", "--json").out
    assert json.loads(free)["task"]["answer"] == ESCAPE
    for text in (listed, shown, free):
        assert text.replace("\n", "").isprintable()
