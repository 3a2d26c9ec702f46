"""Fit or measure looks: exposure, color words, cost.

    python -m tools looks fit [NAME...] --stage mewl       writes exposure, white and without into the files of looks
    python -m tools looks fit [NAME...] --stage clevr      writes what differs on clevr; words must hold on both stages
    python -m tools looks measure [NAME...] [--scenes N]   compares renders with those of plain
    python -m tools looks cost [NAME...] --scenes 8        CPU seconds, PSNR and FLIP against 1,024 samples

A word of a color is kept where the mean Lab of an object is nearest to what its color and material have on plain.
"""

from __future__ import annotations

import json
import random
import time
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from diorama.render.compiler import compile_episode
from diorama.render.compiler.looks import with_look
from diorama.render.episode.plausibility import check_color, first_problem
from diorama.render.renderers.cycles.cycles_renderer import CyclesRenderer
from diorama.scene_specs.files.tables import markdown_table
from diorama.scene_specs.language.registry import plugin
from diorama.scene_specs.language.vocabulary import linear_of_srgb
from diorama.scene_specs.model.look import PLAIN, load_look, look_digest, look_names
from diorama.scene_specs.model.passes import Passes
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeSpec
from tools.claims.quality.metrics import flip, psnr, unit
from tools.claims.quality.references import scenes as quality_scenes
from tools.programs import positive

Floats = NDArray[np.float64]
COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")
MATERIALS = ("rubber", "metal", "glass")
SHAPES = ("cube", "sphere", "cylinder")
# The stage whose fit holds on all stages that a look's file does not name.
BASE = "mewl"
# Share of renders in which a kept word is true, and how many colors of a material may fail before all are left out.
TRUE, FEW = 0.95, 1
# Samples of the references of `cost`.
REFERENCE = 1024
# Share of an image that may be white.
CLIPPED = 0.02
# Share of a cast that the white balance takes away: the rest is what a look is seen by.
BALANCED = 0.5
# Lightness counts half, as CIE94 does for textiles: objects stand in the light and in the shadow.
_WEIGHTS = np.array([0.5, 1.0, 1.0])
_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]])
_WHITE = _XYZ.sum(axis=1)
# Byte of sRGB -> linear value.
_LINEAR = np.array([linear_of_srgb((byte, byte, byte))[0] for byte in range(256)])


@dataclass
class Seen:
    """An object in an image: the mean of its pixels without the brightest tenth, linear RGB and Lab, and its crop."""

    color: str
    material: str
    linear: Floats
    lab: Floats
    beside: float
    features: Floats


@dataclass
class Tally:
    """What was measured of a look. brightest: linear value that the brightest share of each image exceeds."""

    objects: list[Seen] = field(default_factory=list)
    clipped: list[float] = field(default_factory=list)
    brightest: list[float] = field(default_factory=list)
    seconds: float = 0.0
    renders: int = 0
    different: int = 0
    refused: int = 0


def lab_of(linear: Floats) -> Floats:
    """Return CIE Lab (D65) of linear RGB, (..., 3)."""
    part = linear @ _XYZ.T / _WHITE
    root = np.where(part > 216 / 24389, np.cbrt(part), (24389 / 27 * part + 16) / 116)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def objects_of(scene: Scene, passes: Passes) -> Iterator[Seen]:
    """Yield the objects with at least 40 visible pixels."""
    linear = _LINEAR[passes.color]
    lab = lab_of(linear)
    slope = np.hypot(*np.gradient(lab[..., 0]))
    for item in scene.frames[0].objects:
        mask = passes.ids == item.index
        if mask.sum() < 40:
            continue
        light = lab[mask][:, 0]
        kept = mask & (passes.color.max(axis=2) < 255)
        kept &= lab[..., 0] <= np.quantile(light, 0.9)
        if not kept.any():
            kept = mask
        mean = linear[kept].mean(axis=0)
        ring = binary_dilation(mask, iterations=4) & (passes.ids == 0)
        beside = float(np.linalg.norm(lab[mask].mean(axis=0) - lab[ring].mean(axis=0))) if ring.any() else np.nan
        chroma = np.hypot(lab[mask][:, 1], lab[mask][:, 2])
        steps = (1, 10, 25, 50, 75, 90, 99)
        features = [*np.percentile(light, steps), *np.percentile(chroma, steps), *np.percentile(slope[mask], steps)]
        yield Seen(item.color or "", item.material.name, mean, lab_of(mean), beside, np.array(features))


