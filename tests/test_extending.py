"""The package of docs/extending.md, built and installed beside Diorama's own wheel, does what the page says.

Nothing of the source tree is on the path: words, commands and the Python interface come from installed files only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acme import ROOT, blocks, files, write_package
from tests.distributions import write_distribution


class Site:
    """An environment with Diorama and the package, and a working folder. run: a command in it, with its output."""

    def __init__(self, folder: Path) -> None:
        self.packages = folder / "site"
        self.work = folder / "work"
        self.work.mkdir()

    def run(self, *command: str, code: int = 0, packages: Path | None = None) -> str:
        folder = packages or self.packages
        environment = {**os.environ, "PYTHONPATH": str(folder), "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        done = subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def changed(self, name: str) -> Path:
        """A copy of the installed packages."""
        copy = self.packages.with_name(name)
        shutil.copytree(self.packages, copy)
        return copy


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("extending")
    package = folder / "acme-diorama"
    write_package(package)
    pip = [sys.executable, "-m", "pip", "-q"]
    for source in (ROOT, package):
        build = [*pip, "wheel", "--no-index", "--no-deps", "--no-build-isolation", "-w", str(folder), str(source)]
        done = subprocess.run(build, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr
    wheels = sorted(map(str, folder.glob("*.whl")))
    target = ["install", "--no-index", "--no-deps", "--target", str(folder / "site"), *wheels]
    subprocess.run([*pip, *target], check=True, timeout=240)
    return Site(folder)


@pytest.fixture(scope="module")
def rendered(site: Site) -> Site:
    """The site after the commands of the page."""
    lines = [line.split() for line in blocks("console")[0].splitlines()]
    assert [line[:2] for line in lines[:2]] == [["python", "make_shapes.py"], ["pip", "install"]]
    for line in lines[2:]:
        site.run(*line)
    return site


def test_every_example_has_ten_to_forty_lines() -> None:
    sizes = {name: sum(bool(line.strip()) for line in text.splitlines()) for name, text in files().items()}
    assert {name: size for name, size in sizes.items() if not 10 <= size <= 40} == {}


@pytest.mark.slow
def test_the_commands_of_the_page_render_and_export(rendered: Site) -> None:
    specs = [json.loads(line) for line in (rendered.work / "specs.jsonl").read_text().splitlines()]
    assert [spec["id"] for spec in specs] == [f"acme/{number:06d}" for number in range(3)]
    for spec in specs:
        assert (rendered.work / f"pictures/{spec['id']}.txt").read_text() == f"{spec['task']['answer']}\n"
        assert (rendered.work / f"pictures/{spec['id']}.png").read_bytes().startswith(b"\x89PNG")
    assert "skipped 3" in rendered.run("render-export", "acme.lance", "--format", "acme", "--out", "pictures")


@pytest.mark.slow
def test_the_package_is_in_help_and_lists(site: Site) -> None:
    assert re.search(r"^  acme +Generate counting questions, one per line\.$", site.run("render-specs", "--help"), re.M)
    assert "--most N" in site.run("render-specs", "acme", "--help")
    assert re.search("^acme +the image of each episode", site.run("render-export", "--list-formats"), re.M)


@pytest.mark.slow
def test_a_wrong_answer_and_a_wrong_option_are_refused(rendered: Site) -> None:
    specs = (rendered.work / "specs.jsonl").read_text()
    (rendered.work / "wrong.jsonl").write_text(re.sub(r'"answer":\d', '"answer":9', specs))
    assert "the answer is 9, but" in rendered.run("render-specs", "check", "--prove", "wrong.jsonl", code=2)
    rendered.run("render-specs", "acme", "--count", "1", "--most", "7", code=2)
    spec = json.loads(specs.splitlines()[0])
    spec["frames"][0]["objects"][0]["material"] = {"name": "velvet", "fuzz": 2}
    (rendered.work / "fuzz.json").write_text(json.dumps(spec))
    assert "objects[0].material.fuzz" in rendered.run("render-specs", "check", "fuzz.json", code=2)


@pytest.mark.slow
def test_python_does_the_same(rendered: Site) -> None:
    code = blocks("python")[0] + "print(summary.rendered, report.exported)\n"
    assert rendered.run(sys.executable, "-P", "-c", code) == "3 3\n"


@pytest.mark.slow
def test_a_frame_may_request_the_pass(rendered: Site) -> None:
    code = """
import diorama
spec = {"version": 1, "id": "a", "frames": [{"objects": [{"shape": "octahedron"}], "passes": ["inverse-depth"]}]}
scene = diorama.compile_spec(spec, "draft", (64, 48))
for renderer in (diorama.FakeRenderer(), None):
    passes = diorama.render_scene(scene, renderer=renderer)[0].passes
    print(abs(passes.get("inverse-depth") - 1 / passes.depth).max() < 1e-6)
"""
    printed = rendered.run(sys.executable, "-P", "-c", code)
    # Blender adds a line of its own where it finds no table of mounted file systems.
    assert printed.startswith("True\nTrue\n")


@pytest.mark.slow
def test_a_changed_line_of_the_material_is_another_identity(rendered: Site) -> None:
    packages = rendered.changed("changed")
    velvet = packages / "acme/materials/velvet.py"
    text = velvet.read_text()
    velvet.write_text(text.replace("Roughness=0.3", "Roughness=0.4"))
    assert velvet.read_text() != text
    batch = ["render-batch", "specs.jsonl", "--profile", "draft", "--size", "96x72", "--out", "acme.lance"]
    assert "skipped 3" in rendered.run(*batch)
    assert "plugin:material:velvet" in rendered.run(*batch, code=2, packages=packages)


@pytest.mark.slow
def test_a_second_package_with_the_name_is_an_error_that_names_both(rendered: Site) -> None:
    packages = rendered.changed("twice")
    write_distribution(packages, "zeta-cloth", {"materials": "velvet = zeta_cloth"}, {"zeta_cloth.py": ""})
    said = rendered.run("render-specs", "check", "specs.jsonl", code=2, packages=packages)
    assert all(word in said for word in ("'velvet'", "acme-diorama 0.1.0", "zeta-cloth 0.1.0"))
