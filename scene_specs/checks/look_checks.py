"""Checks of the look of an episode: whether it exists, whether the stage has a ground, and whether color words hold."""

from __future__ import annotations

from collections.abc import Iterator

from diorama.scene_specs.checks.object_checks import unknown
from diorama.scene_specs.language.diagnostics import PathDiagnostic, unexpected
from diorama.scene_specs.language.look import PLAIN, Look, LookError, load_look, look_names
from diorama.scene_specs.language.spec import EpisodeSpec, MaterialSpec
from diorama.scene_specs.language.stage import Stage
from diorama.scene_specs.language.strict_json import Path


def look_diagnostics(spec: EpisodeSpec, stage: Stage | None) -> Iterator[PathDiagnostic]:
    """Report what is wrong with the look of an episode; colors and materials that are drawn are not known here."""
    if spec.look is None:
        return
    chosen = spec.chosen_look()
    at: Path = ("look",) if isinstance(spec.look, str) else ("look", "name")
    found = list(unknown(chosen.name, look_names(), at))
    yield from found
    if found or chosen.name == PLAIN:
        return
    if stage is not None and stage.ground is None:
        yield PathDiagnostic(
            at, f"found {chosen.name!r}; stage {stage.name!r} has no ground, so it has no look but {PLAIN}"
        )
    try:
        look = load_look(chosen.name)
    except LookError as error:
        yield PathDiagnostic(at, str(error))
        return
    variants = max(len(look.variants), 1)
    if chosen.variant is not None and chosen.variant >= variants:
        yield unexpected(("look", "variant"), chosen.variant, f"0 to {variants - 1}")
    yield from _words(spec, look, chosen.name)


def _words(spec: EpisodeSpec, look: Look, name: str) -> Iterator[PathDiagnostic]:
    for number, frame in enumerate(spec.frames):
        for index, item in enumerate(frame.objects):
            material = item.material.name if isinstance(item.material, MaterialSpec) else item.material
            color = item.color if isinstance(item.color, str) else None
            if material is not None and not look.keeps_word(color, material):
                found = f"{color or 'a drawn color'} {material}"
                problem = (
                    f"found {found}, whose color does not hold in look {name!r}; use another color, material or look"
                )
                yield PathDiagnostic(("frames", number, "objects", index, "material"), problem)