class Camera:
    """Renders scenes in looks at one size."""

    def __init__(self, size: tuple[int, int], profile: str, stage: str) -> None:
        self._renderer, self.stage = CyclesRenderer("cpu"), stage
        self.settings = settings_for(profile, *size)

    def scene(self, objects: Sequence[dict[str, str]], seed: int) -> Scene:
        """Return the plain Scene of some objects."""
        spec = {"id": f"looks/{seed}", "seed": seed, "stage": self.stage, "frames": [{"objects": objects}]}
        return compile_episode(EpisodeSpec.model_validate({"version": 1, **spec}), self.settings)

    def take(self, plain: Scene, look: str, variant: int | None, into: Tally) -> Passes:
        """Render a scene in a look."""
        scene = with_look(plain, look, variant, words=False)
        start = time.process_time()
        passes = self._renderer.render(scene, scene.frames[0], scene.frames[0].views[0])
        into.seconds += time.process_time() - start
        into.renders += 1
        into.objects += objects_of(scene, passes)
        checks = check_color(scene, scene.frames[0], scene.frames[0].views[0], passes.color, passes.ids)
        into.refused += bool(first_problem(checks))
        into.clipped.append(float((passes.color.min(axis=2) == 255).mean()))
        into.brightest.append(float(np.quantile(_LINEAR[passes.color].max(axis=2), 1 - CLIPPED)))
        return passes

    def tally(self, scenes: Iterable[Scene], look: str, variants: Sequence[int | None] = (None,)) -> Tally:
        """Render scenes in variants of a look."""
        into = Tally()
        for scene, variant in product(scenes, variants):
            self.take(scene, look, variant, into)
        return into


def drawn(rng: random.Random, color: str = "", material: str = "") -> dict[str, str]:
    """Return an object; a color or a material that is not given is drawn, too."""
    found = {"shape": rng.choice(SHAPES), "size": rng.choice(["small", "large"])}
    return found | {"color": color or rng.choice(COLORS), "material": material or rng.choice(MATERIALS)}


def palette(camera: Camera, materials: Iterable[str], scenes: int) -> list[Scene]:
    """Return scenes with all eight colors in a material."""
    made = []
    for material, number in product(materials, range(scenes)):
        rng = random.Random(f"{material} {number}")
        made.append(camera.scene([drawn(rng, color, material) for color in COLORS], number))
    return made


def prototypes(objects: Iterable[Seen]) -> dict[tuple[str, str], Floats]:
    """Return the mean Lab of each color and material."""
    found = defaultdict(list)
    for item in objects:
        found[item.color, item.material].append(item.lab)
    return {key: np.mean(values, axis=0) for key, values in found.items()}


def margin(item: Seen, known: dict[tuple[str, str], Floats]) -> float:
    """Return by how much an object is nearer to its own prototype than to the next, Delta E; negative if it is not."""
    same = {color: lab for (color, material), lab in known.items() if material == item.material}
    distance = {color: float(np.linalg.norm((item.lab - lab) * _WEIGHTS)) for color, lab in same.items()}
    own = distance.pop(item.color)
    return min(distance.values()) - own


