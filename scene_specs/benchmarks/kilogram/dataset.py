"""Data sets of tangrams with descriptions and splits: Diorama's own, or files in the published form."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from itertools import accumulate, pairwise
from math import isfinite
from pathlib import Path

from diorama.scene_specs.benchmarks.kilogram import Drawings
from diorama.scene_specs.benchmarks.kilogram.annotations import (
    Annotation,
    Annotations,
    log_diagnostics,
    read_annotations,
)
from diorama.scene_specs.benchmarks.kilogram.pieces import Figure, Root2, Tangram, figure_of
from diorama.scene_specs.benchmarks.kilogram.report import Measured, measure
from diorama.scene_specs.benchmarks.kilogram.svg import SvgError, read_svg
from diorama.scene_specs.errors import Diagnostic, SpecError, counted, spec_error
from diorama.scene_specs.files.foreign import parse_json, read_text
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.language.validation import of_form
from diorama.scene_specs.tasks.benchmark import Result

SPLITS: tuple[str, ...] = ("train", "val", "dev", "heldout", "dense")
# Published split sizes, of 1,016 tangrams. Validation is one annotation of each of 240 training tangrams.
PUBLISHED: Mapping[str, int] = {"train": 692, "dev": 125, "heldout": 125, "dense": 74}
VALIDATION = (240, 692)
# Shares of Diorama's own tangrams. None has enough descriptions for a dense split, and games need ten tangrams.
OWN: Mapping[str, int] = {"train": 3, "dev": 1, "heldout": 1}
# Built by diorama.assets.build.tangrams.
OWN_FOLDER = Path(str(resources.files("diorama.assets"))) / "tangrams"
MOST_BYTES = 512 << 20
# Names of the published file that differ from ours.
_PUBLISHED_NAMES: Mapping[str, str] = {"development": "dev"}
_VALIDATION_FILES = re.compile(r"^val_files *= *\[([^\]]*)\]", re.MULTILINE)


@dataclass(frozen=True)
class Dataset:
    """A data set.

    Attributes:
        figures: by tangram.
        splits: train, dev, ... -> disjoint, sorted tangrams.
        val: training tangrams whose first annotation is for validation.
        measured: of each drawing.
        diagnostics: of everything invalid or left out.
        source: name and digest of the drawings; "" for Diorama's own.
    """

    figures: Mapping[str, Figure]
    annotations: Annotations
    splits: Mapping[str, tuple[str, ...]]
    val: tuple[str, ...]
    measured: tuple[Measured, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    source: str = ""

    def of_split(self, split: str) -> Annotations:
        """Return tangram -> annotations of a split or of `all`, without tangrams that have none.

        Validation has the first annotation of its tangrams; training has the others.
        """
        if split == "val":
            chosen = {name: self.annotations[name][:1] for name in self.val}
        else:
            names = self.annotations if split == "all" else self.splits.get(split, ())
            held = {*self.val} if split == "train" else ()
            chosen = {name: self.annotations[name][int(name in held) :] for name in names}
        return {name: chosen[name] for name in sorted(chosen) if chosen[name]}


def _seeded_order(names: Iterable[str], seed: int, purpose: str) -> list[str]:
    """Return the names in a random order that depends only on each name and the seed."""
    return sorted(names, key=lambda name: (generator(seed, f"kilogram/{name}", purpose).integers(2**62), name))


def drawn_splits(names: Sequence[str], shares: Mapping[str, int], seed: int) -> dict[str, tuple[str, ...]]:
    """Draw disjoint splits in these proportions."""
    order, total = _seeded_order(names, seed, "split"), sum(shares.values())
    ends = [round(len(order) * part / total) for part in accumulate(shares.values(), initial=0)]
    return {split: tuple(sorted(order[start:end])) for split, (start, end) in zip(shares, pairwise(ends), strict=True)}


def drawn_validation(
    annotations: Mapping[str, tuple[Annotation, ...]], train: Sequence[str], seed: int
) -> tuple[str, ...]:
    """Draw the published share of training tangrams, among those with two annotations, so that one is left to train."""
    able = [name for name in train if len(annotations.get(name, ())) > 1]
    return tuple(sorted(_seeded_order(able, seed, "validation")[: len(train) * VALIDATION[0] // VALIDATION[1]]))


@lru_cache(maxsize=1)
def own_tangrams() -> tuple[Tangram, ...]:
    """Return all of Diorama's own tangrams, in the order of their names."""
    return tuple(
        Tangram(name, tuple(tuple((Root2(a, b), Root2(c, d)) for a, b, c, d in polygon) for polygon in polygons))
        for name, polygons in json.loads((OWN_FOLDER / "tangrams.json").read_text("utf-8"))["tangrams"].items()
    )


