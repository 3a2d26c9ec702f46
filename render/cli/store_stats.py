"""`render-store stats` and `render-store diff`: distributions of a store, and differences between two stores."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand
from diorama.render.cli.output import print_result, progress_bar
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.tables import text_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diorama.render.store.analysis.stats import Distribution, Key, Stats
    from diorama.render.store.analysis.store_diff import EpisodeDiff, StoreDiff

_BAR_WIDTH = 28
_MAX_BARS = 24
_MAX_LINES = 4


@click.command(cls=DioramaCommand)
@opt.store
@click.option(
    "--by",
    type=click.Choice(["benchmark", "task", "split", "profile"]),
    help="Show a column per benchmark, task, split or profile.  [default: all episodes together]",
)
@opt.where
@opt.at
@opt.as_json
def stats(url: str, where: str | None, by: Any, at: str | None, as_json: bool) -> None:
    """Show distributions of the contents of a store.

    The command shows the distributions of objects, shapes, colors, visible fractions, box sizes, relations and
    utterances. Visible fractions and box sizes are measured in the rendered images. Pointers (hands and arrows that
    point at an object) are not counted as objects; pointers have a distribution of their own.

    Examples:
      render-store stats scenes.lance --by split
      render-store stats scenes.lance --where "split = 'val'" --json
    """
    from diorama.render.store.analysis.stats import gather

    store = opt.open_reader(url, at)
    with progress_bar(store.count(where), "episodes") as progress:
        statistics = gather(store, where, by, progress)
    data = {"store": url, "version": store.version, "where": where, **statistics.as_dict()}
    print_result(as_json, data, "\n".join(_lines(statistics)) + "\n", ascii_only=False)


def _lines(stats: Stats) -> Iterator[str]:
    for name, counts in (("episodes", stats.episodes), ("images", stats.images), ("objects", stats.objects)):
        groups = "" if stats.by is None else "  " + ", ".join(f"{group} {counts[group]}" for group in stats.groups)
        yield f"{name + ':':<11}{sum(counts.values())}{groups}"
    for item in stats.distributions.values():
        if item.counts:
            yield ""
            yield f"{item.of} ({item.name})"
            yield from _table(item, stats.groups) if stats.by is not None else _bars(item)


def bars(item: Distribution) -> list[tuple[str, list[Key]]]:
    """Return (label, values) of each bar. Rare words share a bar, and so do neighboring numbers if there are many."""
    keys = item.keys()
    if item.kind == "bins":
        return [(item.label(key), [key]) for key in keys]
    if len(keys) <= _MAX_BARS:
        return [(str(key), [key]) for key in keys]
    if item.kind == "words":
        head = [(str(key), [key]) for key in keys[: _MAX_BARS - 1]]
        return [*head, (f"{len(keys) - len(head)} others", keys[_MAX_BARS - 1 :])]
    step = math.ceil(len(keys) / _MAX_BARS)
    parts = [keys[k : k + step] for k in range(0, len(keys), step)]
    return [(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]), part) for part in parts]


def _nonempty_rows(item: Distribution) -> list[tuple[str, list[Key]]]:
    """Return a chart's bars without empty ones at its start and end; `...` for several empty ones between others."""
    rows = bars(item)
    counts = [sum(counter[key] for counter in item.counts.values() for key in keys) for _, keys in rows]
    filled = [k for k, count in enumerate(counts) if count]
    # A single empty bar stays; of several, only the first, as dots.
    kept = [k for k in range(filled[0], filled[-1] + 1) if counts[k] or counts[k - 1]]
    return [rows[k] if counts[k] or counts[k + 1] else ("...", []) for k in kept]


def _bars(item: Distribution) -> Iterator[str]:
    """Lines of value, count, share and a bar."""
    (counter,) = item.counts.values()
    rows = [(label, sum(counter[key] for key in keys)) for label, keys in _nonempty_rows(item)]
    total, most = sum(count for _, count in rows), max(count for _, count in rows)
    width = max(len(label) for label, _ in rows)
    for label, count in rows:
        line = "#" * round(_BAR_WIDTH * count / most) if count else ""
        yield f"  {label:<{width}}  {count:>9}  {count / total:>6.1%}  {line}".rstrip()


