"""Many views of single models, as renderers of ShapeNet make them: one episode per model."""

from __future__ import annotations

import logging
import math

from tqdm import tqdm

from diorama.scene_specs.benchmarks.views import Options
from diorama.scene_specs.checks.semantics import check_spec
from diorama.scene_specs.errors import AssetError, UsageError
from diorama.scene_specs.files.foreign import read_text
from diorama.scene_specs.language.rng import generator
from diorama.scene_specs.model.spec import EpisodeSpec, FrameSpec, ObjectSpec, ViewSpec
from diorama.scene_specs.shapes.shapenet import Library, library, load_model
from diorama.scene_specs.tasks.benchmark import Series

_log = logging.getLogger(__name__)


def _view_angles(options: Options, episode: str) -> list[tuple[float, float]]:
    """Return (yaw, elevation) of each view in degrees, with 3 decimals."""
    low, high = options.elevation
    count = options.count
    if options.yaw == "even":
        step = (high - low) / (count - 1) if count > 1 else 0.0
        return [(round((options.start + 360.0 * k / count) % 360.0, 3), round(low + k * step, 3)) for k in range(count)]
    u = generator(options.seed, episode, "views").random((count, 2)).tolist()
    bottom, top = math.sin(math.radians(low)), math.sin(math.radians(high))
    heights = [min(max(bottom + v * (top - bottom), -1.0), 1.0) for _, v in u]
    return [
        (round(360.0 * a, 3), round(min(max(math.degrees(math.asin(h)), low), high), 3))
        for (a, _), h in zip(u, heights, strict=True)
    ]


def view_spec(model: str, options: Options) -> EpisodeSpec:
    """Return the episode of a model, `shapenet:<category>/<id>`: one frame with views `000`, `001`, ...

    Id: `views/<category>/<id>`. Independent of other episodes.
    """
    category, _, identity = model.removeprefix("shapenet:").partition("/")
    episode = f"views/{category}/{identity}"
    views = tuple(
        ViewSpec(name=f"{k:03d}", yaw_deg=yaw, elevation_deg=up, distance=options.distance, framing=options.framing)
        for k, (yaw, up) in enumerate(_view_angles(options, episode))
    )
    item = ObjectSpec(name="model", shape=model, rotation_deg=0.0, color=options.color, material=options.material)
    frame = FrameSpec(name="model", objects=(item,), views=views, background=options.background)
    task = {"benchmark": "views", "name": category, "model": identity}
    return EpisodeSpec(version=1, id=episode, seed=options.seed, stage=options.stage, frames=(frame,), task=task)


def generate(options: Options) -> Series:
    """Episodes by the options of `render-specs views`.

    Raises:
        AssetError: a model, mesh, material or file of assets is missing or damaged.
        SpecError: the spec or the file is wrong; has every diagnostic.
        UsageError: an argument, option or name is wrong.
    """
    names = _readable_models(_find_models(options)[: options.limit], options.skip_broken)
    specs = [view_spec(name, options) for name in names]
    for spec in specs:
        check_spec(spec)
    dumped = (spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True) for spec in specs)
    return Series(dumped, len(specs))


def _find_models(options: Options) -> list[str]:
    """Names of the requested models, in order. Raises UsageError."""
    requested = list(options.models)
    if options.listed is not None:
        requested += filter(None, map(str.strip, read_text(options.listed).splitlines()))
    if not requested:
        raise UsageError("no models are named; give categories, models, or all")
    source = library()
    return [name for word in requested for name in _models(word.removeprefix("shapenet:"), source)]


def _models(word: str, source: Library) -> list[str]:
    """Return the models that a category, a model, or `all` stands for."""
    if word == "all":
        return [name for category in source.categories() for name in _models(category, source)]
    if "/" in word:
        return [f"shapenet:{word}"]
    return [f"shapenet:{word}/#{number}" for number in range(1, len(source.models(word)) + 1)]


def _readable_models(names: list[str], skip: bool) -> list[str]:
    """Canonical names of the models that can be read, without duplicates.

    Raises:
        AssetError: names all others, unless `skip` leaves them out.
    """
    good, broken = [], []
    for name in tqdm(names, unit=" models", delay=2, disable=None):
        try:
            good.append(load_model(name).name)
        except AssetError as error:
            broken.append(str(error))
            if skip:
                _log.warning("left out: %s", error)
    if broken and not skip:
        listed = "; ".join(broken[:5]) + (f"; and {len(broken) - 5} more" if len(broken) > 5 else "")
        raise AssetError(f"{len(broken)} of {len(names)} models can't be read (--skip-broken omits them): {listed}")
    if broken:
        _log.info("left out %d of %d models", len(broken), len(names))
    return list(dict.fromkeys(good))
