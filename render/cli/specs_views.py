"""`render-specs views`: many views of each model, with camera matrices in every record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from render.cli import options as opt
from render.cli.command import log
from render.cli.output import progress, write_lines
from render.model.errors import AssetError, UsageError
from scene_specs.language.foreign import read_text

if TYPE_CHECKING:
    from render.geometry.shapenet import Library


def _parse_range(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[float, float]:
    """Parse `20` or `-10:40`. Raises BadParameter."""
    low, colon, high = value.partition(":")
    try:
        return (float(low), float(high if colon else low))
    except ValueError as error:
        raise click.BadParameter(f"found {value!r}; expected degrees, or MIN:MAX, such as -10:40") from error


@click.command()
@click.argument("models", nargs=-1)
@click.option("--list", "listed", type=opt.FILE, metavar="FILE", help="File with more MODELS, one per line.")
@click.option("--views", "count", type=opt.Number(1, 100), default=24, help="Views per model.")
@opt.choice("--yaw", ["even", "random"], "Place cameras around the model in even steps, or at random.")
@click.option("--start", type=float, metavar="DEG", default=0.0, help="First yaw in degrees; 0 faces the front.")
@click.option("--elevation", default="20", metavar="DEG|MIN:MAX", callback=_parse_range, help="Elevation in degrees.")
@click.option("--distance", type=float, help="Camera distance; a model's longest side is 2 [default: --framing].")
@click.option("--framing", type=float, help="Share of the image that the model fills [default: the stage's].")
@click.option("--background", metavar="R,G,B", callback=opt.parse_color, help="8-bit sRGB [default: the stage's].")
@click.option("--stage", default="studio", metavar="NAME", help="Stage of the scenes.")
@click.option("--color", metavar="NAME", help="Color of the palette [default: the model's own colors].")
@click.option("--material", metavar="NAME", help="Material [default: the model's own].")
@opt.limit("models")
@opt.seed
@click.option("--skip-broken", is_flag=True, help="Leave out models that can't be read, with a warning for each.")
@opt.shapenet
@opt.out
def views(
    models: tuple[str, ...],
    listed: Path | None,
    skip_broken: bool,
    limit: int | None,
    out: Path | None,
    seed: int,
    **options: Any,
) -> None:
    """Generate episodes with many views of each model.

    Writes one episode per model, for `render-batch`. MODELS: a category (chairs, 03001627), a model (chairs/#3,
    03001627/<id>), or all. All models are read first; if one can't be read, the command reports its file and writes
    nothing.
    """
    from scene_specs.benchmarks.model_views import ViewPlan, view_spec
    from scene_specs.checks.semantics import check_spec

    keys = ("count", "elevation", "yaw", "start", "distance", "framing")
    plan = ViewPlan(**{key: options[key] for key in keys})
    look = {key: options[key] for key in ("stage", "background", "color", "material")}
    names = _find_models(models, listed)[:limit]
    specs = [view_spec(name, plan, seed, **look) for name in _readable(names, skip_broken)]
    for spec in specs:
        check_spec(spec)
    dumped = (spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for spec in specs)
    write_lines(out, map(json.dumps, dumped), "episodes", len(specs))


def _find_models(models: tuple[str, ...], listed: Path | None) -> list[str]:
    """Canonical names of the requested models, without duplicates, in order. Raises UsageError."""
    from render.geometry.shapenet import library

    requested = list(models)
    if listed is not None:
        requested += filter(None, map(str.strip, read_text(listed).splitlines()))
    if not requested:
        raise UsageError("no models are named; give categories, models, or all")
    source = library()
    return list(dict.fromkeys(name for word in requested for name in _expand(word.removeprefix("shapenet:"), source)))


def _expand(word: str, source: Library) -> list[str]:
    """The models that a category, a model, or `all` stands for."""
    if word == "all":
        return [name for category in source.categories() for name in _expand(category, source)]
    if "/" in word:
        return [source.find(f"shapenet:{word}")[0]]
    count = len(source.models(word))
    return [source.find(f"shapenet:{word}/#{number}")[0] for number in range(1, count + 1)]


def _readable(names: list[str], skip: bool) -> list[str]:
    """The models that can be read. Raises AssetError with all the others, unless `skip` leaves them out."""
    from render.geometry.shapenet import load_model

    good, broken = [], []
    for name in progress(names, "models"):
        try:
            load_model(name)
            good.append(name)
        except AssetError as error:
            broken.append(str(error))
            if skip:
                log.warning("left out: %s", error)
    if broken and not skip:
        listed = "; ".join(broken[:5]) + (f"; and {len(broken) - 5} more" if len(broken) > 5 else "")
        raise AssetError(f"{len(broken)} of {len(names)} models can't be read (--skip-broken omits them): {listed}")
    if broken:
        log.info("left out %d of %d models", len(broken), len(names))
    return good
