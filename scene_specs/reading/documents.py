"""Find the files behind the names that a user gives (files, folders, globs, `-`) and read one episode at a time.

A `.jsonl` file is read line by line. Of a `.json` list, only the text is in memory; its episodes are parsed one by one.
"""

from __future__ import annotations

import glob
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from diorama.scene_specs.errors import Diagnostic, SpecError, spec_error
from diorama.scene_specs.files.foreign import MOST_BYTES, file_state, read_foreign
from diorama.scene_specs.files.strict_json import NotStrictJson, decode, skip_space
from diorama.scene_specs.language.diagnostics import PathDiagnostic, did_you_mean, nearest, preview_json
from diorama.scene_specs.reading.located_json import LocatedJson, scan

SUFFIXES = (".json", ".jsonl")
STDIN = "-"
# One episode of a thousand frames with a hundred objects each is about 20 MB.
MAX_EPISODE_BYTES = 64 * 2**20
# After a longer line than this many episodes, the rest of the file is not read.
_MAX_SKIPS = 16


@dataclass(frozen=True)
class SpecFile:
    """A file to read.

    Attributes:
        name: for messages.
        lines: whether every line is an episode (.jsonl).
    """

    name: str
    path: Path
    lines: bool

    def state(self) -> tuple[int, ...] | None:
        """Return the state, see `file_state`; None for a file that is gone."""
        with suppress(OSError):
            return file_state(self.path)
        return None

    def digest(self) -> bytes:
        """SHA-256 of the contents; empty for a file that is gone or too large, and for a pipe or device."""
        with suppress(OSError):
            if self.path.is_file() and self.path.stat().st_size <= MOST_BYTES:
                with self.path.open("rb") as stream:
                    return hashlib.file_digest(stream, "sha256").digest()
        return b""


class Document(NamedTuple):
    """The text and value of one episode.

    Attributes:
        line: of its start, 1-based.
        scan: only of invalid JSON and of unreadable text, its diagnostics.
        unreadable: it stands for text that can't be read as an episode.
    """

    file: str
    line: int
    text: str
    value: Any
    scan: LocatedJson | None = None
    unreadable: bool = False


class Spool:
    """A stream in a temporary file, because specs are read twice: to check them and to render them."""

    def __init__(self, chunks: Iterable[bytes] | None = None, name: str = STDIN) -> None:
        """Name the stream.

        Args:
            chunks: of the stream, by default standard input.
            name: for messages.
        """
        self._chunks = chunks
        self._name = name
        self._spool: IO[bytes] | None = None

    def file(self) -> SpecFile:
        """Return the stream as a file. The first call reads it to its end.

        Raises:
            OSError: it can't be read or copied.
        """
        if self._spool is None:
            chunks = iter(partial(sys.stdin.buffer.read, 2**20), b"") if self._chunks is None else self._chunks
            self._spool = tempfile.NamedTemporaryFile(prefix="diorama-specs-")  # noqa: SIM115
            self._spool.writelines(chunks)
            self._spool.flush()
        path = Path(self._spool.name)
        return SpecFile(self._name, path, _is_jsonl(path))

    def close(self) -> None:
        """Delete the temporary file."""
        if self._spool is not None:
            self._spool.close()
            self._spool = None


def _is_jsonl(path: Path) -> bool:
    """Return whether the first non-blank line looks like a JSON object; other lines are assumed to be objects, too."""
    with path.open("rb") as stream:
        while line := stream.readline(MAX_EPISODE_BYTES):
            if line.strip():
                return line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")
    return False


def find_files(names: Sequence[str], stdin: Spool) -> tuple[list[SpecFile], list[Diagnostic]]:
    """Return the files behind the names, in the order of the names and without repetition, and names without files."""
    files: dict[Path, SpecFile] = {}
    diagnostics: list[Diagnostic] = []
    for name in names:
        try:
            for file in _of_name(name, stdin):
                files.setdefault(file.path.resolve(), file)
        except SpecError as error:
            diagnostics += error.diagnostics
        except (OSError, ValueError) as error:
            diagnostics.append(Diagnostic.of(f"can't be read: {_error_reason(error)}", file=_printable_name(name)))
    if not names:
        diagnostics.append(Diagnostic.of("no spec files named", "name .json or .jsonl files, folders, or -"))
    return list(files.values()), diagnostics


def _of_name(name: str, stdin: Spool) -> list[SpecFile]:
    """Return the files behind a name. Raises SpecError if there are none."""
    if name == STDIN:
        return [stdin.file()]
    path = Path(name)
    problem, hint = "no such file", ""
    if path.is_dir():
        inside = sorted(p for suffix in SUFFIXES for p in path.rglob(f"*{suffix}") if p.is_file())
        if inside:
            return [SpecFile(_printable_name(str(p)), p, p.suffix == ".jsonl") for p in inside]
        problem = "a folder without .json or .jsonl files"
    elif path.is_file():
        if path.suffix in SUFFIXES:
            return [SpecFile(_printable_name(name), path, path.suffix == ".jsonl")]
        problem = f"not a spec file by its name; found {preview_json(path.suffix)}, allowed: .json, .jsonl"
        hint = "other text can be piped into -"
    elif path.exists():
        problem, hint = "not a file", "a pipe can be given as -"
    elif glob.has_magic(name):
        # The shell did not expand it.
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
        if matches:
            return [file for match in matches for file in _of_name(match, stdin)]
        problem = "no file matches"
    elif path.parent.is_dir():
        # Without the suffix, which would make any two names alike.
        names = {p.stem: p.name for p in sorted(path.parent.iterdir()) if p.suffix == path.suffix}
        hint = did_you_mean(names.get(nearest(path.stem, names), ""), names.values())
    raise spec_error(problem, hint, file=_printable_name(name))


