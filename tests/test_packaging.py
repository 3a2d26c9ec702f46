"""What is built holds what is needed and nothing else; the assets are what their manifest says."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from diorama.assets.build import manifest, shapes
from diorama.render import __version__
from tests import acme, hostile_folder

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel made from that sdist, without a package index."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, env={**os.environ, "PIP_NO_INDEX": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def wheel_names(built: Path) -> list[str]:
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"diorama_render-{__version__}-py3-none-any.whl"
    return zipfile.ZipFile(wheel).namelist()


def tracked(*folders: str) -> list[str]:
    """Files of the source tree that belong to the packages, as git knows them; without git, as they lie there."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--", *folders], capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        # A file removed and not yet committed is still listed.
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    files = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.is_file())
    return [path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts]


@pytest.mark.slow
def test_wheel_has_every_file_of_the_packages(built: Path) -> None:
    folders = tracked("render", "scene_specs", "assets")
    wanted = {*tracked("diorama"), *(f"diorama/{name}" for name in folders if not _is_builder(name))}
    assert not wanted - set(wheel_names(built))


def _is_builder(name: str) -> bool:
    """Whether a file only builds assets, which are in the wheel as they were built."""
    return name.startswith("assets/build/")


def test_wheel_has_nothing_else(built: Path) -> None:
    names = wheel_names(built)
    tops = {name.split("/")[0] for name in names}
    assert tops == {"diorama", f"diorama_render-{__version__}.dist-info"}
    assert not [name for name in names if _is_builder(name.removeprefix("diorama/"))]