def fit(camera: Camera, name: str, scenes: int) -> None:
    """Write exposure and white balance of each variant, and the words that a look does not keep, into its file."""
    path: Path = plugin("looks", name).load()
    file = json.loads(path.read_text("utf-8"))
    file["variants"] = file.get("variants") or [{}]
    known = file.pop("without", []) if camera.stage != BASE else []
    fitted = [_fitted_part(variant, camera.stage) for variant in file["variants"]]
    for part in fitted:
        part.update(exposure=1.0, white=[1.0, 1.0, 1.0])
    rubber = palette(camera, ["rubber"], scenes)
    plain = camera.tally(rubber, PLAIN)
    for balanced in (BALANCED, 0.0):
        write(path, file)
        for number, part in enumerate(fitted):
            _adjust(part, plain.objects, camera.tally(rubber, name, [number]), balanced)
    write(path, file)
    everything = palette(camera, MATERIALS, scenes)
    seen = camera.tally(everything, name, range(len(file["variants"])))
    failed = left_out(seen.objects, prototypes(camera.tally(everything, PLAIN).objects))
    file["without"] = [*known, *(entry for entry in failed if entry not in known and entry[-1] not in known)]
    write(path, file)
    print(f"{name}: {fitted}, without {file['without']}", flush=True)


def _fitted_part(variant: dict[str, Any], stage: str) -> dict[str, Any]:
    """Return the part of a variant that is fitted on a stage."""
    if stage == BASE:
        return variant
    part: dict[str, Any] = variant.setdefault("stages", {}).setdefault(stage, {})
    return part


def _adjust(variant: dict[str, Any], plain: Sequence[Seen], tally: Tally, balanced: float) -> None:
    """Bring the light of the palette to that of plain, and a share of the cast of gray; nothing is clipped."""
    seen = tally.objects
    light = np.array([0.2126, 0.7152, 0.0722])
    ratio = np.median([a.linear @ light / max(b.linear @ light, 1e-6) for a, b in zip(plain, seen, strict=True)])
    ratio = min(ratio, 1 / float(np.mean(tally.brightest)))
    grays = [(a.linear, b.linear) for a, b in zip(plain, seen, strict=True) if a.color == "gray"]
    cast = np.mean([a / (a @ light) for a, _ in grays], axis=0) / np.mean([b / (b @ light) for _, b in grays], axis=0)
    white = np.array(variant["white"]) * cast**balanced
    variant["exposure"] = round(float(variant["exposure"] * ratio), 3)
    variant["white"] = [round(float(value), 3) for value in white]


def left_out(objects: Iterable[Seen], known: dict[tuple[str, str], Floats]) -> list[Any]:
    """Return the [color, material] pairs whose words do not hold, and materials of which more than a few do not."""
    found = defaultdict(list)
    for item in objects:
        found[item.material, item.color].append(margin(item, known) > 0)
    failed = [key for key, true in sorted(found.items()) if np.mean(true) < TRUE]
    whole = [name for name in MATERIALS if sum(material == name for material, _ in failed) > FEW]
    return [*whole, *([color, material] for material, color in failed if material not in whole)]


def write(path: Path, file: dict[str, Any]) -> None:
    """Write a look, a line for each of its keys and variants."""

    def text(value: Any) -> str:
        nested = isinstance(value, list) and value and isinstance(value[0], dict)
        return "[\n" + ",\n".join(f"    {json.dumps(one)}" for one in value) + "\n  ]" if nested else json.dumps(value)

    lines = ",\n".join(f"  {json.dumps(key)}: {text(value)}" for key, value in file.items() if value)
    path.write_text("{\n" + lines + "\n}\n", "utf-8")
    load_look.cache_clear()
    look_digest.cache_clear()


