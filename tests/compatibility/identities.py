"""Computes the identities of episodes: what must not change from version to version.

Golden data in `golden/`:

    plan.json        the generator commands of each benchmark, and which episodes are compiled
    examples.json    every file of scene_specs/examples, with full hashes
    <benchmark>.txt  a line an episode: spec, job, compiled; 12 hexadecimal digits each, `-` where not compiled
    fields.json      field names of the models that go into hashes
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diorama.render.compiler import compile_episode
from diorama.render.compiler.render_key import content_seed, picture_key, render_key_of
from diorama.render.machine.blender_series import key_suffix
from diorama.scene_specs.checks.semantics import check_spec
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Settings
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.model.stage import stage_of
from diorama.scene_specs.reading.source import parse_episode
from tests.compatibility.commands import ROOT, run
from tests.compatibility.digests import canonical, sha256

GOLDEN = Path(__file__).parent / "golden"
EXAMPLES = sorted((ROOT / "scene_specs/examples").glob("*.json"))
DIGITS = 12
NOT_COMPILED = "-"
# The columns of a golden line, as a failed comparison names them.
COLUMNS = ("spec digest", "job hash", "compiled (Scene, content seeds or image keys)")


@dataclass(frozen=True)
class Compiled:
    """scene: SHA-256 of Scene.to_json(). content_seeds: one a frame. image_keys: one a view of each frame."""

    scene: str
    content_seeds: tuple[int, ...]
    image_keys: tuple[str, ...]

    def digest(self) -> str:
        """SHA-256 over all three."""
        return sha256(json.dumps([self.scene, self.content_seeds, self.image_keys]))


def read_spec(text: str) -> EpisodeSpec:
    """The episode of a spec text."""
    episode = parse_episode(text)
    assert isinstance(episode, EpisodeSpec)
    return episode


def spec_digest(episode: EpisodeSpec) -> str:
    """SHA-256 of the spec as canonical JSON."""
    return sha256(canonical(episode.model_dump(mode="json", exclude_none=True)))


def first_settings(episode: EpisodeSpec) -> Settings:
    """The settings of profile standard in version 0.1.0; its numbers may change, but not how they are hashed."""
    settings = settings_for("standard", *stage_of(episode).size)
    return settings.with_samples(16, 260)


def job_hash(episode: EpisodeSpec) -> str:
    """The job hash for these settings and Cycles of Blender 4.5, whichever is installed."""
    key = render_key_of(episode, first_settings(episode), "cycles")
    return key.model_copy(update={"version": key.version.removesuffix(key_suffix("cycles"))}).hash()


def compiled(episode: EpisodeSpec) -> Compiled:
    """The identities that need compiling, for these settings."""
    check_spec(episode)
    scene = compile_episode(episode, first_settings(episode))
    return Compiled(
        sha256(scene.to_json()),
        tuple(content_seed(frame) for frame in scene.frames),
        tuple(picture_key(scene, frame, view) for frame in scene.frames for view in frame.views),
    )


def example_entry(file: Path) -> dict[str, Any]:
    """All identities of an example, as plain data with full hashes."""
    episode = read_spec(file.read_text())
    found = compiled(episode)
    return {
        "spec": spec_digest(episode),
        "job": job_hash(episode),
        "scene": found.scene,
        "content_seeds": list(found.content_seeds),
        "image_keys": list(found.image_keys),
    }


def plan() -> dict[str, Any]:
    """The frozen generator commands: benchmark -> {"compile_every": k, "commands": [{"arguments", "take"}]}."""
    data: dict[str, Any] = json.loads((GOLDEN / "plan.json").read_text())
    return data


def generated(benchmark: str, folder: Path) -> Iterator[EpisodeSpec]:
    """The episodes of a benchmark, made by its commands. folder: for the spec files."""
    for number, made in enumerate(plan()[benchmark]["commands"]):
        file = folder / f"{benchmark}-{number}.jsonl"
        run("render-specs", *made["arguments"], "--out", file)
        lines = file.read_text().splitlines()
        assert len(lines) >= made["take"], f"render-specs {' '.join(made['arguments'])}: {len(lines)} episodes"
        yield from map(read_spec, lines[: made["take"]])


def golden_line(number: int, episode: EpisodeSpec, compile_every: int) -> str:
    """The golden line of an episode. Only every k-th episode is compiled, because compiling takes most of the time."""
    made = NOT_COMPILED if number % compile_every else compiled(episode).digest()[:DIGITS]
    return f"{spec_digest(episode)[:DIGITS]} {job_hash(episode)[:DIGITS]} {made}"
