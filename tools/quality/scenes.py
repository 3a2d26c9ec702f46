"""The scenes for measuring quality.

The 24 scenes are in scenes.jsonl. Each line is one frame of a MEWL episode of seed 9. There are two frames of each of
MEWL's nine tasks, one with much glass and one with none; two more of `number`, one of `pragmatic` (the hand), and three
crowds of 7, 8 and 10 objects, since MEWL has up to six. The first twelve are one of each task and the crowds, so that
`--limit 12` covers everything. scenes-77.jsonl and scenes-131.jsonl have 24 others each of the same kinds, of seeds 77
and 131, to confirm what was found.
"""

from __future__ import annotations

import hashlib
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path

from diorama.render.compiler import compile_episode
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.scene import Scene, Settings
from diorama.scene_specs.model.spec import EpisodeSpec
from diorama.scene_specs.reading.source import parse_episode
from tools.programs import positive

FILE = Path(__file__).with_name("scenes.jsonl")


@dataclass(frozen=True)
class TestScene:
    """A scene with one frame. name: number, task, objects, and how many of them are glass; a valid file name."""

    # Not a test class, despite its name.
    __test__ = False

    name: str
    spec: EpisodeSpec

    def compiled(self, settings: Settings) -> Scene:
        """Compile it with a profile's settings."""
        return compile_episode(self.spec, settings)

    def digest(self) -> str:
        """Return the SHA-256 of everything except settings that decides its image: numbers and hashes of assets."""
        scene = self.compiled(settings_for("standard", 320, 240))
        return hashlib.sha256(scene.model_dump_json(exclude={"settings", "task"}).encode()).hexdigest()


def add_options(parser: ArgumentParser) -> None:
    """The options that choose scenes: the arguments of `scenes`."""
    parser.add_argument("--limit", type=positive, help="number of scenes, from the first; 12 cover everything")
    parser.add_argument("--scenes", type=Path, default=FILE, metavar="FILE", help="JSONL file of scenes, one a line")


def scenes(limit: int | None = None, file: Path = FILE) -> list[TestScene]:
    """Return the scenes of a file, or the first `limit`. Raises UsageError for a missing file, SpecError."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError as error:
        raise UsageError(f"{file}: can't read the scenes: {error.strerror}") from error
    specs: list[EpisodeSpec] = [parse_episode(line, file.name) for line in lines if line.strip()]
    if not specs:
        raise UsageError(f"{file}: found no scene; expected one a line")
    return [TestScene(_name(k, spec), spec) for k, spec in enumerate(specs[:limit], start=1)]


def _name(number: int, spec: EpisodeSpec) -> str:
    frame = spec.frames[0]
    if frame.random_objects is not None:
        return f"{number:02d}-crowd-{frame.random_objects.count}"
    glass = sum(item.material == "glass" for item in frame.objects)
    # The task, in the ids of MEWL.
    task = (spec.id.split("/")[2:] or [spec.id.replace("/", "-")])[0]
    return f"{number:02d}-{task}-{len(frame.objects)}" + (f"-glass{glass}" if glass else "")
