"""Check or rewrite the scenes for measuring quality.

    python -m tools quality-scenes            # exit code 1 if the file is not what this program generates
    python -m tools quality-scenes --write    # generate it

The 24 scenes are in scenes.jsonl. Each line is one frame of a MEWL episode of seed 9. There are two frames of each of
MEWL's nine tasks, one with much glass and one with none; two more of `number`, one of `pragmatic` (the hand), and three
crowds of 7, 8 and 10 objects, since MEWL has up to six. The first twelve are one of each task and the crowds, so that
`--limit 12` covers everything.
"""

from __future__ import annotations

import hashlib
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from render.compiler import compile_episode
from render.model.profiles import settings_for
from scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from scene_specs.language.atomic import write_atomic
from scene_specs.language.scene import Scene, Settings
from scene_specs.language.spec import EpisodeSpec
from scene_specs.reading.source import parse_episode

FILE = Path(__file__).with_name("scenes.jsonl")
SEED = 9
# The number of episodes of each task that are searched for a frame with much glass or none.
_POOL = 12
_CROWDS = {7: ["rubber", "metal", "glass"], 8: ["rubber", "metal"], 10: ["glass", "metal"]}

Frame = dict[str, Any]


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


def scenes(limit: int | None = None) -> list[TestScene]:
    """Return the committed scenes, or the first `limit`."""
    specs: list[EpisodeSpec] = [parse_episode(line, FILE.name) for line in FILE.read_text("utf-8").splitlines()]
    return [TestScene(_name(k, spec), spec) for k, spec in enumerate(specs[:limit], start=1)]


def _name(number: int, spec: EpisodeSpec) -> str:
    frame = spec.frames[0]
    if frame.random_objects is not None:
        return f"{number:02d}-crowd-{frame.random_objects.count}"
    glass = sum(item.material == "glass" for item in frame.objects)
    return f"{number:02d}-{spec.id.split('/')[2]}-{len(frame.objects)}" + (f"-glass{glass}" if glass else "")


def choose() -> list[dict[str, Any]]:
    """Generate the scenes as plain specs."""
    taken: set[str] = set()
    # In the first round every other task shows glass, and so does the hand's.
    first = [_pick(task, k % 2 == 0, taken) for k, task in enumerate(TASKS)]
    crowds = [_crowd(count, materials) for count, materials in _CROWDS.items()]
    second = [_pick(task, k % 2 == 1, taken) for k, task in enumerate(TASKS)]
    more = [_pick(task, glass, taken) for task, glass in (("number", True), ("number", False), ("pragmatic", True))]
    return [*first, *crowds, *second, *more]


def _frames(task: str) -> Iterator[tuple[dict[str, Any], Frame]]:
    for number in range(_POOL):
        spec = mewl_spec(SEED, "train", task, number)
        yield from ((spec, frame) for frame in spec["frames"])


def _pick(task: str, glass: bool, taken: set[str]) -> dict[str, Any]:
    """Return the frame with the most glass, or with the most objects and no glass, of an episode not yet taken."""

    def rank(pair: tuple[dict[str, Any], Frame]) -> tuple[int, int]:
        count = sum(item["material"] == "glass" for item in pair[1]["objects"])
        return (count if glass else -count, len(pair[1]["objects"]))

    # `max` returns the first of equal frames.
    spec, frame = max((pair for pair in _frames(task) if pair[0]["id"] not in taken), key=rank)
    taken.add(spec["id"])
    kept = {key: value for key, value in frame.items() if key not in ("utterance", "truth")}
    return {"version": 1, "id": spec["id"], "seed": SEED, "frames": [kept]}


def _crowd(count: int, materials: list[str]) -> dict[str, Any]:
    drawn = {"count": count, "materials": materials}
    return {"version": 1, "id": f"quality/crowd/{count}", "seed": SEED, "frames": [{"random_objects": drawn}]}


def text() -> str:
    """Generate the content of the file."""
    return "".join(json.dumps(spec) + "\n" for spec in choose())


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--write", action="store_true", help="write the file")


def main(options: Namespace) -> int:
    """Return 0 if the committed file is what this program generates."""
    if options.write:
        write_atomic(FILE, text())
    same = FILE.read_text("utf-8") == text()
    print(f"{FILE.name}: {len(scenes())} scenes, {'as generated' if same else 'differs from what is generated now'}")
    return int(not same)
