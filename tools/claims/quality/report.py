"""Report results as figures, Markdown and a plot; compare profiles with the published recipe, also at equal error."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from diorama.render.uses.draw.canvas import Svg
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.tables import markdown_table
from tools.claims.quality.metrics import Errors, Picture, errors
from tools.claims.quality.references import TestScene, load_reference
from tools.claims.quality.results import Result, candidates_in, results_in

# The steps shown separately; all others are one sum.
_APART = ("sampling", "denoising")


@dataclass(frozen=True)
class Row:
    """One candidate on the scenes that all candidates have. results, errors: in the order of these scenes."""

    name: str
    results: tuple[Result, ...]
    errors: tuple[Errors, ...]

    def seconds(self, *steps: str) -> float:
        """Return the mean seconds per image of these steps, or of all steps if none is named."""
        return statistics.fmean(
            each.total if not steps else sum(each.seconds.get(step, 0.0) for step in steps) for each in self.results
        )

    @property
    def cpu(self) -> float:
        """The mean processor seconds per image."""
        return statistics.fmean(each.cpu for each in self.results)

    @property
    def other(self) -> float:
        """The mean seconds per image besides sampling and denoising."""
        return self.seconds() - self.seconds(*_APART)

    def median(self, measure: str) -> float:
        """Return the median of a measure over the scenes."""
        return float(statistics.median(getattr(each, measure) for each in self.errors))

    def worst(self, measure: str) -> float:
        """Return a measure of the worst scene: the largest of FLIP, the smallest of all others."""
        values = [float(getattr(each, measure)) for each in self.errors]
        return max(values) if measure == "flip" else min(values)


def rows(folder: Path, references: Path, scenes: Sequence[TestScene], names: Sequence[str] = ()) -> list[Row]:
    """Return a row for each candidate, fastest first, over the scenes that all of them have; no rows if there are none.

    names: of candidates; all if empty. Raises AssetError for a missing reference.
    """
    found = {name: results_in(folder, name) for name in names or candidates_in(folder)}
    shared = [scene for scene in scenes if found and all(scene.name in each for each in found.values())]
    known = {scene.name: load_reference(references, scene).picture for scene in shared}
    made = [
        Row(name, tuple(each[k] for k in known), tuple(_errors(picture, each[k]) for k, picture in known.items()))
        for name, each in found.items()
    ]
    return sorted(made, key=lambda row: row.seconds()) if known else []


def _errors(reference: Picture, result: Result) -> Errors:
    try:
        return errors(reference, result.picture)
    except ValueError as error:
        raise UsageError(f"candidate {result.candidate}, scene {result.scene}: {error}; name other folders") from error


def summary(made: Sequence[Row], against: str = "clevr-512") -> str:
    """Return a table of candidates: seconds per image by part, and each measure's median and worst scene."""
    base = next((row for row in made if row.name == against), None)
    header = ["profile", "sampling s", "denoising s", "other s", "all s", "CPU s"]
    header += [f"{against} takes", "CPU"] if base else []
    header += ["PSNR dB", "worst", "SSIM", "worst", "FLIP", "worst", "worst tile dB"]
    lines = []
    for row in made:
        line = [row.name, *(f"{x:.3f}" for x in (*map(row.seconds, _APART), row.other, row.seconds(), row.cpu))]
        line += [f"{base.seconds() / row.seconds():.1f} x", f"{base.cpu / row.cpu:.1f} x"] if base else []
        for name, form in (("psnr", ".2f"), ("ssim", ".5f"), ("flip", ".4f")):
            line += [f"{row.median(name):{form}}", f"{row.worst(name):{form}}"]
        lines.append([*line, f"{row.worst('tile'):.1f}"])
    return markdown_table(header, lines)


def by_scene(made: Sequence[Row], measure: str) -> str:
    """Return a table with a row for each scene and a column for each candidate. measure: psnr, ssim, flip, tile."""
    form = {"psnr": ".2f", "tile": ".1f"}.get(measure, ".5f")
    names = [result.scene for result in made[0].results]
    lines = [[name, *(f"{getattr(row.errors[k], measure):{form}}" for row in made)] for k, name in enumerate(names)]
    return markdown_table(["scene", *(row.name for row in made)], lines)


