"""The root of Diorama's exception tree, and what is wrong with a spec.

`DioramaError` is the only base; `render.model.errors` grows the rest of the tree from it.
Exit codes are attributes of the classes, so a command needs no table of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class DioramaError(Exception):
    """Anything Diorama raises on purpose.

    `exit_code` is what a command ends with when this error reaches it.
    """

    exit_code = 1


@dataclass(frozen=True, order=True)
class Diagnostic:
    """One thing wrong with one place of a spec file.

    file: as the user named it ("-" is standard input, "" is no file).
    line: 1-based line of the place, or of the episode's start where the place has none; 0 if unknown.
    episode: id of the episode, "" if it has none that can be read.
    path: place inside the episode, such as `frames[2].objects[0].color`; "" is the episode itself.
    problem: what is wrong, with what was found and what is allowed.
    hint: nearest match or what to do; "" if there is none.
    """

    file: str
    line: int
    episode: str
    path: str
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        place = self.file or "spec"
        if self.line:
            place += f":{self.line}"
        if self.episode:
            place += f": episode {self.episode}"
        if self.path:
            place += f": {self.path}"
        return f"{place}: {self.problem}" + (f" ({self.hint})" if self.hint else "")


class SpecError(DioramaError):
    """A spec that cannot be what its author meant; carries every diagnostic found."""

    exit_code = 2

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))

    @classmethod
    def single(
        cls, problem: str, hint: str = "", path: str = "", file: str = "", line: int = 0, episode: str = ""
    ) -> SpecError:
        """An error with one diagnostic. See `Diagnostic` for the arguments."""
        return cls([Diagnostic(file, line, episode, path, problem, hint)])