def _table(item: Distribution, groups: list[str]) -> Iterator[str]:
    """Lines of value, and its share in each group in percent."""

    def share(group: str, keys: list[Key]) -> str:
        counter: Counter[Key] = item.counts.get(group, Counter())
        total = sum(counter.values())
        text = f"{sum(counter.get(key, 0) for key in keys) / total:.1%}" if total else "-"
        return f"{text:>{max(len(group), 6)}}"

    rows = [(label, *(share(group, keys) for group in groups)) for label, keys in _nonempty_rows(item)]
    yield from (f"  {line}" for line in text_table(("", *(f"{group:>6}" for group in groups)), rows))


@click.command(cls=DioramaCommand)
@click.argument("url", metavar="[STORE_A]", default=opt.default_store)
@click.argument("other", metavar="[STORE_B]", required=False)
@opt.where
@click.option("--at", metavar="VERSION", help="Version number or tag of STORE_A.  [default: the newest version]")
@opt.as_json
@opt.number("--limit", "Maximum number of episodes to list per kind of difference.", 0, default=20)
def diff(url: str, other: str | None, where: str | None, at: str | None, limit: int, as_json: bool) -> None:
    """Compare two stores, or two versions of a store.

    The command lists episodes that only one store has. For each id that both stores have, it compares the spec, the
    rendering settings, the annotations, and the pixels of the images. The command ignores when and where an episode was
    rendered. --json lists all differences.

    Without STORE_B, the command compares version --at of STORE_A with the newest version of STORE_A: `render-store diff
    STORE --at 11` shows what changed since version 11.

    Exit codes: 0: no differences; 1: differences; 2: invalid options; 4: a store can't be read.

    Examples:
      render-store diff old.lance new.lance
      render-store diff scenes.lance --at 11 --json
    """
    from diorama.render.store.analysis.store_diff import diff as compare

    if other is None and at is None:
        raise UsageError("name two stores, or a store and --at VERSION")
    a, b = opt.open_reader(url, at), opt.open_reader(other or url)
    with progress_bar(a.count(where), "episodes") as progress:
        comparison = compare(a, b, where, progress)
    differing = [episode.as_dict() for episode in comparison.differing]
    ids = {"only_a": comparison.only_a, "only_b": comparison.only_b, "alike": comparison.alike}
    data = {"same": comparison.same, **ids, "reasons": dict(comparison.reasons), "differing": differing}
    lines = _diff_lines(comparison, url if at is None else f"{url} at {at}", other or url, limit)
    print_result(as_json, data, "\n".join(lines) + "\n", ascii_only=False)
    raise SystemExit(0 if comparison.same else 1)


def _diff_lines(comparison: StoreDiff, a: str, b: str, limit: int) -> Iterator[str]:
    only = f"{len(comparison.only_a)} only in A, {len(comparison.only_b)} only in B"
    yield f"{comparison.alike} alike, {len(comparison.differing)} differ, {only}"
    yield f"A: {a}"
    yield f"B: {b}"
    for side, names in (("A", comparison.only_a), ("B", comparison.only_b)):
        for name in names[:limit]:
            yield f"only in {side}: {name}"
        if len(names) > limit:
            yield f"only in {side}: and {len(names) - limit} more"
    if comparison.reasons:
        counts = sorted(comparison.reasons.items(), key=lambda item: (-item[1], item[0]))
        yield "differ in: " + ", ".join(f"{name} {count}" for name, count in counts)
    for differing in comparison.differing[:limit]:
        yield f"{differing.episode}:"
        yield from (f"  {line}" for line in _episode_lines(differing))
    if len(comparison.differing) > limit:
        yield f"and {len(comparison.differing) - limit} more that differ"


def _episode_lines(delta: EpisodeDiff) -> Iterator[str]:
    """Yield the differences of an episode, at most a few lines per part: a moved camera changes every number."""
    if delta.problem:
        yield delta.problem
    for name, lines in (("", delta.made), ("Scene ", delta.scene), ("truth ", delta.truth)):
        sides = (line.replace(": stored ", ": ").replace(": ", ": A ", 1).replace(", now ", ", B ") for line in lines)
        yield from (f"{name}{line}" for line in list(sides)[:_MAX_LINES])
        if len(lines) > _MAX_LINES:
            yield f"{name}and {len(lines) - _MAX_LINES} more"
    if delta.pixels:
        counts = ", ".join(f"{name} {count}" for name, count in list(delta.pixels.items())[:_MAX_LINES])
        yield f"pixels that differ: {counts}; by at most {delta.largest} of 255, PSNR {delta.psnr:.1f} dB at worst"


COMMANDS = (stats, diff)
