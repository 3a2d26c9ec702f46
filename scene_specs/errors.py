"""Diorama's exception tree, below `DioramaError`; errors that one package raises are defined there.

    DioramaError              1
    ├── PluginError           2  a plug-in is unknown, provided twice, or can't be imported
    ├── SpecError             2  a spec file is wrong; nothing was rendered
    ├── UsageError            2  options contradict each other or the store
    │   └── ConflictError     2  an id is stored already, made from something else
    ├── AssetError            2  an asset is missing, damaged or not the one a Scene was compiled with
    ├── MissingError          1  episodes that a copy has to be complete with are in none of the stores
    ├── CompileError          1  no layout satisfies a frame's constraints within the bound
    ├── RenderError           1  Cycles failed on an episode
    │   ├── RayFailedError    5  Ray did not start, or was lost
    │   ├── DeviceError       3  the requested device is not available, or every GPU of a run failed
    │   └── GpuError          1  a GPU failed; the process can't render on it any more
    │       ├── GpuMemoryError 1 a GPU ran out of memory
    │       └── ImplausibleError 1 a renderer returned an image that is not of its Scene
    ├── ChatError             1  a chat model gave no usable reply; see render/uses/chat/asking.py for its own errors
    └── StoreError            4  the dataset store cannot be read or written

The numbers are exit codes. If some episodes failed and the others are done, `render-batch` exits with 1; with 75
if its time was over before all were done.
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
    """Base class of all errors that Diorama raises.

    Attributes:
        exit_code: of a command that fails with it.
        diagnostics: of a SpecError; others have none.
    """

    exit_code = 1
    diagnostics: tuple[Diagnostic, ...] = ()


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
        raise SpecError(
            [
                replace(diagnostic, **{part: getattr(diagnostic, part) or location[part] for part in location})
                for diagnostic in error.diagnostics
            ]
        ) from None


def incomplete(name: str | None, error: Exception) -> str:
    """Return what is wrong with an episode, if code of benchmark `name` that reads its truth raised `error`."""
    return f"not a complete episode of {name or 'its benchmark'}: {type(error).__name__}: {error}"


def check_choice(kind: str, value: str, allowed: Collection[str]) -> None:
    """Refuse a value that is not allowed.

    Args:
        kind: of the value, for the message.
        value: to check.
        allowed: values.

    Raises:
        SpecError: the value is not allowed.
    """
    if value not in allowed:
        raise spec_error(f"found {kind} {value!r}; allowed: {', '.join(allowed)}")


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


class PluginError(DioramaError):
    """A plug-in that is unknown, provided twice, or can't be imported."""

    exit_code = 2


class ConflictError(UsageError):
    """An episode id is stored already, made from another spec, profile, size, asset, plug-in or version."""


class AssetError(DioramaError):
    """An asset is missing, damaged, outside the asset roots, or not the one that the Scene was compiled with."""

    exit_code = 2


class MissingError(DioramaError):
    """Episodes that a copy has to be complete with are in none of the stores."""


class CompileError(DioramaError):
    """No layout was found within the bound.

    Attributes:
        problem: what failed, without its frame.
        broke: constraint -> number of tries that it refused.
        episode: id of the episode.
        frame: name of the frame.
    """

    episode = frame = ""

    def __init__(self, problem: str, broke: dict[str, int] | None = None) -> None:
        super().__init__(problem, broke)
        self.problem, self.broke = problem, dict(broke or {})

    def __str__(self) -> str:
        ranked = sorted(self.broke.items(), key=lambda pair: (-pair[1], pair[0]))
        counts = ", ".join(f"{name} ({n:,} time{'s' * (n != 1)})" for name, n in ranked)
        located = f"episode {self.episode}: frame {self.frame}: {self.problem}"
        return f"{located}; rejected by: {counts}" if counts else located


class ContrastError(DioramaError):
    """No edit of an episode makes the contrast that was asked for."""


class RenderError(DioramaError):
    """Cycles could not render an episode; the message holds its output."""


class RayFailedError(RenderError):
    """Ray, which manages the workers, did not start or was lost; what was committed is stored."""

    exit_code = 5


class DeviceError(RenderError):
    """The requested device is not available, another one rendered, or every GPU of a run failed."""

    exit_code = 3


class GpuError(RenderError):
    """A GPU failed while it rendered. After most such errors the driver refuses all further work of the process."""


class GpuMemoryError(GpuError):
    """A GPU ran out of memory."""


class ImplausibleError(GpuError):
    """A renderer returned an image with ids of another Scene, or a GPU one that the CPU renders otherwise; no error."""


class ChatError(DioramaError):
    """A chat model gave no usable reply."""


class StoreError(DioramaError):
    """The dataset store cannot be opened, read or written.

    Attributes:
        permanent: whether trying again can't help: permissions, a missing bucket, a read-only disk.
    """

    exit_code = 4
    permanent = False


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message that is not blank, or the name of its class."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 episode", "2 episodes"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
