"""Published annotation files: the name of a tangram as a whole, and the names of its parts by piece.

{"<tangram>": {"snd": ..., "pnd": ..., "psa": ..., "annotations": [
    {"whole": {"wholeAnnotation": "..."}, "part": {"1": "...", ..., "7": "..."}, "workerId": "...", "metadata": ...}]}}
"""

from __future__ import annotations

import json
import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diorama.scene_specs.benchmarks.kilogram.pieces import PIECES
from diorama.scene_specs.errors import Diagnostic, counted
from diorama.scene_specs.language.diagnostics import preview_json, value_at

_log = logging.getLogger(__name__)
# Ids of tangrams become parts of episode ids and file names.
TANGRAM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,49}")
LONGEST = 500
# More warnings than this are counted only.
_MAX_WARNINGS = 20
# In inputs of models, # separates the whole from its parts.
_TEXT = f"a text of 1 to {LONGEST} characters that can be written, without #"
# Control characters, and surrogates, which UTF-8 cannot encode.
_UNWRITABLE = frozenset({"Cc", "Cs"})
_KEYS = [str(piece) for piece in PIECES]


@dataclass(frozen=True)
class Annotation:
    """A description by one person.

    Attributes:
        number: its index among those of the tangram. part[k]: part of piece k + 1.
    """

    tangram: str
    number: int
    whole: str
    part: tuple[str, ...]

    @property
    def key(self) -> str:
        """Return `<tangram>_<number>`, the published name of the image."""
        return f"{self.tangram}_{self.number}"

    def groups(self) -> dict[str, tuple[int, ...]]:
        """Return part -> its pieces, in the order of their first piece. Pieces with the same text form a part."""
        pieces_by_part: dict[str, list[int]] = {}
        for piece, name in zip(PIECES, self.part, strict=True):
            pieces_by_part.setdefault(name, []).append(piece)
        return {name: tuple(pieces) for name, pieces in pieces_by_part.items()}

    @property
    def parts(self) -> int:
        """Return the number of parts, 1 to 7."""
        return len({*self.part})


Annotations = dict[str, tuple[Annotation, ...]]


def read_annotations(text: str, file: str) -> tuple[Annotations, list[Diagnostic]]:
    """Return the annotations in the text of a file, and diagnostics of invalid ones, which are left out.

    The others keep their number. A part that differs from its last `metadata` is a diagnostic, too, but `part` is used.
    """
    diagnostics: list[Diagnostic] = []

    def diagnostic(tangram: str, path: str, problem: str) -> None:
        diagnostics.append(Diagnostic(file, 0, tangram, path, problem))

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs_by_key = dict(items)
        if len(pairs_by_key) != len(items):
            twice = Counter(name for name, _ in items).most_common(1)[0][0]
            diagnostic("", "", f"key {preview_json(twice)} is given twice in one object; the last one is taken")
        return pairs_by_key

    try:
        data = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        return {}, [Diagnostic.of(f"not JSON: {error}", file=file)]
    if not isinstance(data, dict):
        problem = f"found {preview_json(data)}; expected an object, tangram -> annotations"
        return {}, [Diagnostic.of(problem, file=file)]
    annotations: Annotations = {}
    for tangram, value in data.items():
        if not TANGRAM.fullmatch(tangram):
            allowed = "letters, digits and _ . + -, at most 50"
            diagnostic("", "", f"found tangram {preview_json(tangram)}; allowed: {allowed}")
            continue
        listed = value_at(value, ("annotations",))
        if not isinstance(listed, list):
            diagnostic(tangram, "annotations", f"found {preview_json(listed)}; expected a list")
            continue
        kept = []
        for number, item in enumerate(listed):
            problems = list(_annotation_problems(item))
            for path, problem in problems:
                diagnostic(tangram, f"annotations[{number}]{path}", problem)
            if not problems:
                part = tuple(item["part"][key] for key in _KEYS)
                kept.append(Annotation(tangram, number, item["whole"]["wholeAnnotation"], part))
                if problem := _metadata_problem(item):
                    diagnostic(tangram, f"annotations[{number}].metadata", problem)
        annotations[tangram] = tuple(kept)
    return annotations, diagnostics


def log_diagnostics(diagnostics: Sequence[Diagnostic], advice: str = "") -> None:
    """Log the first diagnostics as warnings, then their number, with an advice."""
    for diagnostic in diagnostics[:_MAX_WARNINGS]:
        _log.warning("%s", diagnostic)
    if diagnostics:
        _log.warning("%s in all%s", counted(len(diagnostics), "warning"), advice)


def _annotation_problems(item: Any) -> Iterator[tuple[str, str]]:
    """Yield path and problem of everything that makes an annotation invalid."""
    if not isinstance(item, dict):
        yield "", f"found {preview_json(item)}; expected an object with whole and part"
        return
    text = value_at(item, ("whole", "wholeAnnotation"))
    if not is_text(text):
        yield ".whole.wholeAnnotation", f"found {preview_json(text)}; expected {_TEXT}"
    part = item.get("part")
    if not isinstance(part, dict) or {*part} != {*_KEYS}:
        yield ".part", f"found {preview_json(part)}; expected the seven keys 1 to 7"
        return
    for key in _KEYS:
        if not is_text(part[key]):
            yield f".part.{key}", f"found {preview_json(part[key])}; expected {_TEXT}"


def is_text(value: object) -> bool:
    """Return whether a value can be a name in an annotation."""
    match value:
        case str() if value.strip() and len(value) <= LONGEST and "#" not in value:
            return all(sign in "\t\n\r" or unicodedata.category(sign) not in _UNWRITABLE for sign in value)
    return False


def _metadata_problem(item: Mapping[str, Any]) -> str:
    """Return which pieces have another part in their final actions than in `part`, "" for none."""
    metadata, final = item.get("metadata"), dict[str, str]()
    for action in metadata.values() if isinstance(metadata, dict) else ():
        match action:
            case {"final": True, "pieces": list(pieces)}:
                final.update({str(piece): str(action.get("annotation")) for piece in pieces})
    other = [key for key in _KEYS if final and final.get(key) != item["part"][key]]
    return f"its final actions name another part for piece {', '.join(other)}; part is used" if other else ""
