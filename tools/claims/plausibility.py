"""Measure the check for wrong images: false alarms, and faults found.

    python -m tools plausibility [SPECS ...] [--scenes 500] [--width 160]
    python -m tools plausibility --models 250 --cameras 60 --tangrams --checkouts bullet3 kilogram ... --scenes 0

Renders images on the CPU with the profile `draft`, 4:3: SPECS (default: the examples), random scenes, models and
drawings of checkouts (clones, also bare ones) drawn by seed, and cameras around and below scenes drawn by seed. Each
image counts as a GPU's: one that is doubted is rendered again at a quarter of its size, as `render-batch` does with one
GPU. Then each image is changed as a failing GPU could have changed it.

Prints for each kind how many honest images were doubted, and how many lost; for each fault how many images showed it,
how many were doubted or refused, and in how many it was proven. Exit code 1: an honest image was lost, or a doubted
fault was taken for honest.
"""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from itertools import chain, islice, repeat
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from diorama.render.annotations.annotate import object_layers
from diorama.render.compiler import compile_episode
from diorama.render.episode.plausibility import (
    MIN_PIXELS,
    MOST_DIFFERENT,
    Colors,
    Ids,
    check_color,
    check_ids,
    difference,
    first_problem,
    shrunk,
)
from diorama.render.geometry.display import with_fixation
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.benchmarks.kilogram import Options
from diorama.scene_specs.benchmarks.kilogram.annotations import Annotation
from diorama.scene_specs.benchmarks.kilogram.dataset import Dataset, read_drawings
from diorama.scene_specs.benchmarks.kilogram.emit import objects_of
from diorama.scene_specs.benchmarks.kilogram.examples import Example
from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES
from diorama.scene_specs.errors import DioramaError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import scene_stage
from diorama.scene_specs.reading.source import SpecSource
from tools.claims.check_truth import episode
from tools.programs import ROOT, git, positive

EXAMPLES = ROOT / "scene_specs" / "examples"
# What a model's file may need beside it.
BESIDE = (".mtl", ".png", ".jpg", ".jpeg", ".tga", ".bmp", ".gif")
MOST_BESIDE = 60
STAGES = ("clevr", "table", "studio")
MATERIALS = ("rubber", "metal", "glass")


# Print a line at once.
say = partial(print, flush=True)


def faults(color: Colors, ids: Ids, rng: np.random.Generator) -> Iterator[tuple[str, Colors, Ids]]:
    """Yield what a failing GPU could return in place of a color and an id pass: zeros, ones or noise in one of them."""
    for name, byte in (("zero", 0), ("0xff", 255)):
        yield f"color {name}", np.full_like(color, byte), ids
        yield f"ids {name}", color, np.full_like(ids, byte << 8 | byte)
    yield "color random", rng.integers(0, 256, color.shape).astype(np.uint8), ids
    yield "ids random", color, rng.integers(0, int(ids.max()) + 1, ids.shape).astype(ids.dtype)


def unpack(checkout: Path, paths: list[str], target: Path) -> None:
    """Write files of a checkout's commit into a folder; none if git has not all of them."""
    line = ["git", "-C", str(checkout), "archive", "--format=tar", "HEAD", "--", *paths]
    done = subprocess.run(line, check=False, capture_output=True, timeout=600)
    if done.returncode == 0:
        with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
            archive.extractall(target, filter="data")


def models(
    checkouts: list[Path], count: int, folder: Path, rng: np.random.Generator
) -> Iterator[tuple[str, EpisodeSpec]]:
    """Yield specs of models drawn from the checkouts in turn; the files that they need are in `folder`."""
    trees = {path: git(path, "ls-tree", "-r", "-l", "HEAD").splitlines() for path in checkouts}
    # A partial clone has not all files.
    listed = {path: [line.split("\t")[1] for line in tree if " BAD\t" not in line] for path, tree in trees.items()}
    drawn = {
        path: rng.permutation(sorted(name for name in names if name.lower().endswith((".glb", ".obj")))).tolist()
        for path, names in listed.items()
    }
    turns = chain.from_iterable(repeat(checkouts, max(map(len, drawn.values()), default=0)))
    for checkout in islice((path for path in turns if drawn[path]), count):
        name = drawn[checkout].pop()
        label = next(part for part in reversed(checkout.absolute().parts) if part not in (".git", "repo"))
        above = str(PurePosixPath(name).parent)
        beside = [one for one in listed[checkout] if one.lower().endswith(BESIDE) and one.startswith(f"{above}/")]
        unpack(checkout, [name, *beside[:MOST_BESIDE]], folder / label)
        camera = {"yaw_deg": float(rng.integers(360)), "elevation_deg": float(rng.integers(-30, 80))}
        frame = {"objects": [{"shape": {"mesh": f"{label}/{name}"}, "material": "original"}], "camera": camera}
        data = {"version": 1, "id": f"{label}/{name}", "stage": "studio", "frames": [frame]}
        try:
            yield f"models of {label}", EpisodeSpec.model_validate(data)
        except ValueError as error:
            say(f"left out: {label}/{name}: {str(error).splitlines()[0]}")


