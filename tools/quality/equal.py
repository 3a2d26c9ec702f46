"""Compare the published recipe with a profile: throughput, error, and cost at equal error, scene by scene."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diorama.scene_specs.language.tables import markdown_table
from tools.quality.report import Row
from tools.quality.results import Result

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
