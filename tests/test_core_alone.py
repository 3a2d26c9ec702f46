"""Rendering needs the core alone: a copy without any wing makes the same images as the whole house.

Models have been read before the reader is deleted: the core takes them from the cache, and names one that is not there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acme import ROOT, write_installed
from tests.rooms import SEED_ROOMS, core_modules
from tests.test_walls import all_sources

# Plug-ins that no module imports: a package without them has fewer families, and runs.
PLUGINS = "diorama.scene_specs.shapes.invented.families"
VELVET = {
    "version": 1, "id": "core/velvet", "seed": 5, "look": "pinboard", "frames": [{"objects": [
        {"shape": "cube", "color": "red", "material": "velvet"}, {"shape": "sphere", "material": "glass"}]}],
}  # fmt: skip
# Cycles through Ray, as render-batch does; the fake renderer in this process, which takes a second.
SCRIPT = """
import json, sys
from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers import make_renderer
from diorama.render.run.batch import Batch
from diorama.render.run.options import RunOptions
from diorama.render.store import open_store
from diorama.scene_specs.model.profiles import episode_settings
from diorama.scene_specs.reading.source import SpecSource

renderer, store, *files = sys.argv[1:]
source, digests, options = SpecSource(files), {}, {"profile": "draft", "size": (64, 48)}
if renderer == "fake":
    with source:
        for item in source:
            settings = episode_settings(item.episode, options["profile"], options["size"])
            key = render_key_of(item.episode, settings, renderer)
            record = make_record(make_renderer(renderer), item.episode, key, settings)
            digests[record.episode_id] = [record.digest(), record.job.hash()]
else:
    batch = Batch(source, store, RunOptions(renderer=renderer, workers=2, **options))
    with source:
        batch.plan()
        assert not batch.render().failed, batch.summary
    stored = open_store(store)
    for episode_id, _ in stored.ids():
        record = stored.get(episode_id)
        digests[episode_id] = [record.digest(), record.job.hash()]
rooms = ("diorama.render.ingest", "diorama.render.uses", "diorama.render.cli", "diorama.scene_specs.tasks",
         "diorama.scene_specs.benchmarks")
wings = [name for name in sys.modules if name.startswith(rooms)]
print(json.dumps([digests, wings, sys.modules["diorama"].__file__]))
"""

# Fills the cache with the models of spec files.
READ = """
import sys
from diorama.scene_specs.language.model_names import is_model
from diorama.scene_specs.reading.source import SpecSource
from diorama.scene_specs.shapes.shapenet import blend_of, load_model

with SpecSource(sys.argv[1:]) as source:
    frames = [frame for item in source for frame in item.episode.frames]
shapes = {item.shape for frame in frames for item in frame.objects if item.shape and is_model(item.shape)}
print(*[blend_of(load_model(shape)) for shape in sorted(shapes)], sep="\\n")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Has `house`, the core with its data and the assets; `acme`, the package of docs/extending.md; and a spec."""
    folder = tmp_path_factory.mktemp("core")
    core = core_modules(all_sources())
    for path in sorted((ROOT / "diorama").glob("*.py")):
        copy(path, folder / "house")
    for top in ("render", "scene_specs", "assets"):
        for path in sorted((ROOT / top).rglob("*")):
            place = path.relative_to(ROOT).with_suffix("")
            module = f"diorama.{place.as_posix().replace('/', '.')}".removesuffix(".__init__")
            package = f"diorama.{path.parent.relative_to(ROOT).as_posix().replace('/', '.')}"
            plugin = f"{module}.".startswith((f"{PLUGINS}.", "diorama.assets.", "diorama.render.ingest."))
            wanted = module in core or plugin if path.suffix == ".py" else package in core or top == "assets"
            if path.is_file() and wanted and "__pycache__" not in path.parts and "examples" not in path.parts:
                copy(path, folder / "house" / "diorama")
    write_installed(folder / "acme")
    (folder / "velvet.json").write_text(json.dumps(VELVET))
    files = sorted((ROOT / "scene_specs/examples").glob("*.json"))
    blends = subprocess.run(
        [sys.executable, "-c", READ, *files], cwd=folder, capture_output=True, text=True, timeout=100, check=True,
        env=environment(folder, folder / "house", folder / "cache"),
    )  # fmt: skip
    assert len(blends.stdout.split()) > 1
    shutil.rmtree(folder / "house/diorama/render/ingest")
    return folder


def copy(path: Path, house: Path) -> None:
    target = house / path.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)


def environment(folder: Path, house: Path, cache: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{house}:{folder / 'acme'}", "DIORAMA_CACHE": str(cache)}


def digests(folder: Path, house: Path, renderer: str) -> tuple[dict[str, list[str]], list[str], Path]:
    """Episode id -> digests of images and key; the wings that were imported; which diorama it was."""
    files = sorted((ROOT / "scene_specs/examples").glob("*.json"))
    store = folder / f"{house.name}-{renderer}.lance"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, renderer, store, *files, folder / "velvet.json"],
        cwd=folder, capture_output=True, text=True, timeout=900, check=False,
        env=environment(folder, house, folder / "cache"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found, wings, file = json.loads(done.stdout.splitlines()[-1])
    return found, wings, Path(file)


@pytest.mark.slow
@pytest.mark.parametrize("renderer", ["fake", "cycles"])
def test_the_core_alone_renders_the_same(folder: Path, renderer: str) -> None:
    alone, wings, file = digests(folder, folder / "house", renderer)
    assert file == folder / "house/diorama/__init__.py"
    assert wings == []
    whole, _, file = digests(folder, ROOT, renderer)
    assert file == ROOT / "diorama/__init__.py"
    assert {"examples/own-mesh", "examples/blend-material", "examples/look", "core/velvet"} <= alone.keys()
    assert len(alone) > 30
    assert alone == whole


def test_the_copy_has_no_wing(folder: Path) -> None:
    packages = {path.name for path in (folder / "house/diorama/render").iterdir()}
    assert not packages & {"uses", "cli", "ingest"}
    assert SEED_ROOMS[0].rpartition(".")[2] in packages
    assert not (folder / "house/diorama/scene_specs/tasks").exists()
    assert not (folder / "house/diorama/scene_specs/benchmarks").exists()


@pytest.mark.parametrize("missing", ["the reader", "the cached .blend"])
def test_a_model_that_was_not_read_before_is_one_line(folder: Path, missing: str) -> None:
    """The triangles of the packaged models ship with the core, and what Cycles needs of them does not."""
    shape, call = ("model:mug.glb", "load_model(name)")
    if missing == "the cached .blend":
        shape, call = ("shapenet:chair/#1", "blend_of(load_model(name))")
    (folder / "mug.glb").write_bytes(b"")
    code = f"""
import sys
from pathlib import Path
from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.shapes.shapenet import blend_of, load_model
with searching([Path(".")]):
    try:
        name = {shape!r}
        {call}
    except DioramaError as error:
        print(error)
        sys.exit(error.exit_code)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60, check=False,
        env=environment(folder, folder / "house", folder / "empty"),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "")
    (line,) = done.stdout.splitlines()
    expected = "was not read before, and the package diorama.render.ingest, which reads models, is not installed"
    assert line.startswith("model ") and line.endswith(expected)
