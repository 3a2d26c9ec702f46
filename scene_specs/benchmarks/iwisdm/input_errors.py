"""One way to refuse what a caller asked of the generator."""

from __future__ import annotations

from scene_specs.language.errors import Diagnostic, SpecError


def refused(problem: str, hint: str = "", path: str = "", file: str = "") -> SpecError:
    """The error to raise: what was found, what is allowed; hint: what to do."""
    return SpecError([Diagnostic(file, 0, "", path, problem, hint)])