@lru_cache(maxsize=1)
def own_annotations() -> Annotations:
    """Return their descriptions. Raises ValueError if the file is damaged."""
    path = OWN_FOLDER / "annotations.json"
    annotations, diagnostics = read_annotations(path.read_text("utf-8"), path.name)
    if diagnostics:
        raise ValueError(f"Diorama's own descriptions are damaged: {diagnostics[0]}")
    return annotations


@lru_cache(maxsize=8)
def own_dataset(seed: int = 0) -> Dataset:
    """Return Diorama's own tangrams."""
    annotations = own_annotations()
    figures = {tangram.name: figure_of(tangram) for tangram in own_tangrams()}
    splits = drawn_splits(sorted(figures), OWN, seed)
    return Dataset(figures, annotations, splits, drawn_validation(annotations, splits["train"], seed))


def read_dataset(
    folder: Path, files: Sequence[Path], splits: Sequence[Path] = (), seed: int = 0, strict: bool = False
) -> Dataset:
    """Read drawings `<tangram>.svg` of a folder, annotation files, and split files ({"train": [tangram, ...], ...}).

    Invalid input is left out and listed in `diagnostics`, which also have the drawings that kilogram.report rejects.
    Raises SpecError if nothing is left, or for any diagnostic if `strict`.
    """
    figures, measured, diagnostics = read_drawings(folder)
    annotations: Annotations = {}
    for path in files:
        described, wrong = read_annotations(read_text(path, MOST_BYTES), str(path))
        diagnostics += wrong
        for name in sorted(annotations.keys() & described.keys()):
            problem = "is in a file before this one, too; that one is used"
            diagnostics.append(Diagnostic(str(path), 0, name, "", problem))
        annotations = {**described, **annotations}
    for name in sorted(annotations.keys() - figures.keys()):
        problem = f"is described, but {name}.svg is missing or can't be used"
        diagnostics.append(Diagnostic(str(folder), 0, name, "", problem))
    usable = {name: annotations[name] for name in sorted(annotations) if name in figures}
    if not usable:
        diagnostics.append(Diagnostic.of("no tangram is left that has a drawing and a description", file=str(folder)))
    if diagnostics and (strict or not usable):
        raise SpecError(diagnostics)
    if not splits:
        parted = drawn_splits(sorted(usable), PUBLISHED, seed)
        val = drawn_validation(usable, parted["train"], seed)
    else:
        parted, val, wrong = read_splits(splits, figures, usable, seed)
        # First, as published drawings have more diagnostics than are printed.
        diagnostics = wrong + diagnostics
        if wrong and strict:
            raise SpecError(diagnostics)
    return Dataset(figures, usable, parted, val, tuple(measured), tuple(diagnostics), source_of(folder, figures))


def source_of(folder: Path, figures: Mapping[str, Figure]) -> str:
    """Return the name of a folder of drawings and the digest of what they show."""
    return f"{folder.absolute().name}, sha256 {hashlib.sha256(repr(sorted(figures.items())).encode()).hexdigest()}"


def read_drawings(folder: Path) -> tuple[dict[str, Figure], list[Measured], list[Diagnostic]]:
    """Read all drawings of a folder: by name, measured, and diagnostics of unreadable or invalid ones.

    Drawings that can't be measured, and a second one of a name, are not among the figures.
    """
    figures: dict[str, Figure] = {}
    measured: list[Measured] = []
    diagnostics: list[Diagnostic] = []
    seen: dict[str, str] = {}
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".svg") if folder.is_dir() else []
    if not paths:
        diagnostics.append(Diagnostic.of("no .svg files here; expected one per tangram", file=str(folder)))
    for path in paths:
        try:
            figure = read_svg(path)
        except SvgError as error:
            diagnostics.append(Diagnostic.of(str(error).removeprefix(f"{path}: "), file=str(path)))
            continue
        if figure.name in seen:
            diagnostics.append(Diagnostic.of(f"is left out: {seen[figure.name]} has the same name", file=str(path)))
            continue
        seen[figure.name] = path.name
        measured.append(measure(figure))
        if measured[-1].clusters:
            figures[figure.name] = figure
        diagnostics += [Diagnostic.of(problem, file=str(path)) for problem in measured[-1].diagnostics]
    return figures, measured, diagnostics


