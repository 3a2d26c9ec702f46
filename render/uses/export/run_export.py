"""What `render-export` and `diorama.export` do: find the format, open its source, write the episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from inspect import signature
from pathlib import Path

from diorama.render.store import open_at, open_store
from diorama.render.store.selection import check_splits, condition
from diorama.render.uses.export import format_of
from diorama.render.uses.export.about import read_about
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.render.uses.export.publish import check_folder, is_published, publish
from diorama.render.uses.io.atomic_output import output_lock
from diorama.render.uses.io.written_files import WrittenFiles
from diorama.scene_specs.errors import UsageError


def run_export(
    source: str,
    name: str,
    out: Path,
    options: ExportOptions,
    *,
    at: int | str | None = None,
    splits: Sequence[str] = (),
    about: Path | None = None,
    strict: bool = False,
    on_progress: Callable[[int, int | None], None] = lambda done, total: None,
) -> ExportReport:
    """Export a store in a format; problems of single episodes are in the report.

    Args:
        source: the store, or the file of a format that reads one.
        at: version number or tag, None for the newest.
        splits: splits of the episodes, none for all.
        about: about.toml, to describe the export for publication.
        strict: whether all questions in it must have answers.
        on_progress: called with the numbers of finished episodes and of all, None if unknown.

    Raises:
        UsageError: for an unknown format and options that are not for it.
        StoreError: the store can't be read or written.
    """
    form = format_of(name)
    if options.shard_size is not None and not form.sharded:
        raise UsageError(f"--format {name} writes no shards; omit --shard-size")
    if options.questions is not None and not form.questions:
        others = "pass --format eval, huggingface or webdataset"
        raise UsageError(f"--format {name} has no questions about images; omit --questions, or {others}")
    if about is not None and form.croissant_parts is None:
        raise UsageError(f"--about: --format {name} can't be described; use huggingface, webdataset or folder")
    described = None if about is None else read_about(about, strict)
    done, total = 0, None

    def advance(episodes: int) -> None:
        nonlocal done
        done += episodes
        on_progress(done, total)

    if form.from_files:
        if splits or options.where or at is not None:
            raise UsageError(f"--format {name} reads a file: omit --split, --where and --at")
        return form.export(Path(source), out, options, advance)  # type: ignore[arg-type]  # it takes no store
    options = replace(options, where=condition(options.where, splits=tuple(splits)))
    with closing(open_store(source) if at is None else open_at(source, at)) as store:
        check_splits(store, splits)
        total = store.count(options.where)
        total = total if options.limit is None else min(options.limit, total)
        if described is not None:
            check_folder(store, name, out, options)
        report = form.export(store, out, options, advance)
        if described is not None and report.error() is None:
            report.missing += publish(store, name, out, options, described)
        elif report.error() is None and (report.exported or report.removed) and is_published(out):
            # The functions of older packages only write all tables anew.
            if "update" in signature(form.write_tables).parameters:
                with output_lock(out):
                    form.write_tables(out, WrittenFiles(out, store, options.overwrite), update=True)
            report.missing.append(f"{out}: README.md and the other files of --about are kept; update them with --about")
        return report
