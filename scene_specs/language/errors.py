"""The root of Diorama's exception tree, and the diagnostics of spec files.

`DioramaError` is the base of every exception; `diorama.render.model.errors` defines the others. Exit codes are
attributes of the classes, so commands need no table of codes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

_Source = TypeVar("_Source")
_Read = TypeVar("_Read")

# Exceptions of code that reads an incomplete episode; see `incomplete`.
INCOMPLETE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)

# A file of millions of faults must not fill the memory with what is wrong with it.
_MOST_DIAGNOSTICS = 1000


class DioramaError(Exception):
    """Base class of all errors that Diorama raises. `exit_code` is the exit code of a command that fails with it."""

    exit_code = 1


@dataclass(frozen=True, order=True)
class Diagnostic:
    """A problem at one location of a spec file.

    Attributes:
        file: as the user named it; "-" is standard input, "" means that there is no file.
        line: 1-based line of the location, or of the episode's start if the location has none; 0 if unknown.
        episode: id of the episode, "" if it has no readable id.
        path: location inside the episode, such as `frames[2].objects[0].color`; "" is the episode itself.
        problem: what is wrong, with the value found and the values allowed.
        hint: the nearest match or what to do; "" if there is none.
    """

    file: str
    line: int
    episode: str
    path: str
    problem: str
    hint: str = ""

    @classmethod
    def of(
        cls, problem: str, hint: str = "", *, file: str = "", line: int = 0, episode: str = "", path: str = ""
    ) -> Diagnostic:
        """Return a diagnostic from the parts of its location that are known."""
        return cls(file, line, episode, path, problem, hint)

    def __str__(self) -> str:
        location = self.file or "spec"
        if self.line:
            location += f":{self.line}"
        if self.episode:
            location += f": episode {self.episode}"
        if self.path:
            location += f": {self.path}"
        text = f"{location}: {self.problem}" + (f" ({self.hint})" if self.hint else "")
        # One line that a terminal obeys in no part: file names, ids and values come from strangers.
        if text.isprintable():
            return text
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class UsageError(DioramaError):
    """Options that contradict each other, or the store."""

    exit_code = 2


class SpecError(DioramaError):
    """An invalid spec, with all diagnostics found."""

    exit_code = 2

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))


def spec_error(
    problem: str, hint: str = "", *, file: str = "", line: int = 0, episode: str = "", path: str = ""
) -> SpecError:
    """Return the error of a single diagnostic."""
    return SpecError([Diagnostic(file, line, episode, path, problem, hint)])


@contextmanager
def located(**location: Any) -> Iterator[None]:
    """Give the diagnostics of a SpecError this file, line, episode or path, where they have none of their own."""
    try:
        yield
    except SpecError as error:
        found = error.diagnostics
        raise SpecError(
            [replace(one, **{key: getattr(one, key) or location[key] for key in location}) for one in found]
        ) from None


def incomplete(name: str | None, error: Exception) -> str:
    """Return what is wrong with an episode, if code of benchmark `name` that reads its truth raised `error`."""
    return f"not a complete episode of {name or 'its benchmark'}: {type(error).__name__}: {error}"


def check_choice(kind: str, found: str, allowed: Collection[str]) -> None:
    """Refuse a value that is not allowed.

    Args:
        kind: of the value, for the message.

    Raises:
        SpecError: the value is not allowed.
    """
    if found not in allowed:
        raise spec_error(f"found {kind} {found!r}; allowed: {', '.join(allowed)}")


def read_each(sources: Iterable[_Source], read: Callable[[_Source], Iterable[_Read]]) -> Iterator[_Read]:
    """Yield what `read` gets from each source.

    Raises:
        SpecError: at the end, or after 1,000 diagnostics; has all of them.
    """
    diagnostics: list[Diagnostic] = []
    for source in sources:
        try:
            yield from read(source)
        except SpecError as error:
            diagnostics += error.diagnostics
            if len(diagnostics) >= _MOST_DIAGNOSTICS:
                diagnostics.append(Diagnostic("", 0, "", "", "stopped after 1,000 problems; the rest was not read"))
                break
    if diagnostics:
        raise SpecError(diagnostics)
