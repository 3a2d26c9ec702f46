"""Measure the quality and cost of a profile's images.

    python -m tools bench-quality references                           # 24 scenes x 4,096 samples, resumes
    python -m tools bench-quality run clevr-512 standard draft         # resumes image by image
    python -m tools bench-quality run published-32 published-512 standard     # against the published renderer
    python -m tools bench-quality report --plot error.svg > table.md

`run` measures profiles by name, alternating scene by scene, so that a change of the machine's speed favors none of
them; then it reports. The published renderer loads everything again
for each image and renders it twice. The report says how much faster the others are than it is with its most samples,
and, if it was measured with several numbers of samples, at equal error. Our time includes everything from the spec to
the encoded image and its truth, but not the commit into a store, and not the published renderer's search for a layout.
See docs/quality.md. Exit codes: 0 done; 1 boxes or masks differ between candidates, or a render failed; 2 wrong
options, missing or damaged files; 130 stopped, and the same command continues.
"""

from __future__ import annotations

import json
import logging
import math
import statistics
from argparse import ArgumentParser, Namespace
from contextlib import ExitStack, closing
from dataclasses import asdict
from itertools import product
from pathlib import Path

from tqdm import tqdm

from diorama.scene_specs.errors import UsageError, counted
from diorama.scene_specs.files.atomic import write_atomic
from diorama.scene_specs.model.profiles import settings_for
from tools.claims.quality import references, report, results
from tools.claims.quality.candidates import candidate_key, candidate_settings, check_candidates, published_samples
from tools.claims.quality.measure import LinearRenderer, measure
from tools.claims.quality.published import published_renderer
from tools.claims.quality.references import FILE, TestScene, scenes
from tools.claims.quality.report import Point, compare, equal_table, svg, verdict
from tools.programs import positive, size, threads

RESUMES = True
log = logging.getLogger("bench_quality")

# With more candidates, the report has no tables by scene; `--json` has their figures.
_COLUMNS = 8


def make_references(options: Namespace) -> int:
    """Render the references that are missing."""
    samples = options.samples
    if samples % references.HALVES:
        raise UsageError(f"--samples {samples}: must be even, since two halves are rendered")
    wanted = scenes(options.limit, options.scenes)
    missing = [s for s in wanted if not references.have_reference(options.references, s, samples, options.size)]
    log.info("%d of %d references are there", len(wanted) - len(missing), len(wanted))
    places = options.references, options.results / "halves"
    with closing(LinearRenderer("cpu", options.threads)) as renderer:
        for scene in tqdm(missing, unit="reference"):
            references.make_reference(renderer, scene, samples, options.size, *places)
    return 0


def run(options: Namespace) -> int:
    """Measure what is missing, then report."""
    check_candidates(options.candidates)
    wanted = scenes(options.limit, options.scenes)
    there = [references.have_reference(options.references, scene, 1, options.size) for scene in wanted]
    measured_with = (options.size, options.threads, options.whole)
    todo = [
        (scene, candidate, key)
        for scene, candidate in product(wanted, options.candidates)
        for key in [results.key_of(candidate_key(candidate), scene.digest(), *measured_with)]
        if not results.is_kept(options.results, candidate, scene.name, key)
    ]
    if todo:
        _measure_all(todo, options)
    if not all(there):
        log.warning("%s: %d references are missing: no report yet", options.references, there.count(False))
        return 0
    return show(options)


def _measure_all(todo: list[tuple[TestScene, str, str]], options: Namespace) -> None:
    theirs = next(((scene, candidate) for scene, candidate, _ in todo if published_samples(candidate)), None)
    with ExitStack() as stack:
        renderer = stack.enter_context(closing(LinearRenderer("cpu", options.threads)))
        # The first image of a process costs more than those after it.
        measure(renderer, todo[0][0].spec, settings_for("draft", 64, 48))
        if theirs is not None:
            first = theirs[0].compiled(candidate_settings(theirs[1], 64, 48).with_samples(1))
            published = stack.enter_context(published_renderer(first, options.threads))
            published(first)
        for scene, candidate, key in (bar := stack.enter_context(tqdm(todo, unit="image"))):
            bar.set_description(f"{candidate} {scene.name}")
            where = options.results, candidate, scene.name, key
            settings = candidate_settings(candidate, *options.size)
            if published_samples(candidate):
                results.keep(*where, published(scene.compiled(settings)))
            else:
                results.keep(*where, measure(renderer, scene.spec, settings, not options.whole))


