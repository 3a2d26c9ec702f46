"""Write golden files and archives for the compatibility tests.

    python -m tools compatibility golden | archive

golden: identities of examples and benchmarks, and field names, in tests/compatibility/golden. Written once, by the
version whose identities later versions must keep. archive: specs, the store rendered from them, exports, a gallery and
an ICCA transcript of this version as one file. Each version may add an archive.
"""

from __future__ import annotations

import json
import shutil
from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import diorama
from diorama.scene_specs.language.registry import plugins
from tests.compatibility import contents
from tests.compatibility.commands import ROOT, run, run_json
from tests.compatibility.fields import ROOTS, field_names
from tests.compatibility.identities import EXAMPLES, GOLDEN, example_entry, generated, golden_line, plan

# Chosen for what they use: pointer, glass, models, flat shapes, places, passes, views, random objects, outlines, ...
STORED_EXAMPLES = (
    "colored-lights", "flat", "models", "passes", "pointing", "prisms", "quadrants", "random-objects",
    "shapes-and-materials", "stack", "studio-views", "tangram", "views", "word-learning",
)  # fmt: skip
# The episode that the store lacks; the test renders it.
ONE_MORE = "rotations"
REPLACED = "examples/stack"
TAG = "before-the-change"
# The first episode of what each command generates.
GENERATORS = (
    ("clevr", "--count", "1", "--objects", "3-4", "--seed", "1"),
    ("mewl", "--task", "shape", "--split", "train", "--count", "1", "--seed", "1"),
    ("mewl", "--task", "relation", "--split", "test", "--count", "1", "--seed", "1"),
    ("iwisdm", "--benchmark", "low", "--count", "1", "--seed", "1"),
    ("iwisdm", "--task", "dms", "--count", "1", "--split", "val", "--seed", "1"),
    ("malevic", "--set", "pos", "--split", "train", "--count", "1", "--seed", "1"),
    ("malevic", "--set", "set-pos", "--world", "3d", "--split", "test", "--count", "1", "--seed", "1"),
    ("kilogram", "--split", "dev", "--condition", "part+color", "--size", "64", "--contexts", "1"),
    ("kilogram", "--pictures", "--condition", "aug", "--size", "64"),
    ("icca", "--contexts", "1", "--difficulty", "easy", "--source", "clevr", "--seed", "1"),
    ("icca", "--contexts", "1", "--difficulty", "hard", "--source", "tangram", "--seed", "1"),
)
RENDERED_AGAIN = ("examples/pointing", "examples/shapes-and-materials", "examples/tangram", "icca/clevr/easy/000000")
# The least that Cycles renders with its denoiser; every format takes it.
RENDERING = ("--size", "64x48", "--profile", "draft", "--device", "cpu")
# clevr-masks reads scene files of the published size only.
PUBLISHED = ("--size", "480x320", "--profile", "draft", "--device", "cpu")
SCENES = "scenes/CLEVR_train_scenes.json"
PLAYERS = ("--speaker", "scripted", "--listener", "learner", "--variant", "L3", "--seed", "1")


def write_json(path: Path, data: Any) -> None:
    """Write JSON with one value per line."""
    path.write_text(json.dumps(data, indent=1) + "\n")


def make_golden(out: Path) -> None:
    """Write all golden data except the plan, which is written by hand."""
    write_json(out / "fields.json", field_names(ROOTS))
    write_json(out / "examples.json", {file.stem: example_entry(file) for file in EXAMPLES})
    for benchmark, made in plan().items():
        with TemporaryDirectory() as folder:
            lines = [
                golden_line(number, episode, made["compile_every"])
                for number, episode in enumerate(generated(benchmark, Path(folder)))
            ]
        (out / f"{benchmark}.txt").write_text("\n".join(lines) + "\n")
        print(f"{benchmark}: {len(lines)} episodes")


