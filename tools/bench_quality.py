"""How good are a profile's pictures, and what do they cost? See docs/quality.md.

    python -m tools.bench_quality references                              # 24 scenes x 4,096 samples, resumes
    python -m tools.bench_quality run clevr-512 standard draft my_try.json      # resumes picture by picture
    python -m tools.bench_quality report --table table.md --plot error.svg

`run` measures profiles (by name) and tries (tools/quality/candidates.py says how their files look), scene by scene in
turns, so that a machine that gets slower meanwhile favours none of them; then it reports. Exit codes: 0 done; 1 boxes
or masks differ between candidates, or a render failed; 2 wrong options, missing or damaged files; 130 stopped, the same
command goes on from there.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import statistics
import sys
from functools import partial
from pathlib import Path

from tqdm import tqdm

from render.model.errors import UsageError
from tools.quality import references, report, results
from tools.quality.candidates import Candidate, candidates
from tools.quality.files import write_whole
from tools.quality.measure import measure
from tools.quality.plot import Point, svg
from tools.quality.scenes import TestScene, scenes
from tools.quality.shell import guarded, positive, size, threads
from tools.quality.tuned import TunedRenderer

log = logging.getLogger("bench_quality")

# With more candidates the tables by scene are left out; `--json` has their figures.
_COLUMNS = 8


def make_references(options: argparse.Namespace) -> int:
    """Render the references that are missing."""
    samples = options.samples
    if samples % references.HALVES:
        raise UsageError(f"--samples {samples}: two halves are rendered, so it must be even")
    wanted = scenes(options.limit)
    missing = [s for s in wanted if not references.have_reference(options.references, s, samples, options.size)]
    log.info("%d of %d references are there", len(wanted) - len(missing), len(wanted))
    if not missing:
        return 0
    renderer = TunedRenderer("cpu", options.threads)
    work = options.results / "halves"
    try:
        with tqdm(total=references.HALVES * len(missing), unit="half") as bar:
            for scene in missing:
                bar.set_description(scene.name)
                references.make_reference(
                    renderer, scene, samples, options.size, options.references, work, partial(bar.update, 1)
                )
    finally:
        renderer.close()
    return 0


def run(options: argparse.Namespace) -> int:
    """Measure what is missing, then report."""
    chosen, wanted = candidates(options.candidates), scenes(options.limit)
    there = [references.have_reference(options.references, scene, 1, options.size) for scene in wanted]
    todo: list[tuple[TestScene, Candidate, str]] = []
    for scene in wanted:
        for candidate in chosen:
            given = (candidate.key(), scene.digest(), options.size, options.threads, options.repeat, options.whole)
            key = results.key_of(*given)
            if not results.is_kept(options.results, candidate.name, scene.name, key):
                todo.append((scene, candidate, key))
    if todo:
        _measure_all(todo, options)
    options.candidates = [candidate.name for candidate in chosen]
    if not all(there):
        log.warning("%s: %d references are missing: no report yet", options.references, there.count(False))
        return 0
    return show(options)


def _measure_all(todo: list[tuple[TestScene, Candidate, str]], options: argparse.Namespace) -> None:
    renderer = TunedRenderer("cpu", options.threads)
    try:
        # The first picture of a process costs more than those after it.
        measure(renderer, todo[0][0].spec, Candidate(name="warm", base="draft"), (64, 48))
        with tqdm(todo, unit="image") as bar:
            for scene, candidate, key in bar:
                bar.set_description(f"{candidate.name} {scene.name}")
                made = measure(renderer, scene.spec, candidate, options.size, options.repeat, split=not options.whole)
                about = {"base": candidate.base, "change": candidate.change, "prediction": candidate.prediction}
                results.keep(
                    options.results,
                    candidate.name,
                    scene.name,
                    key,
                    made.png,
                    made.seconds,
                    made.cpu,
                    made.truth,
                    made.annotation,
                    about,
                )
    finally:
        renderer.close()


def show(options: argparse.Namespace) -> int:
    """Tables and plot of what is there; 1 if truth differs."""
    made = report.rows(options.results, options.references, scenes(options.limit), options.candidates)
    if not made:
        raise UsageError(f"{options.results}: no scene has results of all candidates; measure: bench_quality run")
    wrong = report.truths_differ(made)
    if options.json:
        text = json.dumps({"candidates": report.as_json(made), "truth_differs": wrong}, indent=1) + "\n"
    else:
        text = _markdown(made, wrong, options.references)
    sys.stdout.write(text)
    if options.table is not None:
        write_whole(options.table, text.encode())
    if options.plot is not None:
        points = [Point(row.name, row.seconds(), row.median("psnr")) for row in made]
        write_whole(options.plot, svg([p for p in points if math.isfinite(p.psnr)]).encode())
    return int(bool(wrong))


def _markdown(made: list[report.Row], wrong: list[str], folder: Path) -> str:
    names = [result.scene for result in made[0].results]
    known = [references.load_reference(folder, scene) for scene in scenes() if scene.name in names]
    own = [reference.own_psnr for reference in known]
    load = statistics.median(result.load for row in made for result in row.results)
    parts = [
        f"{len(names)} scenes; references of {min(r.samples for r in known):,} samples, themselves within "
        f"{statistics.median(own):.1f} dB of the truth in the median, {min(own):.1f} at worst. "
        f"Seconds are means an image, measured at a load of {load:.1f} a core"
        + (", which is too high for them to be compared with another run's" if load > 1.1 else "")
        + ".\n",
        report.summary(made),
    ]
    best = [max(row.errors[k].psnr for row in made) for k in range(len(names))]
    near = [
        f"{name} ({r.own_psnr:.1f})" for name, r, psnr in zip(names, known, best, strict=True) if psnr > r.own_psnr - 6
    ]
    if near:
        # There a quarter or more of the best one's error is the reference's own.
        parts.append(f"References too noisy for the best candidate, with their own PSNR: {', '.join(near)}.\n")
    if len(made) <= _COLUMNS:
        parts.append("PSNR by scene, dB:\n\n" + report.by_scene(made, "psnr"))
        parts.append("Worst 8 x 8 tile by scene, dB:\n\n" + report.by_scene(made, "tile"))
    tried = report.tries(made)
    parts += [f"Tries:\n\n{tried}"] if tried else []
    said = "; ".join(wrong) if wrong else f"the same in all {len(made)} candidates"
    return "\n".join([*parts, f"Boxes and masks: {said}.\n"])


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = made.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, does: str) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=does, description=does)
        one.add_argument("--limit", type=positive, help="the first so many scenes; 12 have a bit of everything")
        one.add_argument("--references", type=Path, default=references.FOLDER, help="folder of the references")
        one.add_argument("--results", type=Path, default=results.FOLDER, help="folder of results and of work under way")
        return one

    make = command("references", "render the references that are missing, as two halves each")
    make.add_argument("--samples", type=positive, default=4096, help="a pixel, both halves together")
    make.set_defaults(does=make_references)
    measuring = command("run", "measure candidates and report")
    measuring.add_argument("candidates", nargs="+", help="names of profiles, and .json files of tries")
    measuring.add_argument(
        "--repeat", type=positive, default=1, help="renders of each picture, of which the median counts"
    )
    measuring.add_argument(
        "--whole", action="store_true", help="don't tell sampling and denoising apart: half the time, for searching"
    )
    measuring.set_defaults(does=run)
    showing = command("report", "tables and plot of the results that are there")
    showing.add_argument("candidates", nargs="*", help="names of candidates; default: all that have results")
    showing.set_defaults(does=show)
    for one in (make, measuring):
        one.add_argument("--size", type=size, default=(320, 240), help="WIDTHxHEIGHT")
        one.add_argument("--threads", type=threads, default=0, help="of the CPU, 0 for all")
    for one in (measuring, showing):
        one.add_argument("--table", type=Path, help="write the report there too")
        one.add_argument("--plot", type=Path, help="write error over time there, SVG")
        one.add_argument("--json", action="store_true", help="figures for scripts")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Exit code."""
    options = parser().parse_args(arguments)
    return guarded(lambda: int(options.does(options)))


if __name__ == "__main__":
    sys.exit(main())
