"""One way to refuse what a caller asked for."""

from __future__ import annotations

from scene_specs.errors import Fault, SpecError


def refused(problem: str, hint: str = "", path: str = "", file: str = "", line: int = 0) -> SpecError:
    """The error to raise: what was found, what is allowed; hint: what to do."""
    return SpecError([Fault(file, line, "", path, problem, hint)])
