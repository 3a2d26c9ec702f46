"""Read specs: a first pass that reports all diagnostics of all files, and later passes that yield the episodes.

Both are streams: of a `.jsonl` file with 100,000 episodes, one episode is in memory, and 16 bytes per id.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from os import PathLike
from typing import Any, NamedTuple

from pydantic import ValidationError

from diorama.scene_specs.checks.semantics import diagnostics_with_plugins
from diorama.scene_specs.errors import Diagnostic, SpecError, located, spec_error
from diorama.scene_specs.language.diagnostics import PathDiagnostic, preview_json, unexpected
from diorama.scene_specs.language.validation import form_diagnostics
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import EpisodeData, EpisodeSpec, spec_text
from diorama.scene_specs.reading.documents import STDIN, Document, SpecFile, Spool, document_of, documents, find_files
from diorama.scene_specs.reading.located_json import scan
from diorama.scene_specs.reading.pruning import independent_diagnostics

Check = Callable[[EpisodeSpec | Scene], Iterable[PathDiagnostic]]
# A file of another kind, with an error in each of its lines, is not read to its end.
_MAX_DIAGNOSTICS = 10_000
_READABLE_ID = re.compile(r"[A-Za-z0-9_.+/-]{1,200}")


class Item(NamedTuple):
    """An episode and its location.

    Attributes:
        line: of its start, 1-based.
        episode: an EpisodeSpec or a Scene.
    """

    file: str
    line: int
    episode: Any

    def data(self) -> EpisodeData:
        """Return the episode as JSON data."""
        data: EpisodeData = self.episode.model_dump(mode="json", exclude_none=True)
        return data


class SpecSource:
    """Spec files that can be read repeatedly.

    Attributes:
        part: (i, n): passes read every n-th episode, beginning with the i-th (from 1).
        look: for all specs, in place of their own; None to keep it.
    """

    def __init__(
        self, names: Sequence[str | PathLike[str]], stdin: Spool | None = None, more: Check = lambda episode: ()
    ) -> None:
        """Name the files.

        Args:
            names: `.json` and `.jsonl` files, folders (all such files below, sorted), globs, and `-` for standard
                input.
            stdin: instead of that of the process. A temporary file holds its contents until `close`.
            more: a further check of each episode whose form is valid, such as for missing assets.
        """
        self._names = [str(name) for name in names]
        self._more = more
        self._stdin = stdin or Spool()
        self.part = (1, 1)
        self.look: str | None = None
        self._states: dict[str, tuple[tuple[int, ...], bytes]] = {}
        self._checked = False

    @classmethod
    def of(cls, specs: Iterable[EpisodeSpec | Scene | Mapping[str, Any]]) -> SpecSource:
        """Read specs that are in memory, to the end; messages name them `specs:1` and so on.

        Raises:
            SpecError: there are none, or one is not JSON data.
        """
        spool = Spool(_json_lines(specs), "specs")
        spool.file()
        return cls([STDIN], spool)

    def check_each(self) -> Iterator[Item | Diagnostic]:
        """Yield every diagnostic of every file and every episode that has none, in their order.

        After 10,000 diagnostics, one more says that the rest was not read. Passes after this one do not check the
        episodes again.
        """
        files, diagnostics = find_files(self._names, self._stdin)
        yield from diagnostics
        ids, count, wanted = _Ids(files), 0, self._selection_test()
        for number, file in enumerate(files):
            state, digest = file.state(), file.digest()
            for document in documents(file, wanted):
                episode, found = _read_episode(document, self._check_all)
                # An invalid episode can still repeat an id.
                if name := _id_of(document.value):
                    found += ids.add(name, number, document)
                yield from found
                count += len(found)
                if count >= _MAX_DIAGNOSTICS:
                    yield replace(found[-1], path="", problem=f"after {count:,} errors, the rest was not read", hint="")
                    return
                if not found:
                    yield Item(document.file, document.line, self._in_requested_look(episode))
            if state is not None:
                self._states[file.name] = state, digest
        self._checked = True

    def check(self) -> tuple[list[Diagnostic], int]:
        """Return all diagnostics of all files, in their order, and the number of episodes without one."""
        diagnostics, count = list[Diagnostic](), 0
        for found in self.check_each():
            match found:
                case Diagnostic():
                    diagnostics.append(found)
                case _:
                    count += 1
        return diagnostics, count

    def __iter__(self) -> Iterator[Item]:
        """Yield the episodes in order.

        Raises:
            SpecError: at the first diagnostic, or if a file changed since `check`.
        """
        files, diagnostics = find_files(self._names, self._stdin)
        if diagnostics:
            raise SpecError(diagnostics)
        wanted = self._selection_test()
        for file in files:
            state, digest = self._states.get(file.name, (None, b""))
            # Some network file systems give a file that nobody touched another number, and other times.
            if state is not None and state != file.state() and (not digest or digest != file.digest()):
                raise spec_error("the file was changed after it was checked", "start again", file=file.name)
            for document in documents(file, wanted):
                episode, found = _read_episode(document, (lambda _: ()) if self._checked else self._check_all)
                if found:
                    raise SpecError(found)
                yield Item(document.file, document.line, self._in_requested_look(episode))

    def _selection_test(self) -> Callable[[], bool]:
        """Return a function that says of each episode in turn whether it is one of the part."""
        first, count = self.part
        return cycle(index == first for index in range(1, count + 1)).__next__

    def _check_all(self, episode: EpisodeSpec | Scene) -> list[PathDiagnostic]:
        if self.look is not None and isinstance(episode, Scene):
            return [PathDiagnostic((), "found a resolved scene; give it a look with `render-specs looks`")]
        episode = self._in_requested_look(episode)
        found = diagnostics_with_plugins(episode)
        paths = {one.path for one in found}
        return [*found, *(one for one in self._more(episode) if one.path not in paths)]

    def _in_requested_look(self, episode: Any) -> Any:
        """Return a spec in the look that was asked for."""
        return episode if self.look is None else episode.model_copy(update={"look": self.look})

    def close(self) -> None:
        """Delete the copy of standard input."""
        self._stdin.close()

    def __enter__(self) -> SpecSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_checked(names: Sequence[str]) -> Iterator[Item]:
    """Yield the episodes of spec files after a check of all of them.

    Raises:
        SpecError: files are wrong; has every diagnostic.
    """
    with SpecSource(names) as source:
        diagnostics, _ = source.check()
        if diagnostics:
            raise SpecError(diagnostics)
        yield from source


def read_benchmark(
    names: Sequence[str], benchmark: str, check: Callable[[Any], object] | None = None
) -> Iterator[EpisodeData]:
    """Yield each episode of checked files as JSON data.

    Args:
        names: as for `SpecSource`.
        benchmark: name of the benchmark that the episodes must have, unless `check` decides.
        check: raises SpecError for an episode of another benchmark.

    Raises:
        SpecError: files are wrong or hold episodes of another benchmark.
    """
    for item in read_checked(names):
        data = item.data()
        found = (data.get("task") or {}).get("benchmark")
        with located(file=item.file, line=item.line):
            if check is not None:
                check(data)
            elif found != benchmark:
                problem = f"found benchmark {found!r}; expected {benchmark!r}"
                raise spec_error(problem, episode=item.episode.id, path="task")
        yield data


def parse_episode(text: str, file: str = "") -> Any:
    """Read a JSON text as an EpisodeSpec or a Scene.

    Raises:
        SpecError: the text is wrong; has every diagnostic.
    """
    episode, diagnostics = _read_episode(document_of(text, file), diagnostics_with_plugins)
    if diagnostics:
        raise SpecError(diagnostics)
    return episode


def _json_lines(specs: Iterable[EpisodeSpec | Scene | Mapping[str, Any]]) -> Iterator[bytes]:
    number = 0
    for number, spec in enumerate(specs, start=1):
        yield spec_text(spec, "specs", number).encode() + b"\n"
    if not number:
        raise spec_error("no specs given", file="specs")


class _Ids:
    """Locations of the ids seen so far, by digest. Case is ignored, because some file systems ignore it."""

    def __init__(self, files: Sequence[SpecFile]) -> None:
        self._files = files
        self._seen: dict[bytes, int] = {}

    def add(self, episode: str, number: int, document: Document) -> list[Diagnostic]:
        """Add an id; return a diagnostic if it occurred before."""
        digest = hashlib.blake2b(episode.lower().encode(), digest_size=16).digest()
        first = self._seen.get(digest)
        if first is None:
            # File and line in one integer: a tuple would take three times the memory.
            self._seen[digest] = number << 40 | document.line
            return []
        file, line = self._files[first >> 40].name, first & (1 << 40) - 1
        problem = f"found {preview_json(episode)}, the id of an episode in {file}:{line}"
        hint = "ids are unique in a run, and differ by more than upper and lower case"
        line = scan(document.text, 0, document.line, to_end=False).line(("id",))
        return [Diagnostic(document.file, line, episode, "id", problem, hint)]


def _read_episode(document: Document, check: Check) -> tuple[Any, list[Diagnostic]]:
    """Return the episode, or None and its diagnostics. check: what needs more than one field."""
    slow = document.scan
    if slow is None:
        episode, diagnostics = _validate_value(document.value, document.text, check)
        if not diagnostics:
            return episode, []
        slow = scan(document.text, 0, document.line, to_end=False)
    else:
        # The value that replaces NaN needs no second diagnostic.
        bad = [diagnostic.path for diagnostic in slow.diagnostics]
        diagnostics = [] if slow.stopped else _validate_value(slow.value, json.dumps(slow.value), check)[1]
        diagnostics = [diagnostic for diagnostic in diagnostics if diagnostic.path not in bad]
    name = _id_of(document.value)
    located = [diagnostic._replace(line=slow.line(diagnostic.path)) for diagnostic in diagnostics]
    found = [diagnostic.in_file(document.file, name) for diagnostic in (*slow.diagnostics, *located)]
    return None, sorted(found, key=lambda diagnostic: diagnostic.line)


def _validate_value(value: Any, text: str, check: Check) -> tuple[Any, list[PathDiagnostic]]:
    """Validate a parsed value and its text as a model; return the model, or None and the diagnostics."""
    match value:
        # Scene files of CLEVR and MEWL have these keys.
        case {"scenes": _} | {"objects": _, "directions": _} if "version" not in value:
            problem = f"not an episode but, by its keys, a published scene file: {preview_json(sorted(value)[:6])}"
            hint = "`render-specs import --from clevr` or `--from mewl` makes specs of it"
            return None, [PathDiagnostic((), problem, hint)]
        case list():
            hint = "a list of episodes goes into a .json file of its own"
            return None, [unexpected((), value, "an object, one episode", hint)]
        case str() | int() | float() | None:
            return None, [unexpected((), value, "an object, one episode")]
    model: type[EpisodeSpec | Scene]
    if "$schema" in value and "scene_version" not in value:
        # For editors; no part of the episode.
        address = value["$schema"]
        value = {key: item for key, item in value.items() if key != "$schema"}
        episode, diagnostics = _validate_value(value, json.dumps(value), check)
        if not isinstance(address, str):
            allowed = "the path or address of a JSON Schema"
            diagnostics.append(unexpected(("$schema",), address, allowed, "`render-specs schema` writes it"))
        return episode, diagnostics
    model, key = (Scene, "scene_version") if "scene_version" in value else (EpisodeSpec, "version")
    # Pydantic takes true and 1.0 for the literal 1.
    odd = [unexpected((key,), value[key], "1")] if type(value.get(key, 1)) is not int else []
    try:
        # Strict: "1" is not a number and 1 is not true. From text, because strict mode reads a JSON list as a tuple.
        episode = model.model_validate_json(text, strict=True)
    except ValidationError as error:
        diagnostics = form_diagnostics(error, model, value)
        diagnostics += [found for found in odd if all(found.path != other.path for other in diagnostics)]
        rest = independent_diagnostics(value, diagnostics, check) if model is EpisodeSpec else []
        return None, diagnostics + rest
    return episode, [*odd, *check(episode)]


def _id_of(value: Any) -> str:
    """Return the id of an episode, which may be invalid, if it is printable, else ""."""
    match value:
        case {"id": str(name)} if _READABLE_ID.fullmatch(name):
            return name
    return ""