def truths_differ(made: Sequence[Row]) -> list[str]:
    """Return the scenes whose boxes or masks differ between candidates, with the groups that agree."""
    wrong = []
    for results in zip(*(row.results for row in made), strict=True):
        groups: dict[str, list[str]] = {}
        for one in results:
            groups.setdefault(one.truth, []).append(one.candidate)
        if len(groups) > 1:
            wrong.append(f"{results[0].scene}: " + " against ".join(", ".join(g) for g in groups.values()))
    return wrong


def as_json(made: Sequence[Row]) -> dict[str, Mapping[str, object]]:
    """Return the figures for scripts: candidate -> scene -> seconds and measures."""
    return {
        row.name: {
            result.scene: {"seconds": result.seconds, "cpu": result.cpu, "load": result.load, **vars(error)}
            for result, error in zip(row.results, row.errors, strict=True)
        }
        for row in made
    }


# Mean squared error falls as 1 / samples: ten times as many samples are ten dB.
_DB_A_DECADE = 10.0
# Upper bound of the reference's share in a measured error, which is known to some percent.
_MOST_OWN = 0.5


@dataclass(frozen=True)
class Comparison:
    """The comparison on one scene. psnr: ours, against the reference. seconds, cpu: ours.

    samples: those with which the recipe reaches our error. recipe: its seconds for that, in total; recipe_picture: of
    its image alone; recipe_cpu: CPU seconds, in total. beyond: these are extrapolated, because no measured count
    reaches our error.
    """

    scene: str
    psnr: float
    seconds: float
    cpu: float
    samples: float
    recipe: float
    recipe_picture: float
    recipe_cpu: float
    beyond: bool


def from_truth(psnr: float, own: float) -> float:
    """Return the PSNR against the truth of an image with `psnr` against a reference with `own` PSNR; all dB.

    The noise of both is independent, so that squared errors add up. Without this correction all images near the
    reference would seem alike, and more samples would seem to gain nothing. The correction is at most 3 dB.
    """
    measured, part = 10 ** (-psnr / 10), 10 ** (-own / 10)
    left = measured - min(part, _MOST_OWN * measured)
    return math.inf if left == 0 else -10 * math.log10(left)


def samples_at(psnr: float, curve: Sequence[tuple[float, float]]) -> tuple[float, bool]:
    """Return the samples for an image with this PSNR, and whether that lies beyond the curve.

    curve: (PSNR, samples) with growing samples, two points or more. Between points the logarithm of samples is
    interpolated; beyond them ten times as many are ten dB. More samples with a worse result count as equal to fewer.
    """
    errors = np.maximum.accumulate([point[0] for point in curve])
    counts = np.log10([point[1] for point in curve])
    if psnr > errors[-1]:
        return float(10 ** (counts[-1] + (psnr - errors[-1]) / _DB_A_DECADE)), True
    if psnr < errors[0]:
        return float(10 ** (counts[0] - (errors[0] - psnr) / _DB_A_DECADE)), True
    return float(10 ** np.interp(psnr, errors, counts)), False


def cost_of(samples: float, curve: Sequence[tuple[float, float]]) -> float:
    """Return the cost of a number of samples. curve: (samples, cost) with growing samples, two points or more.

    The cost is a constant plus a part per sample, so it is interpolated between two points and extrapolated linearly;
    but fewer samples save at most their share, and more never cost less.
    """
    counts, costs = [point[0] for point in curve], [point[1] for point in curve]
    if samples < counts[0]:
        slope = (costs[1] - costs[0]) / (counts[1] - counts[0])
        return min(max(costs[0] + (samples - counts[0]) * slope, costs[0] * samples / counts[0]), costs[0])
    if samples > counts[-1]:
        slope = (costs[-1] - costs[-2]) / (counts[-1] - counts[-2])
        return costs[-1] + (samples - counts[-1]) * max(slope, 0.0)
    return float(np.interp(samples, counts, costs))


