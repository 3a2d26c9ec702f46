"""`render-store`: inspect, check and maintain a dataset store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diorama.render.cli import options as opt
from diorama.render.cli import store_maintenance, store_stats
from diorama.render.cli.command import DioramaGroup, log
from diorama.render.cli.output import print_json, progress_bar
from diorama.scene_specs.errors import Diagnostic, SpecError, StoreError, UsageError, counted
from diorama.scene_specs.files.tables import text_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diorama.render.store.lance.reader import LanceReader
    from diorama.render.store.lance.verify import Damage, Verdict
    from diorama.scene_specs.model.record import EpisodeRecord

_LS_COLUMNS = ["episode_id", "benchmark", "task", "split", "attempt", "profile", "width", "height", "image_names"]
_OBJECT_COLUMNS = ("image", "object", "shape", "color", "material", "size", "box", "visible")
_SORT_KEYS = ("visible_fraction", "visible_pixels", "box", "objects", "images", "seconds")
_MAX_DAMAGED = 20


@click.group(cls=DioramaGroup)
def main() -> None:
    """Inspect, check and maintain a dataset store.

    STORE is a folder or s3://BUCKET/NAME [default: $DIORAMA_STORE or ./diorama.lance].

    Exit codes: 0: done; 1: the stores differ (`diff`), episodes are missing (`copy --complete`), or some changes can't
    be seen (`contrast`); 2: invalid options, TARGET has different episodes with the same ids (`copy`), or an episode
    has an invalid answer (`verify`); 4: the store can't be read or written, or is damaged.

    Examples:
      render-store show scenes.lance
      render-store ls scenes.lance --sort visible_fraction --limit 10
    """


@main.command()
@opt.store
def create(url: str) -> None:
    """Create an empty store.

    You rarely need this command, because render-batch creates its store if needed.

    Examples:
      render-store create scenes.lance
      render-store create s3://bucket/scenes.lance
    """
    from diorama.render.store import create_store

    create_store(url).close()
    click.echo(f"created {url}")


@main.command()
@opt.store
@click.option(
    "--sort", type=click.Choice(_SORT_KEYS), help="Measure to sort by, smallest first.  [default: sort by id]"
)
@opt.flag("--reverse", "Reverse the order: largest first.")
@opt.where
@opt.limit("episodes")
@opt.at
@opt.as_json
def ls(
    url: str, where: str | None, limit: int | None, sort: str | None, reverse: bool, at: str | None, as_json: bool
) -> None:
    """List episodes by id, or sorted by a measure.

    The measures `visible_fraction`, `visible_pixels` and `box` (shorter side of the bounding box, in pixels) have a
    value for each object. An episode is sorted by the smallest value of its objects, or with --reverse by the largest
    value. The measures `objects` and `images` are the numbers of objects and images in an episode. The measure
    `seconds` is the time that it took to render the episode.

    Examples:
      render-store ls scenes.lance --where "split = 'train'"
      render-store ls scenes.lance --sort visible_fraction --limit 10
    """
    from diorama.render.store.episode_store import ID_BATCH_ROWS, ids_filter

    store = opt.open_reader(url, at)
    if sort is not None:
        from diorama.render.store.analysis.stats import extremes

        extreme_rows = extremes(store, sort, where, limit, reverse)
        rows = []
        for start in range(0, len(extreme_rows), ID_BATCH_ROWS):
            part = extreme_rows[start : start + ID_BATCH_ROWS]
            facts = {
                row["episode_id"]: row
                for row in store.scan(_LS_COLUMNS, ids_filter([extreme.episode for extreme in part]))
            }
            rows += [{**facts[extreme.episode], sort: extreme.value, "where": extreme.where} for extreme in part]
    else:
        rows = list(store.scan(_LS_COLUMNS, where, ID_BATCH_ROWS))
        rows = sorted(rows, key=lambda row: str(row["episode_id"]), reverse=reverse)[:limit]
    for row in rows:
        row["images"] = len(row.pop("image_names") or ())
        click.echo(json.dumps(row, ensure_ascii=False) if as_json else _ls_line(row, sort))


def _ls_line(row: dict[str, Any], sort: str | None) -> str:
    kind = "/".join(str(row[name]) for name in ("benchmark", "task") if row[name] is not None) or "-"
    size = f"{row['width']}x{row['height']}"
    images = counted(row["images"], "image")
    facts = [kind, row["split"] or "-", images, size, row["profile"], f"attempt {row['attempt']}"]
    if sort is not None:
        facts.append(f"{row[sort]:g}" + (f": {row['where']}" if row["where"] else ""))
    return "\t".join([row["episode_id"], *facts])


@main.command()
@opt.store
@click.argument("episode", required=False)
@opt.at
@opt.as_json
def show(url: str, episode: str | None, at: str | None, as_json: bool) -> None:
    """Show a summary of a store or of one EPISODE.

    If you pass only one argument, it is STORE. With --json, the output for an EPISODE includes its spec and all
    annotations.

    Examples:
      render-store show scenes.lance
      render-store show scenes.lance clevr/train/000000 --json
    """
    store = opt.open_reader(url, at)
    record = None if episode is None else store.get(episode)
    facts = _store_facts(store) if record is None else _episode_facts(record, as_json)
    if as_json:
        print_json(facts, ascii_only=False)
        return
    for name, value in facts.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {count}" for key, count in value.items()) or "none"
        click.echo(f"{name + ':':<12}{'-' if value is None else value}")
    if record is not None:
        click.echo("\n".join(text_table(_OBJECT_COLUMNS, _object_rows(record))))


def _store_facts(store: LanceReader) -> dict[str, Any]:
    from diorama.render.store.analysis.stats import tally

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
        "schema": store.schema_version,
    }


def _episode_facts(record: EpisodeRecord, everything: bool) -> dict[str, Any]:
    size = {image.name: counted(len(image.annotation.objects), "object") for image in record.images}
    images = {image.name: f"{size[image.name]}, {len(image.png)} bytes" for image in record.images}
    versions = dict(record.provenance.versions)
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
        "renderer": " ".join(versions.pop(key) for key in ("name", "version") if key in versions),
        "versions": versions,
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
    import numpy as np

    from diorama.render.geometry.display import display

    for image in record.images:
        for item in image.annotation.objects:
            color = item.color or ",".join(map(str, display(np.array(item.color_linear, dtype=np.float32)).tolist()))
            look = (item.shape, color, item.material, item.size or f"{item.scale:g}")
            box = " ".join(map(str, item.bbox)) if item.bbox is not None else "not visible"
            yield (image.name, item.name, *look, box, f"{item.visible_fraction:.1%}")


@main.command()
@click.argument("url", metavar="STORE")
@click.argument("episodes", nargs=-1, required=True)
@click.option("--out", type=opt.NEW_PATH, required=True, metavar="DIR", help="Output folder.")
@opt.flag("--overwrite", "Replace existing files that differ.")
@opt.at
def get(url: str, episodes: tuple[str, ...], out: Path, at: str | None, overwrite: bool) -> None:
    """Write EPISODES as folders of PNG and JSON files.

    Examples:
      render-store get scenes.lance clevr/train/000000 --out images
      render-store get scenes.lance clevr/train/000000 --at 3 --out earlier
    """
    from diorama.render.store.episode_store import ids_filter, unknown_id_message
    from diorama.render.uses.export import format_of
    from diorama.render.uses.export.protocol import ExportOptions

    store = opt.open_reader(url, at)
    for episode in episodes:
        if not store.exists(episode):
            raise StoreError(unknown_id_message(store, episode))
    options = ExportOptions(overwrite=overwrite, where=ids_filter(episodes))
    report = format_of("folder").export(store, out, options, lambda done: None)
    click.echo(f"wrote {counted(report.exported, 'episode')} to {out}, skipped {report.skipped} already there")
    if error := report.error():
        raise error


@main.command()
@opt.store
@opt.workers
@opt.flag("--images", "Also list images of GPUs that look unusual; see above.")
@opt.value("--specs-out", "FILE", "Write the specs of damaged episodes to this .jsonl file.", opt.NEW_PATH)
@click.option(
    "--repair",
    "mend",
    is_flag=True,
    help="Delete damaged episodes. If an id is stored more than once, keep only its newest episode.",
)
@opt.at
@opt.as_json
def verify(
    url: str, workers: int | None, images: bool, specs_out: Path | None, mend: bool, at: str | None, as_json: bool
) -> None:
    """Verify every episode of a store.

    The command checks digests, images, boxes, masks, frames, columns, and duplicate ids.

    --images also lists unusual images: images of GPUs that are black, of one color, or noise. A failing GPU renders
    such images without an error, but a scene may look like that, too. Unusual images do not count as damaged.
    `render-batch` renders them again on another device, and stores them only if that renders the same.

    To render damaged episodes again, pass --specs-out and --repair. The command then deletes the damaged episodes and
    prints the render-batch command that renders them again.

    An episode whose answer is not among its answer options is invalid, not damaged: its spec is wrong. render-batch
    refuses such specs, so the episode was stored by other means. The command reports invalid episodes with exit code 2,
    and --repair keeps them. Correct the spec and render it again with render-batch --replace.

    Examples:
      render-store verify scenes.lance
      render-store verify scenes.lance --repair --specs-out damaged.jsonl
    """
    from diorama.render.episode.plausibility import unusual_images
    from diorama.render.store.lance.verify import verify as verify_store
    from diorama.render.store.lance.verify import write_specs
    from diorama.render.uses.rerender.output_files import check_writable

    if mend and at is not None:
        raise UsageError("--repair changes the newest version; omit --at")
    if specs_out is not None:
        check_writable(specs_out)
    store = opt.open_reader(url, at)
    with progress_bar(store.count(), "episodes") as progress:
        verdict = verify_store(store, workers, progress, unusual_images if images else None)
    lost = [damage for damage in verdict.damaged if not damage.duplicate]
    if mend and lost and specs_out is None:
        lost_count = counted(len(lost), "damaged episode")
        raise UsageError(f"--repair would delete {lost_count}; give --specs-out FILE to keep the specs")
    _print_verdict(url, verdict, as_json)
    if specs_out is not None:
        for file, options in write_specs(verdict.damaged, specs_out).items():
            log.info("to render them again: render-batch %s --out %s %s", file, url, options)
        without_spec = [damage.episode_id or f"row {damage.row}" for damage in lost if damage.spec is None]
        _warn_of_lost_specs(without_spec, specs_out)
    if mend and verdict.damaged:
        from diorama.render.store import open_store
        from diorama.render.store.lance.verify import delete_damaged

        log.info("deleted %s", counted(delete_damaged(open_store(url), verdict), "row"))
    if not verdict.intact:
        rows = len(verdict.damaged) + len(verdict.unreadable)
        now = "were damaged and are deleted" if mend and not verdict.unreadable else "are damaged"
        raise StoreError(f"{url}: {rows} of {counted(verdict.episodes, 'row')} {now}")
    if verdict.invalid:
        hint = "correct its spec and render it again with --replace"
        problems = [(episode.episode_id or "", problem) for episode in verdict.invalid for problem in episode.problems]
        raise SpecError([Diagnostic(url, 0, key, "task", problem, hint) for key, problem in problems])


def _print_verdict(url: str, verdict: Verdict, as_json: bool) -> None:
    if as_json:
        facts: dict[str, Any] = {"store": url, "version": verdict.version, "episodes": verdict.episodes}
        for name in ("damaged", "invalid", "unusual"):
            damages: list[Damage] = getattr(verdict, name)
            facts[name] = [{"episode": damage.episode_id, "problems": damage.problems} for damage in damages]
        print_json({**facts, "unreadable": verdict.unreadable}, ascii_only=False)
        return
    # Invalid ones alone are the error of the command.
    invalid = [] if verdict.intact else [f"{episode} (invalid, not damaged; kept)" for episode in verdict.invalid]
    for line in map(str, verdict.unusual[:_MAX_DAMAGED]):
        log.info("unusual: %s", line)
    for line in [*verdict.unreadable, *map(str, verdict.damaged), *invalid][:_MAX_DAMAGED]:
        log.error("%s", line)
    if (more := len(verdict.unreadable) + len(verdict.damaged) + len(invalid) - _MAX_DAMAGED) > 0:
        log.error("and %d more (--json lists all)", more)
    if verdict.intact:
        besides = f", {len(verdict.invalid)} invalid" if verdict.invalid else ""
        besides += f", {len(verdict.unusual)} unusual" if verdict.unusual else ""
        click.echo(f"{url}: {counted(verdict.episodes, 'episode')}, none damaged{besides}")


def _warn_of_lost_specs(names: list[str], specs_out: Path) -> None:
    if names:
        more = f" and {len(names) - _MAX_DAMAGED} more" if len(names) > _MAX_DAMAGED else ""
        listed = ", ".join(names[:_MAX_DAMAGED]) + more
        log.warning("%s lacks these episodes, whose specs can't be read either: %s", specs_out, listed)


for _command in (*store_maintenance.COMMANDS, *store_stats.COMMANDS):
    main.add_command(_command)
