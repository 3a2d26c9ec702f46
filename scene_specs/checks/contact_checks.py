"""Checks of relations of contact and distance: their keys, supports, stages without ground."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from diorama.scene_specs.language.diagnostics import PathDiagnostic, preview_json
from diorama.scene_specs.language.spec import ConstraintSpec, FrameSpec
from diorama.scene_specs.language.stage import Stage
from diorama.scene_specs.language.strict_json import Path
from diorama.scene_specs.language.vocabulary import CONTACTS, SUPPORTED


def contact_diagnostics(frame: FrameSpec, stage: Stage | None, at: Path) -> Iterator[PathDiagnostic]:
    """Report relations of contact and distance that no layout satisfies."""
    carriers: dict[str, str] = {}
    for index, constraint in enumerate(frame.constraints):
        path, relation = (*at, "constraints", index), constraint.relation
        if (constraint.other is not None) != (relation == "between"):
            yield PathDiagnostic(path, "between has other, a second object; allowed: both, or neither")
        if relation not in CONTACTS:
            continue
        if constraint.margin is not None:
            problem = f"given for relation {preview_json(relation)}; allowed: only for left, right, front and behind"
            yield PathDiagnostic((*path, "margin"), problem)
        if stage is not None and (stage.ground is None or stage.places is not None):
            problem = f"found {preview_json(relation)}; stage {stage.name!r} has no ground to stand on"
            yield PathDiagnostic((*path, "relation"), problem)
        if frame.pointer is not None:
            yield PathDiagnostic((*path, "relation"), f"found {preview_json(relation)} in a frame with a pointer")
        if relation not in SUPPORTED or constraint.subject is None or constraint.of is None:
            continue
        chain = [constraint.of]
        while chain[-1] in carriers and len(chain) <= len(carriers):
            chain.append(carriers[chain[-1]])
        if constraint.subject in carriers:
            problem = f"{constraint.subject} has two supports, {carriers[constraint.subject]} and {constraint.of}"
            yield PathDiagnostic(path, problem, "state one of them")
        elif constraint.subject in chain:
            cycle = " on ".join([constraint.subject, *chain[: chain.index(constraint.subject) + 1]])
            yield PathDiagnostic(path, f"contradictory relations: {cycle}", "leave one of them out")
        else:
            carriers[constraint.subject] = constraint.of
    yield from _raised_diagnostics(frame, at)


def _raised_diagnostics(frame: FrameSpec, at: Path) -> Iterator[PathDiagnostic]:
    """Report objects that would float: beside an object that stands on another one, or leaning on it."""
    carriers = {name: of for name, (_, of) in supports(frame.constraints).items()}
    for index, constraint in enumerate(frame.constraints):
        subject, of, relation = constraint.subject, constraint.of, constraint.relation
        if subject is None or of is None or relation not in ("touching", "leaning"):
            continue
        if relation == "touching" and (carriers.get(subject) == of or carriers.get(of) == subject):
            continue
        for name in (subject, of) if relation == "touching" else (of,):
            if name in carriers:
                problem = f"{carriers[name]} carries {name}, so {of if name == subject else subject} would float"
                hint = f"use {relation} for objects that stand on the ground"
                yield PathDiagnostic((*at, "constraints", index), problem, hint)
                break


def supports(constraints: Iterable[ConstraintSpec]) -> dict[str, tuple[str, str]]:
    """Return object -> how and by which object it is carried: as stated, or on what is stated to be under it."""
    found: dict[str, tuple[str, str]] = {}
    for c in sorted(constraints, key=lambda c: c.relation == "under"):
        if c.subject is not None and c.of is not None and c.relation in (*SUPPORTED, "under"):
            above, below = (c.of, c.subject) if c.relation == "under" else (c.subject, c.of)
            found.setdefault(above, ("on" if c.relation == "under" else c.relation, below))
    return found
