"""`render-store`: look into a dataset store, check it, take care of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli.common import DioramaGroup, log, verbose_option

if TYPE_CHECKING:
    from render.record import EpisodeRecord
    from render.store.reading import LanceReader
    from render.store.verify import Verdict

_STORE = click.argument("url", metavar="STORE", default=lambda: os.environ.get("DIORAMA_STORE") or "diorama.lance")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_AT = click.option("--at", metavar="VERSION", help="A version's number or tag instead of the newest.")
_WHERE = click.option("--where", metavar="SQL", help="Only rows that this holds for, such as \"split = 'train'\".")
_LS_COLUMNS = ["episode_id", "benchmark", "task", "split", "attempt", "profile", "width", "height", "image_names"]
_SHOWN_DAMAGE = 20


@click.group(cls=DioramaGroup)
@verbose_option
def main() -> None:
    """Look into a dataset store (a folder or s3://BUCKET/NAME), check it, take care of it.

    \b
    Exit codes: 0 done; 2 wrong options, or episodes that differ; 4 the store can't be read or written, or is damaged.
    """


def _open(url: str, at: str | None = None) -> LanceReader:
    from render.store import open_at, open_store

    return open_store(url) if at is None else open_at(url, at)


@contextmanager
def _bar(total: int, unit: str) -> Iterator[Callable[[int], None]]:
    from tqdm import tqdm

    with tqdm(total=total, unit=unit, delay=2, disable=None) as bar:

        def progress(done: int) -> None:
            bar.update(done)

        yield progress


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=1, ensure_ascii=False, default=str))


@main.command()
@click.argument("url", metavar="STORE")
def create(url: str) -> None:
    """Make an empty store. (render-batch makes one by itself.)"""
    from render.store.lance_store import LanceStore

    LanceStore.create(url).close()
    click.echo(f"made {url}")


@main.command()
@_STORE
@_WHERE
@click.option("--limit", type=click.IntRange(0), help="At most so many, first by id.")
@_AT
@_JSON
def ls(url: str, where: str | None, limit: int | None, at: str | None, as_json: bool) -> None:
    """List episodes, by id."""
    from render.store.reading import ID_BATCH_ROWS

    rows = sorted(_open(url, at).scan(_LS_COLUMNS, where, ID_BATCH_ROWS), key=lambda row: str(row["episode_id"]))
    for row in rows[:limit]:
        row["images"] = len(row.pop("image_names") or ())
        if as_json:
            click.echo(json.dumps(row, ensure_ascii=False))
            continue
        kind = "/".join(str(row[name]) for name in ("benchmark", "task") if row[name] is not None) or "-"
        size = f"{row['width']}x{row['height']}"
        facts = (
            kind,
            row["split"] or "-",
            f"{row['images']} images",
            size,
            row["profile"],
            f"attempt {row['attempt']}",
        )
        click.echo("\t".join([row["episode_id"], *facts]))


@main.command()
@_STORE
@click.argument("episode", required=False)
@_AT
@_JSON
def show(url: str, episode: str | None, at: str | None, as_json: bool) -> None:
    """What a store holds, or what one EPISODE is; all of its truth with --json."""
    store = _open(url, at)
    facts = _store_facts(store) if episode is None else _episode_facts(store.get(episode), as_json)
    if as_json:
        _print_json(facts)
        return
    for name, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {count}" for key, count in value.items()) or "none"
        click.echo(f"{name + ':':<12}{value}")


def _store_facts(store: LanceReader) -> dict[str, Any]:
    from render.store.copying import tally
    from render.store.schema import SCHEMA_VERSION

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
    if everything:
        facts |= {"provenance": record.provenance.model_dump(mode="json"), "truth": record.truth}
        facts |= {"spec": record.job.spec}
    return facts


@main.command()
@_STORE
@click.argument("episodes", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Where to.")
@_AT
@click.option("--overwrite", is_flag=True, help="Replace what is there but differs.")
def get(url: str, episodes: tuple[str, ...], out: Path, at: str | None, overwrite: bool) -> None:
    """Write EPISODES as folders of PNG and JSON; with --at, as they were then."""
    from render.errors import StoreError
    from render.export.base import ExportOptions
    from render.export.folder import export
    from render.store.reading import among

    store = _open(url, at)
    missing = [episode for episode in episodes if not store.exists(episode)]
    if missing:
        raise StoreError(f"{url}: episode {missing[0]} is not in the store")
    report = export(store, out, ExportOptions(overwrite, where=among(episodes)), lambda done: None)
    click.echo(f"wrote {report.exported} episodes to {out}, {report.skipped} were there already")
    error = report.error()
    if error is not None:
        raise error


@main.command()
@_STORE
@click.option("--workers", type=click.IntRange(1), help="Processes [default: as many as cores].")
@click.option(
    "--specs-out", type=click.Path(path_type=Path), metavar="FILE", help="Specs of damaged episodes (.jsonl)."
)
@click.option("--repair", "mend", is_flag=True, help="Then take damaged rows out, and all but the newest of one id.")
@_AT
@_JSON
def verify(url: str, workers: int | None, specs_out: Path | None, mend: bool, at: str | None, as_json: bool) -> None:
    """Check every episode: digests, pictures, boxes, masks, frames, columns, answers, ids that are there twice.

    With --specs-out and --repair, the render-batch command that it prints makes the damaged episodes again.
    """
    from render.errors import StoreError, UsageError
    from render.store import verify as looking
    from render.store.copying import write_specs

    if mend and at is not None:
        raise UsageError("--repair changes the newest version; leave --at out")
    store = _open(url, at)
    with _bar(store.count(), " episodes") as progress:
        verdict = looking.verify(store, workers, progress)
    lost = [damage for damage in verdict.damaged if not damage.twice]
    if mend and lost and specs_out is None:
        raise UsageError(f"{len(lost)} damaged episodes would be taken out; give --specs-out FILE to keep their specs")
    files = write_specs(verdict.damaged, specs_out) if specs_out else {}
    _tell(url, verdict, as_json)
    for file, options in files.items():
        log.info("to make them again: render-batch %s --out %s %s", file, url, options)
    if mend and verdict.damaged:
        from render.store.lance_store import LanceStore
        from render.store.mending import take_out

        log.info("took out %d rows", take_out(LanceStore.open(url), verdict))
    if not verdict.whole:
        rows = len(verdict.damaged) + len(verdict.unreadable)
        now = "were damaged and are taken out" if mend and not verdict.unreadable else "are damaged"
        raise StoreError(f"{url}: {rows} of {verdict.episodes} rows {now}")


def _tell(url: str, verdict: Verdict, as_json: bool) -> None:
    if as_json:
        damaged = [{"episode": one.episode_id, "problems": one.problems} for one in verdict.damaged]
        facts = {"store": url, "version": verdict.version, "episodes": verdict.episodes}
        _print_json({**facts, "damaged": damaged, "unreadable": verdict.unreadable})
        return
    for line in [*verdict.unreadable, *map(str, verdict.damaged)][:_SHOWN_DAMAGE]:
        log.error("%s", line)
    more = len(verdict.unreadable) + len(verdict.damaged) - _SHOWN_DAMAGE
    if more > 0:
        log.error("and %d more (--json lists all)", more)
    if verdict.whole:
        click.echo(f"{url}: {verdict.episodes} episodes, all whole")


@main.command()
@_STORE
@click.option(
    "--drop-older-than", type=click.FloatRange(1), metavar="DAYS", help="Drop untagged versions older than that."
)
def compact(url: str, drop_older_than: float | None) -> None:
    """Merge small files and bring the index up to date; for a quiet moment. Old versions stay unless told otherwise."""
    from render.store.lance_store import LanceStore

    store = LanceStore.open(url)
    before = len(store.fragments())
    store.compact()
    click.echo(f"{before} files are now {len(store.fragments())}")
    if drop_older_than is not None:
        click.echo(f"{store.clean_up(timedelta(days=drop_older_than)) / 1e6:.1f} MB freed")


@main.command()
@_STORE
@click.argument("name", required=False)
@click.option("--version", type=click.IntRange(1), help="The version to name [default: the newest].")
@click.option("--delete", "remove", is_flag=True, help="Take the tag away.")
@_JSON
def tag(url: str, name: str | None, version: int | None, remove: bool, as_json: bool) -> None:
    """Give a version the NAME of a release, or list the names there are. Tagged versions are never dropped."""
    from render.store.lance_store import LanceStore

    store = LanceStore.open(url)
    if name is None:
        tags = store.tags()
        if as_json:
            _print_json(tags)
        else:
            click.echo("\n".join(f"{key}\tversion {number}" for key, number in tags.items()) or "no tags")
    elif remove:
        store.untag(name)
        click.echo(f"{name} is no tag any more")
    else:
        click.echo(f"{name} is version {store.tag(name, version)}")


@main.command()
@_STORE
@click.argument("episode", required=False)
@_JSON
def history(url: str, episode: str | None, as_json: bool) -> None:
    """When an EPISODE came, was replaced and went; without one, the versions of the store.

    `render-store get STORE EPISODE --at VERSION` writes it as it was.
    """
    from dataclasses import asdict

    store = _open(url)
    found: list[Any] = store.versions() if episode is None else store.history(episode)
    if as_json:
        _print_json([asdict(item) for item in found])
        return
    for item in found:
        when = item.committed.isoformat(timespec="seconds")
        if episode is None:
            click.echo(f"version {item.number}\t{when}\t{item.episodes} episodes in {item.fragments} files")
        else:
            what = f"attempt {item.attempt}, pictures {item.sha256[:12]}" if item.present else "deleted"
            click.echo(f"version {item.version}\t{when}\t{what}")
    if not found:
        click.echo(f"no version that is left has {episode}")


@main.command()
@click.argument("source")
@click.argument("target")
@click.option("--benchmark", help="Only episodes of this benchmark.")
@click.option("--split", "splits", multiple=True, help="Only this split; may be given again.")
@click.option("--id", "ids", multiple=True, help="Only this episode; may be given again.")
@_WHERE
@_AT
@click.option(
    "--differing",
    type=click.Choice(["error", "newest", "keep", "replace"]),
    default="error",
    show_default=True,
    help="An id TARGET has with other contents: copy nothing, take the later attempt, keep TARGET's, take SOURCE's.",
)
def copy(
    source: str,
    target: str,
    benchmark: str | None,
    splits: tuple[str, ...],
    ids: tuple[str, ...],
    where: str | None,
    at: str | None,
    differing: Any,
) -> None:
    """Copy episodes from SOURCE into TARGET, which is made if it isn't there. All filters must hold.

    Episodes that are there already and alike are skipped, so it can be stopped and run again.
    """
    from render.errors import StoreError
    from render.store import copying
    from render.store.lance_store import LanceStore

    opened, into = _open(source, at), LanceStore.open_or_create(target)
    condition = copying.condition(where, ids, benchmark, splits)
    with _bar(opened.count(condition), " episodes") as progress:
        done = copying.copy(opened, into, condition, differing, progress)
    click.echo(f"copied {done.copied}, replaced {done.replaced}, kept {done.kept}, {done.same} were there already")
    if done.damaged:
        lines = "\n".join(f"  {line}" for line in done.damaged[:_SHOWN_DAMAGE])
        raise StoreError(f"{source}: {len(done.damaged)} damaged episodes were not copied:\n{lines}")


@main.command()
@_STORE
@click.argument("episodes", nargs=-1, required=True)
def delete(url: str, episodes: tuple[str, ...]) -> None:
    """Take EPISODES out. They stay in older versions until those are dropped."""
    from render.store.lance_store import LanceStore

    click.echo(f"deleted {LanceStore.open(url).delete(episodes)} of {len(episodes)} episodes")


@main.command()
@_STORE
def migrate(url: str) -> None:
    """Bring a store that an older Diorama made to this version's schema; nothing is rendered again."""
    from render.store.migrate import migrate as bring

    before = bring(url)
    from render.store.schema import SCHEMA_VERSION

    click.echo(f"{url}: schema version {before}, now {SCHEMA_VERSION}")


@main.command()
@_STORE
def repair(url: str) -> None:
    """After a power cut: go back behind a commit that was cut short. Nothing acknowledged is lost, nothing deleted."""
    from render.store.opening import repair as go_back

    aside = go_back(url)
    click.echo(f"set aside version {', '.join(map(str, aside))}" if aside else "the newest version is whole")
