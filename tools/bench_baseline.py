"""A profile against the published way of working, in one run: throughput, error, and both at equal error.

    python -m tools.bench_baseline                                   # `standard`, 24 scenes, 512 samples and fewer
    python -m tools.bench_baseline draft my_try.json --limit 12 --counts 32 128 512

The published way (tools/quality/published.py) loads everything again for each image and renders it twice. Image by
image it takes turns with ours; `--counts` are the sample counts at which it is measured, of which the largest is the
recipe and all together tell what it needs for our error. Ours counts everything from spec to encoded picture and truth;
the commit into a store is not counted, as the published way's search for a layout is not. The same command goes on
where a stopped one was. Needs the references (bench_quality references). Exit codes as of bench_quality.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from render.model.errors import UsageError
from render.model.profiles import settings_for
from tools.quality import references, report, results
from tools.quality.candidates import Candidate, candidates
from tools.quality.equal import Comparison, compare
from tools.quality.files import write_whole
from tools.quality.measure import measure
from tools.quality.published import PROFILE, PublishedWay
from tools.quality.scenes import TestScene, scenes
from tools.quality.shell import guarded, positive, size, threads
from tools.quality.tuned import TunedRenderer

log = logging.getLogger("bench_baseline")

FOLDER = Path("build/baseline")


def recipe_name(samples: int) -> str:
    """What the published way's results at a sample count are called."""
    return f"published-{samples}"


class Bench:
    """What is measured, and with what."""

    def __init__(self, chosen: list[Candidate], options: argparse.Namespace) -> None:
        self.chosen, self.options = chosen, options
        self.scenes = scenes(options.limit)

    def key(self, scene: TestScene, what: object) -> str:
        return results.key_of(what, scene.digest(), self.options.size, self.options.threads)

    def missing(self) -> list[tuple[TestScene, Candidate | int]]:
        """(scene, candidate or sample count) in turns, without what is kept."""
        turns: list[Candidate | int] = [*self.chosen, *reversed(self.options.counts)]
        return [(scene, what) for scene in self.scenes for what in turns if not self._is_kept(scene, what)]

    def _is_kept(self, scene: TestScene, what: Candidate | int) -> bool:
        name = recipe_name(what) if isinstance(what, int) else what.name
        return results.is_kept(self.options.results, name, scene.name, self.key(scene, _about(what)))

    def run(self, todo: list[tuple[TestScene, Candidate | int]]) -> None:
        """Measure all of it."""
        own = TunedRenderer("cpu", self.options.threads)
        first = self.scenes[0].compiled(settings_for(PROFILE, *self.options.size))
        try:
            with PublishedWay(first, self.options.threads) as way, tqdm(todo, unit="image") as bar:
                # The first picture of a process costs more than those after it.
                measure(own, self.scenes[0].spec, Candidate(name="warm", base="draft"), (64, 48))
                few = settings_for(PROFILE, 64, 48).model_copy(update={"samples": 1})
                way.render(self.scenes[0].compiled(few))
                for scene, what in bar:
                    bar.set_description(f"{what if isinstance(what, int) else what.name} {scene.name}")
                    if isinstance(what, int):
                        self._published(way, scene, what)
                    else:
                        self._ours(own, scene, what)
        finally:
            own.close()

    def _published(self, way: PublishedWay, scene: TestScene, samples: int) -> None:
        settings = settings_for(PROFILE, *self.options.size).model_copy(update={"samples": samples})
        made = way.render(scene.compiled(settings))
        key = self.key(scene, samples)
        results.keep(self.options.results, recipe_name(samples), scene.name, key, made.png, made.seconds, made.cpu)

    def _ours(self, own: TunedRenderer, scene: TestScene, candidate: Candidate) -> None:
        made = measure(own, scene.spec, candidate, self.options.size)
        key = self.key(scene, candidate.key())
        results.keep(
            self.options.results, candidate.name, scene.name, key, made.png, made.seconds, made.cpu, made.truth
        )


def _about(what: Candidate | int) -> object:
    return what if isinstance(what, int) else what.key()