def _printable_name(name: str) -> str:
    """Return a file name without control characters and bytes that are not UTF-8."""
    text = name.encode("utf-8", "backslashreplace").decode()
    return text if text.isprintable() else preview_json(text, 400)


def _error_reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def documents(file: SpecFile, wanted: Callable[[], bool] = lambda: True) -> Iterator[Document]:
    """Yield the episodes of a file, and unreadable documents for text that cannot be read as one.

    Args:
        wanted: called once for each episode; of those that are not wanted, lines are not even parsed.
    """
    try:
        found = False
        for item in _read_lines(file, wanted) if file.lines else _read_values(file):
            found = True
            if item is not None and (file.lines or item.unreadable or wanted()):
                yield item
        if not found:
            yield _unreadable(file, 0, "an empty file", "a spec is a JSON object")
    except OSError as error:
        yield _unreadable(file, 0, f"can't be read: {_error_reason(error)}")


def _unreadable(file: SpecFile, line: int, problem: str, hint: str = "") -> Document:
    scan = LocatedJson(stopped=True, diagnostics=[PathDiagnostic((), problem, hint, line)])
    return Document(file.name, line, "", None, scan, unreadable=True)


def _decode_text(file: SpecFile, raw: bytes, line: int) -> tuple[str, Document | None]:
    """Decode UTF-8 bytes; also return an unreadable document if they are something else."""
    encoding = json.detect_encoding(raw)
    if encoding != "utf-8":
        found = "begins with a byte order mark" if encoding == "utf-8-sig" else f"looks like {encoding.upper()}"
        return "", _unreadable(file, line, f"{found}; allowed: UTF-8", "save it as UTF-8 without such a mark")
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError as error:
        at = line + raw.count(b"\n", 0, error.start)
        column = error.start - raw.rfind(b"\n", 0, error.start)
        problem = f"not UTF-8: found byte 0x{raw[error.start]:02x} at byte {column} of the line"
        return "", _unreadable(file, at, problem, "save the file as UTF-8")


def _read_lines(file: SpecFile, wanted: Callable[[], bool]) -> Iterator[Document | None]:
    """Yield the episodes of a file with one per line; None for those that are not wanted."""
    with file.path.open("rb") as stream:
        number = 0
        while raw := stream.readline(MAX_EPISODE_BYTES + 1):
            number += 1
            if len(raw) > MAX_EPISODE_BYTES:
                yield _unreadable(file, number, f"a line of more than {MAX_EPISODE_BYTES >> 20} MiB")
                # A line of a file that is not text may never end.
                for _ in range(0 if b"\0" in raw[:4] else _MAX_SKIPS):
                    if not raw or raw.endswith(b"\n"):
                        break
                    raw = stream.readline(MAX_EPISODE_BYTES)
                else:
                    return
                continue
            text, unreadable = _decode_text(file, raw, number)
            if unreadable is not None:
                yield unreadable
                if json.detect_encoding(raw).startswith(("utf-16", "utf-32")):
                    return
            elif text.strip(" \t\r\n"):
                yield document_of(text, file.name, number) if wanted() else None


def document_of(text: str, file: str = "", line: int = 1) -> Document:
    """Return the document of a text that holds a single JSON value."""
    try:
        value, end = decode(text, skip_space(text, 0))
        if skip_space(text, end) == len(text):
            return Document(file, line, text, value)
    except NotStrictJson:
        pass
    slow = scan(text, 0, line)
    return Document(file, line, text, slow.value, slow)


def _read_values(file: SpecFile) -> Iterator[Document]:
    text, unreadable = _decode_text(file, read_foreign(file.path), 1)
    if unreadable is not None:
        yield unreadable
        return
    start = skip_space(text, 0)
    if start == len(text):
        return
    if text[start] == "[":
        yield from _read_elements(file, text, start)
    else:
        yield document_of(text[start:], file.name, 1 + text.count("\n", 0, start))


def _read_elements(file: SpecFile, text: str, start: int) -> Iterator[Document]:
    """Yield the values of the list that starts at `start`."""
    at = skip_space(text, start + 1)
    line = 1 + text.count("\n", 0, at)
    if text.startswith("]", at):
        yield _unreadable(file, line, "an empty list; a list of specs has at least one episode")
        return
    while True:
        slow = None
        try:
            value, end = decode(text, at)
        except NotStrictJson:
            slow = scan(text, at, line, to_end=False)
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
                yield _unreadable(file, line, "not JSON: more text after the end of the list")
            return
        if not text.startswith(",", after):
            found = preview_json(text[after : after + 12]) if after < len(text) else "the end of the file"
            yield _unreadable(file, line, f"not JSON: found {found} where ',' or ']' should be")
            return
        at = skip_space(text, after + 1)
        line += text.count("\n", after, at)