def read_splits(
    files: Sequence[Path], figures: Container[str], annotations: Mapping[str, tuple[Annotation, ...]], seed: int
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...], list[Diagnostic]]:
    """Read splits, with or without `val`; unusable names are left out, with a diagnostic for all of them together."""
    diagnostics: list[Diagnostic] = []
    seen: dict[str, str] = {}
    splits: dict[str, list[str]] = {}
    listed = [(str(path), split, names) for path in files for split, names in _splits_in(path).items()]
    for file, split, names in listed:
        for name in names if split != "val" else ():
            if name in seen:
                diagnostics.append(Diagnostic(file, 0, name, split, f"is in {seen[name]}, too, where it stays"))
            else:
                seen[name] = split
                splits.setdefault(split, []).append(name)
    kept = {split: tuple(sorted({*names} & {*annotations})) for split, names in splits.items()}
    undrawn = sorted(name for name in seen if name not in figures)
    lacking = {"drawing": undrawn, "description": sorted({*seen} - {*undrawn} - {*annotations})}
    if parts := [_missing_text(what, names) for what, names in lacking.items() if names]:
        problem = f"leaves out {' and '.join(parts)}"
        diagnostics.append(Diagnostic.of(problem, file=", ".join(map(str, files))))
    if not any(split == "val" for _, split, _ in listed):
        return kept, drawn_validation(annotations, kept.get("train", ()), seed), diagnostics
    held = {name: file for file, split, names in listed if split == "val" for name in names}
    problem = "is not a training tangram, as validation requires"
    outside = sorted(name for name in held if seen.get(name) != "train")
    diagnostics += [Diagnostic(held[name], 0, name, "val", problem) for name in outside]
    return kept, tuple(sorted({*held} & {*kept.get("train", ())})), diagnostics


def _missing_text(what: str, names: Sequence[str]) -> str:
    return f"{counted(len(names), 'tangram')} without a {what} ({', '.join(names[:3])}{', ...' * (len(names) > 3)})"


def _splits_in(path: Path) -> dict[str, list[str]]:
    """Return the splits of a file, by our names: JSON, or the published Python file that lists validation."""
    text, file = read_text(path, MOST_BYTES), str(path)
    listed = _VALIDATION_FILES.search(text)
    data = {"val": re.findall(r"'([^'\n]*)'", listed[1])} if listed else parse_json(text, file)
    known, splits = (*SPLITS, *_PUBLISHED_NAMES), dict[str, list[str]]()
    problem = f"found {preview_json(data)}; expected lists of tangrams by {', '.join(known)}"
    for key, names in of_form(dict[str, list[str]], data, problem, file).items():
        if key not in known:
            raise spec_error(problem, file=file)
        splits.setdefault(_PUBLISHED_NAMES.get(key, key), []).extend(names)
    return splits


def check_drawings(options: Drawings) -> Result:
    """Return the result of `render-specs kilogram drawings`."""
    if options.annotations:
        dataset = read_dataset(options.folder, options.annotations, options.splits)
        measured, diagnostics = [*dataset.measured], [*dataset.diagnostics]
    else:
        _, measured, diagnostics = read_drawings(options.folder)
    # null for values that can't be measured: JSON has no NaN.
    rows = [
        {k: None if isinstance(v, float) and not isfinite(v) else v for k, v in asdict(drawing).items()}
        for drawing in measured
    ]
    listed = [{"file": d.file, "tangram": d.episode, "path": d.path, "problem": d.problem} for d in diagnostics]
    right = sum(not drawing.diagnostics for drawing in measured)
    lines = [*map(str, diagnostics), f"{counted(len(measured), 'drawing')} read, {right} without errors"]
    return Result({"drawings": rows, "faults": listed}, "\n".join(lines) + "\n", diagnostics if options.strict else ())


def read_drawn_dataset(svg: Path | None, file: Path | None, strict: bool) -> Dataset:
    """Return the drawings with their descriptions, with warnings of unusable ones. Raises SpecError if strict."""
    if svg is None:
        if file is not None:
            raise spec_error("descriptions are for drawings of your own; pass --svg, too", file=str(file))
        return own_dataset()
    annotations, wrong = ({}, []) if file is None else read_annotations(read_text(file, MOST_BYTES), str(file))
    figures, measured, unread = read_drawings(svg)
    # Inexact drawings and descriptions whose metadata differ are used: there are published ones.
    used = {problem for drawing in measured if drawing.name in figures for problem in drawing.diagnostics}
    left_out = [
        diagnostic
        for diagnostic in (*wrong, *unread)
        if diagnostic.problem not in used and not diagnostic.path.endswith(".metadata")
    ]
    if not figures or (wrong and not annotations) or (left_out and strict):
        raise SpecError(left_out)
    log_diagnostics(left_out, "; --strict makes them errors")
    return Dataset(figures, annotations, {}, (), source=source_of(svg, figures))
