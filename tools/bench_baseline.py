"""Compare a profile with the published renderer.

Measures throughput, error, and cost at equal error in one run.

    python -m tools bench-baseline                      # `standard`, 24 scenes, 512 samples and fewer
    python -m tools bench-baseline draft my_try.json --limit 12 --counts 32 128 512

The published renderer (tools/quality/published.py) loads everything again for each image and renders it twice. It
alternates with ours image by image. `--counts` are its sample counts: the largest is the published recipe, and all of
them together tell what it needs to reach our error. Our time includes everything from the spec to the encoded image and
its truth, but not the commit into a store, and not the published renderer's search for a layout. The same command
continues a stopped run. Needs the references (bench-quality references). Exit codes as of bench-quality.
"""

from __future__ import annotations

import json
import logging
import statistics
from argparse import ArgumentParser, Namespace
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from diorama.render.model.errors import UsageError
from diorama.render.model.profiles import settings_for
from diorama.scene_specs.language.tables import markdown_table
from diorama.scene_specs.language.writing import write_atomic
from tools.programs import positive, size, threads
from tools.quality import references, report, results
from tools.quality.candidates import Candidate, candidates
from tools.quality.equal import Comparison, compare
from tools.quality.measure import measure
from tools.quality.published import PROFILE, PublishedRenderer
from tools.quality.scenes import TestScene, scenes
from tools.quality.scenes import add_options as add_scene_options
from tools.quality.tuned import TunedRenderer

RESUMES = True
log = logging.getLogger("bench_baseline")

FOLDER = Path("build/baseline")


# One of our candidates, or a number of samples of the published renderer.
Contender = Candidate | int


def name_of(contender: Contender) -> str:
    """Return the name under which a contender's results are kept."""
    return f"published-{contender}" if isinstance(contender, int) else contender.name


def run(chosen: list[Candidate], wanted: list[TestScene], options: Namespace) -> None:
    """Measure and keep what is missing. Contenders alternate scene by scene."""
    todo: list[tuple[TestScene, Contender, str]] = []
    for scene in wanted:
        for contender in (*chosen, *reversed(options.counts)):
            identity = contender if isinstance(contender, int) else contender.key()
            key = results.key_of(identity, scene.digest(), options.size, options.threads)
            if not results.is_kept(options.results, name_of(contender), scene.name, key):
                todo.append((scene, contender, key))
    log.info("%d images to measure", len(todo))
    if not todo:
        return
    settings = settings_for(PROFILE, *options.size)
    first = wanted[0].compiled(settings)
    with closing(TunedRenderer("cpu", options.threads)) as own, PublishedRenderer(first, options.threads) as published:
        # The first image of a process costs more than those after it.
        measure(own, wanted[0].spec, Candidate(name="warm", base="draft"), (64, 48))
        few = settings_for(PROFILE, 64, 48).model_copy(update={"samples": 1})
        published.render(wanted[0].compiled(few))
        for scene, contender, key in (bar := tqdm(todo, unit="image")):
            bar.set_description(f"{name_of(contender)} {scene.name}")
            measured: results.Measured
            if isinstance(contender, int):
                measured = published.render(scene.compiled(settings.model_copy(update={"samples": contender})))
            else:
                measured = measure(own, scene.spec, contender, options.size)
            results.keep(options.results, name_of(contender), scene.name, key, measured)


def verdict(ours: report.Row, recipe: report.Row, equal: list[Comparison]) -> list[str]:
    """Return the main figures, one per line."""
    worst = []
    for name, sign in (("psnr", 1), ("ssim", 1), ("flip", -1)):
        mine, theirs = ours.worst(name), recipe.worst(name)
        worst.append(f"{name.upper()} {mine:.4f} against {theirs:.4f}" + " (worse)" * ((mine - theirs) * sign < 0))
    lines = [
        f"throughput: {recipe.seconds() / ours.seconds():.1f} times that of the published renderer, "
        f"{recipe.cpu / ours.cpu:.1f} times by CPU seconds",
        f"PSNR of the median scene: {ours.median('psnr'):.2f} dB, the recipe's {recipe.median('psnr'):.2f}",
        f"worst scene: {', '.join(worst)}",
    ]
    if equal:
        total = statistics.median(each.recipe / each.seconds for each in equal)
        cpu = statistics.median(each.recipe_cpu / each.cpu for each in equal)
        lines.append(
            f"at equal PSNR: {total:.1f} times on the median scene, {cpu:.1f} times by CPU seconds; "
            f"{sum(each.beyond for each in equal)} of {len(equal)} scenes extrapolated"
        )
    return lines