def tangrams(checkout: Path, folder: Path) -> Iterator[tuple[str, EpisodeSpec]]:
    """Yield every published drawing of KiloGram twice, in black and with a color for each piece."""
    unpack(checkout, ["dataset/tangrams-svg"], folder)
    figures, *_ = read_drawings(folder / "dataset" / "tangrams-svg")
    dataset, parts = Dataset(figures, {}, {}, ()), tuple((f"part {piece}", (piece,)) for piece in PIECES)
    options = Options.model_validate({"published_border": True})
    for name in sorted(figures):
        example = Example(Annotation(name, 0, name, tuple(part for part, _ in parts)), parts, tuple(range(len(parts))))
        frames = [
            {"antialias": True, "objects": objects_of(dataset, example, condition, options)}
            for condition in ("whole+black", "part+color")
        ]
        data = {"version": 1, "id": name, "stage": "tangram", "canvas": [options.size] * 2, "frames": frames}
        yield "tangrams", EpisodeSpec.model_validate(data)


def cameras(count: int, rng: np.random.Generator) -> Iterator[tuple[str, EpisodeSpec]]:
    """Yield scenes whose cameras are around, below, behind and close, half of them as a second view."""
    for number in range(count):
        ball = rng.normal(size=3)
        away = float(rng.choice([2.0, 6.0, 12.0, 25.0]))
        location = [float(value) for value in ball / np.linalg.norm(ball) * away]
        location[2] = -abs(location[2]) if number % 3 == 0 else location[2]
        by_angle = {
            "yaw_deg": float(rng.uniform(0, 360)),
            "elevation_deg": float(rng.uniform(-90, 90)),
            "distance": away,
        }
        camera = by_angle if number % 2 else {"location": location, "look_at": [0.0, 0.0, 0.3], "jitter": 0.0}
        stage = STAGES[number % len(STAGES)]
        objects: dict[str, Any] = {"random_objects": {"count": 1 + number % 6, "materials": list(MATERIALS)}}
        if stage == "studio":
            objects = {"objects": [{"shape": "cube", "material": MATERIALS[number // 3 % 3]}]}
        frame = {**objects, "views": [{"name": "usual"}, {"name": "drawn", **camera}]}
        if number % 4 > 1:
            frame = {**objects, "camera": camera, "constraints": [{"in_frame": False}, {"min_visible_pixels": 0}]}
        data = {"version": 1, "id": f"camera/{number:03d}", "seed": number, "stage": stage, "frames": [frame]}
        yield "cameras", EpisodeSpec.model_validate(data)


def subjects(options: Namespace, folder: Path) -> Iterator[tuple[str, Scene]]:
    """Yield what to render: its kind and the Scene."""
    rng, size = np.random.default_rng(63), (options.width, options.width * 3 // 4)
    with_drawings = [path for path in options.checkouts if git(path, "ls-tree", "HEAD", "dataset/tangrams-svg")]
    with_models = [path for path in options.checkouts if path not in with_drawings]

    def specs() -> Iterator[tuple[str, EpisodeSpec | Scene]]:
        if options.scenes:
            for item in SpecSource(options.specs or sorted(EXAMPLES.glob("*.json"))):
                yield "specs", item.episode
        for number in range(options.scenes):
            yield "random scenes", episode(number)
        yield from cameras(options.cameras, rng)
        yield from models(with_models, options.models, folder, rng)
        for checkout in with_drawings if options.tangrams else ():
            yield from tangrams(checkout, folder)

    for kind, spec in specs():
        # Drawings have lines of a pixel at their own size.
        settings = settings_for("draft", *(getattr(spec, "canvas", None) or size if kind == "tangrams" else size))
        try:
            yield kind, compile_episode(spec, settings, [folder])
        except DioramaError as error:
            say(f"left out: {spec.id}: {str(error).splitlines()[0][:160]}")


class Report:
    """Counts: images, doubted, lost by kind of images; made, noticed, proven, mistaken, unnoticed by fault."""

    def __init__(self) -> None:
        self.counts = defaultdict[str, Counter[str]](Counter)
        self.worst = defaultdict[str, float](float)
        self.times = list[float]()
        self.rng = np.random.default_rng(1)

    def failed(self) -> bool:
        """Return whether an honest image was lost, or a fault taken for honest."""
        return bool(self.counts["lost"] or self.counts["mistaken"])

    def add(self, kind: str, scene: Scene, renderer: CyclesRenderer, before: list[tuple[Colors, Ids]]) -> None:
        """Render the images of a Scene, and measure. before: holds an image of another scene; gets the last image."""
        for frame, view in [(one, view) for one in scene.frames for view in one.views]:
            passes, small = renderer.render(scene, frame, view), renderer.render(*shrunk(scene, frame), view)
            layers = object_layers(scene, frame, view, *passes.ids.shape[::-1])
            start = time.process_time()
            checks = [*check_ids(scene, frame, view, passes.ids, layers)]
            colors = [*check_color(scene, frame, view, passes.color, passes.ids)]
            self.times.append(1000 * (time.process_time() - start))
            off = difference(passes.color, small)
            for name, ratio in [
                *((check.name, check.ratio) for check in checks + colors),
                ("second look", off / MOST_DIFFERENT),
            ]:
                self.worst[name] = max(self.worst[name], ratio)
            wrong, doubt = first_problem(checks), first_problem(colors)
            self.counts["images"][kind] += 1
            self.counts["doubted"][kind] += doubt is not None
            where = f"{kind}: {scene.id}: {frame.image_name(view)}"
            if wrong or (doubt and off > MOST_DIFFERENT):
                self.counts["lost"][kind] += 1
            for check in (wrong, doubt):
                if check:
                    look = "lost" if check is wrong or off > MOST_DIFFERENT else "doubted"
                    say(f"{look}: {where}: {check.problem}; second look {off:.0f}")
            changed = [*faults(passes.color, passes.ids, self.rng)]
            changed += [("another object", *image) for image in before if image[0].shape == passes.color.shape]
            cross = scene_stage(scene).fixation if frame.fixation else None
            for name, faulty, ids in changed:
                # The cross is drawn on what a GPU returns.
                color = faulty if cross is None else with_fixation(faulty, cross)
                if ((color != passes.color).any(axis=2) | (ids != passes.ids)).sum() < MIN_PIXELS:
                    continue
                off = difference(color, small)
                refused = first_problem(check_ids(scene, frame, view, ids, layers))
                noticed = refused or first_problem(check_color(scene, frame, view, color, ids))
                result = "unnoticed" if not noticed else "proven" if refused or off > MOST_DIFFERENT else "mistaken"
                # A black image of a black scene is right.
                if result == "mistaken" and np.abs(color.astype(int) - passes.color).mean() < 1:
                    result = "unnoticed"
                self.counts["made"][name] += 1
                self.counts["noticed"][name] += noticed is not None
                self.counts[result][name] += 1
                if result != "proven":
                    say(f"{result}: {name}: {where}")
            before[:] = [(passes.color, passes.ids)]

    def print(self) -> None:
        """Print the counts."""
        images, doubted, lost = (self.counts[name] for name in ("images", "doubted", "lost"))
        for kind in images:
            say(f"{kind}: {images[kind]} images, {doubted[kind]} doubted, {lost[kind]} lost")
        say(f"all: {images.total()} images, {doubted.total()} doubted, {lost.total()} lost")
        for name, ratio in sorted(self.worst.items()):
            say(f"{name}: at most {ratio:.2f} of the bound")
        quantiles = np.percentile(self.times, [50, 90])
        say(f"the check of an image: {quantiles[0]:.2f} ms in the median, {quantiles[1]:.2f} at 90 %")
        for name, count in self.counts["made"].items():
            noticed, proven, mistaken = (self.counts[result][name] for result in ("noticed", "proven", "mistaken"))
            say(f"{name}: of {count}, {noticed} refused or doubted, {proven} proven, {mistaken} taken for honest")


def main(options: Namespace) -> int:
    """Render, measure and print."""
    report, before = Report(), list[tuple[Colors, Ids]]()
    with tempfile.TemporaryDirectory() as made, searching([Path(made)]):
        renderer = CyclesRenderer("cpu", asset_roots=[Path(made)])
        for kind, scene in subjects(options, Path(made)):
            try:
                report.add(kind, scene, renderer, before)
            except DioramaError as error:
                say(f"left out: {scene.id}: {str(error).splitlines()[0][:160]}")
    report.print()
    return int(report.failed())


def add_options(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("specs", nargs="*", type=Path, help="spec files (default: the examples)")
    parser.add_argument("--scenes", type=int, default=500, help="random scenes; 0 for none and no specs (default: 500)")
    parser.add_argument("--cameras", type=int, default=0, help="scenes with a camera drawn by seed (default: 0)")
    parser.add_argument("--models", type=int, default=0, help="models of the checkouts (default: 0)")
    parser.add_argument("--tangrams", action="store_true", help="every drawing of a checkout of KiloGram")
    parser.add_argument("--checkouts", nargs="*", type=Path, default=[], help="git folders of public repositories")
    parser.add_argument("--width", type=positive, default=160, help="of the images, 4:3 (default: 160)")