def verdict(ours: report.Row, recipe: report.Row, equal: list[Comparison]) -> list[str]:
    """The figures that are raced for, one a line."""
    worst = []
    for name, sign in (("psnr", 1), ("ssim", 1), ("flip", -1)):
        mine, theirs = ours.worst(name), recipe.worst(name)
        worst.append(f"{name.upper()} {mine:.4f} against {theirs:.4f}" + " (worse)" * ((mine - theirs) * sign < 0))
    lines = [
        f"throughput: {recipe.seconds() / ours.seconds():.1f} times the published way's, "
        f"{recipe.cpu / ours.cpu:.1f} times by CPU seconds",
        f"PSNR of the median scene: {ours.median('psnr'):.2f} dB, the recipe's {recipe.median('psnr'):.2f}",
        f"worst scene: {', '.join(worst)}",
    ]
    if equal:
        whole = statistics.median(each.recipe / each.seconds for each in equal)
        cpu = statistics.median(each.recipe_cpu / each.cpu for each in equal)
        lines.append(
            f"at equal PSNR: {whole:.1f} times on the median scene, {cpu:.1f} times by CPU seconds; "
            f"{sum(each.beyond for each in equal)} of {len(equal)} scenes extrapolated"
        )
    return lines


def equal_table(equal: list[Comparison]) -> str:
    """Markdown, one line a scene."""
    header = ["scene", "PSNR dB", "ours s", "its samples", "its s", "times", "its picture alone", "times by CPU"]
    lines = []
    for each in equal:
        ratios = (each.recipe / each.seconds, each.recipe_picture / each.seconds, each.recipe_cpu / each.cpu)
        samples = ("beyond " if each.beyond else "") + f"{each.samples:.0f}"
        line = [each.scene, f"{each.psnr:.2f}", f"{each.seconds:.3f}", samples, f"{each.recipe:.2f}"]
        lines.append([*line, *(f"{ratio:.1f}" for ratio in ratios)])
    return report.table(header, lines)


def show(bench: Bench) -> int:
    """Print everything; 1 if boxes or masks of our candidates differ."""
    options = bench.options
    names = [each.name for each in bench.chosen]
    recipes = [recipe_name(samples) for samples in options.counts]
    made = {row.name: row for row in report.rows(options.results, options.references, bench.scenes, [*names, *recipes])}
    curve = [(samples, made[recipe_name(samples)]) for samples in options.counts]
    own = {scene.name: references.load_reference(options.references, scene).own_psnr for scene in bench.scenes}
    parts, data = [report.summary(list(made.values()), recipes[-1])], {}
    for name in names:
        equal = compare(made[name], curve, own) if len(curve) > 1 else []
        said = verdict(made[name], curve[-1][1], equal)
        parts.append(f"{name} against {recipes[-1]}:\n\n" + "".join(f"- {line}\n" for line in said))
        parts += [f"{name} and the published way at equal PSNR:\n\n" + equal_table(equal)] if equal else []
        data[name] = {"verdict": said, "equal": [asdict(each) for each in equal]}
    wrong = report.truths_differ([made[name] for name in names])
    parts += [f"Boxes and masks differ: {'; '.join(wrong)}\n"] if wrong else []
    figures = {"rows": report.as_json(list(made.values())), "against": data, "truth_differs": wrong}
    text = json.dumps(figures, indent=1) + "\n" if options.json else "\n".join(parts)
    sys.stdout.write(text)
    if options.table is not None:
        write_whole(options.table, text.encode())
    return int(bool(wrong))


def work(options: argparse.Namespace) -> int:
    """Measure what is missing, then show."""
    options.counts = sorted(set(options.counts))
    bench = Bench(candidates(options.candidates), options)
    clash = sorted({each.name for each in bench.chosen} & {recipe_name(samples) for samples in options.counts})
    if clash:
        raise UsageError(f"candidate {clash[0]!r} is called as the published way's results are; give it another name")
    for scene in bench.scenes:
        # Before an hour is spent.
        references.load_reference(options.references, scene)
    todo = bench.missing()
    log.info("%d images to measure", len(todo))
    if todo:
        bench.run(todo)
    return show(bench)


def main(arguments: list[str] | None = None) -> int:
    """Exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("candidates", nargs="*", default=["standard"], help="profiles, and .json files of tries")
    parser.add_argument("--limit", type=positive, help="the first so many scenes")
    parser.add_argument("--counts", type=positive, nargs="+", default=[32, 128, 512], help="samples a pixel")
    parser.add_argument("--size", type=size, default=(320, 240), help="WIDTHxHEIGHT")
    parser.add_argument("--threads", type=threads, default=0, help="of the CPU, 0 for all")
    parser.add_argument("--references", type=Path, default=references.FOLDER, help="folder of the references")
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of results")
    parser.add_argument("--table", type=Path, help="write the report there too")
    parser.add_argument("--json", action="store_true", help="figures for scripts")
    options = parser.parse_args(arguments)
    return guarded(lambda: work(options))


if __name__ == "__main__":
    sys.exit(main())
