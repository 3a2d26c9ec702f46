"""The set-up says what is missing and leaves alone what it did not make. Nothing is installed here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import slow

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    *("bash", "cat", "cksum", "cut", "dirname", "du", "flock", "grep", "head", "id", "ln", "mkdir", "mktemp", "mv"),
    *("paste", "rm", "rmdir", "sed", "sleep", "tail"),
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the script and a lock that nothing could be installed from."""
    (tmp_path / "tools/locks").mkdir(parents=True)
    (tmp_path / "diorama").mkdir()
    shutil.copy(ROOT / "tools/setup.sh", tmp_path / "tools")
    for name in ("dev", "readers", "moto", "harness"):
        (tmp_path / f"tools/locks/{name}.lock").write_text("nothing==0\n", "utf-8")
    return tmp_path


def run_setup(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name not in ("DIORAMA_VENV", "DIORAMA_CHROMIUM")}
    return subprocess.run(
        ["bash", str(checkout / "tools/setup.sh"), *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**plain, "PYTHON": sys.executable, **environment},
    )


def test_without_python_it_says_which_and_how(checkout: Path) -> None:
    done = run_setup(checkout, PYTHON="/nowhere/python3.11")
    assert done.returncode == 2
    assert "no Python 3.11 or 3.13 found" in done.stderr
    assert re.search(r"python3\.1[13]-venv|pipx install uv", done.stderr)
    assert not (checkout / ".venv").exists()


def test_environment_of_somebody_else_is_left_alone(checkout: Path) -> None:
    theirs = checkout / "mine" / "pyvenv.cfg"
    theirs.parent.mkdir()
    theirs.write_text("home = /usr/bin\n", "utf-8")
    done = run_setup(checkout, DIORAMA_VENV="mine")
    assert done.returncode == 2
    assert "mine is there but was not made by this script" in done.stderr
    assert theirs.read_text("utf-8") == "home = /usr/bin\n"


def test_missing_library_is_named_where_nothing_can_install_it(checkout: Path) -> None:
    script = checkout / "tools/setup.sh"
    text = script.read_text("utf-8")
    assert "libGL.so.1:libgl1" in text
    script.write_text(text.replace("libGL.so.1:libgl1", "libNowhere.so.1:libnowhere1"), "utf-8")
    tools = checkout / "bin"
    tools.mkdir()
    for name in NEEDED:
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    done = run_setup(checkout, PATH=str(tools))
    assert done.returncode == 2
    assert "missing: libNowhere.so.1. Install them" in done.stderr
    assert "libnowhere1" in done.stderr
    assert not (checkout / ".venv").exists()


@pytest.mark.slow
def test_failed_installation_leaves_nothing(checkout: Path) -> None:
    """The lock names a package without a hash, so pip refuses it, whatever index there is."""
    done = run_setup(checkout, PIP_NO_INDEX="1")
    assert done.returncode == 1, done.stderr
    assert "installing the locked packages failed" in done.stderr
    # The links of the packages are part of a checkout.
    assert {path.name for path in checkout.iterdir() if path.suffix != ".lock"} == {"diorama", "tools"}


def test_links_that_git_left_out_are_made(checkout: Path) -> None:
    (checkout / "diorama/render").write_text("../render", "utf-8")
    run_setup(checkout, PYTHON="/nowhere/python3.11")
    for name in ("render", "scene_specs", "assets"):
        assert str((checkout / "diorama" / name).readlink()) == f"../{name}"


@pytest.fixture
def programs(checkout: Path) -> Path:
    """A folder for PATH with what the script needs, without Python, uv and apt-get."""
    folder = checkout / "bin"
    folder.mkdir()
    for name in NEEDED:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return folder


def _stub(programs: Path, name: str, script: str) -> None:
    program = programs / name
    program.unlink(missing_ok=True)
    program.write_text(f"#!{shutil.which('bash')}\n{script}\n", "utf-8")
    program.chmod(0o755)


UV = """
echo "$*" >>"$CALLS"
case "$1 $2" in
  "python install") exit "$FETCHED" ;;
  "python find") echo "$BASE" ;;
  venv*) mkdir -p "${!#}/bin" && ln -s "$BASE" "${!#}/bin/python" ;;
esac
"""


@pytest.mark.parametrize("fetched", ["0", *slow("1")])
def test_uv_brings_python_and_makes_the_environment(checkout: Path, programs: Path, fetched: str) -> None:
    _stub(programs, "uv", UV)
    (checkout / "pyproject.toml").touch()
    (checkout / "render").mkdir()
    (checkout / "render/__init__.py").touch()
    calls, base = checkout / "calls", checkout / "base"
    base.mkdir()
    # uv seeds its environments with pip, which the Python of Debian 13 does not have.
    _stub(base, "python", f'[[ $2 == pip ]] || exec {sys.executable} "$@"')
    environment = {"PATH": str(programs), "CALLS": str(calls), "BASE": str(base / "python"), "FETCHED": fetched}
    done = run_setup(checkout, PYTHON="", **environment)
    assert "fetching Python 3.11 with uv" in done.stderr
    made = [line.split()[:2] for line in calls.read_text("utf-8").splitlines()]
    if fetched == "1":
        assert (done.returncode, made) == (1, [["python", "install"]])
        assert "uv could not fetch Python 3.11" in done.stderr and not (checkout / ".venv").exists()
        return
    assert done.returncode == 0, done.stderr
    assert made == [
        ["python", "install"],
        ["python", "find"],
        ["venv", "--quiet"],
        ["pip", "install"],
        ["pip", "install"],
    ]
    assert "--require-hashes -r tools/locks/dev.lock" in calls.read_text("utf-8")
    assert ".venv is ready" in done.stderr
    # Whole: nothing is done again.
    assert run_setup(checkout, PYTHON="", **environment).returncode == 0
    assert len(calls.read_text("utf-8").splitlines()) == len(made)


