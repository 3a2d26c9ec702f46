"""What can be wrong about outlines: corners that cross, no area, a footprint for what has none."""

from __future__ import annotations

from collections.abc import Iterator

from scene_specs.language.diagnostics import PathDiagnostic, preview_json
from scene_specs.language.outlines import FLAT_SHAPES, crossing, signed_area
from scene_specs.language.spec import ObjectSpec, OutlineSpec
from scene_specs.language.strict_json import Path


def outline_issues(outline: OutlineSpec, at: Path) -> Iterator[PathDiagnostic]:
    """Not exactly one of polygon and outline; edges that meet."""
    if (outline.polygon is None) == (outline.outline is None):
        found = "neither polygon nor outline" if outline.polygon is None else "polygon and outline"
        yield PathDiagnostic(at, f"found {found}; allowed: exactly one of them")
    elif outline.polygon is not None:
        edges = crossing(outline.polygon)
        if edges is not None:
            first, second = (preview_json(outline.polygon[k]) for k in edges)
            problem = f"the edges from {first} and from {second} meet; allowed: edges that only share corners"
            yield PathDiagnostic((*at, "polygon"), problem, "name each corner once, in order along the border")
        elif not signed_area(outline.polygon):
            yield PathDiagnostic((*at, "polygon"), "these corners enclose no area")


def footprint_issues(item: ObjectSpec, at: Path) -> Iterator[PathDiagnostic]:
    """A footprint beside a size, or of what has no outline."""
    if item.footprint is None:
        return
    if item.size is not None:
        yield PathDiagnostic((*at, "footprint"), "given beside size; allowed: size, or footprint", "leave one out")
    if not isinstance(item.shape, OutlineSpec) and item.shape not in FLAT_SHAPES:
        words = ", ".join(FLAT_SHAPES)
        yield PathDiagnostic(
            (*at, "footprint"), f"given for {preview_json(item.shape)}; allowed: only for {words}, and for corners"
        )
