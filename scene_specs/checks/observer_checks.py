"""Checks of the observers of a frame, and of constraints in their frames of reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diorama.scene_specs.checks.object_checks import object_diagnostics
from diorama.scene_specs.files.strict_json import Path
from diorama.scene_specs.language.diagnostics import PathDiagnostic, did_you_mean, preview_json, unexpected
from diorama.scene_specs.language.model_names import has_front
from diorama.scene_specs.language.person import is_person
from diorama.scene_specs.language.vocabulary import CONTACTS
from diorama.scene_specs.model.scene import SceneFrame
from diorama.scene_specs.model.spec import FrameSpec, ObjectSpec, object_name
from diorama.scene_specs.model.stage import Stage


def observer_diagnostics(
    frame: FrameSpec, names: Sequence[str], stage: Stage | None, at: Path
) -> Iterator[PathDiagnostic]:
    """Report problems of observers.

    Args:
        names: of the objects of the frame.
        stage: None if it is unknown.
    """
    if frame.pointer is not None:
        yield PathDiagnostic(at, "found observers in a frame with a pointer; allowed: one of them")
    if any(constraint.relation in CONTACTS for constraint in frame.constraints):
        yield PathDiagnostic(at, "found observers in a frame with relations of contact; allowed: one of them")
    if stage is not None and (stage.ground is None or stage.places is not None):
        yield PathDiagnostic(at, f"found observers; stage {stage.name!r} has no ground to stand on")
    taken = [*names]
    for index, person in enumerate(frame.observers):
        here = (*at, index)
        if person.name in taken:
            problem = f"found {preview_json(person.name)}, the name of another object or observer"
            yield PathDiagnostic((*here, "name"), problem, "give each a name of its own")
        taken.append(person.name)
        allowed = f"a point, or an object of this frame: {', '.join(names) or 'there is none'}"
        yield from _unknown_target(person.looks_at, names, allowed, here)
        yield from object_diagnostics(ObjectSpec(color=person.color, size=person.size), stage, here)


def viewpoint_diagnostics(frame: FrameSpec, at: Path) -> Iterator[PathDiagnostic]:
    """Report constraints on sides that nobody sees: of a viewer that is no observer, and has no front of its own."""
    fronted = {
        object_name(item, index)
        for index, item in enumerate(frame.objects)
        if item.front_deg is not None or has_front(item.shape) or is_person(item.shape)
    }
    for index, constraint in enumerate(frame.constraints):
        viewer, path = constraint.seen_from, (*at, "constraints", index, "seen_from")
        people = [person.name for person in frame.observers if person.name != constraint.subject]
        if viewer is None or constraint.relation is None:
            continue
        if constraint.relation in CONTACTS:
            problem = f"given for relation {preview_json(constraint.relation)}"
            yield PathDiagnostic(path, f"{problem}; allowed: only for left, right, front and behind")
            continue
        if viewer not in people and (viewer != constraint.of or viewer not in fronted):
            whose = f"an observer other than the subject ({', '.join(people) or 'there is none'}), or the name in `of`"
            own = [constraint.of] if constraint.of in fronted else []
            kinds = "if this is a person, a model of an airplane, boat, car, chair or sofa, or has front_deg"
            yield unexpected(path, viewer, f"{whose} {kinds}", did_you_mean(viewer, [*people, *own]))
        if not frame.observers and any(other.relation in CONTACTS for other in frame.constraints):
            allowed = "seen_from, or relations of contact or distance"
            yield PathDiagnostic(path, f"found in a frame with a relation of contact or distance; allowed: {allowed}")


def observer_index_diagnostics(frame: SceneFrame, at: Path) -> Iterator[PathDiagnostic]:
    """Report observers of a Scene that are not people, are the same person, are tilted, or have no target."""
    people = {item.index: item for item in frame.objects if is_person(item.shape)}
    for index, observer in enumerate(frame.observers):
        known = ", ".join(map(str, people)) or "none, as no other object of this frame is a person"
        person = people.pop(observer.index, None)
        if person is None:
            yield unexpected((*at, index, "index"), observer.index, known)
        elif person.rotation_deg[:2] != (0.0, 0.0):
            path = (*at[:-1], "objects", observer.index - 1, "rotation_deg")
            yield unexpected(path, person.rotation_deg, "[0, 0, any angle], as observers stand upright")
        names = [item.name for item in frame.objects if item.index != observer.index]
        yield from _unknown_target(observer.looks_at, names, ", ".join(names), (*at, index))


def _unknown_target(target: object, names: Sequence[str], allowed: str, at: Path) -> Iterator[PathDiagnostic]:
    if isinstance(target, str) and target not in names:
        yield unexpected((*at, "looks_at"), target, allowed, did_you_mean(target, names))
