"""The commands of `render-store` that take care of a store: versions, room, copies, repair."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click

from render.cli.ranges import FiniteRange
from render.cli.store_parts import AT, JSON, STORE, WHERE, bar, open_one, print_json

_SHOWN_DAMAGE = 20
# A century: no store is older, and far beyond it a date can't be counted back to.
_MOST_DAYS = 36500


@click.command()
@STORE
@click.option(
    "--drop-older-than",
    type=FiniteRange(1, _MOST_DAYS),
    metavar="DAYS",
    help="Drop untagged versions older than that, a day at least.",
)
def compact(url: str, drop_older_than: float | None) -> None:
    """Merge small files and bring the index up to date; for a quiet moment. Old versions stay unless told otherwise."""
    from render.store import open_store

    store = open_store(url)
    before = len(store.fragments())
    store.compact()
    click.echo(f"{before} files are now {len(store.fragments())}")
    if drop_older_than is not None:
        click.echo(f"{store.clean_up(timedelta(days=drop_older_than)) / 1e6:.1f} MB freed")


@click.command()
@STORE
@click.argument("name", required=False)
@click.option("--version", type=click.IntRange(1), help="The version to name [default: the newest].")
@click.option("--delete", "remove", is_flag=True, help="Take the tag away.")
@JSON
def tag(url: str, name: str | None, version: int | None, remove: bool, as_json: bool) -> None:
    """Give a version the NAME of a release, or list the names there are. Tagged versions are never dropped."""
    from render.store import open_store

    store = open_store(url)
    if name is None:
        tags = store.tags()
        if as_json:
            print_json(tags)
        else:
            click.echo("\n".join(f"{key}\tversion {number}" for key, number in tags.items()) or "no tags")
    elif remove:
        store.untag(name)
        click.echo(f"{name} is no tag any more")
    else:
        click.echo(f"{name} is version {store.tag(name, version)}")


@click.command()
@STORE
@click.argument("episode", required=False)
@JSON
def history(url: str, episode: str | None, as_json: bool) -> None:
    """When an EPISODE came, was replaced and went; without one, the versions of the store.

    `render-store get STORE EPISODE --at VERSION` writes it as it was.
    """
    from dataclasses import asdict

    store = open_one(url)
    found: list[Any] = store.versions() if episode is None else store.history(episode)
    if as_json:
        print_json([asdict(item) for item in found])
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


@click.command()
@click.argument("source")
@click.argument("target")
@click.option("--benchmark", help="Only episodes of this benchmark.")
@click.option("--split", "splits", multiple=True, help="Only this split; may be given again.")
@click.option("--id", "ids", multiple=True, help="Only this episode; may be given again.")
@WHERE
@AT
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
    from render.model.errors import StoreError
    from render.store import copying, open_or_create
    from render.store.episode_store import condition as combine

    opened, into = open_one(source, at), open_or_create(target)
    condition = combine(where, ids, benchmark, splits)
    with bar(opened.count(condition), " episodes") as progress:
        done = copying.copy(opened, into, condition, differing, progress)
    click.echo(f"copied {done.copied}, replaced {done.replaced}, kept {done.kept}, {done.same} were there already")
    if done.damaged:
        lines = "\n".join(f"  {line}" for line in done.damaged[:_SHOWN_DAMAGE])
        raise StoreError(f"{source}: {len(done.damaged)} damaged episodes were not copied:\n{lines}")


@click.command()
@STORE
@click.argument("episodes", nargs=-1, required=True)
def delete(url: str, episodes: tuple[str, ...]) -> None:
    """Take EPISODES out. They stay in older versions until those are dropped."""
    from render.store import open_store

    click.echo(f"deleted {open_store(url).delete(episodes)} of {len(episodes)} episodes")


@click.command()
@STORE
def migrate(url: str) -> None:
    """Bring a store that an older Diorama made to this version's schema; nothing is rendered again."""
    from render.store.lance.migrate import migrate as bring

    before = bring(url)
    from render.store.columns import SCHEMA_VERSION

    click.echo(f"{url}: schema version {before}, now {SCHEMA_VERSION}")


@click.command()
@STORE
def repair(url: str) -> None:
    """After a power cut: go back behind a commit that was cut short. Nothing acknowledged is lost, nothing deleted."""
    from render.store.lance.durability import roll_back

    aside = roll_back(url)
    click.echo(f"set aside version {', '.join(map(str, aside))}" if aside else "the newest version is whole")


COMMANDS = (compact, tag, history, copy, delete, migrate, repair)
