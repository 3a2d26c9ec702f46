"""`--format malevic`: the published layout of MALeViC's data sets.

    <out>/<set>_<vague or static>_dataset/<split>/<index>.png
                                          <split>.json                {"info": {}, "questions": [...]}
                                          annotations_<split>.json    {"<index>": [scene, objects, captions ...]}

Splits are called as published: train, val, test, test_seen, test_unseen. Pictures are numbered from 0 in the order of
episode ids, class after class in turn; `image_filename_original` has the item's own number. Areas and places are those
of the canvas of 1024 x 1024, whatever size the pictures have; pictures are RGB, the published ones RGBA, all opaque.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from render.export._pictures import JsonLists, compact_json, put_file, split_of, write_each
from render.export.protocol import ExportOptions, ExportReport, chosen_ids, iter_valid_records, output_lock
from render.model.record import EpisodeRecord
from render.store.episode_store import EpisodeReader
from scene_specs.benchmarks.malevic.published import annotation, question
from scene_specs.benchmarks.malevic.verify import task_of


def export(store: EpisodeReader, out: Path, options: ExportOptions, progress: Callable[[int], None]) -> ExportReport:
    """Write pictures, questions and annotations; see render.export.protocol.Exporter. Memory: a chunk of episodes."""
    report = ExportReport()
    with output_lock(out), ExitStack() as stack:
        writer = _Writer(out, options, report, stack)
        records = iter_valid_records(store, chosen_ids(store, options), report, progress)
        write_each(records, writer.write, out, report, progress)
    return report


class _Writer:
    """Numbers the pictures of each split from 0, in the order of episode ids."""

    def __init__(self, out: Path, options: ExportOptions, report: ExportReport, stack: ExitStack) -> None:
        self._out, self._options, self._report, self._stack = out, options, report, stack
        self._files: dict[tuple[str, str], tuple[JsonLists, _Entries]] = {}
        self._next: dict[tuple[str, str], int] = {}

    def write(self, record: EpisodeRecord) -> bool:
        """Whether the episode's picture is new."""
        task = task_of(record)
        split = split_of(record.scene.split).replace("-", "_")
        folder = f"{task['name']}_{task['variant']}_dataset"
        entry = annotation(task)
        key = (folder, split)
        index = self._next.get(key, 0)
        # Taken even where the picture can't be written: the numbers of the others must not hang on that.
        self._next[key] = index + 1
        new = put_file(self._out / folder / split / f"{index}.png", record.images[0].png, self._options)
        questions, annotations = self._of(key)
        questions.add("questions", question(task, index, split))
        annotations.add(str(index), entry)
        return new

    def _of(self, key: tuple[str, str]) -> tuple[JsonLists, _Entries]:
        if key not in self._files:
            base, split = self._out / key[0], key[1]
            questions = self._stack.enter_context(JsonLists(base / f"{split}.json", ("questions",), self._report))
            questions.facts["info"] = {}
            entries = self._stack.enter_context(_Entries(base / f"annotations_{split}.json", self._report))
            self._files[key] = (questions, entries)
        return self._files[key]


class _Entries:
    """One JSON object whose entries are too many for memory.

    It takes its name when the block ends without an error and no episode differs, as JsonLists do.
    """

    def __init__(self, path: Path, report: ExportReport) -> None:
        self._path, self._report = path, report
        self._folder = path.with_name(f".{path.name}.parts")
        self._file: IO[str]
        self._mark = "{\n"

    def __enter__(self) -> _Entries:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._file = (self._folder / "whole").open("w", encoding="utf-8")
        return self

    def add(self, key: str, value: list[Mapping[str, Any]] | list[dict[str, Any]]) -> None:
        """One more entry, a line."""
        self._file.write(f"{self._mark}{compact_json(key)}: {compact_json(value)}")
        self._mark = ",\n"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.write("\n}\n" if self._mark != "{\n" else "{}\n")
        self._file.close()
        if kind is None and not self._report.differing:
            (self._folder / "whole").replace(self._path)
        shutil.rmtree(self._folder, ignore_errors=True)
