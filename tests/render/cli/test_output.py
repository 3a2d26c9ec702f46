"""Atomic output files, and pipes, devices and links, which a rename must not replace."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from diorama.render.cli import output
from diorama.render.cli.command import DioramaCommand, log
from diorama.render.cli.output import progress
from diorama.render.cli.specs import main as specs_main
from diorama.render.uses.rerender.output_files import Files
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.writing import atomic_writer

# Longer than any file system takes: even to ask whether it is there is an error.
LONG = "x" * 300 + ".json"


def test_a_device_stays_one(tmp_path: Path) -> None:
    # A link, so that a diagnostic here costs this folder and not the machine's own /dev/null.
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    with atomic_writer(link) as stream:
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
        reader.join(timeout=240)
    assert got == ["one\ntwo\n", "one\ntwo\n"]
    assert pipe.is_fifo()


def _with_whole_file(out: Path) -> None:
    with atomic_writer(out) as stream:
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
    with pytest.raises(ZeroDivisionError), atomic_writer(out) as stream:
        stream.write("new")
        raise ZeroDivisionError
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("write", [_with_whole_file, _with_files])
def test_a_name_that_the_system_refuses_is_said(tmp_path: Path, write: Callable[[Path], None]) -> None:
    with pytest.raises(UsageError, match=r"x\.json: can't be written: File name too long"):
        write(tmp_path / LONG)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("write", [_with_whole_file, _with_files])
def test_a_folder_that_may_not_be_entered_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None]
) -> None:
    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    # Whoever runs the tests may be root, who enters every folder.
    monkeypatch.setattr(Path, "exists", forbidden)
    with pytest.raises(UsageError, match=r"x\.json: can't be written: Permission denied"):
        write(tmp_path / "x.json")


@pytest.mark.parametrize("write", [_with_whole_file, _with_files])
def test_what_is_no_file_and_can_not_be_opened_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], None]
) -> None:
    # By its plain name: a socket's path is short.
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as there:
        there.bind("s")
        with pytest.raises(UsageError, match="s: can't be written: No such device or address"):
            write(Path("s"))
    assert Path("s").is_socket()


def test_a_link_to_itself_is_said(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(UsageError, match=r"link: can't be written: .*[Ss]ym.*link"):
        _with_whole_file(link)
    assert list(tmp_path.iterdir()) == [link]


def test_a_file_that_may_not_be_replaced_is_said_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As another user's in /tmp, where everybody may write."""
    out = tmp_path / "x.json"
    out.write_text("theirs")

    def forbidden(path: Path, target: object) -> Path:
        raise PermissionError(1, "Operation not permitted", str(path), None, str(target))

    monkeypatch.setattr(Path, "replace", forbidden)
    with pytest.raises(UsageError, match=r"x\.json: can't be written: Operation not permitted"):
        _with_whole_file(out)
    assert out.read_text() == "theirs" and list(tmp_path.iterdir()) == [out]


def test_what_goes_wrong_inside_is_not_called_the_files_fault(tmp_path: Path) -> None:
    for diagnostic in (FileNotFoundError(2, "of another file"), RuntimeError("of another kind")):
        with pytest.raises(type(diagnostic), match="of another"), atomic_writer(tmp_path / "x.json"):
            raise diagnostic


def test_a_command_ends_in_a_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(specs_main, ["schema", "--out", str(tmp_path / LONG)])
    assert done.exit_code == 2
    assert done.stderr.startswith("error: --out ") and "File name too long" in done.stderr


@pytest.mark.parametrize("piped", [True, False])
def test_a_full_disk_is_said_in_a_line(piped: bool) -> None:
    command = [
        sys.executable,
        "-c",
        "from diorama.render.cli.specs import main; main()",
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
            timeout=240,
        )
    assert done.returncode == 2
    assert "can't be written: No space left on device; free some space" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@click.command(cls=DioramaCommand)
def _noisy() -> None:
    log.info("a notice")
    log.debug("a detail")
    log.warning("a warning")
    click.echo(f"bar {next(progress(iter([output._hidden()]), 'item'))}")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([], "a notice\nwarning: a warning\nbar None\n"),
        (["-q"], "warning: a warning\nbar True\n"),
        (["-v"], "a notice\ndebug: a detail\nwarning: a warning\nbar None\n"),
    ],
)
def test_quiet_and_verbose_last_for_one_call(options: list[str], shown: str) -> None:
    assert CliRunner().invoke(_noisy, options).output == shown


def test_in_a_container_a_refused_folder_names_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command(cls=DioramaCommand)
    def main() -> None:
        raise UsageError("/data/x: Permission denied")

    assert "--user" not in CliRunner().invoke(main, []).output
    monkeypatch.setenv("DIORAMA_CONTAINER", "1")
    assert "--user $(id -u):$(id -g)" in CliRunner().invoke(main, []).output


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PermissionError(errno.EACCES, "refused", "folder"), 2),
        (FileNotFoundError(errno.ENOENT, "absent", b"folder"), 2),
        (OSError(errno.ENAMETOOLONG, "too long", "folder"), 2),
        (OSError(errno.ELOOP, "a circle", Path("folder")), 2),
        (OSError(errno.EIO, "the disk is broken", "folder"), 1),
        (PermissionError(errno.EACCES, "refused", 7), 1),
        (FileNotFoundError(errno.ENOENT, "absent"), 1),
    ],
)
def test_only_what_is_wrong_with_a_path_is_called_the_users_fault(error: OSError, code: int) -> None:
    @click.command(cls=DioramaCommand)
    def main() -> None:
        raise error

    done = CliRunner().invoke(main, [])
    assert done.exit_code == code
    assert ("folder: " in done.output) == (code == 2)
    assert (done.exception is error) == (code == 1)
