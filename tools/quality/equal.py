"""The recipe against a profile at equal error, scene by scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tools.quality.report import Row

# Mean squared error falls as one over samples, and so over time: ten times the time, ten dB.
_DB_A_DECADE = 10.0


@dataclass(frozen=True)
class Comparison:
    """One scene. recipe: seconds that the recipe needs for `psnr`, all in; its picture alone; CPU seconds, all in.

    seconds, cpu: ours. beyond: the recipe's figures are extrapolated, because no measured count reaches this error.
    """

    scene: str
    psnr: float
    seconds: float
    cpu: float
    recipe: float
    recipe_picture: float
    recipe_cpu: float
    beyond: bool


def cost_at(psnr: float, curve: Sequence[tuple[float, float]]) -> tuple[float, bool]:
    """Cost of a picture with this PSNR, and whether it lies beyond the curve.

    curve: (PSNR, cost) with growing cost, two points or more. Between points the logarithm of the cost is interpolated;
    beyond them ten times the cost is ten dB. A costlier picture that came out worse counts as good as the one before.
    """
    errors = np.maximum.accumulate([point[0] for point in curve])
    costs = np.log10([point[1] for point in curve])
    if psnr > errors[-1]:
        return float(10 ** (costs[-1] + (psnr - errors[-1]) / _DB_A_DECADE)), True
    if psnr < errors[0]:
        return float(10 ** (costs[0] - (errors[0] - psnr) / _DB_A_DECADE)), True
    return float(10 ** np.interp(psnr, errors, costs)), False


def compare(ours: Row, recipe: Sequence[Row]) -> list[Comparison]:
    """Scene by scene. recipe: rows of growing sample counts over the same scenes, two or more."""
    made = []
    for k, result in enumerate(ours.results):
        psnr = ours.errors[k].psnr
        points = [(row.errors[k].psnr, row.results[k]) for row in recipe]
        whole, beyond = cost_at(psnr, [(p, r.total) for p, r in points])
        picture, _ = cost_at(psnr, [(p, r.seconds["sampling"]) for p, r in points])
        cpu, _ = cost_at(psnr, [(p, r.cpu) for p, r in points])
        made.append(Comparison(result.scene, psnr, result.total, result.cpu, whole, picture, cpu, beyond))
    return [each for each in made if math.isfinite(each.psnr)]