def test_without_python_and_uv_the_message_is_a_command(checkout: Path, programs: Path) -> None:
    _stub(programs, "apt-get", "exit 1")
    _stub(programs, "id", "echo 1000")
    _stub(programs, "grep", "exit 1")  # of /etc/os-release: not Debian 12
    done = run_setup(checkout, PYTHON="", PATH=str(programs))
    assert done.returncode == 2
    command = (
        "sudo apt-get update && sudo apt-get install -y pipx && pipx install uv && PATH=~/.local/bin:$PATH make demo"
    )
    assert command in done.stderr


@pytest.mark.parametrize("root", [*slow(True), False])
def test_the_part_that_makes_environments_is_installed_as_root(checkout: Path, programs: Path, root: bool) -> None:
    """As on a bare Debian 12, whose python3 lacks ensurepip."""
    lacking = checkout / "lacking"
    lacking.mkdir()
    (lacking / "ensurepip.py").write_text("raise ImportError", "utf-8")
    _stub(programs, "id", f"echo {0 if root else 1000}")
    _stub(programs, "apt-get", f'echo "$*" >>{checkout}/calls; [[ $1 == update ]] || rm {lacking}/ensurepip.py')
    done = run_setup(checkout, PATH=str(programs), PYTHONPATH=str(lacking), PIP_NO_INDEX="1")
    version = "{}.{}".format(*sys.version_info)
    install = f"apt-get install -y --no-install-recommends python{version}-venv"
    if root:
        assert install.removeprefix("apt-get ") in (checkout / "calls").read_text("utf-8")
        assert "making .venv" in done.stderr
    else:
        assert done.returncode == 2
        assert f"missing: ensurepip. Run:  sudo apt-get update && sudo {install}" in done.stderr
        assert not (checkout / "calls").exists()


def test_readers_need_a_browser_and_npm_that_only_root_may_install(checkout: Path, programs: Path) -> None:
    _stub(programs, "id", "echo 1000")
    _stub(programs, "apt-get", "exit 1")
    done = run_setup(checkout, "readers", PATH=str(programs))
    assert done.returncode == 2
    (command,) = re.findall(r"sudo apt-get install .*", done.stderr)
    assert {"chromium", "npm"} <= {*command.split()}
    assert not (checkout / ".venv-readers").exists()


def test_an_unknown_environment_is_refused(checkout: Path) -> None:
    done = run_setup(checkout, "reader")
    assert done.returncode == 2
    assert "'reader'" in done.stderr and "readers" in done.stderr


@pytest.fixture
def readers(checkout: Path) -> dict[str, str]:
    """A search path with programs that `setup.sh readers` needs, and a uv that can't install the server for S3."""
    script = checkout / "tools/setup.sh"
    fetching = "if [[ -n $readers ]]; then fetch_axe; fi"
    assert fetching in script.read_text("utf-8")
    script.write_text(script.read_text("utf-8").replace(fetching, ""), "utf-8")
    tools = checkout / "bin"
    tools.mkdir()
    venv = f'venv) mkdir -p "${{@: -1}}/bin"; ln -s {sys.executable} "${{@: -1}}/bin/python" ;;'
    uv = f"case $1 in {venv} pip) [[ $* != *moto.lock* ]] ;; esac"
    for name, text in {"uv": uv, "npm": "", "chromium": ""}.items():
        (tools / name).write_text(f"#!/usr/bin/env bash\n{text}\n", "utf-8")
        (tools / name).chmod(0o755)
    return {"PATH": f"{tools}:{os.environ['PATH']}"}


def test_a_server_that_can_not_be_installed_leaves_nothing(checkout: Path, readers: dict[str, str]) -> None:
    done = run_setup(checkout, "readers", into="elsewhere", **readers)
    assert "installing moto failed" in done.stderr
    assert done.returncode == 1
    assert not (checkout / ".venv-readers").exists()


def test_no_variable_is_named_that_readers_ignore(checkout: Path, readers: dict[str, str]) -> None:
    (checkout / ".venv-readers").mkdir()
    (checkout / ".venv-readers" / "theirs").touch()
    done = run_setup(checkout, "readers", **readers)
    assert (done.returncode, "Move it away" in done.stderr, "DIORAMA_VENV" in done.stderr) == (2, True, False)
    assert (checkout / ".venv-readers" / "theirs").exists()


def test_what_is_installed_has_hashes() -> None:
    """Except this checkout, and NVIDIA's libraries, where pip finds only PyTorch's build for CUDA."""
    text = (ROOT / "tools/setup.sh").read_text("utf-8")
    lines = re.findall(r"^ +(?:\S+=\S+ )*install [\"$].+$", text, re.MULTILINE)
    plain = [re.findall(r'install "(.+?)"', line) for line in lines if "--require-hashes" not in line]
    assert len(lines) > 5 and plain == [["what PyTorch needs"], ["Diorama itself"]]
    for block in re.findall(r'^(?:torch_lock|datasets)="(.+?)"$', text, re.MULTILINE | re.DOTALL):
        pinned = re.sub(r"\\\n", " ", block).splitlines()
        assert len(pinned) == 3 and all(" --hash=sha256:" in line for line in pinned)