def measure(camera: Camera, names: Sequence[str], scenes: int) -> None:
    """Print a table of words, materials, contrast with the ground, clipping, ids and seconds."""
    tallies = {name: Tally() for name in [PLAIN, *names]}
    for seed in range(scenes):
        rng = random.Random(seed)
        plain = camera.scene([drawn(rng) for _ in range(rng.randint(3, 7))], seed)
        first = camera.take(plain, PLAIN, None, tallies[PLAIN])
        for name in names:
            passes = camera.take(plain, name, None, tallies[name])
            same = np.array_equal(passes.ids, first.ids) and np.array_equal(passes.depth, first.depth)
            tallies[name].different += not same
    known = prototypes(tallies[PLAIN].objects)
    head = ["look", "words true", "margin: median, 5 %", "material", "from the ground: 5 %, least", "clipped"]
    rows = [[name, *_row(name, tally, known, tallies[PLAIN])] for name, tally in tallies.items()]
    print(markdown_table([*head, "refused", "seconds", "ids"], rows), end="")


def _row(name: str, tally: Tally, known: dict[tuple[str, str], Floats], plain: Tally) -> list[str]:
    look = None if name == PLAIN else load_look(name)
    allowed = [item for item in tally.objects if look is None or look.keeps_word(item.color, item.material)]
    margins = np.array([margin(item, known) for item in allowed])
    beside = np.array([item.beside for item in allowed])
    kinds = material_accuracy(allowed)
    return [
        f"{np.mean(margins > 0):.2%} of {len(margins):,}",
        f"{np.median(margins):.0f}, {np.percentile(margins, 5):.0f}",
        f"{kinds:.1%}",
        f"{np.nanpercentile(beside, 5):.0f}, {np.nanmin(beside):.0f}",
        f"{np.mean(np.array(tally.clipped) > CLIPPED):.1%}",
        str(tally.refused),
        f"{tally.seconds / plain.seconds:.2f}",
        f"{tally.different} differ" if tally.different else "equal",
    ]


def cost(camera: Camera, names: Sequence[str], scenes: int) -> None:
    """Print CPU seconds of the scenes of bench-quality in plain and in looks, and their distance from references."""
    rows = []
    for name in [PLAIN, *names]:
        tally, psnrs, flips = Tally(), [], []
        for scene in quality_scenes(scenes):
            plain = scene.compiled(camera.settings)
            many = plain.settings.with_samples(REFERENCE).model_copy(update={"denoise": False})
            reference = unit(camera.take(plain.model_copy(update={"settings": many}), name, None, Tally()).color)
            shown = unit(camera.take(plain, name, None, tally).color)
            psnrs.append(psnr(reference, shown))
            flips.append(flip(reference, shown))
        middle = [f"{np.median(psnrs):.1f} ({min(psnrs):.1f})", f"{np.median(flips):.4f} ({max(flips):.4f})"]
        rows.append([name, f"{tally.seconds / tally.renders:.2f}", *middle])
        print(rows[-1], flush=True)
    print(markdown_table(["look", "CPU seconds", "PSNR: median (worst)", "FLIP: median (worst)"], rows), end="")


def material_accuracy(objects: Sequence[Seen]) -> float:
    """Return how often a linear discriminant, trained on every other object, names the material of the rest."""
    x = np.array([item.features for item in objects])
    y = np.array([item.material for item in objects])
    learner = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(x[::2], y[::2])
    return float(learner.score(x[1::2], y[1::2]))


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("what", choices=["fit", "measure", "cost"])
    parser.add_argument("looks", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--scenes", type=positive, default=8, help="of each material in fit; in all otherwise")
    parser.add_argument("--width", type=positive, default=160)
    parser.add_argument("--height", type=positive, default=120)
    parser.add_argument("--profile", default="draft")
    parser.add_argument("--stage", default="clevr", help="of the scenes")


def main(options: Namespace) -> None:
    """Fit or measure looks."""
    names = options.looks or look_names()[1:]
    camera = Camera((options.width, options.height), options.profile, options.stage)
    if options.what == "fit":
        for name in names:
            fit(camera, name, options.scenes)
    else:
        (measure if options.what == "measure" else cost)(camera, names, options.scenes)
