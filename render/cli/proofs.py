"""The proofs of `render-specs check --prove`, and the reading of one benchmark's own episodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from render.model.record import EpisodeRecord
    from scene_specs.language.errors import Diagnostic
    from scene_specs.reading.source import Item, SpecSource


@dataclass(frozen=True)
class Proof:
    """Why a benchmark's episode is wrong, "" if it is right. Both raise SpecError for what can't be read.

    spec: given an episode's JSON data. record: given what was rendered.
    """

    spec: Callable[[dict[str, Any]], str]
    record: Callable[[EpisodeRecord], str]


def proof_of(task: Mapping[str, Any] | None) -> Proof:
    """How an episode with this `task` is proved; what names no benchmark of ours is read as MEWL's."""
    make = _PROOFS.get(str((task or {}).get("benchmark")), _mewl)
    return make()


def _mewl() -> Proof:
    from scene_specs.benchmarks.mewl.verify import verify_record, verify_spec

    return Proof(verify_spec, verify_record)


def _iwisdm() -> Proof:
    from render.cli.specs_iwisdm import verify_record, verify_spec

    return Proof(verify_spec, verify_record)


def _icca() -> Proof:
    from render.cli.specs_icca import verify_record, verify_spec

    return Proof(verify_spec, verify_record)


def _kilogram() -> Proof:
    from scene_specs.benchmarks.kilogram.verify import verify_record, verify_spec

    return Proof(verify_spec, verify_record)


def _malevic() -> Proof:
    from scene_specs.benchmarks.malevic.verify import verify_record, verify_spec

    return Proof(verify_spec, verify_record)


# Imported when first needed: most runs have one benchmark's episodes.
_PROOFS: dict[str, Callable[[], Proof]] = {
    "icca": _icca,
    "iwisdm": _iwisdm,
    "kilogram": _kilogram,
    "malevic": _malevic,
}


def placed(diagnostic: Diagnostic, file: str, line: int) -> Diagnostic:
    """The diagnostic, with the place it was found at."""
    from dataclasses import replace

    return replace(diagnostic, file=file, line=line)


def proof_faults(source: SpecSource) -> Iterator[Diagnostic]:
    """Verify the episodes of checked files by the rules of their benchmark; yields a diagnostic for each failure."""
    from scene_specs.language.errors import Diagnostic, SpecError

    for item in source:
        try:
            data = item.episode.model_dump(mode="json", exclude_none=True)
            reason = proof_of(data.get("task")).spec(data)
        except SpecError as error:
            yield from (placed(diagnostic, item.file, item.line) for diagnostic in error.diagnostics)
            continue
        if reason:
            yield Diagnostic(item.file, item.line, item.episode.id, "task", reason)


def store_faults(path: str) -> tuple[list[Diagnostic], int]:
    """The same for the rendered truth in a store, and how many episodes were proved.

    A damaged episode is a diagnostic of its own. Raises StoreError where the store can't be opened.
    """
    from render.export.protocol import ExportReport, iter_valid_records
    from render.store import open_store
    from scene_specs.language.errors import Diagnostic, SpecError

    store = open_store(path)
    diagnostics: list[Diagnostic] = []
    proved = 0
    report = ExportReport()
    try:
        ids = sorted(key for key, _ in store.ids())
        for record in iter_valid_records(store, ids, report, lambda _: None):
            try:
                reason = proof_of(record.scene.task).record(record)
            except SpecError as error:
                diagnostics += [placed(diagnostic, path, 0) for diagnostic in error.diagnostics]
                continue
            if reason:
                diagnostics.append(Diagnostic(path, 0, record.episode_id, "task", reason))
            else:
                proved += 1
    finally:
        store.close()
    return [*diagnostics, *(Diagnostic(path, 0, "", "", line) for line in report.damaged)], proved


def checked(files: tuple[str, ...]) -> Iterator[tuple[Item, dict[str, Any]]]:
    """Each episode with its JSON data, once all files were found to be right. Raises SpecError with all faults."""
    from scene_specs.language.errors import SpecError
    from scene_specs.reading.source import SpecSource

    with SpecSource(files) as source:
        diagnostics, _ = source.check()
        if diagnostics:
            raise SpecError(diagnostics)
        for item in source:
            yield item, item.episode.model_dump(mode="json", exclude_none=True)


def data_of(files: tuple[str, ...], benchmark: str) -> Iterator[dict[str, Any]]:
    """Each episode as JSON data. Raises SpecError for specs that are wrong, or of another benchmark."""
    from scene_specs.language.errors import Diagnostic, SpecError

    for item, data in checked(files):
        found = (data.get("task") or {}).get("benchmark")
        if found != benchmark:
            problem = f"found benchmark {found!r}; expected {benchmark!r}"
            raise SpecError([Diagnostic(item.file, item.line, item.episode.id, "task", problem)])
        yield data