def equal_table(equal: list[Comparison]) -> str:
    """Return a Markdown table with a row for each scene."""
    header = ["scene", "PSNR dB", "ours s", "its samples", "its s", "times", "its image alone", "times by CPU"]
    rows = []
    for each in equal:
        ratios = (each.recipe / each.seconds, each.recipe_picture / each.seconds, each.recipe_cpu / each.cpu)
        samples = ("beyond " if each.beyond else "") + f"{each.samples:.0f}"
        row = [each.scene, f"{each.psnr:.2f}", f"{each.seconds:.3f}", samples, f"{each.recipe:.2f}"]
        rows.append([*row, *(f"{ratio:.1f}" for ratio in ratios)])
    return markdown_table(header, rows)


def show(names: list[str], wanted: list[TestScene], options: Namespace) -> int:
    """Print the report; 1 if boxes or masks of our candidates differ."""
    recipes = [name_of(samples) for samples in options.counts]
    measured = {row.name: row for row in report.rows(options.results, options.references, wanted, [*names, *recipes])}
    curve = [(samples, measured[name_of(samples)]) for samples in options.counts]
    own = {scene.name: references.load_reference(options.references, scene).own_psnr for scene in wanted}
    parts, data = [report.summary(list(measured.values()), recipes[-1])], {}
    for name in names:
        equal = compare(measured[name], curve, own) if len(curve) > 1 else []
        lines = verdict(measured[name], curve[-1][1], equal)
        parts.append(f"{name} against {recipes[-1]}:\n\n" + "".join(f"- {line}\n" for line in lines))
        parts += [f"{name} and the published renderer at equal PSNR:\n\n" + equal_table(equal)] if equal else []
        data[name] = {"verdict": lines, "equal": [asdict(each) for each in equal]}
    wrong = report.truths_differ([measured[name] for name in names])
    parts += [f"Boxes and masks differ: {'; '.join(wrong)}\n"] if wrong else []
    figures = {"rows": report.as_json(list(measured.values())), "against": data, "truth_differs": wrong}
    text = json.dumps(figures, indent=1) + "\n" if options.json else "\n".join(parts)
    print(text, end="")
    if options.table is not None:
        write_atomic(options.table, text)
    return int(bool(wrong))


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("candidates", nargs="*", default=["standard"], help="profiles, and .json files of tries")
    add_scene_options(parser)
    parser.add_argument("--counts", type=positive, nargs="+", default=[32, 128, 512], help="samples per pixel")
    parser.add_argument("--size", type=size, default=(320, 240), help="WIDTHxHEIGHT")
    parser.add_argument("--threads", type=threads, default=0, help="of the CPU, 0 for all")
    parser.add_argument("--references", type=Path, default=references.FOLDER, help="folder of the references")
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of results")
    parser.add_argument("--table", type=Path, help="also write the report to this file")
    parser.add_argument("--json", action="store_true", help="figures for scripts")


def main(options: Namespace) -> int:
    """Measure what is missing, then report."""
    options.counts = sorted(set(options.counts))
    chosen, wanted = candidates(options.candidates), scenes(options.limit, options.scenes)
    names = [each.name for each in chosen]
    clash = sorted({*names} & {name_of(samples) for samples in options.counts})
    if clash:
        raise UsageError(f"candidate {clash[0]!r} has the name of a result of the published renderer; use another name")
    for scene in wanted:
        # Fail before an hour of measuring.
        references.load_reference(options.references, scene)
    run(chosen, wanted, options)
    return show(names, wanted, options)
