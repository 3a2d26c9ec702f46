"""From what a user names (files, folders, globs, `-`) to the text of one episode at a time.

A `.jsonl` file is never held whole; of a `.json` list only the text is, and its episodes come one by one.
"""

from __future__ import annotations

import codecs
import glob
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from scene_specs.language.diagnostics import did_you_mean, preview_json
from scene_specs.language.errors import Diagnostic
from scene_specs.language.strict_json import NotStrictJson, decode, skip_space
from scene_specs.reading.located_json import LocatedJson, scan

SUFFIXES = (".json", ".jsonl")
STDIN = "-"
# One episode of a thousand frames with a hundred objects each is about 20 MB.
MAX_EPISODE_BYTES = 64 * 2**20

_BOMS = (
    (codecs.BOM_UTF8, "begins with a byte order mark", "save it as UTF-8 without one"),
    (codecs.BOM_UTF32_LE, "is UTF-32", "save it as UTF-8"),
    (codecs.BOM_UTF32_BE, "is UTF-32", "save it as UTF-8"),
    (codecs.BOM_UTF16_LE, "is UTF-16", "save it as UTF-8"),
    (codecs.BOM_UTF16_BE, "is UTF-16", "save it as UTF-8"),
)


@dataclass(frozen=True)
class SpecFile:
    """A file to read. name: as messages call it. lines: one episode a line (.jsonl)."""

    name: str
    path: Path
    lines: bool

    def state(self) -> tuple[int, int]:
        """Size in bytes and time of change; differs if the file was written to. Raises OSError."""
        found = self.path.stat()
        return (found.st_size, found.st_mtime_ns)


@dataclass(frozen=True)
class Document:
    """The text and value of one episode. line: of its start, 1-based. scan: a slow reading, if the text has faults."""

    file: str
    line: int
    text: str
    value: Any
    scan: LocatedJson | None = None


class StdinSpool:
    """StdinSpool input, kept in a temporary file: a pipe can be read only once, and checking comes before rendering."""

    def __init__(self, stream: BinaryIO | None = None) -> None:
        self._stream = stream
        self._spool: IO[bytes] | None = None

    def file(self) -> SpecFile:
        """StdinSpool input as a file; the first call reads it to its end. Raises OSError."""
        if self._spool is None:
            self._spool = tempfile.NamedTemporaryFile(prefix="diorama-stdin-")  # noqa: SIM115
            shutil.copyfileobj(self._stream or sys.stdin.buffer, self._spool, 2**20)
            self._spool.flush()
        path = Path(self._spool.name)
        return SpecFile(STDIN, path, _one_a_line(path))

    def close(self) -> None:
        """Delete the temporary file."""
        if self._spool is not None:
            self._spool.close()
            self._spool = None


def _one_a_line(path: Path) -> bool:
    """Whether the first line that isn't blank is an object by its looks: then the others are, too."""
    with path.open("rb") as stream:
        while line := stream.readline(MAX_EPISODE_BYTES):
            if line.strip():
                return line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")
    return False


def find_files(names: Sequence[str], standard: StdinSpool) -> tuple[list[SpecFile], list[Diagnostic]]:
    """The files behind the names, in the order of the names, each once; and the names that give none."""
    files: dict[Path, SpecFile] = {}
    diagnostics: list[Diagnostic] = []
    for name in names:
        try:
            found, problem = _of_name(name, standard)
        except (OSError, ValueError) as error:
            found, problem = [], Diagnostic(_printable(name), 0, "", "", f"can't be read: {_reason(error)}")
        for file in found:
            files.setdefault(file.path.resolve(), file)
        if problem:
            diagnostics.append(problem)
    if not names:
        diagnostics.append(
            Diagnostic("", 0, "", "", "no spec files named", "name .json or .jsonl files, folders, or -")
        )
    return list(files.values()), diagnostics


def _of_name(name: str, standard: StdinSpool) -> tuple[list[SpecFile], Diagnostic | None]:
    if name == STDIN:
        return [standard.file()], None
    path = Path(name)
    if path.is_dir():
        inside = sorted(p for suffix in SUFFIXES for p in path.rglob(f"*{suffix}") if p.is_file())
        files = [SpecFile(_printable(str(p)), p, p.suffix == ".jsonl") for p in inside]
        return files, None if files else Diagnostic(
            _printable(name), 0, "", "", "a folder without .json or .jsonl files"
        )
    if path.is_file():
        if path.suffix not in SUFFIXES:
            problem = f"not a spec file by its name; found {preview_json(path.suffix)}, allowed: .json, .jsonl"
            return [], Diagnostic(_printable(name), 0, "", "", problem, "other text can be piped into -")
        return [SpecFile(_printable(name), path, path.suffix == ".jsonl")], None
    if path.exists():
        return [], Diagnostic(_printable(name), 0, "", "", "not a file", "a pipe can be given as -")
    if glob.has_magic(name):
        return _of_glob(name, standard)
    siblings = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
    return [], Diagnostic(_printable(name), 0, "", "", "no such file", did_you_mean(path.name, siblings))