def compare(ours: Row, recipe: Sequence[tuple[int, Row]], own: Mapping[str, float]) -> list[Comparison]:
    """Compare scene by scene. recipe: (samples, row) of growing counts on the same scenes, two or more.

    own: scene -> PSNR of its reference itself, dB. Scenes in which we equal the reference are left out.
    """
    counts = [count for count, _ in recipe]

    def cost(k: int, samples: float, of: Callable[[Result], float]) -> float:
        return cost_of(samples, [(count, of(row.results[k])) for count, row in recipe])

    found = []
    for k, result in enumerate(ours.results):
        psnr = ours.errors[k].psnr
        if not math.isfinite(psnr):
            continue
        curve = list(zip((from_truth(row.errors[k].psnr, own[result.scene]) for _, row in recipe), counts, strict=True))
        samples, beyond = samples_at(from_truth(psnr, own[result.scene]), curve)
        total = cost(k, samples, lambda each: each.total)
        picture = cost(k, samples, lambda each: each.seconds["sampling"])
        cpu = cost(k, samples, lambda each: each.cpu)
        found.append(Comparison(result.scene, psnr, result.total, result.cpu, samples, total, picture, cpu, beyond))
    return found


def verdict(ours: Row, recipe: Row, equal: list[Comparison]) -> list[str]:
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


_WIDTH, _HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 630, 20, 412
_GREEN, _GRAY, _GRID = "#22aa66", "#999999", "#dddddd"
_LINE = 13


class Point(NamedTuple):
    """A candidate in the plot. seconds: per image, above 0. psnr: dB, finite."""

    name: str
    seconds: float
    psnr: float


def front(points: Sequence[Point]) -> list[Point]:
    """Return the points for which no other is as fast and better, or faster and as good; the fastest first."""
    kept: list[Point] = []
    for point in sorted(points, key=lambda p: (p.seconds, -p.psnr)):
        if not kept or point.psnr > kept[-1].psnr:
            kept.append(point)
    return kept


def _steps(low: float, high: float) -> list[float]:
    """Return 1, 2, 5, 10, ... within the range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [m * 10.0**k for k in powers for m in (1, 2, 5) if low <= m * 10.0**k <= high]


def svg(points: Sequence[Point]) -> str:
    """Draw seconds per image (logarithmic) to the right and PSNR upwards. Raises ValueError without a point."""
    low, high = min(p.seconds for p in points) / 1.3, max(p.seconds for p in points) * 1.3
    bottom, top = math.floor(min(p.psnr for p in points) - 0.5), math.ceil(max(p.psnr for p in points) + 0.5)

    def x(seconds: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * math.log(seconds / low) / math.log(high / low)

    def y(psnr: float) -> float:
        return _TOP + (_BOTTOM - _TOP) * (top - psnr) / (top - bottom)

    page = Svg(_WIDTH, _HEIGHT, "Error over time")
    for value in _steps(low, high):
        page.line((x(value), _TOP), (x(value), _BOTTOM), stroke=_GRID)
        page.text((x(value), _BOTTOM + 16), f"{value:g}", text_anchor="middle")
    for level in range(bottom, top + 1, max(1, (top - bottom) // 8)):
        page.line((_LEFT, y(level)), (_RIGHT, y(level)), stroke=_GRID)
        page.text((_LEFT - 8, y(level) + 4), f"{level}", text_anchor="end")
    best = front(points)
    for a, b in pairwise(best):
        page.line((x(a.seconds), y(a.psnr)), (x(b.seconds), y(b.psnr)), stroke=_GREEN, stroke_width=1.5)
    for p in points:
        tooltip = f"<title>{escape(p.name)}</title>"
        page.add("circle", tooltip, cx=x(p.seconds), cy=y(p.psnr), r=4, fill=_GREEN if p in best else _GRAY)
    taken: list[tuple[float, float]] = []
    for p in [*best, *(p for p in points if p not in best)]:
        # The rising front never crosses a name below its point. A name without room is left to the tooltip.
        at = (x(p.seconds) + 6, y(p.psnr) + 16)
        if not any(abs(at[0] - left) < 7 * len(p.name) and abs(at[1] - base) < _LINE for left, base in taken):
            page.text(at, p.name)
            taken.append(at)
    page.text(((_LEFT + _RIGHT) / 2, _HEIGHT - 10), "mean seconds per image", text_anchor="middle")
    turned = f"translate(16 {(_TOP + _BOTTOM) / 2}) rotate(-90)"
    page.text((0, 0), "median PSNR, dB", text_anchor="middle", transform=turned)
    return page.markup()