@pytest.mark.slow
def test_wheel_from_the_checkout_is_the_one_from_the_sdist(built: Path, tmp_path: Path) -> None:
    """The links in diorama/ are in neither; a build follows the folders that they lead to."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    environment = {**os.environ, "PIP_NO_INDEX": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    (one,), (other,) = built.glob("*.whl"), tmp_path.glob("*.whl")
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        assert sorted(a.namelist()) == sorted(b.namelist())
        assert all(a.read(name) == b.read(name) for name in a.namelist() if not name.endswith("RECORD"))


def test_wheel_has_the_assets_byte_for_byte(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    written = json.loads(manifest.MANIFEST.read_text("utf-8"))["assets"]
    assert any(name.endswith(".npz") for name in written)
    with zipfile.ZipFile(wheel) as archive:
        for name, entry in written.items():
            assert hashlib.sha256(archive.read(f"diorama/assets/{name}")).hexdigest() == entry["sha256"], name


def test_assets_are_found_where_the_wheel_is_installed(built: Path, tmp_path: Path) -> None:
    """Unpacked is installed, for a wheel without compiled parts; run from a folder that knows nothing of the source."""
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = (
        "import diorama; from diorama.render.geometry.meshes import load_mesh;"
        "from diorama.scene_specs.model.stage import load_stage;"
        "load_mesh('cube'); load_stage('clevr'); print(diorama.__file__)"
    )
    # -P keeps the working directory out of the path; PYTHONPATH comes before an editable installation.
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))


def run_installed(site: Path, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run Python code where only an unpacked wheel is found, before any editable installation."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-P", *options, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, cwd=site.parent, env=environment
    )


def test_import_diorama_is_the_public_interface(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    code = "import diorama; print(diorama.__file__, *(getattr(diorama, name) for name in diorama.__all__))"
    done = run_installed(tmp_path / "site", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))


@pytest.mark.slow
def test_commands_run_beside_files_with_the_names_of_our_folders(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    acme.write_installed(site)
    hostile_folder.write_folder(tmp_path / "work")
    environment = {**os.environ, "PYTHONPATH": str(site)}
    commands = (*hostile_folder.COMMANDS[:3], *hostile_folder.ACME)
    assert hostile_folder.run_commands(tmp_path / "work", commands, environment) == []


FORMER = [
    ("import diorama, render", "`render` of Diorama is now `diorama.render`"),
    ("import diorama, importlib; importlib.import_module('scene_specs.model.spec')", "`diorama.scene_specs`"),
    ("import diorama, assets", "`diorama.assets`"),
]


@pytest.mark.parametrize(("code", "expected"), FORMER)
def test_former_names_end_in_a_line_that_says_the_new_one(
    built: Path, tmp_path: Path, code: str, expected: str
) -> None:
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    # Without the site packages, whose editable installation has the folders themselves on the path.
    done = run_installed(tmp_path / "site", code, "-S")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ModuleNotFoundError: ")
    assert expected in done.stderr.splitlines()[-1]


def test_wheel_names_its_commands_and_license(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        info = f"diorama_render-{__version__}.dist-info"
        commands = archive.read(f"{info}/entry_points.txt").decode()
        metadata = archive.read(f"{info}/METADATA").decode()
    found = set(re.findall(r"^([\w-]+) = ", commands, re.MULTILINE))
    assert {"render-batch", "render-specs", "render-export", "render-doctor", "render-episode"} <= found
    assert "\nName: diorama-render\n" in metadata
    assert "License-Expression: MIT" in metadata
    assert "Requires-Python: >=3.11" in metadata


def test_sdist_is_the_whole_source(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    folders = ("diorama", "render", "scene_specs", "assets", "tools", "tests", "docker", "Makefile")
    assert not set(tracked(*folders)) - names
    assert {"pyproject.toml", "README.md", "LICENSE"} <= names
    assert {"requirements.lock", "tools/locks/dev.lock", "tools/locks/cluster.lock"} <= names


def test_the_top_of_the_checkout_is_short() -> None:
    tops = {name.split("/")[0] for name in tracked(".")}
    assert len({name for name in tops if not name.startswith(".")}) <= 20


def test_manifest_agrees_with_the_files() -> None:
    assert manifest.diagnostics() == []


def test_manifest_sees_a_changed_asset(tmp_path: Path) -> None:
    text = manifest.MANIFEST.read_text("utf-8")
    digest = json.loads(text)["assets"]["shapes/cube.npz"]["sha256"]
    other = tmp_path / "manifest.json"
    other.write_text(text.replace(digest, "0" * 64), "utf-8")
    (diagnostic,) = manifest.diagnostics(other)
    assert diagnostic.startswith("assets/shapes/cube.npz: the file is ")


def test_manifest_sees_a_lost_and_a_new_asset(tmp_path: Path) -> None:
    written = json.loads(manifest.MANIFEST.read_text("utf-8"))
    written["assets"]["meshes/torus.npz"] = written["assets"].pop("shapes/cube.npz")
    other = tmp_path / "manifest.json"
    other.write_text(json.dumps(written), "utf-8")
    lost, new = manifest.diagnostics(other)
    assert lost.startswith("assets/meshes/torus.npz: in the manifest but not there")
    assert new.startswith("assets/shapes/cube.npz: there but not in the manifest")


def test_meshes_are_what_their_builder_makes(tmp_path: Path) -> None:
    """Compared unpacked: another build of zlib packs the same mesh into other bytes."""
    made = shapes.build(tmp_path)
    assert len(made) >= 4
    for path in made:
        shipped = manifest.ASSETS / path.relative_to(tmp_path)
        with zipfile.ZipFile(path) as new, zipfile.ZipFile(shipped) as old:
            assert new.namelist() == old.namelist()
            for member in new.namelist():
                assert new.read(member) == old.read(member), f"{path.name}: {member}"


@pytest.mark.parametrize(
    "lock", ["requirements.lock", *(f"tools/locks/{name}.lock" for name in ("reading", "dev", "cluster", "docs"))]
)
def test_lock_is_complete_and_names_no_index(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert "://" not in text
    packages = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(packages) > 30
    for package in packages:
        assert re.match(r"[a-z0-9-]+(\[[a-z0-9,-]+\])?==[\w.]+", package), package
        assert "--hash=sha256:" in package, package


def test_lock_names_extras() -> None:
    """Older versions of pip take `coverage[toml]` for a package that the line `coverage==1` does not pin."""
    text = (ROOT / "tools/locks/dev.lock").read_text("utf-8")
    locked = dict(re.findall(r"^([a-z0-9-]+)(\S*)==", text, re.MULTILINE))
    for distribution in distributions():
        for line in distribution.requires or ():
            needed = Requirement(line)
            name = canonicalize_name(needed.name)
            applies = needed.marker is None or needed.marker.evaluate({"extra": ""})
            if applies and needed.extras and name in locked and canonicalize_name(distribution.name) in locked:
                assert needed.extras <= {*locked[name].strip("[]").split(",")}, f"{distribution.name} needs {line}"


def test_who_only_reads_installs_neither_blender_nor_ray() -> None:
    pins = [
        set(re.findall(r"^([a-z0-9-]+)==", (ROOT / name).read_text("utf-8"), re.MULTILINE))
        for name in ("requirements.lock", "tools/locks/reading.lock")
    ]
    assert {"bpy", "ray"} <= pins[0] - pins[1] and pins[1] < pins[0]


def test_lock_for_tests_is_what_users_run_and_more() -> None:
    pins = [
        set(re.findall(r"^([a-z0-9-]+==\S+)", (ROOT / name).read_text("utf-8"), re.MULTILINE))
        for name in ("requirements.lock", "tools/locks/dev.lock")
    ]
    assert pins[0] < pins[1]


def test_container_has_the_libraries_of_the_setup() -> None:
    setup = (ROOT / "tools/setup.sh").read_text("utf-8")
    dockerfile = (ROOT / "docker/Dockerfile").read_text("utf-8")
    packages = re.findall(r"\blib\w+\.so\.\d+:([\w-]+)", setup)
    assert len(packages) >= 7
    assert not set(packages) - set(dockerfile.split())
