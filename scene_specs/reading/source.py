"""Reading specs: a first pass that reports every diagnostic of every file, and later ones that give the episodes.

Both are streams: of a `.jsonl` of a hundred thousand episodes, one is in memory at a time, and 16 bytes of each id.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from types import TracebackType
from typing import Any, BinaryIO

from pydantic import ValidationError

from scene_specs.checks.semantics import issues_of
from scene_specs.language.diagnostics import PathDiagnostic, form_issues, path_text, preview_json
from scene_specs.language.errors import Diagnostic, SpecError
from scene_specs.language.scene import Scene
from scene_specs.language.spec import EpisodeSpec
from scene_specs.reading.documents import Document, SpecFile, StdinSpool, document_of, documents, find_files
from scene_specs.reading.located_json import scan
from scene_specs.reading.pruning import issues_of_rest

_READABLE_ID = re.compile(r"[A-Za-z0-9_.+/-]{1,200}")


@dataclass(frozen=True)
class Item:
    """One episode and where it was read. line: of its start, 1-based. episode: EpisodeSpec or a Scene."""

    file: str
    line: int
    episode: Any


class SpecSource:
    """Spec files, read as often as needed.

    names: `.json` and `.jsonl` files, folders (all such files below, sorted), globs, and `-` for standard input
    (`stdin`, default the process's), which is kept in a temporary file until `close`.
    """

    def __init__(self, names: Sequence[str | PathLike[str]], stdin: BinaryIO | None = None) -> None:
        self._names = [str(name) for name in names]
        self._standard = StdinSpool(stdin)
        self._states: dict[str, tuple[int, int]] = {}
        self._checked = False

    def check(self) -> tuple[list[Diagnostic], int]:
        """All diagnostics of all files, in their order, and the number of episodes without one."""
        files, diagnostics = find_files(self._names, self._standard)
        ids = _Ids(files)
        count = 0
        for number, file in enumerate(files):
            state = _state(file)
            for document in documents(file):
                found = _read(document, meaning=True)[1]
                # Also where the episode is wrong: its id may be taken all the same.
                if isinstance(document, Document) and (name := _id_of(document.value)):
                    found += ids.add(name, number, document)
                diagnostics += found
                count += not found
            if state is not None:
                self._states[file.name] = state
        self._checked = True
        return diagnostics, count

    def __iter__(self) -> Iterator[Item]:
        """The episodes, in order. Raises SpecError at the first diagnostic, or where a file changed since `check`."""
        files, diagnostics = find_files(self._names, self._standard)
        if diagnostics:
            raise SpecError(diagnostics)
        for file in files:
            if self._states.get(file.name, _state(file)) != _state(file):
                problem = "the file was changed after it was checked"
                raise SpecError([Diagnostic(file.name, 0, "", "", problem, "start again")])
            for document in documents(file):
                episode, found = _read(document, meaning=not self._checked)
                if found or not isinstance(document, Document):
                    raise SpecError(found)
                yield Item(document.file, document.line, episode)

    def close(self) -> None:
        """Delete what was kept of standard input."""
        self._standard.close()

    def __enter__(self) -> SpecSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def parse_episode(text: str, file: str = "") -> Any:
    """The EpisodeSpec or Scene that a JSON text is. Raises SpecError with all its faults."""
    episode, diagnostics = _read(document_of(text, file), meaning=True)
    if diagnostics:
        raise SpecError(diagnostics)
    return episode


class _Ids:
    """Ids seen so far, by digest, with where; the same id in other letter case is the same folder on some disks."""

    def __init__(self, files: Sequence[SpecFile]) -> None:
        self._files = files
        self._seen: dict[bytes, int] = {}

    def add(self, episode: str, number: int, document: Document) -> list[Diagnostic]:
        """A diagnostic if the id is there already."""
        digest = hashlib.blake2b(episode.lower().encode(), digest_size=16).digest()
        first = self._seen.get(digest)
        if first is None:
            # File and line in one integer: a tuple would take three times the memory.
            self._seen[digest] = number << 40 | document.line
            return []
        file, line = self._files[first >> 40].name, first & (1 << 40) - 1
        problem = f"found {preview_json(episode)}, the id of an episode in {file}:{line}"
        hint = "ids are unique in a run, and differ by more than upper and lower case"
        return [Diagnostic(document.file, document.line, episode, "id", problem, hint)]


def _state(file: SpecFile) -> tuple[int, int] | None:
    try:
        return file.state()
    except OSError:
        return None


def _read(document: Document | Diagnostic, meaning: bool) -> tuple[Any, list[Diagnostic]]:
    """The episode and no diagnostics, or None and at least one. meaning: check also what needs more than one field."""
    if isinstance(document, Diagnostic):
        return None, [document]
    slow = document.scan
    if slow is None:
        episode, issues = _validate(document.value, document.text, meaning)
        if not issues:
            return episode, []
        slow = scan(document.text, 0, document.line, whole=False)
    else:
        # What stands in for NaN is not to be called too small.
        bad = [place.path for place in slow.diagnostics]
        issues = [] if slow.stopped else _validate(slow.value, json.dumps(slow.value), meaning)[1]
        issues = [issue for issue in issues if issue.path not in bad]
    name = _id_of(document.value)
    diagnostics = [
        Diagnostic(document.file, p.line, name, path_text(p.path), p.problem, p.hint) for p in slow.diagnostics
    ]
    diagnostics += [issue.diagnostic(document.file, slow.line(issue.path), name) for issue in issues]
    return None, sorted(diagnostics, key=lambda diagnostic: diagnostic.line)


def _validate(value: Any, text: str, meaning: bool) -> tuple[Any, list[PathDiagnostic]]:
    """A parsed value, and the text of it, as a model; or the issues."""
    if not isinstance(value, dict) or ("version" not in value and _foreign(value)):
        return None, [_no_episode(value)]
    model: type[EpisodeSpec | Scene]
    model, key = (Scene, "scene_version") if "scene_version" in value else (EpisodeSpec, "version")
    # For pydantic true and 1.0 equal the literal 1.
    odd = (
        [PathDiagnostic((key,), f"found {preview_json(value[key])}; allowed: 1")]
        if type(value.get(key, 1)) is not int
        else []
    )
    try:
        # Strict: "1" is no number and 1 is not true. From text, because in JSON a list may be a tuple.
        episode = model.model_validate_json(text, strict=True)
    except ValidationError as error:
        issues = form_issues(error, model, value)
        issues += [issue for issue in odd if all(issue.path != other.path for other in issues)]
        return None, issues + (issues_of_rest(value, issues) if meaning and model is EpisodeSpec else [])
    return episode, odd or (issues_of(episode) if meaning else [])


def _foreign(value: dict[str, Any]) -> bool:
    """Whether this looks like a scene file of CLEVR or MEWL."""
    return "scenes" in value or ("objects" in value and "directions" in value)


def _no_episode(value: Any) -> PathDiagnostic:
    if isinstance(value, dict):
        problem = f"not an episode but, by its keys, a published scene file: {preview_json(sorted(value)[:6])}"
        return PathDiagnostic((), problem, "`render-specs import --from clevr` or `--from mewl` makes specs of it")
    hint = "a list of episodes goes into a .json file of its own" if isinstance(value, list) else ""
    return PathDiagnostic((), f"found {preview_json(value)}; allowed: an object, one episode", hint)


def _id_of(value: Any) -> str:
    """The id as far as it can be printed, for messages about an episode that may be wrong."""
    name = value.get("id") if isinstance(value, dict) else None
    return name if isinstance(name, str) and _READABLE_ID.fullmatch(name) else ""
