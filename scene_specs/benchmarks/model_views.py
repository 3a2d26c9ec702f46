"""Many views of single models, as renderers of ShapeNet make them: one episode per model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scene_specs.language.errors import spec_error
from scene_specs.language.rng import generator
from scene_specs.language.spec import EpisodeSpec, FrameSpec, ObjectSpec, ViewSpec

MAX_VIEWS = 100
# As in scene_specs.language.spec.CameraSpec.
MAX_DISTANCE, MAX_FRAMING = 1e4, 10.0


@dataclass(frozen=True)
class ViewPlan:
    """Camera positions. count: views per model. elevation: least and greatest, degrees.

    yaw: "even" spaces yaw (from `start`) and elevation evenly; "random" draws yaw uniformly, and elevation uniformly
    over the sphere between its bounds. distance: Blender units from the center of the model, whose longest side is 2.
    framing: instead of distance, share of the image's shorter side that its sphere fills. None: the stage's default.
    """

    count: int = 24
    elevation: tuple[float, float] = (20.0, 20.0)
    yaw: Literal["even", "random"] = "even"
    start: float = 0.0
    distance: float | None = None
    framing: float | None = None


def _problem(plan: ViewPlan) -> str:
    low, high = plan.elevation
    if not 1 <= plan.count <= MAX_VIEWS:
        return f"found {plan.count} views; allowed: 1 to {MAX_VIEWS}"
    if not -90 <= low <= high <= 90:
        return f"found elevations from {low:g} to {high:g}; allowed: -90 to 90, least first"
    if not math.isfinite(plan.start):
        return f"found first yaw {plan.start:g}; expected degrees"
    if plan.distance is not None and not 0 < plan.distance <= MAX_DISTANCE:
        return f"found distance {plan.distance:g}; allowed: above 0, at most {MAX_DISTANCE:g}"
    if plan.framing is not None and not 0 < plan.framing <= MAX_FRAMING:
        return f"found framing {plan.framing:g}; allowed: above 0, at most {MAX_FRAMING:g}"
    if plan.distance is not None and plan.framing is not None:
        return "found both a distance and a framing; allowed: one of them"
    return ""


def _angles(plan: ViewPlan, episode: str, seed: int) -> list[tuple[float, float]]:
    """Return (yaw, elevation) of each view in degrees, with 3 decimals."""
    low, high = plan.elevation
    count = plan.count
    if plan.yaw == "even":
        step = (high - low) / (count - 1) if count > 1 else 0.0
        return [(round((plan.start + 360.0 * k / count) % 360.0, 3), round(low + k * step, 3)) for k in range(count)]
    u = generator(seed, episode, "views").random((count, 2)).tolist()
    bottom, top = math.sin(math.radians(low)), math.sin(math.radians(high))
    heights = [min(max(bottom + v * (top - bottom), -1.0), 1.0) for _, v in u]
    return [
        (round(360.0 * a, 3), round(min(max(math.degrees(math.asin(h)), low), high), 3))
        for (a, _), h in zip(u, heights, strict=True)
    ]


def view_spec(
    model: str,
    plan: ViewPlan,
    seed: int = 0,
    stage: str = "studio",
    background: tuple[int, int, int] | None = None,
    color: str | None = None,
    material: str | None = None,
) -> EpisodeSpec:
    """Return the episode of a model, `shapenet:<category>/<id>`: one frame with views `000`, `001`, ...

    Id: `views/<category>/<id>`. Independent of other episodes. Raises SpecError for a plan out of range.
    """
    problem = _problem(plan)
    if problem:
        raise spec_error(problem)
    category, _, identity = model.removeprefix("shapenet:").partition("/")
    episode = f"views/{category}/{identity}"
    views = tuple(
        ViewSpec(name=f"{k:03d}", yaw_deg=yaw, elevation_deg=up, distance=plan.distance, framing=plan.framing)
        for k, (yaw, up) in enumerate(_angles(plan, episode, seed))
    )
    item = ObjectSpec(name="model", shape=model, rotation_deg=0.0, color=color, material=material)
    frame = FrameSpec(name="model", objects=(item,), views=views, background=background)
    task = {"benchmark": "views", "name": category, "model": identity}
    return EpisodeSpec(version=1, id=episode, seed=seed, stage=stage, frames=(frame,), task=task)
