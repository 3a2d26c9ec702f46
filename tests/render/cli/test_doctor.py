"""render-doctor: a line a check, and what to do where one fails."""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from diorama.render.cli.doctor import main
from diorama.render.run import doctor
from tests.distributions import installed, write_distribution


@pytest.mark.slow
def test_this_machine_is_well(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["--device", "cpu", "--store", str(tmp_path / "s.lance"), "--json"])
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert done.exit_code == 0, done.stdout
    quick = {"python", "packages", "libraries", "assets", "plug-ins", "disk"}
    assert set(checks) == quick | {"memory", "cores", "blender", "devices", "render", "ray", "store"}
    assert "CPU" in checks["render"]["found"]


def test_a_device_that_is_not_there_fails_with_what_to_do() -> None:
    (check,) = doctor.check_blender("optix")
    assert check.ok is False and "--device optix" in check.found


def test_missing_libraries_give_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ctypes.CDLL

    def load(name: Any, *rest: Any) -> Any:
        if name == "libSM.so.6":
            raise OSError(name)
        return real(name, *rest)

    monkeypatch.setattr(ctypes, "CDLL", load)
    check = doctor.check_libraries()
    assert check.ok is False and check.todo == "sudo apt-get install libsm6"


def test_another_distribution_in_our_packages_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "intruder-1.0.dist-info"
    info.mkdir()
    # Python 3.13 leaves out files that are not there.
    (tmp_path / "diorama" / "store").mkdir(parents=True)
    (tmp_path / "diorama" / "store" / "rows.py").touch()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: intruder\nVersion: 1.0\n")
    (info / "RECORD").write_text("diorama/store/rows.py,,\nintruder-1.0.dist-info/METADATA,,\n")
    assert doctor.check_foreign_files().ok
    monkeypatch.syspath_prepend(str(tmp_path))
    check = doctor.check_foreign_files()
    assert check.ok is False and "intruder" in check.found and "pip uninstall intruder" in check.todo


def test_a_blender_that_crashes_or_hangs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "within 0 s" in doctor.run_probe("cpu", limit=0.05)["error"]
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert "code 1" in doctor.run_probe("cpu")["error"]


def test_a_store_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "file.lance").write_text("not a store")
    check = doctor.check_store(str(tmp_path / "file.lance"))
    assert check.ok is False


def test_a_folder_that_cannot_be_written_is_told() -> None:
    check = doctor.check_disk("/proc/s.lance")
    assert check.ok is False and "/proc" in check.found


def test_plug_ins_of_packages_are_listed_and_two_of_a_name_fail(tmp_path: Path) -> None:
    write_distribution(tmp_path, "lab", {"materials": "velvet = lab:velvet"}, {})
    with installed(tmp_path):
        check = doctor.check_plugins()
        assert check.ok and check.found.endswith(" of Diorama, material velvet (lab 0.1.0)")
    write_distribution(tmp_path, "other", {"materials": "velvet = other:velvet"}, {})
    with installed(tmp_path):
        check = doctor.check_plugins()
        assert check.ok is False and "lab 0.1.0 and by other 0.1.0" in check.found


@pytest.mark.parametrize(("kernels", "name"), [("no kernels for GPUs of 9.0", "kernels"), ("", "blender")])
def test_a_gpu_that_still_compiles_gets_the_remedy(kernels: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def probe(device: str, limit: float = 0.0, size: int = 8) -> dict[str, Any]:
        return {"error": "Blender did not answer", "slow": True} if size else {"found": {}, "kernels": kernels}

    monkeypatch.setattr(doctor, "run_probe", probe)
    (check,) = doctor.check_blender("cuda")
    assert (check.name, check.ok, "--warm" in check.todo) == (name, False, bool(kernels))


def test_each_gpu_is_warmed_and_a_bad_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def probe(device: str, limit: float = 0.0, size: int = 8, card: str = "") -> dict[str, Any]:
        if not size:
            return {"found": {"OPTIX": [], "CUDA": ["A", "A"]}}
        if card == "5":
            return {"error": "the GPU failed: Launch failed"}
        return {"device": "CUDA A", "first_s": 300.0, "second_s": 0.1, "kernels": ""}

    monkeypatch.setattr(doctor, "run_probe", probe)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    checks = {check.name: check for check in doctor.warm("auto")}
    assert {name: check.ok for name, check in checks.items()} == {"GPU 3": True, "GPU 5": False, "warm": False}
    assert "300.0 s" in checks["GPU 3"].found and "Launch failed" in checks["GPU 5"].found
