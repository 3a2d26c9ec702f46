"""`render-specs views`: many views of models, with camera matrices in every record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli.common import atomic_writer, log, rgb_value, shapenet_option

if TYPE_CHECKING:
    from render.geometry.shapenet import Library


def _span(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[float, float]:
    """`20` or `-10:40`."""
    low, colon, high = value.partition(":")
    try:
        return (float(low), float(high if colon else low))
    except ValueError as error:
        raise click.BadParameter(f"{value!r}; write degrees, or LEAST:MOST, such as -10:40") from error


@click.command()
@click.argument("models", nargs=-1)
@click.option("--list", "listed", type=click.Path(exists=True, dir_okay=False), help="File of such names, one a line.")
@click.option("--views", "count", type=click.IntRange(1, 100), default=24, show_default=True, help="Views a model.")
@click.option(
    "--yaw",
    type=click.Choice(["even", "random"]),
    default="even",
    show_default=True,
    help="Round the model in even steps, or drawn.",
)
@click.option("--start", type=float, default=0.0, show_default=True, help="First yaw in degrees; 0 sees the front.")
@click.option("--elevation", default="20", show_default=True, metavar="DEG|A:B", callback=_span)
@click.option("--distance", type=click.FloatRange(0, min_open=True), help="Of the camera; a model's longest side is 2.")
@click.option("--framing", type=click.FloatRange(0, 10, min_open=True), help="Or: share of the picture it fills.")
@click.option("--background", metavar="R,G,B", callback=rgb_value, help="Instead of the stage's.")
@click.option("--stage", default="studio", show_default=True)
@click.option("--color", help="A palette name, instead of the model's own colors.")
@click.option("--material", help="A material, instead of the model's own.")
@click.option("--limit", type=click.IntRange(0), help="At most so many models.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True)
@click.option("--skip-broken", is_flag=True, help="Leave out models that can't be read, and list them.")
@shapenet_option
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of to stdout.")
def views(
    models: tuple[str, ...],
    listed: str | None,
    skip_broken: bool,
    limit: int | None,
    out: Path | None,
    seed: int,
    **rest: Any,
) -> None:
    """Write an episode of N views for each of MODELS, one a line: then `render-batch` renders them.

    MODELS: a category (chairs, 03001627), a model (chairs/#3, 03001627/<id>), or all. Every model is read first; one
    that can't be is an error that names its file, and nothing is written.
    """
    from scene_specs.benchmarks.model_views import ViewPlan, view_spec

    keys = ("count", "elevation", "yaw", "start", "distance", "framing")
    plan = ViewPlan(**{key: rest[key] for key in keys})
    look = {key: rest[key] for key in ("stage", "background", "color", "material")}
    names = _names(models, listed)[:limit]
    specs = [view_spec(name, plan, seed, **look) for name in _readable(names, skip_broken)]
    _check(specs)
    with atomic_writer(out) as stream:
        for spec in specs:
            text = json.dumps(spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True))
            stream.write(text + "\n")


def _names(models: tuple[str, ...], listed: str | None) -> list[str]:
    """Canonical names of what was asked for, each once, in order."""
    from render.geometry.shapenet import library
    from render.model.errors import UsageError

    wanted = list(models)
    if listed is not None:
        try:
            text = Path(listed).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{listed}: can't be read as text: {error}") from error
        wanted += [line.strip() for line in text.splitlines() if line.strip()]
    if not wanted:
        raise UsageError("no models are named; give categories, models, or all")
    source = library()
    return list(dict.fromkeys(name for word in wanted for name in _meant(word.removeprefix("shapenet:"), source)))


def _meant(word: str, source: Library) -> list[str]:
    if word == "all":
        return [name for category in source.categories() for name in _meant(category, source)]
    if "/" in word:
        return [source.find(f"shapenet:{word}")[0]]
    count = len(source.models(word))
    return [source.find(f"shapenet:{word}/#{number}")[0] for number in range(1, count + 1)]


def _readable(names: list[str], skip: bool) -> list[str]:
    """Those that can be read. Raises AssetError with all that can't, unless they are to be skipped."""
    from tqdm import tqdm

    from render.geometry.shapenet import load_model
    from render.model.errors import AssetError

    good, broken = [], []
    for name in tqdm(names, desc="reading models", unit="model", disable=None, delay=2):
        try:
            load_model(name)
            good.append(name)
        except AssetError as error:
            broken.append(str(error))
            if skip:
                log.warning("left out: %s", error)
    if broken and not skip:
        shown = "; ".join(broken[:5]) + (f"; and {len(broken) - 5} more" if len(broken) > 5 else "")
        raise AssetError(f"{len(broken)} of {len(names)} models can't be read (--skip-broken leaves them out): {shown}")
    if broken:
        log.info("%d of %d models left out", len(broken), len(names))
    return good


def _check(specs: list[Any]) -> None:
    from scene_specs.checks.semantics import check_spec

    for spec in specs:
        check_spec(spec)
