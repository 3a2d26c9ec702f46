"""Reads what a model replied, and finds the item of each reply.

Predictions of `render-eval ask`, and result files of Inspect AI and lmms-eval:

JSON Lines     {"id": "<episode id>#<number>", "reply": "<text>"}, other keys are ignored; also the files
               `*_samples_*.jsonl` that lmms-eval writes with --log_samples
.eval          a log of Inspect AI; before Python 3.14, zipfile can't read its samples (Zstandard)
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import pyarrow as pa

from diorama.render.uses.items.scores import Entry
from diorama.scene_specs.errors import UsageError, counted, spec_error
from diorama.scene_specs.language.diagnostics import did_you_mean, preview_json
from diorama.scene_specs.tasks.answer_rule import answer_of

# A longer line, or a sample of more bytes, is not a reply.
_MOST_BYTES = 64 << 20
_ZSTD = 93
# RuntimeError: encrypted, of an unknown method, or nested too deeply; the others of samples: of another form.
_UNREADABLE = (
    OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, EOFError, zipfile.BadZipFile,
    zlib.error, struct.error,
)  # fmt: skip
_MOST_HINTED = 100_000
# Why predictions can't be scored -> what to do.
_ADVICE = {
    "of no item of the store": "score them with the store that they were made from, and the same --questions, --limit, "
    "--split and --where",
    "of items that have one already": "keep one of each; nothing is counted twice",
    "missing": "select the episodes that were asked with --limit, --split and --where, or pass --allow-missing to "
    "count missing predictions as wrong",
}
_UNKNOWN, _TWICE, _MISSING = _ADVICE


class Prediction(NamedTuple):
    """The reply to an item.

    Attributes:
        id: id of the item.
        reply: text of the reply.
        file: file that has the reply.
        line: line in the file, or number of the sample, from 1.
    """

    id: str
    reply: str
    file: str
    line: int


def read_predictions(path: Path) -> Iterator[Prediction]:
    """Yield the predictions of a file, one in memory at a time. Raises SpecError for a file of another form."""
    if not path.is_file():
        raise spec_error("not a regular file", "save it to a file first", file=str(path))
    hint = ""
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PK\x03\x04":
                hint = "name a log that Inspect AI has finished"
                yield from _inspect_log(path, file)
            else:
                file.seek(0)
                yield from _read_predictions(path, file)
    except _UNREADABLE as error:
        raise spec_error(f"can't be read: {type(error).__name__}: {error}", hint, file=str(path)) from error


def _read_predictions(path: Path, file: IO[bytes]) -> Iterator[Prediction]:
    for number, line in enumerate(iter(lambda: file.readline(_MOST_BYTES + 1), b""), 1):
        if len(line) > _MOST_BYTES:
            raise spec_error(f"longer than {_MOST_BYTES >> 20} MiB", file=str(path), line=number)
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            # The last line of a run that was killed is incomplete, too.
            raise spec_error(f"invalid JSON: {error}", "remove the line", file=str(path), line=number) from None
        match data:
            # The harness lmms-eval writes filtered_resps.
            case {"id": str(item), "reply": str(reply) | [str(reply)]} | {
                "id": str(item),
                "filtered_resps": str(reply) | [str(reply)],
            }:
                yield Prediction(item, reply, str(path), number)
            case _:
                expected = 'expected {"id": "<episode id>#<number>", "reply": "<text>"}'
                raise spec_error(f"found {preview_json(data)}; {expected}", file=str(path), line=number)


def _inspect_log(path: Path, file: IO[bytes]) -> Iterator[Prediction]:
    with zipfile.ZipFile(path) as archive:
        samples = (member for member in archive.infolist() if member.filename.startswith("samples/"))
        for number, member in enumerate(samples, 1):
            if max(member.file_size, member.compress_size) > _MOST_BYTES:
                raise spec_error(f"{member.filename}: larger than {_MOST_BYTES >> 20} MiB", file=str(path))
            if member.compress_type == _ZSTD:
                file.seek(member.header_offset)
                # Local headers have their own lengths of name and extra field.
                file.seek(sum(struct.unpack("<HH", file.read(30)[26:30])), 1)
                content = pa.decompress(file.read(member.compress_size), member.file_size, codec="zstd", asbytes=True)
            else:
                content = archive.read(member)
            data = json.loads(content)
            if data.get("error"):  # the model was not reached: no reply, as in Inspect's own accuracy
                continue
            choices = (data.get("output") or {}).get("choices") or [{"message": {"content": ""}}]
            said = choices[0]["message"]["content"]
            # A message can be a list of parts; reasoning is not part of the reply.
            reply = said if isinstance(said, str) else "".join(part.get("text", "") for part in said or ())
            yield Prediction(str(data["id"]), reply, str(path), number)


def match(entries: dict[str, Entry], predictions: Iterable[Prediction], allow_missing: bool = False) -> None:
    """Put each prediction into the entry of its item. Memory does not grow with the predictions.

    Args:
        entries: entries by the ids of their items.
        predictions: predictions of `read_predictions`, whose SpecError passes.
        allow_missing: accept items without a prediction.

    Raises:
        UsageError: an id is unknown, occurs twice, or is missing.
    """
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}

    def add(kind: str, example: str) -> None:
        counts[kind] += 1
        examples.setdefault(kind, example)

    for prediction in predictions:
        where = f"{prediction.file}:{prediction.line}"
        if (entry := entries.get(prediction.id)) is None:
            hint = ""
            if _UNKNOWN not in counts and len(entries) <= _MOST_HINTED:
                hint = f" ({did_you_mean(prediction.id, entries)})".replace(" ()", "")
            add(_UNKNOWN, f"{prediction.id} in {where}{hint}")
        elif entry.place:
            add(_TWICE, f"{prediction.id} in {entry.place} and {where}")
        else:
            entry.reply, entry.place = answer_of(prediction.reply, entry.options, entry.lettered), where
    for name, entry in entries.items():
        if entry.reply is None and not allow_missing:
            add(_MISSING, name)
    if counts:
        numbers = {kind: counted(count, "prediction") for kind, count in counts.items()}
        lines = (f"{numbers[kind]} {kind}, such as {example}; {_ADVICE[kind]}" for kind, example in examples.items())
        raise UsageError("not scored: " + "\n  ".join(lines))
