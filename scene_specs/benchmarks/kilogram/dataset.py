"""Tangrams with their descriptions and splits: ours, or those of folders and files in the published form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from scene_specs.benchmarks.kilogram.annotations import Annotation, Annotations, read_annotations
from scene_specs.benchmarks.kilogram.figure import Figure, figure_of
from scene_specs.benchmarks.kilogram.own import own_annotations, own_tangrams
from scene_specs.benchmarks.kilogram.report import Measured, measure
from scene_specs.benchmarks.kilogram.svg import SvgError, read_svg
from scene_specs.language.diagnostics import preview_json
from scene_specs.language.errors import Diagnostic, SpecError
from scene_specs.language.rng import generator

SPLITS: tuple[str, ...] = ("train", "val", "dev", "heldout", "dense")
# The published sizes, of 1,016 tangrams; validation is one annotation of each of 240 training tangrams.
PUBLISHED: Mapping[str, int] = MappingProxyType({"train": 692, "dev": 125, "heldout": 125, "dense": 74})
VALIDATION = (240, 692)
# Ours: no tangram is described often enough for a dense split, and smaller splits would have no ten to choose from.
OWN: Mapping[str, int] = MappingProxyType({"train": 3, "dev": 1, "heldout": 1})
_MOST_BYTES = 512 << 20


@dataclass(frozen=True)
class Dataset:
    """figures: by tangram. splits: train, dev, ... -> tangrams, sorted, each in one. val: the training tangrams whose
    first annotation is for validation. measured: of each drawing. diagnostics: all that was wrong or left out.
    """

    figures: Mapping[str, Figure]
    annotations: Annotations
    splits: Mapping[str, tuple[str, ...]]
    val: tuple[str, ...]
    measured: tuple[Measured, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def of_split(self, split: str) -> Annotations:
        """The descriptions of a split, or of `all`: tangram -> annotations, those without any left out.

        Validation is the first annotation of its tangrams; training is without them.
        """
        if split not in (*SPLITS, "all"):
            raise SpecError(
                [
                    Diagnostic(
                        "", 0, "", "", f"found split {preview_json(split)}; allowed: {', '.join((*SPLITS, 'all'))}"
                    )
                ]
            )
        held = {*self.val}
        if split == "all":
            found = dict(self.annotations)
        elif split == "val":
            found = {name: self.annotations[name][:1] for name in self.val}
        else:
            found = {name: self.annotations[name] for name in self.splits.get(split, ())}
            if split == "train":
                found = {name: items[1:] if name in held else items for name, items in found.items()}
        return {name: found[name] for name in sorted(found) if found[name]}


def _order(names: Iterable[str], seed: int, purpose: str) -> list[str]:
    """The names in a random order that hangs on each name and the seed alone."""
    return sorted(names, key=lambda name: (generator(seed, f"kilogram/{name}", purpose).integers(2**62), name))


def drawn_splits(names: Sequence[str], shares: Mapping[str, int], seed: int) -> dict[str, tuple[str, ...]]:
    """Disjoint splits in these proportions, from the seed."""
    order, whole = _order(names, seed, "split"), sum(shares.values())
    made, start, sofar = {}, 0, 0
    for split, share in shares.items():
        sofar += share
        end = round(len(order) * sofar / whole)
        made[split] = tuple(sorted(order[start:end]))
        start = end
    return made


def drawn_validation(
    annotations: Mapping[str, tuple[Annotation, ...]], train: Sequence[str], seed: int
) -> tuple[str, ...]:
    """The published share of the training tangrams, of those with two annotations, so that one is left to learn."""
    able = [name for name in train if len(annotations.get(name, ())) > 1]
    return tuple(sorted(_order(able, seed, "validation")[: len(train) * VALIDATION[0] // VALIDATION[1]]))


def own_dataset(seed: int = 0) -> Dataset:
    """Our own tangrams."""
    annotations = own_annotations()
    figures = {one.name: figure_of(one) for one in own_tangrams()}
    splits = drawn_splits(sorted(figures), OWN, seed)
    return Dataset(figures, annotations, splits, drawn_validation(annotations, splits["train"], seed))


def read_dataset(
    folder: Path, files: Sequence[Path], splits: Path | None = None, seed: int = 0, strict: bool = False
) -> Dataset:
    """Drawings `<tangram>.svg` of a folder, annotation files, and a split file ({"train": [tangram, ...], ...}).

    What can't be read is left out, and said in `diagnostics`. strict: it is an error, and so is every drawing that
    the report (kilogram.report) rejects. Raises SpecError where nothing is left, or for diagnostics where strict.
    """
    figures, measured, diagnostics = read_drawings(folder)
    annotations: Annotations = {}
    for path in files:
        found, wrong = read_annotations(text_of(path), str(path))
        diagnostics += wrong
        for name in sorted(annotations.keys() & found.keys()):
            diagnostics.append(
                Diagnostic(str(path), 0, name, "", "is in a file before this one, too; that one is taken")
            )
        annotations = {**found, **annotations}
    for name in sorted(annotations.keys() - figures.keys()):
        diagnostics.append(
            Diagnostic(str(folder), 0, name, "", f"is described, but {name}.svg can't be used or isn't there")
        )
    usable = {name: annotations[name] for name in sorted(annotations) if name in figures}
    if not usable:
        diagnostics.append(
            Diagnostic(str(folder), 0, "", "", "no tangram is left that has a drawing and a description")
        )
    if diagnostics and (strict or not usable):
        raise SpecError(diagnostics)
    if splits is None:
        parted = drawn_splits(sorted(usable), PUBLISHED, seed)
        val = drawn_validation(usable, parted["train"], seed)
    else:
        parted, val, wrong = read_splits(text_of(splits), str(splits), usable, seed)
        diagnostics += wrong
        if wrong and strict:
            raise SpecError(diagnostics)
    return Dataset(figures, usable, parted, val, tuple(measured), tuple(diagnostics))


def read_drawings(folder: Path) -> tuple[dict[str, Figure], list[Measured], list[Diagnostic]]:
    """All drawings of a folder: by name, measured, and a diagnostic for each unreadable or invalid one."""
    figures: dict[str, Figure] = {}
    measured: list[Measured] = []
    diagnostics: list[Diagnostic] = []
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".svg") if folder.is_dir() else []
    if not paths:
        diagnostics.append(Diagnostic(str(folder), 0, "", "", "no .svg files here; expected one a tangram"))
    for path in paths:
        try:
            figure = read_svg(path)
        except SvgError as error:
            diagnostics.append(Diagnostic(str(path), 0, "", "", str(error).removeprefix(f"{path}: ")))
            continue
        figures[figure.name] = figure
        measured.append(measure(figure))
        diagnostics += [Diagnostic(str(path), 0, "", "", diagnostic) for diagnostic in measured[-1].diagnostics]
    return figures, measured, diagnostics


def read_splits(
    text: str, file: str, annotations: Mapping[str, tuple[Annotation, ...]], seed: int
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...], list[Diagnostic]]:
    """Splits by a file's text, which may list `val`, too; names that can't be used are left out, with a fault."""
    diagnostics: list[Diagnostic] = []
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError([Diagnostic(file, 0, "", "", f"no JSON: {error}")]) from error
    good = isinstance(data, dict) and all(
        isinstance(names, list) and all(isinstance(name, str) for name in names) for names in data.values()
    )
    if not good or not {*data} <= {*SPLITS}:
        problem = f"found {preview_json(data)}; expected lists of tangrams by {', '.join(SPLITS)}"
        raise SpecError([Diagnostic(file, 0, "", "", problem)])
    seen: dict[str, str] = {}
    made: dict[str, tuple[str, ...]] = {}
    for split in (one for one in SPLITS if one in data and one != "val"):
        kept = []
        for name in data[split]:
            if name in seen:
                diagnostics.append(Diagnostic(file, 0, name, split, f"is in {seen[name]}, too, where it stays"))
            elif name not in annotations:
                diagnostics.append(Diagnostic(file, 0, name, split, "has no drawing or no description"))
            else:
                seen[name] = split
                kept.append(name)
        made[split] = tuple(sorted(kept))
    train = made.get("train", ())
    if "val" not in data:
        return made, drawn_validation(annotations, train, seed), diagnostics
    outside = sorted({*data["val"]} - {*train})
    diagnostics += [
        Diagnostic(file, 0, name, "val", "is no usable training tangram, as validation has to be") for name in outside
    ]
    return made, tuple(sorted({*data["val"]} & {*train})), diagnostics


def text_of(path: Path) -> str:
    """What a file holds, UTF-8. Raises SpecError."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise SpecError([Diagnostic(str(path), 0, "", "", f"larger than {_MOST_BYTES >> 20} MiB")])
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError([Diagnostic(str(path), 0, "", "", f"can't be read: {error}")]) from error
