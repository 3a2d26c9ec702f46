"""The maintenance commands of `render-store`: versions, disk space, copies, repair."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand, log
from diorama.render.cli.output import print_json, print_result, progress_bar
from diorama.scene_specs.errors import StoreError, UsageError, counted
from diorama.scene_specs.files.tables import text_table

_MAX_DAMAGED = 20
# A century: dates much further back can't be represented.
_MAX_DAYS = 36500


@click.command(cls=DioramaCommand)
@opt.store
@click.option(
    "--drop-older-than",
    type=opt.Number(1, _MAX_DAYS, float),
    metavar="DAYS",
    help="Delete versions that are older than DAYS (at least 1) and have no tag.  [default: keep all]",
)
def compact(url: str, drop_older_than: float | None) -> None:
    """Merge small data files and update the index of ids.

    Run this command while nothing else writes to the store. All older versions stay unless you pass --drop-older-than.

    Examples:
      render-store compact scenes.lance
      render-store compact scenes.lance --drop-older-than 7
    """
    from diorama.render.store import open_store

    store = open_store(url)
    before = len(store.fragments())
    store.compact()
    click.echo(f"{counted(before, 'file')} compacted to {len(store.fragments())}")
    if drop_older_than is not None:
        click.echo(f"{store.clean_up(timedelta(days=drop_older_than)) / 1e6:.1f} MB freed")


@click.command(cls=DioramaCommand)
@opt.store
@click.argument("name", required=False)
@opt.number("--version", "Number of the version of the store to tag.  [default: the newest version]", 1)
@click.option("--delete", "remove", is_flag=True, help="Delete the tag NAME.")
@opt.as_json
def tag(url: str, name: str | None, version: int | None, remove: bool, as_json: bool) -> None:
    """Tag a version, or list the tags.

    A tag is a name for a version, such as v1.0. `compact` never deletes a version with a tag. If you pass only one
    argument, it is STORE.

    Examples:
      render-store tag scenes.lance paper
      render-store tag scenes.lance paper --delete
    """
    from diorama.render.store import open_store

    store = open_store(url)
    if name is None:
        tags = store.tags()
        text = "\n".join(f"{key}\tversion {number}" for key, number in tags.items()) or "no tags"
        print_result(as_json, tags, f"{text}\n", ascii_only=False)
    elif remove:
        store.untag(name)
        click.echo(f"tag {name} removed")
    else:
        click.echo(f"{name} is version {store.tag(name, version)}")


@click.command(cls=DioramaCommand)
@opt.store
@click.argument("episode", required=False)
@opt.as_json
def history(url: str, episode: str | None, as_json: bool) -> None:
    """Show the history of an episode or of a store.

    With EPISODE, the command lists when that episode was added, replaced and deleted. If you pass only one
    argument, it is STORE, and the command lists the versions of the store. `render-store get STORE EPISODE --at
    VERSION` writes an episode as it was in an earlier version.

    Examples:
      render-store history scenes.lance
      render-store history scenes.lance clevr/train/000000 --json
    """
    from diorama.render.store.lance import history as episode_history

    store = opt.open_reader(url)
    entries: list[Any] = store.versions() if episode is None else episode_history.history(store, episode)
    if as_json:
        print_json([asdict(item) for item in entries], ascii_only=False)
        return
    for item in entries:
        when = item.committed.isoformat(timespec="seconds")
        if episode is None:
            contents = f"{counted(item.episodes, 'episode')} in {counted(item.fragments, 'file')}"
            click.echo(f"version {item.number}\t{when}\t{contents}")
        else:
            state = f"attempt {item.attempt}, images {item.sha256[:12]}" if item.present else "deleted"
            click.echo(f"version {item.version}\t{when}\t{state}")
    if not entries:
        click.echo(f"no remaining version has episode {episode}")


@click.command(cls=DioramaCommand)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.argument("target")
@opt.repeated(
    "--complete",
    "specs",
    "SPECS",
    "Copy nothing unless all SOURCEs and TARGET together have every episode of SPECS; repeatable.",
)
@opt.choice(
    "--differing",
    ["error", "newest", "keep", "replace"],
    "What to do if TARGET has a different episode with the same id.",
)
@opt.mix_series
@opt.splits
@opt.where
@opt.at
@click.option("--benchmark", metavar="NAME", help="Include only episodes of this benchmark.  [default: all]")
@opt.repeated("--id", "ids", "ID", "Include only this episode; repeatable.  [default: all]")
def copy(
    sources: tuple[str, ...],
    target: str,
    specs: tuple[str, ...],
    at: str | None,
    differing: Any,
    mix_series: bool,
    **filters: Any,
) -> None:
    """Copy episodes from every SOURCE to TARGET.

    The command creates TARGET if needed, and copies the episodes that match all filters. If you repeat --split or
    --id, an episode needs to have one of the values. Episodes that TARGET already has are skipped, so you can repeat an
    interrupted copy.

    --differing decides what happens if TARGET has a different episode with the same id. error: copy no episode at all.
    newest: TARGET gets the episode with the higher attempt number, which grows by 1 each time an episode is rendered
    again, and starts at 1 again after the episode was deleted. keep: TARGET keeps its own episode. replace: TARGET gets
    the episode of SOURCE.

    Exit codes: 0: done; 1: episodes of --complete SPECS are missing, and nothing was copied; 2: invalid options, or
    different episodes with the same id; 4: a store can't be read or written.

    Examples:
      render-store copy parts/*.lance scenes.lance --complete specs.jsonl
      render-store copy scenes.lance val.lance --split val --differing newest
    """
    from diorama.render.store import copying, open_or_create, peek
    from diorama.render.store.episode_store import unknown_id_message
    from diorama.render.store.selection import condition as combine
    from diorama.scene_specs.reading.source import SpecSource

    condition = combine(**filters)
    opened = [opt.open_reader(source, at, filters["splits"]) for source in sources]
    for key in filters["ids"]:
        if not any(store.exists(key) for store in opened):
            raise UsageError(unknown_id_message(opened[0], key))
    benchmark = combine(benchmark=filters["benchmark"])
    if benchmark and any(store.count() for store in opened) and not any(store.count(benchmark) for store in opened):
        raise UsageError(f"{', '.join(sources)}: no episode has the benchmark {filters['benchmark']!r}")
    wanted = (item.episode.id for item in SpecSource(specs)) if specs else ()
    states = copying.check_together(opened, peek(target), condition, differing, wanted, mix_series)
    into, done = open_or_create(target), copying.CopyResult()
    stored = copying.states(into)
    with progress_bar(sum(map(len, states)), "episodes") as progress:
        for source, own in zip(opened, states, strict=True):
            done += copying.copy(source, into, condition, differing, progress, stored, mix_series, own)
    click.echo(f"copied {done.copied}, replaced {done.replaced}, kept {done.kept}, skipped {done.same} already there")
    if done.damaged:
        lines = "\n".join(f"  {line}" for line in done.damaged[:_MAX_DAMAGED])
        raise StoreError(f"{', '.join(sources)}: {counted(len(done.damaged), 'damaged episode')} skipped:\n{lines}")


@click.command(cls=DioramaCommand)
@click.argument("url", metavar="STORE")
@click.argument("episodes", nargs=-1, required=True)
def delete(url: str, episodes: tuple[str, ...]) -> None:
    """Delete episodes.

    Older versions of the store still have the EPISODES, until `compact` deletes these versions. If one of the EPISODES
    is not in the store, nothing is deleted.

    Examples:
      render-store delete scenes.lance clevr/train/000000
      render-store delete scenes.lance clevr/val/000000 clevr/val/000001
    """
    from diorama.render.store import open_store
    from diorama.render.store.episode_store import unknown_id_message

    store = open_store(url)
    for episode in episodes:
        if not store.exists(episode):
            raise StoreError(unknown_id_message(store, episode))
    click.echo(f"deleted {counted(store.delete(episodes), 'episode')}")


@click.command(cls=DioramaCommand)
@opt.store
def migrate(url: str) -> None:
    """Migrate a store to the current schema.

    You need this command only to keep older versions of Diorama from writing to a store: they refuse it afterwards.
    Every command that adds episodes also migrates the store. No episode is changed or rendered again.

    Examples:
      render-store migrate scenes.lance
      render-store migrate s3://bucket/scenes.lance
    """
    from diorama.render.store import open_store

    store = open_store(url)
    click.echo(f"{url}: schema version {store.migrate()}, now {store.schema_version}")


@click.command(cls=DioramaCommand)
@opt.store
def repair(url: str) -> None:
    """Repair a store after an interrupted commit.

    If a power failure interrupted a commit, the command restores the version of the store before that commit. This
    version has all episodes that were committed successfully. No data is deleted. The command works on local stores
    only.

    Examples:
      render-store repair scenes.lance
      render-store repair /data/scenes.lance -v
    """
    from diorama.render.store.lance.repair import roll_back

    aside = roll_back(url)
    click.echo(f"set aside version {', '.join(map(str, aside))}" if aside else "the newest version is complete")


@click.command(cls=DioramaCommand)
@opt.store
@opt.number("--twins", "Scenes to render again with other seeds.", 1, default=8)
@opt.number("--min-pixels", "Changed pixels that a pair must have.", 0, default=20)
@click.option("--delete", "remove", is_flag=True, help="Delete the pairs whose change can't be seen.")
@opt.device
@opt.asset_root
@opt.as_json
def contrast(
    url: str, twins: int, min_pixels: int, remove: bool, device: str, asset_roots: tuple[Path, ...], as_json: bool
) -> None:
    """Find pairs whose change can't be seen.

    The command compares the images of each pair that `render-specs contrast` made. It renders some scenes again with
    other seeds of Cycles, in the same size and profile, to measure how many pixels change by noise alone. A change
    counts as visible if the number of changed pixels exceeds that of noise by at least --min-pixels. The table reports
    the share of changed pixels that lie outside the changed objects, their shadows and their mirror images, and in how
    many pairs the annotations of all other objects are equal.

    Exit codes: 0: all changes can be seen, or --delete removed the pairs of the others; 1: some can't be seen (the
    command names them); 4: the store can't be read, or pairs are incomplete.

    Examples:
      render-store contrast pairs.lance
      render-store contrast pairs.lance --min-pixels 50 --delete
    """
    from diorama.render.store import open_store
    from diorama.render.store.selection import pair_of_id
    from diorama.render.uses.contrast.pairs import check_pairs

    store = open_store(url)
    with progress_bar(store.count(None), "episodes") as advance:
        report = check_pairs(store, twins, min_pixels, device, asset_roots, advance)
    rows = report.rows()
    cells = [[str(value) for value in row.values()] for row in rows]
    text = "\n".join(text_table([*rows[0]] if rows else [], cells)) or "no pairs"
    print_result(as_json, {**asdict(report), "by_change": rows}, f"{text}\n")
    for pair in report.unseen:
        log.error("%s: fewer than %d pixels change", pair, min_pixels)
    if problems := [*report.damaged, *(f"{pair}: incomplete" for pair in report.incomplete)]:
        raise StoreError("; ".join(problems[:_MAX_DAMAGED]))
    if remove:
        unseen = {*report.unseen}
        gone = store.delete([key for key, _ in store.ids() if pair_of_id(key) in unseen])
        click.echo(f"deleted {counted(gone, 'episode')}")
    elif report.unseen:
        click.get_current_context().exit(1)


COMMANDS = (contrast, compact, tag, history, copy, delete, migrate, repair)
