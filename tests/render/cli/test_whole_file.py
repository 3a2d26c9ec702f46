"""Files that take their names once they are whole, and what must not be renamed over."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from render.cli.common import whole_file
from render.rerender import Files


def test_a_device_stays_one(tmp_path: Path) -> None:
    # A link, so that a fault here costs this folder and not the machine's own /dev/null.
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    with whole_file(link) as stream:
        stream.write("gone")
    Files(None).save(link, lambda part: part.write_text("gone"))
    assert link.is_symlink() and Path("/dev/null").is_char_device()
    assert list(tmp_path.iterdir()) == [link]


def test_a_pipe_gets_what_is_written(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    for write in (_with_whole_file, _with_files):
        reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
        reader.start()
        write(pipe)
        reader.join(timeout=20)
    assert got == ["one\ntwo\n", "one\ntwo\n"]
    assert pipe.is_fifo()


def _with_whole_file(out: Path) -> None:
    with whole_file(out) as stream:
        stream.write("one\ntwo\n")


def _with_files(out: Path) -> None:
    Files(None).save(out, lambda part: part.write_text("one\ntwo\n"))


def test_of_a_link_the_file_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to("run-3.jsonl")
    _with_whole_file(tmp_path / "latest")
    assert (tmp_path / "latest").is_symlink()
    assert (tmp_path / "run-3.jsonl").read_text() == "one\ntwo\n"


def test_what_fails_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "specs.jsonl"
    out.write_text("old")
    with pytest.raises(ZeroDivisionError), whole_file(out) as stream:
        stream.write("new")
        raise ZeroDivisionError
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")
@pytest.mark.parametrize("piped", [True, False])
def test_a_full_disk_is_said_in_a_line(piped: bool) -> None:
    command = [
        sys.executable,
        "-c",
        "from render.cli.specs import main; main()",
        "mewl",
        "--task",
        "shape",
        "--split",
        "test",
        "--count",
        "3",
    ]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*command, *([] if piped else ["--out", "/dev/full"])],
            stdout=full if piped else subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2
    assert "can't be written: No space left on device; make room" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
