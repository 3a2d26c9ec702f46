"""`render-store stats` and `render-store diff`: what a store holds in distributions, and how two stores differ."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli.store_parts import AT, JSON, STORE, WHERE, bar, open_one, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from render.store.analysis.stats import Distribution, Key, Stats
    from render.store.analysis.store_diff import EpisodeDiff, StoreDiff

_BAR = 28
_SHOWN = 20
_LINES = 4


@click.command()
@STORE
@WHERE
@click.option("--by", type=click.Choice(["benchmark", "task", "split", "profile"]), help="Beside each other, by this.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Also draw it: .png or .svg."
)
@AT
@JSON
def stats(url: str, where: str | None, by: Any, out: Path | None, at: str | None, as_json: bool) -> None:
    """Distributions: objects, looks, visible fraction, box sizes, relations, utterances; by group with --by.

    Boxes and visible fractions are as measured. Pointers are counted apart.
    """
    from render.model.errors import UsageError

    if out is not None and out.suffix.lower() not in (".png", ".svg"):
        raise UsageError(f"--out {out}: name a .png or .svg file")
    from render.store.analysis.stats import gather

    if out is not None:
        from render.episode.output_files import check_writable

        check_writable(out)
    store = open_one(url, at)
    with bar(store.count(where), " episodes") as progress:
        found = gather(store, where, by, progress)
    if out is not None:
        _draw(found, url, where, out)
    if as_json:
        print_json({"store": url, "version": store.version, "where": where, **found.as_dict()})
        return
    for line in _lines(found):
        click.echo(line)
    if out is not None:
        click.echo(f"drawn: {out}")


def _draw(found: Stats, url: str, where: str | None, out: Path) -> None:
    from render.episode.output_files import Files
    from render.gallery.charts import save_charts

    title = Path(url).name + (f" where {where}" if where else "")
    svg = out.suffix.lower() == ".svg"
    Files(None).save(out, lambda part: save_charts(found, title, part, svg))


def _lines(found: Stats) -> Iterator[str]:
    for name, counts in (("episodes", found.episodes), ("images", found.images), ("objects", found.objects)):
        groups = "" if found.by is None else "  " + ", ".join(f"{group} {counts[group]}" for group in found.groups)
        yield f"{name + ':':<11}{sum(counts.values())}{groups}"
    for item in found.distributions.values():
        if item.counts:
            yield ""
            yield f"{item.of} ({item.name})"
            yield from _table(item, found.groups) if found.by is not None else _bars(item)


def _seen(item: Distribution) -> list[tuple[str, list[Key]]]:
    """The bars of a chart, without empty ones before the first and after the last that is not."""
    from render.gallery.charts import bars

    rows = bars(item)
    filled = [
        k for k, (_, keys) in enumerate(rows) if any(counter[key] for counter in item.counts.values() for key in keys)
    ]
    return rows[filled[0] : filled[-1] + 1]


def _bars(item: Distribution) -> Iterator[str]:
    """Value, count, share and a bar."""
    (counter,) = item.counts.values()
    rows = [(label, sum(counter[key] for key in keys)) for label, keys in _seen(item)]
    total, most = sum(count for _, count in rows), max(count for _, count in rows)
    width = max(len(label) for label, _ in rows)
    for label, count in rows:
        line = "#" * round(_BAR * count / most) if count else ""
        yield f"  {label:<{width}}  {count:>9}  {count / total:>6.1%}  {line}".rstrip()


def _table(item: Distribution, groups: list[str]) -> Iterator[str]:
    """Value, and the share of each group's in per cent."""
    rows = _seen(item)
    width = max(len(label) for label, _ in rows)
    columns = [max(len(group), 6) for group in groups]
    yield "  " + " " * width + "".join(f"  {group:>{size}}" for group, size in zip(groups, columns, strict=True))
    for label, keys in rows:
        cells = []
        for group, size in zip(groups, columns, strict=True):
            counter: Counter[Key] = item.counts.get(group, Counter())
            total = sum(counter.values())
            share = f"{sum(counter.get(key, 0) for key in keys) / total:.1%}" if total else "-"
            cells.append(f"  {share:>{size}}")
        yield f"  {label:<{width}}" + "".join(cells)


@click.command()
@click.argument("url", metavar="STORE_A")
@click.argument("other", metavar="[STORE_B]", required=False)
@WHERE
@click.option("--at", metavar="VERSION", help="STORE_A as it was at a version or tag; STORE_B is then the same store.")
@click.option("--limit", type=click.IntRange(0), default=_SHOWN, show_default=True, help="So many differences in full.")
@JSON
def diff(url: str, other: str | None, where: str | None, at: str | None, limit: int, as_json: bool) -> None:
    """How STORE_A and STORE_B differ: ids in one only, what episodes were made from, truth, pictures by pixels.

    `render-store diff STORE --at 11` says what changed since version 11. When and where an episode was made is no
    difference. --json lists everything.

    \b
    Exit codes: 0 the same; 1 they differ; 2 wrong options; 4 a store can't be read.
    """
    from render.model.errors import UsageError
    from render.store.analysis.store_diff import diff as compare

    if other is None and at is None:
        raise UsageError("name two stores, or a store and --at VERSION")
    a, b = open_one(url, at), open_one(other or url)
    with bar(a.count(where), " episodes") as progress:
        found = compare(a, b, where, progress)
    if as_json:
        differing = [one.as_dict() for one in found.differing]
        ids = {"only_a": found.only_a, "only_b": found.only_b, "alike": found.alike}
        print_json({"same": found.same, **ids, "reasons": dict(found.reasons), "differing": differing})
    else:
        for line in _told(found, url if at is None else f"{url} at {at}", other or url, limit):
            click.echo(line)
    raise SystemExit(0 if found.same else 1)


def _told(found: StoreDiff, a: str, b: str, limit: int) -> Iterator[str]:
    only = f"{len(found.only_a)} only in A, {len(found.only_b)} only in B"
    yield f"{found.alike} alike, {len(found.differing)} differ, {only}"
    yield f"A: {a}"
    yield f"B: {b}"
    for side, names in (("A", found.only_a), ("B", found.only_b)):
        for name in names[:limit]:
            yield f"only in {side}: {name}"
        if len(names) > limit:
            yield f"only in {side}: and {len(names) - limit} more"
    if found.reasons:
        counts = sorted(found.reasons.items(), key=lambda item: (-item[1], item[0]))
        yield "differ in: " + ", ".join(f"{name} {count}" for name, count in counts)
    for one in found.differing[:limit]:
        yield f"{one.episode}:"
        yield from (f"  {line}" for line in _one(one))
    if len(found.differing) > limit:
        yield f"and {len(found.differing) - limit} more that differ"


def _one(one: EpisodeDiff) -> Iterator[str]:
    """At most a few lines a part: a moved camera changes every number."""
    if one.problem:
        yield one.problem
    for name, lines in (("", one.made), ("Scene ", one.scene), ("truth ", one.truth)):
        sides = (line.replace(": stored ", ": ").replace(": ", ": A ", 1).replace(", now ", ", B ") for line in lines)
        yield from (f"{name}{line}" for line in list(sides)[:_LINES])
        if len(lines) > _LINES:
            yield f"{name}and {len(lines) - _LINES} more places"
    if one.pixels:
        counts = ", ".join(f"{name} {count}" for name, count in list(one.pixels.items())[:_LINES])
        yield f"pixels that differ: {counts}; by at most {one.largest} of 255, PSNR {one.psnr:.1f} dB at worst"


COMMANDS = (stats, diff)
