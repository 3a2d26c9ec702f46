"""Episodes from the compiler and the fake renderer: unlike those of tests.factories, their truth is consistent."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord, RenderKey
from diorama.scene_specs.model.spec import EpisodeSpec


@lru_cache(maxsize=64)
def rendered(
    name: str = "demo/0001",
    seed: int = 3,
    frames: int = 2,
    split: str | None = "train",
    size: tuple[int, int] = (64, 48),
) -> EpisodeRecord:
    """A red rubber cube and a blue metal sphere per frame, a task with options, depth in the last frame."""
    objects = [
        {"name": "a", "shape": "cube", "color": "red", "material": "rubber", "size": "large"},
        {"name": "b", "shape": "sphere", "color": "blue", "material": "metal", "size": "small"},
    ]
    made: list[dict[str, Any]] = [
        {"name": f"f{number}", "utterance": f"word{number}", "objects": objects} for number in range(frames)
    ]
    made[-1]["passes"] = ["depth"]
    task = {"benchmark": "demo", "name": "colour", "options": ["supri", "ecle"], "answer": "ecle"}
    spec: dict[str, Any] = {"version": 1, "id": name, "seed": seed, "frames": made, "task": task}
    if split is not None:
        spec["split"] = split
    settings = settings_for("draft", *size)
    job = RenderKey(spec=spec, settings=settings.model_dump(mode="json"), assets={}, version="0", renderer="fake")
    record = make_record(FakeRenderer(), EpisodeSpec.model_validate(spec), job, settings)
    # Clock readings would make two exports of "the same" episode differ.
    calm = record.provenance.model_copy(update={"created": "2025-01-01T00:00:00+00:00", "seconds": {}})
    return record.model_copy(update={"provenance": calm})