def _of_glob(pattern: str, standard: StdinSpool) -> tuple[list[SpecFile], Diagnostic | None]:
    """For shells that hand a pattern on as it is, or where it was quoted; what matches is taken as if it was named."""
    files: list[SpecFile] = []
    for match in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 - Path.glob takes no absolute pattern
        found, problem = _of_name(match, standard)
        if problem:
            return [], problem
        files += found
    return files, None if files else Diagnostic(_printable(pattern), 0, "", "", "no file matches")


def _printable(name: str) -> str:
    """A file's name as it can be printed anywhere: no control characters, no bytes that are not UTF-8."""
    text = name.encode("utf-8", "backslashreplace").decode()
    return text if text.isprintable() else preview_json(text, 400)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def documents(file: SpecFile) -> Iterator[Document | Diagnostic]:
    """The episodes of a file as text, and the diagnostics of what is none."""
    try:
        found = False
        for item in _lines(file) if file.lines else _whole(file):
            found = True
            yield item
        if not found:
            yield Diagnostic(file.name, 0, "", "", "an empty file", "a spec is a JSON object")
    except OSError as error:
        yield Diagnostic(file.name, 0, "", "", f"can't be read: {_reason(error)}")


def _text(file: SpecFile, raw: bytes, line: int) -> str | Diagnostic:
    """UTF-8 bytes as text, or what is wrong with them."""
    for mark, problem, hint in _BOMS if line == 1 else ():
        if raw.startswith(mark):
            return Diagnostic(file.name, 1, "", "", f"{problem}; allowed: UTF-8", hint)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        at = line + raw.count(b"\n", 0, error.start)
        column = error.start - raw.rfind(b"\n", 0, error.start)
        problem = f"not UTF-8: found byte 0x{raw[error.start]:02x} at byte {column} of the line"
        return Diagnostic(file.name, at, "", "", problem, "save the file as UTF-8")
    if "\0" in text[:4]:
        return Diagnostic(
            file.name, line, "", "", "not text: NUL bytes, as in UTF-16; allowed: UTF-8", "save it as UTF-8"
        )
    return text


def _lines(file: SpecFile) -> Iterator[Document | Diagnostic]:
    with file.path.open("rb") as stream:
        number = 0
        while raw := stream.readline(MAX_EPISODE_BYTES + 1):
            number += 1
            if len(raw) > MAX_EPISODE_BYTES:
                yield Diagnostic(file.name, number, "", "", f"a line of more than {MAX_EPISODE_BYTES >> 20} MiB")
                while raw and not raw.endswith(b"\n"):
                    raw = stream.readline(MAX_EPISODE_BYTES)
                continue
            text = _text(file, raw, number)
            if isinstance(text, Diagnostic):
                yield text
                if "UTF-16" in text.problem or "UTF-32" in text.problem:
                    return
            elif text.strip(" \t\r\n"):
                yield document_of(text, file.name, number)


def document_of(text: str, file: str = "", line: int = 1) -> Document:
    """A text that should be one value and nothing after it."""
    try:
        value, end = decode(text, skip_space(text, 0))
        if skip_space(text, end) == len(text):
            return Document(file, line, text, value)
    except NotStrictJson:
        pass
    slow = scan(text, 0, line)
    return Document(file, line, text, slow.value, slow)


def _whole(file: SpecFile) -> Iterator[Document | Diagnostic]:
    text = _text(file, file.path.read_bytes(), 1)
    if isinstance(text, Diagnostic):
        yield text
        return
    start = skip_space(text, 0)
    if start == len(text):
        return
    if text[start] == "[":
        yield from _elements(file, text, start)
    else:
        line = 1 + text.count("\n", 0, start)
        yield document_of(text[start:], file.name, line)


def _elements(file: SpecFile, text: str, start: int) -> Iterator[Document | Diagnostic]:
    """The values of the list that starts at `start`."""
    at = skip_space(text, start + 1)
    line = 1 + text.count("\n", 0, at)
    if text.startswith("]", at):
        yield Diagnostic(file.name, line, "", "", "an empty list; a list of specs has at least one episode")
        return
    while True:
        slow = None
        try:
            value, end = decode(text, at)
        except NotStrictJson:
            slow = scan(text, at, line, whole=False)
            value, end = slow.value, slow.end
        yield Document(file.name, line, text[at:end], value, slow)
        if slow is not None and slow.stopped:
            return
        after = skip_space(text, end)
        line += text.count("\n", at, after)
        if text.startswith("]", after):
            rest = skip_space(text, after + 1)
            if rest < len(text):
                line += text.count("\n", after, rest)
                yield Diagnostic(file.name, line, "", "", "not JSON: more text after the end of the list")
            return
        if not text.startswith(",", after):
            found = preview_json(text[after : after + 12]) if after < len(text) else "the end of the file"
            yield Diagnostic(file.name, line, "", "", f"not JSON: found {found} where ',' or ']' should be")
            return
        at = skip_space(text, after + 1)
        line += text.count("\n", after, at)
