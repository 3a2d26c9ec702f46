"""`render-specs mewl | audit | captions`, and the proofs of `render-specs check --prove`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli.common import whole_file

if TYPE_CHECKING:
    from scene_specs.errors import Fault
    from scene_specs.reading import SpecSource

_FILES = "FILES are .json and .jsonl files, folders, globs, and - for standard input."
_OUT = click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout.")
_TASKS = ["shape", "color", "material", "object", "composite", "relation", "bootstrap", "number", "pragmatic"]


@click.command()
@click.option("--task", type=click.Choice([*_TASKS, "all"]), default="all", show_default=True)
@click.option("--split", type=click.Choice(["train", "val", "test", "all"]), default="all", show_default=True)
@click.option("--count", type=click.IntRange(0), help="Episodes a task and split [default: 3000, 600, 600].")
@click.option("--first", type=click.IntRange(0), default=0, show_default=True, help="Number of the first episode.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option("--balanced-options", is_flag=True, help="Leave out options that are known to be wrong without looking.")
@_OUT
def mewl(
    task: str, split: str, count: int | None, first: int, seed: int, balanced_options: bool, out: Path | None
) -> None:
    """Generate MEWL episodes, one a line; each is proved before it is written.

    An episode depends on its seed, split, task and number only: `--first 42 --count 1` writes number 42 as
    `--count 100` does.
    """
    from scene_specs.mewl.generate import COUNTS, TASKS, mewl_spec
    from scene_specs.mewl.words import SPLITS

    with whole_file(out) as stream:
        for name in SPLITS if split == "all" else (split,):
            for one in TASKS if task == "all" else (task,):
                for number in range(first, first + (COUNTS[name] if count is None else count)):
                    spec = mewl_spec(seed, name, one, number, balanced_options)
                    stream.write(json.dumps(spec, separators=(",", ":")) + "\n")


@click.command(epilog=_FILES)
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="The numbers as JSON instead of tables.")
@_OUT
def audit(files: tuple[str, ...], as_json: bool, out: Path | None) -> None:
    """Say what a guesser gets of MEWL episodes that never sees a picture, and whether what is drawn is balanced.

    Percent of answers found, beside chance and its standard error; then chi-square probabilities of equal frequencies:
    position of the answer, attributes of the query's first object, what the answer is about.
    """
    from scene_specs.mewl.audit import audit as audited
    from scene_specs.mewl.audit import tables

    rows = audited(data for _, data in _mewl_data(files))
    with whole_file(out) as stream:
        stream.write(json.dumps(rows, indent=1) + "\n" if as_json else tables(rows))


@click.command(epilog=_FILES)
@click.argument("files", nargs=-1, required=True)
@_OUT
def captions(files: tuple[str, ...], out: Path | None) -> None:
    """Write MEWL episodes as text, one a line: captions, names, options, and prompts for models that read only text."""
    from scene_specs.mewl.captions import questions

    with whole_file(out) as stream:
        for _, data in _mewl_data(files):
            stream.write(json.dumps(questions(data), separators=(",", ":")) + "\n")


def _mewl_data(files: tuple[str, ...]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Each episode with its JSON data. Raises SpecError for specs that are wrong or no MEWL episodes."""
    from scene_specs.errors import SpecError
    from scene_specs.mewl.view import learner_view
    from scene_specs.reading import SpecSource

    with SpecSource(files) as source:
        faults, _ = source.check()
        if faults:
            raise SpecError(faults)
        for item in source:
            data = item.episode.model_dump(mode="json", exclude_none=True)
            try:
                learner_view(data)
            except SpecError as error:
                raise SpecError([_placed(fault, item.file, item.line) for fault in error.faults]) from None
            yield item, data


def _placed(fault: Fault, file: str, line: int) -> Fault:
    from dataclasses import replace

    return replace(fault, file=file, line=line)


def proof_faults(source: SpecSource) -> Iterator[Fault]:
    """What is wrong with the episodes of checked files as those of their benchmark: a fault for each not proved."""
    from render.cli.specs_icca import spec_disproof as icca_disproof
    from render.cli.specs_iwisdm import spec_disproof
    from scene_specs.errors import Fault, SpecError
    from scene_specs.icca.prove import is_icca
    from scene_specs.iwisdm.prove import is_iwisdm
    from scene_specs.kilogram import prove as kilogram
    from scene_specs.malevic.prove import disproof, is_malevic
    from scene_specs.mewl.prove import prove
    from scene_specs.mewl.view import learner_view

    for item in source:
        try:
            data = item.episode.model_dump(mode="json", exclude_none=True)
            task = data.get("task") or {}
            if is_iwisdm(task):
                if reason := spec_disproof(data):
                    yield Fault(item.file, item.line, item.episode.id, "task", reason)
                continue
            if kilogram.is_kilogram(task):
                if reason := kilogram.disproof(task, kilogram.frames_of(data)):
                    yield Fault(item.file, item.line, item.episode.id, "task", reason)
                continue
            if is_malevic(task) or is_icca(task):
                if reason := disproof(data) if is_malevic(task) else icca_disproof(data):
                    yield Fault(item.file, item.line, item.episode.id, "task", reason)
                continue
            # Imported episodes keep their map as the importer found it.
            words = task.get("words") or task.get("lexicon")
            verdict = prove(learner_view(data), task.get("answer", ""), words)
        except SpecError as error:
            yield from (_placed(fault, item.file, item.line) for fault in error.faults)
            continue
        if not verdict.ok:
            yield Fault(item.file, item.line, item.episode.id, "task", verdict.reason)


def store_faults(path: str) -> tuple[list[Fault], int]:
    """The same for the rendered truth in a store, and how many episodes were proved.

    A damaged episode is a fault of its own. Raises StoreError where the store can't be opened.
    """
    from render.cli.specs_icca import record_disproof as icca_disproof
    from render.cli.specs_iwisdm import record_disproof
    from render.export._kilogram_truth import record_disproof as kilogram_disproof
    from render.export._malevic_truth import record_disproof as malevic_disproof
    from render.export._mewl_truth import prove_record
    from render.export.base import ExportReport, whole_records
    from render.store import open_store
    from scene_specs.errors import Fault, SpecError
    from scene_specs.icca.prove import is_icca
    from scene_specs.iwisdm.prove import is_iwisdm
    from scene_specs.kilogram.prove import is_kilogram
    from scene_specs.malevic.prove import is_malevic

    store = open_store(path)
    faults: list[Fault] = []
    proved = 0
    report = ExportReport()
    try:
        ids = sorted(key for key, _ in store.ids())
        for record in whole_records(store, ids, report, lambda _: None):
            try:
                mine = is_iwisdm(record.scene.task)
                if is_icca(record.scene.task):
                    reason = icca_disproof(record)
                elif is_kilogram(record.scene.task):
                    reason = kilogram_disproof(record)
                elif is_malevic(record.scene.task):
                    reason = malevic_disproof(record)
                else:
                    reason = record_disproof(record) if mine else prove_record(record).reason
            except SpecError as error:
                faults += [_placed(fault, path, 0) for fault in error.faults]
                continue
            if reason:
                faults.append(Fault(path, 0, record.episode_id, "task", reason))
            else:
                proved += 1
    finally:
        store.close()
    return [*faults, *(Fault(path, 0, "", "", line) for line in report.damaged)], proved
