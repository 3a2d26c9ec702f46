"""What files state twice: one fact in two places, and what Diorama wrote against what is there now.

`SHA256SUMS`, in the form of `sha256sum`, lists the files that Diorama wrote below its folder. `sha256sum -c` reads it,
too. The record of an export above them names it, so that a deleted one is missed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from diorama.scene_specs.errors import Diagnostic
from diorama.scene_specs.files.foreign import read_foreign, read_text
from diorama.scene_specs.files.strict_json import Path as JsonPath
from diorama.scene_specs.language.diagnostics import path_text, preview_json

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_ADVICE = f"restore the file, or remove {SUMS} and what names it to use the files as they are now"
# Names each SHA256SUMS of an export of lists.
_RECORD = ".diorama-export.json"
_NAMED = re.compile(rb'"([^"\\\n]*\bSHA256SUMS)"')


class Copy(NamedTuple):
    """A fact that files state and that follows from something else in them.

    Attributes:
        item: where it is stated: a path in the file, or words.
        tolerance: by which numbers may differ.
    """

    item: JsonPath | str
    stated: Any
    derived: Any
    tolerance: float = 0.0

    def agrees(self) -> bool:
        """Return whether both are the same."""
        if self.stated == self.derived:
            return True
        try:
            return abs(float(self.stated) - float(self.derived)) <= self.tolerance
        except (OverflowError, TypeError, ValueError):
            return False


def differences(copies: Iterable[Copy]) -> Iterator[tuple[JsonPath, str]]:
    """Yield path and problem of each fact that is stated otherwise than it follows."""
    for copy in copies:
        if not copy.agrees():
            words, path = (f"{copy.item}: ", ()) if isinstance(copy.item, str) else ("", copy.item)
            yield path, f"{words}found {preview_json(copy.stated)}; expected {preview_json(copy.derived)}"


def lines_of(copies: Iterable[Copy]) -> Iterator[str]:
    """Yield a line for each difference."""
    return (f"{path_text(path)}: {problem}" if path else problem for path, problem in differences(copies))


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


def digest_of_lines(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of JSON lines, however they are written."""
    return digest_of("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())


def sums_text(digests: Mapping[str, str]) -> str:
    """Return the text of SHA256SUMS.

    Args:
        digests: by name, relative to the folder of the file.
    """
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))


def read_sums(file: Path) -> dict[str, str]:
    """Return the digests that a SHA256SUMS has, by name. Raises SpecError."""
    return {match[2]: match[1] for match in map(_LINE.fullmatch, read_text(file).splitlines()) if match}


def changed_files(path: Path) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each file of a folder, or of that of a file, that is not what Diorama wrote there.

    Files that no SHA256SUMS lists are not looked at. Raises SpecError for a SHA256SUMS that can't be read.
    """
    inner = sorted(file for file in path.rglob("*") if file.name in (SUMS, _RECORD)) if path.is_dir() else []
    outer = [file for parent in path.absolute().parents if (file := parent / _RECORD).is_file()]
    for naming in [*(file for file in inner if file.name != SUMS), *outer]:
        # What can't be read, its reader names.
        with suppress(OSError):
            for name in _NAMED.findall(read_foreign(naming)):
                sums = naming.parent / name.decode(errors="replace")
                if not sums.is_file() and (naming in inner or path.absolute().is_relative_to(sums.parent)):
                    yield Diagnostic.of(f"missing; {naming.name} names it", _ADVICE, file=str(sums))
    below = [file for file in inner if file.name == SUMS]
    above = next((parent / SUMS for parent in path.absolute().parents if (parent / SUMS).is_file()), None)
    for sums in [*below, *([above] if above else [])]:
        listed = read_sums(sums)
        place = path.absolute().relative_to(sums.absolute().parent).as_posix() if sums == above else ""
        # That of others, such as in a folder of downloads.
        if place and not any(f"{name}/".startswith(f"{place}/") for name in listed):
            continue
        for name, expected in listed.items():
            file = sums.parent / name
            try:
                found = digest_of(read_foreign(file))
            except OSError as error:
                # Folders may be moved away from what lies beside them.
                if name.startswith("../"):
                    continue
                yield Diagnostic.of(f"can't be read: {error.strerror}; {SUMS} lists it", _ADVICE, file=str(file))
                continue
            if found != expected:
                problem = f"found the SHA-256 {found[:16]}...; expected {expected[:16]}..., which {SUMS} has"
                yield Diagnostic.of(problem, _ADVICE, file=str(file))