def make_archive(out: Path) -> None:
    """Write an archive of the output of this version. Takes about a minute."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / "archive"
        about = _about()
        _write_specs(root)
        _render_store(root)
        _write_scene_file(root, Path(folder))
        write_json(root / contents.ABOUT, about)
        write_json(root / contents.DIGESTS, _digests(root))
        for name, arguments in contents.export_arguments(about, root):
            run("render-export", *arguments, "--out", root / contents.EXPORTS / name)
        _build_gallery(root, Path(folder))
        _play(root)
        # The status file of the last run has absolute paths.
        (root / f".{contents.STORE}.status.json").unlink()
        contents.pack(root, out)
    print(f"{out}: {out.stat().st_size} bytes")


def _about() -> dict[str, Any]:
    return {
        "version": diorama.__version__,
        "rendering": RENDERING,
        "tag": TAG,
        "replaced": REPLACED,
        "rendered_again": RENDERED_AGAIN,
        "players": PLAYERS,
        "exports": {name: _export_options(name) for name in plugins("exports")},
    }


def _export_options(name: str) -> dict[str, Any]:
    """Return the source and options of an export. A benchmark's format rejects episodes of others."""
    if name == "clevr-masks":
        return {"source": SCENES, "options": []}
    benchmark = name.removesuffix("-stimuli")
    only = ["--where", f"benchmark = '{benchmark}'"] if benchmark in plan() else []
    return {"source": contents.STORE, "options": only}


def _example(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((ROOT / f"scene_specs/examples/{name}.json").read_text())
    return data


def _generated(arguments: tuple[str, ...]) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "specs.jsonl"
        run("render-specs", *arguments, "--out", file)
        data: dict[str, Any] = json.loads(file.read_text().splitlines()[0])
        return data


def _write_specs(root: Path) -> None:
    episodes = [*map(_example, STORED_EXAMPLES), *map(_generated, GENERATORS)]
    before = next(episode for episode in episodes if episode["id"] == REPLACED)
    after = [{**spec, "seed": spec["seed"] + 1} if spec is before else spec for spec in episodes]
    (root / contents.SPECS).parent.mkdir(parents=True)
    for name, listed in (
        (contents.SPECS, after),
        (contents.SPECS_BEFORE, [before]),
        (contents.SPECS_MORE, [_example(ONE_MORE)]),
    ):
        (root / name).write_text("".join(json.dumps(spec) + "\n" for spec in listed))


def _render_store(root: Path) -> None:
    """Render and tag the episode that is replaced later, then all others and its new spec."""
    out = ("--out", root / contents.STORE, *RENDERING)
    run("render-batch", root / contents.SPECS_BEFORE, *out)
    run("render-store", "tag", root / contents.STORE, TAG)
    run("render-batch", root / contents.SPECS, *out, "--replace")


def _write_scene_file(root: Path, work: Path) -> None:
    spec = work / "clevr.jsonl"
    spec.write_text(json.dumps(_generated(GENERATORS[0])) + "\n")
    run("render-batch", spec, "--out", work / "clevr.lance", *PUBLISHED)
    run("render-export", work / "clevr.lance", "--format", "clevr", "--out", work / "clevr")
    (root / SCENES).parent.mkdir()
    shutil.copy(work / "clevr" / SCENES, root / SCENES)


def _digests(root: Path) -> dict[str, Any]:
    store = str(root / contents.STORE)
    listed = [json.loads(line)["episode_id"] for line in run("render-store", "ls", store, "--json").splitlines()]
    opened = diorama.open_store(store)
    before = run_json("render-store", "show", store, REPLACED, "--at", TAG)["truth"]
    return {
        "episodes": {name: contents.truth_digests(opened.get(name).truth) for name in listed},
        "before": contents.truth_digests(before),
    }


def _build_gallery(root: Path, work: Path) -> None:
    run("render-gallery", root / contents.STORE, "--out", work / contents.GALLERY, "--workers", "1")
    for name, content in contents.gallery_files(work / contents.GALLERY, root / contents.STORE).items():
        path = root / contents.GALLERY / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _play(root: Path) -> None:
    run("render-specs", "icca", "games", root / contents.STORE, "--count", "2", "--out", root / contents.GAMES)
    run("render-specs", "icca", "play", root / contents.GAMES, *PLAYERS, "--out", root / contents.PLAYED)
    run("render-specs", "icca", "score", root / contents.PLAYED, "--json", "--out", root / contents.SCORE)


def add_options(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True)
    golden = commands.add_parser("golden", help="write the golden identities of this version")
    golden.add_argument("--out", type=Path, default=GOLDEN, help="folder [default: tests/compatibility/golden]")
    golden.set_defaults(make=make_golden)
    archive = commands.add_parser("archive", help="render, export and pack an archive of this version")
    file = GOLDEN.parent / f"v{diorama.__version__}.tar.xz"
    archive.add_argument("--out", type=Path, default=file, help="file [default: tests/compatibility/v<version>.tar.xz]")
    archive.set_defaults(make=make_archive)


def main(options: Namespace) -> None:
    """Write the golden files or an archive."""
    options.make(options.out)