def show(options: Namespace) -> int:
    """Print tables and write the plot of the kept results; 1 if truth differs."""
    wanted = scenes(options.limit, options.scenes)
    made = report.rows(options.results, options.references, wanted, options.candidates)
    if not made:
        raise UsageError(f"{options.results}: no scene has results of all candidates; measure: bench-quality run")
    theirs = sorted((row for row in made if _samples(row)), key=_samples)
    ours = [row for row in made if row not in theirs]
    wrong = report.truths_differ(ours)
    names = [result.scene for result in made[0].results]
    known = {one.name: references.load_reference(options.references, one) for one in wanted if one.name in names}
    own = {name: reference.own_psnr for name, reference in known.items()}
    curve = [(_samples(row), row) for row in theirs]
    equal = {row.name: compare(row, curve, own) if len(curve) > 1 else [] for row in ours if curve}
    verdicts = {row.name: verdict(row, theirs[-1], equal[row.name]) for row in ours if curve}
    if options.json:
        against = {name: {"verdict": verdicts[name], "equal": [*map(asdict, equal[name])]} for name in equal}
        figures = {"candidates": report.as_json(made), "against": against, "truth_differs": wrong}
        text = json.dumps(figures, indent=1) + "\n"
    else:
        parts = [_markdown(made, wrong, known, theirs[-1].name if theirs else "clevr-512")]
        for name, lines in verdicts.items():
            parts.append(f"{name} against {theirs[-1].name}:\n\n" + "".join(f"- {line}\n" for line in lines))
            if equal[name]:
                parts.append(f"{name} and the published renderer at equal PSNR:\n\n" + equal_table(equal[name]))
        text = "\n".join(parts)
    print(text, end="")
    if options.plot is not None:
        points = [Point(row.name, row.seconds(), row.median("psnr")) for row in made]
        write_atomic(options.plot, svg([p for p in points if math.isfinite(p.psnr)]))
    return int(bool(wrong))


def _samples(row: report.Row) -> int:
    return published_samples(row.name)


def _markdown(
    made: list[report.Row], wrong: list[str], references_by_scene: dict[str, references.Reference], against: str
) -> str:
    names, known = [*references_by_scene], [*references_by_scene.values()]
    own = [reference.own_psnr for reference in known]
    load = statistics.median(result.load for row in made for result in row.results)
    parts = [
        f"{len(names)} scenes; references of {min(r.samples for r in known):,} samples, themselves within "
        f"{statistics.median(own):.1f} dB of the truth in the median, {min(own):.1f} at worst. "
        f"Seconds are means per image, measured at a load of {load:.1f} per core"
        + (", which is too high for a comparison with another run's" if load > 1.1 else "")
        + ".\n",
        report.summary(made, against),
    ]
    best = [max(row.errors[k].psnr for row in made) for k in range(len(names))]
    near = [f"{name} ({limit:.1f})" for name, limit, psnr in zip(names, own, best, strict=True) if psnr > limit - 6]
    if near:
        # A quarter or more of the best candidate's error there is the reference's own.
        parts.append(f"References too noisy for the best candidate, with their own PSNR: {', '.join(near)}.\n")
    if len(made) <= _COLUMNS:
        parts.append("PSNR by scene, dB:\n\n" + report.by_scene(made, "psnr"))
        parts.append("Worst 8 x 8 tile by scene, dB:\n\n" + report.by_scene(made, "tile"))
    truth = "; ".join(wrong) if wrong else f"the same in {counted(sum(not _samples(row) for row in made), 'candidate')}"
    return "\n".join([*parts, f"Boxes and masks: {truth}.\n"])


def add_options(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, summary: str) -> ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary)
        sub.add_argument("--limit", type=positive, help="number of scenes, from the first; 12 cover everything")
        sub.add_argument("--scenes", type=Path, default=FILE, metavar="FILE", help="JSONL file of scenes, one a line")
        sub.add_argument("--references", type=Path, default=references.FOLDER, help="folder of the references")
        sub.add_argument("--results", type=Path, default=results.FOLDER, help="folder of results and unfinished work")
        return sub

    make = command("references", "render the references that are missing, as two halves each")
    make.add_argument("--samples", type=positive, default=4096, help="per pixel, both halves together")
    make.set_defaults(run=make_references)
    measuring = command("run", "measure candidates and report")
    measuring.add_argument("candidates", nargs="+", help="profiles, and published-<samples>")
    measuring.add_argument("--whole", action="store_true", help="don't separate sampling and denoising: twice as fast")
    measuring.set_defaults(run=run)
    showing = command("report", "print tables and plot of the kept results")
    showing.add_argument("candidates", nargs="*", help="names of candidates; default: all that have results")
    showing.set_defaults(run=show)
    for sub in (make, measuring):
        sub.add_argument("--size", type=size, default=(320, 240), help="WIDTHxHEIGHT")
        sub.add_argument("--threads", type=threads, default=0, help="of the CPU, 0 for all")
    for sub in (measuring, showing):
        sub.add_argument("--plot", type=Path, help="write error over time to this SVG file")
        sub.add_argument("--json", action="store_true", help="figures for scripts")


def main(options: Namespace) -> int:
    """Run the command that was chosen."""
    return int(options.run(options))
