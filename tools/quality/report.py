"""Report results as figures and Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diorama.render.model.errors import UsageError
from diorama.scene_specs.language.tables import markdown_table
from tools.quality.metrics import Errors, Picture, errors
from tools.quality.references import load_reference
from tools.quality.results import Result, candidates_in, results_in
from tools.quality.scenes import TestScene

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
    made = []
    known = {scene.name: load_reference(references, scene).picture for scene in shared}
    for name, each in found.items():
        results = tuple(each[scene.name] for scene in shared)
        made.append(Row(name, results, tuple(_errors(known[result.scene], result) for result in results)))
    return sorted((row for row in made if row.results), key=lambda row: row.seconds())


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
    names = [result.scene for result in made[0].results] if made else []
    lines = [[name, *(f"{getattr(row.errors[k], measure):{form}}" for row in made)] for k, name in enumerate(names)]
    return markdown_table(["scene", *(row.name for row in made)], lines)


def tries(made: Sequence[Row]) -> str:
    """Return a table of tries with prediction and result against their base; empty if no try and base were measured."""
    by_name = {row.name: row for row in made}
    lines = []
    for row in made:
        about = row.results[0].about
        base = by_name.get(about.get("base", ""))
        if base is None or base is row:
            continue
        gained = [b.psnr - a.psnr for a, b in zip(base.errors, row.errors, strict=True)]
        result = (
            f"{statistics.median(gained):+.2f} dB on the median scene, {min(gained):+.2f} to {max(gained):+.2f}; "
            f"FLIP {row.median('flip') - base.median('flip'):+.4f}; "
            f"{row.seconds() / base.seconds():.2f} of the time, {row.cpu / base.cpu:.2f} of the CPU"
        )
        lines.append([row.name, about.get("change", ""), about.get("prediction", "") or "none", result])
    return markdown_table(["try", "change", "prediction", "result"], lines) if lines else ""


def truths_differ(made: Sequence[Row]) -> list[str]:
    """Return the scenes whose boxes or masks differ between candidates, with the groups that agree."""
    wrong = []
    for k in range(len(made[0].results) if made else 0):
        groups: dict[str, list[str]] = {}
        for row in made:
            groups.setdefault(row.results[k].truth, []).append(row.name)
        if len(groups) > 1:
            wrong.append(f"{made[0].results[k].scene}: " + " against ".join(", ".join(g) for g in groups.values()))
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
