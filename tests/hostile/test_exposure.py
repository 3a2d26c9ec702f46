"""A run on a shared machine: what listens, listens on the loopback address; what it leaves is its owner's alone."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from diorama.render.store import open_store, peek
from tests.hostile.traps import ROOT

NOBODY = 65534


def processes_of(session: int) -> list[int]:
    """Processes of a session, by its leader's id."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(words[3]) == session or descends(int(entry.name), session):
                found.append(int(entry.name))
    return found


def descends(process: int, ancestor: int) -> bool:
    """Whether a process is a descendant; Ray's daemons begin sessions of their own."""
    while process > 1:
        if process == ancestor:
            return True
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return False


def listening(processes: list[int]) -> list[str]:
    """Local addresses, as the kernel writes them, of the TCP sockets on which these processes listen."""
    inodes = set()
    for process in processes:
        try:
            links = [str(path.readlink()) for path in Path(f"/proc/{process}/fd").iterdir()]
        except OSError:
            continue
        inodes |= {link[8:-1] for link in links if link.startswith("socket:[")}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                found.append(words[1].split(":")[0])
    return found


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """A run that is rendering, as (process, its home and temporary folder)."""
    # Short: a socket's path has 107 characters at most.
    home = Path(tmp_path_factory.mktemp("h"))
    spec = [{"version": 1, "id": f"a/{k}", "frames": [{"objects": [{"shape": "cube"}]}]} for k in range(1000)]
    (home / "s.jsonl").write_text("".join(json.dumps(one) + "\n" for one in spec))
    arguments = [str(home / "s.jsonl"), "--renderer", "tests.render.run.renderers:Slow", "--size", "16x16"]
    arguments += ["--workers", "1", "--out", str(home / "o.lance"), "--profile", "draft"]
    code = f"from tests.compatibility.commands import command; command('render-batch')({arguments!r})"
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=log, stderr=log, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(home)},
        )  # fmt: skip
        try:
            # The store is made before Ray starts.
            end = time.monotonic() + 200
            while not (peek(str(home / "o.lance")) and open_store(str(home / "o.lance")).count()):
                assert process.poll() is None and time.monotonic() < end, (home / "log").read_text()
                time.sleep(0.1)
            yield process.pid, home
        finally:
            process.terminate()
            process.wait(240)


@pytest.mark.slow
def test_everything_listens_on_the_loopback_address_only(run: tuple[int, Path]) -> None:
    addresses = listening(processes_of(run[0]))
    assert addresses
    assert set(addresses) <= LOOPBACK


@pytest.mark.slow
def test_modules_in_the_working_directory_are_not_imported(tmp_path: Path) -> None:
    """Specs are rendered in the folder that they came in, which holds files named like libraries."""
    folder = tmp_path / "downloaded"
    folder.mkdir()
    for name in ("trimesh", "pyarrow", "numpy", "bpy", "render", "pycocotools"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write('{name} ')\n")
    (folder / "s.json").write_text(
        json.dumps({"version": 1, "id": "a", "frames": [{"objects": [{"shape": "cube"}]}]}) + "\n"
    )
    script = tmp_path / "script" / "command"
    script.parent.mkdir()
    script.write_text(
        "import sys\nfrom tests.compatibility.commands import command\n"
        "from diorama.render.run.doctor import run_probe\nprint(run_probe('cpu'))\n"
        "command('render-batch')(sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), "s.json", "--renderer", "fake", "--size", "16x16", "--workers", "1"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip
    assert not (tmp_path / "imported").exists(), (tmp_path / "imported").read_text()
    assert done.returncode == 0, done.stderr


def open_files(processes: list[int]) -> list[Path]:
    """Regular files and Unix sockets of these processes that lie in shared temporary folders or the home."""
    found = set()
    for process in processes:
        try:
            environment = Path(f"/proc/{process}/fd")
            found |= {str(path.readlink()) for path in environment.iterdir()}
        except OSError:
            continue
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        words = line.split()
        if len(words) > 7 and "ray" in words[7] and words[7].startswith("/"):
            found.add(words[7])
    return [Path(path) for path in found if path.startswith("/") and Path(path).exists() and "/dev/" not in path[:5]]


def reachable_by_others(path: Path) -> bool:
    """Whether somebody else may come to a path: every folder above it lets others pass."""
    return all(mode_of(folder) & stat.S_IXOTH for folder in path.parents)


def mode_of(path: Path) -> int:
    """Its mode; 0 if it is gone, as what a run keeps for moments is."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return 0


def test_what_it_keeps_open_is_out_of_reach_of_others(run: tuple[int, Path]) -> None:
    leader, home = run
    mine = [
        path for path in open_files(processes_of(leader)) if "ray" in str(path) and "site-packages" not in str(path)
    ]
    assert mine
    exposed = [path for path in mine if reachable_by_others(path) and mode_of(path) & (stat.S_IROTH | stat.S_IWOTH)]
    assert exposed == []
    for path in (home / ".ray").rglob("*") if (home / ".ray").exists() else ():
        assert mode_of(path) & 0o077 == 0, path


@pytest.mark.slow
@pytest.mark.root
def test_another_user_reads_and_writes_nothing_of_it(run: tuple[int, Path]) -> None:
    leader, _ = run
    paths = [str(path) for path in open_files(processes_of(leader)) if "ray" in str(path)]
    paths = [path for path in paths if "site-packages" not in path and not path.startswith(str(run[1]))]
    script = 'for path in "$@"; do if [ -r "$path" ] || [ -w "$path" ]; then echo "$path"; fi; done'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *paths], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True,
        text=True, timeout=240, check=True, cwd="/",
    )  # fmt: skip
    assert paths
    assert done.stdout == ""
