"""`render-store`: look into a dataset store, check it, take care of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli import store_care, store_stats
from render.cli.common import DioramaGroup, atomic_writer, log, verbose_option
from render.cli.store_parts import AT, JSON, STORE, WHERE, bar, open_one, print_json, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from render.model.record import EpisodeRecord
    from render.store.lance.reader import LanceReader
    from render.store.lance.verify import Verdict

_LS_COLUMNS = ["episode_id", "benchmark", "task", "split", "attempt", "profile", "width", "height", "image_names"]
_OBJECT_COLUMNS = ("image", "object", "shape", "color", "material", "size", "box", "visible")
_SHOWN_DAMAGE = 20


@click.group(cls=DioramaGroup)
@verbose_option
def main() -> None:
    """Look into a dataset store (a folder or s3://BUCKET/NAME), check it, take care of it.

    \b
    Exit codes: 0 done; 1 stores that differ (diff); 2 wrong options, or episodes that differ (copy); 4 the store can't
    be read or written, or is damaged.
    """


@main.command()
@click.argument("url", metavar="STORE")
def create(url: str) -> None:
    """Make an empty store. (render-batch makes one by itself.)"""
    from render.store import create_store

    create_store(url).close()
    click.echo(f"made {url}")


@main.command()
@STORE
@WHERE
@click.option("--limit", type=click.IntRange(0), help="At most so many.")
@click.option(
    "--sort",
    type=click.Choice(["visible_fraction", "visible_pixels", "box", "objects", "images", "seconds"]),
    help="Smallest first: of an episode's objects the one that shows least, ... [default: by id]",
)
@click.option("--reverse", is_flag=True, help="Largest first.")
@AT
@JSON
def ls(
    url: str, where: str | None, limit: int | None, sort: str | None, reverse: bool, at: str | None, as_json: bool
) -> None:
    """List episodes, by id or by what is extreme in them."""
    from render.store.episode_store import ID_BATCH_ROWS, ids_filter

    store = open_one(url, at)
    if sort is not None:
        from render.store.analysis.extremes import extremes

        found = extremes(store, sort, where, limit, reverse)
        rows = []
        for start in range(0, len(found), ID_BATCH_ROWS):
            part = found[start : start + ID_BATCH_ROWS]
            facts = {
                row["episode_id"]: row for row in store.scan(_LS_COLUMNS, ids_filter([one.episode for one in part]))
            }
            rows += [{**facts[one.episode], sort: one.value, "where": one.where} for one in part]
    else:
        rows = list(store.scan(_LS_COLUMNS, where, ID_BATCH_ROWS))
        rows = sorted(rows, key=lambda row: str(row["episode_id"]), reverse=reverse)[:limit]
    for row in rows:
        row["images"] = len(row.pop("image_names") or ())
        click.echo(json.dumps(row, ensure_ascii=False) if as_json else _ls_line(row, sort))


def _ls_line(row: dict[str, Any], sort: str | None) -> str:
    kind = "/".join(str(row[name]) for name in ("benchmark", "task") if row[name] is not None) or "-"
    size = f"{row['width']}x{row['height']}"
    facts = [kind, row["split"] or "-", f"{row['images']} images", size, row["profile"], f"attempt {row['attempt']}"]
    if sort is not None:
        facts.append(f"{row[sort]:g}" + (f": {row['where']}" if row["where"] else ""))
    return "\t".join([row["episode_id"], *facts])


@main.command()
@STORE
@click.argument("episode", required=False)
@AT
@JSON
def show(url: str, episode: str | None, at: str | None, as_json: bool) -> None:
    """What a store holds, or what one EPISODE is; all of its truth with --json."""
    store = open_one(url, at)
    record = None if episode is None else store.get(episode)
    facts = _store_facts(store) if record is None else _episode_facts(record, as_json)
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {count}" for key, count in value.items()) or "none"
        click.echo(f"{name + ':':<12}{value}")
    if record is not None:
        for line in table(_OBJECT_COLUMNS, _object_rows(record)):
            click.echo(line)


def _store_facts(store: LanceReader) -> dict[str, Any]:
    from render.store.analysis.stats import tally
    from render.store.columns import SCHEMA_VERSION

    versions = store.versions()
    size = store.bytes_on_disk()
    return {
        "store": store.url,
        **tally(store),
        "version": store.version,
        "versions": len(versions),
        "changed": versions[-1].committed.isoformat(timespec="seconds"),
        "files": len(store.fragments()),
        "megabytes": None if size is None else round(size / 1e6, 1),
        "tags": store.tags(),
        "schema": SCHEMA_VERSION,
    }


def _episode_facts(record: EpisodeRecord, everything: bool) -> dict[str, Any]:
    images = {image.name: f"{len(image.annotation.objects)} objects, {len(image.png)} bytes" for image in record.images}
    facts: dict[str, Any] = {
        "episode": record.episode_id,
        "split": record.scene.split,
        "profile": record.scene.settings.profile,
        "size": f"{record.scene.settings.width}x{record.scene.settings.height}",
        "task": record.scene.task or {},
        "images": images,
        "attempt": record.provenance.attempt,
        "device": record.provenance.device,
        "created": record.provenance.created,
        "versions": record.provenance.versions,
        "seconds": record.provenance.seconds,
        "job": record.job.hash(),
        "sha256": record.digest(),
    }
    if record.provenance.models:
        facts["repaired models"] = record.provenance.models
    if everything:
        facts |= {"provenance": record.provenance.model_dump(mode="json"), "truth": record.truth}
        facts |= {"spec": record.job.spec}
    return facts


def _object_rows(record: EpisodeRecord) -> Iterator[tuple[str, ...]]:
    for image in record.images:
        for item in image.annotation.objects:
            look = (item.shape, item.color or "-", item.material, item.size or f"{item.scale:g}")
            box = " ".join(map(str, item.bbox)) if item.bbox is not None else "not visible"
            yield (image.name, item.name, *look, box, f"{item.visible_fraction:.1%}")


@main.command()
@STORE
@click.argument("episodes", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Where to.")
@AT
@click.option("--overwrite", is_flag=True, help="Replace what is there but differs.")
def get(url: str, episodes: tuple[str, ...], out: Path, at: str | None, overwrite: bool) -> None:
    """Write EPISODES as folders of PNG and JSON; with --at, as they were then."""
    from render.export.folder import export
    from render.export.protocol import ExportOptions
    from render.model.errors import StoreError
    from render.store.episode_store import ids_filter

    store = open_one(url, at)
    missing = [episode for episode in episodes if not store.exists(episode)]
    if missing:
        raise StoreError(f"{url}: episode {missing[0]} is not in the store")
    report = export(store, out, ExportOptions(overwrite, where=ids_filter(episodes)), lambda done: None)
    click.echo(f"wrote {report.exported} episodes to {out}, {report.skipped} were there already")
    error = report.error()
    if error is not None:
        raise error


@main.command()
@STORE
@click.option("--workers", type=click.IntRange(1), help="Processes [default: as many as cores].")
@click.option(
    "--specs-out", type=click.Path(path_type=Path), metavar="FILE", help="Specs of damaged episodes (.jsonl)."
)
@click.option("--repair", "mend", is_flag=True, help="Then take damaged rows out, and all but the newest of one id.")
@AT
@JSON
def verify(url: str, workers: int | None, specs_out: Path | None, mend: bool, at: str | None, as_json: bool) -> None:
    """Check every episode: digests, pictures, boxes, masks, frames, columns, answers, ids that are there twice.

    With --specs-out and --repair, the render-batch command that it prints makes the damaged episodes again.
    """
    from render.episode.output_files import check_writable
    from render.model.errors import StoreError, UsageError
    from render.store.lance import verify as looking
    from render.store.lance.verify import write_specs

    if mend and at is not None:
        raise UsageError("--repair changes the newest version; leave --at out")
    if specs_out is not None:
        check_writable(specs_out)
    store = open_one(url, at)
    with bar(store.count(), " episodes") as progress:
        verdict = looking.verify(store, workers, progress)
    lost = [damage for damage in verdict.damaged if not damage.duplicate]
    if mend and lost and specs_out is None:
        raise UsageError(f"{len(lost)} damaged episodes would be taken out; give --specs-out FILE to keep their specs")
    _tell(url, verdict, as_json)
    if specs_out is not None:
        for file, options in write_specs(verdict.damaged, specs_out, atomic_writer).items():
            log.info("to make them again: render-batch %s --out %s %s", file, url, options)
        _tell_unkept([damage.episode_id or f"row {damage.row}" for damage in lost if damage.spec is None], specs_out)
    if mend and verdict.damaged:
        from render.store import open_store
        from render.store.lance.verify import delete_damaged

        log.info("took out %d rows", delete_damaged(open_store(url), verdict))
    if not verdict.intact:
        rows = len(verdict.damaged) + len(verdict.unreadable)
        now = "were damaged and are taken out" if mend and not verdict.unreadable else "are damaged"
        raise StoreError(f"{url}: {rows} of {verdict.episodes} rows {now}")


def _tell(url: str, verdict: Verdict, as_json: bool) -> None:
    if as_json:
        damaged = [{"episode": one.episode_id, "problems": one.problems} for one in verdict.damaged]
        facts = {"store": url, "version": verdict.version, "episodes": verdict.episodes}
        print_json({**facts, "damaged": damaged, "unreadable": verdict.unreadable})
        return
    for line in [*verdict.unreadable, *map(str, verdict.damaged)][:_SHOWN_DAMAGE]:
        log.error("%s", line)
    more = len(verdict.unreadable) + len(verdict.damaged) - _SHOWN_DAMAGE
    if more > 0:
        log.error("and %d more (--json lists all)", more)
    if verdict.intact:
        click.echo(f"{url}: {verdict.episodes} episodes, all whole")


def _tell_unkept(names: list[str], specs_out: Path) -> None:
    if names:
        more = f" and {len(names) - _SHOWN_DAMAGE} more" if len(names) > _SHOWN_DAMAGE else ""
        shown = ", ".join(names[:_SHOWN_DAMAGE]) + more
        log.warning("can't be made again from %s, their specs can't be read either: %s", specs_out, shown)


for _command in (*store_care.COMMANDS, *store_stats.COMMANDS):
    main.add_command(_command)
