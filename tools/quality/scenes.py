"""The 24 scenes on which quality is measured: `scenes.jsonl`, one frame a line, of MEWL episodes of seed 9.

    python -m tools.quality.scenes            # is the file what this program makes?
    python -m tools.quality.scenes --write    # make it again

Two frames of each of MEWL's nine tasks, one with much glass and one with none; two more of `number`, one of `pragmatic`
(the hand) and three crowds of 7, 8 and 10 objects, since MEWL ends at six. The first twelve are one of each task and
the crowds, so that `--limit 12` sees everything.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from render.compiler import compile_episode
from render.model.profiles import settings_for
from render.model.scene import Scene, Settings
from scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from scene_specs.language.spec import EpisodeSpec
from scene_specs.reading.source import parse_episode
from tools.quality.files import write_whole

FILE = Path(__file__).with_name("scenes.jsonl")
SEED = 9
# Of each task, so many episodes are looked through for a frame with much glass or none.
_POOL = 12
_CROWDS = {7: ["rubber", "metal", "glass"], 8: ["rubber", "metal"], 10: ["glass", "metal"]}

Frame = dict[str, Any]


@dataclass(frozen=True)
class TestScene:
    """One scene. name: number, task, objects and how many of them are glass; a file name. spec: one frame."""

    # Not a test, whatever pytest makes of its name.
    __test__ = False

    name: str
    spec: EpisodeSpec

    def compiled(self, settings: Settings) -> Scene:
        """Its Scene under a profile's settings."""
        return compile_episode(self.spec, settings)

    def digest(self) -> str:
        """SHA-256 of everything but settings that decides its picture: the Scene's numbers and its assets' hashes."""
        scene = self.compiled(settings_for("standard", 320, 240))
        return hashlib.sha256(scene.model_dump_json(exclude={"settings", "task"}).encode()).hexdigest()


def scenes(limit: int | None = None) -> list[TestScene]:
    """The committed list, or its first `limit`."""
    specs: list[EpisodeSpec] = [parse_episode(line, FILE.name) for line in FILE.read_text("utf-8").splitlines()]
    return [TestScene(_name(k, spec), spec) for k, spec in enumerate(specs[:limit], start=1)]


def _name(number: int, spec: EpisodeSpec) -> str:
    frame = spec.frames[0]
    if frame.random_objects is not None:
        return f"{number:02d}-crowd-{frame.random_objects.count}"
    glass = sum(item.material == "glass" for item in frame.objects)
    return f"{number:02d}-{spec.id.split('/')[2]}-{len(frame.objects)}" + (f"-glass{glass}" if glass else "")


def choose() -> list[dict[str, Any]]:
    """The list as plain specs, made anew."""
    taken: set[str] = set()
    # Which tasks of the first round show glass: every other one, and the hand's.
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
    """The frame with the most glass, or with the most objects and no glass, of an episode not yet taken."""

    def rank(pair: tuple[dict[str, Any], Frame]) -> tuple[int, int]:
        count = sum(item["material"] == "glass" for item in pair[1]["objects"])
        return (count if glass else -count, len(pair[1]["objects"]))

    # `max` takes the first of equals.
    spec, frame = max((pair for pair in _frames(task) if pair[0]["id"] not in taken), key=rank)
    taken.add(spec["id"])
    kept = {key: value for key, value in frame.items() if key not in ("utterance", "truth")}
    return {"version": 1, "id": spec["id"], "seed": SEED, "frames": [kept]}


def _crowd(count: int, materials: list[str]) -> dict[str, Any]:
    drawn = {"count": count, "materials": materials}
    return {"version": 1, "id": f"quality/crowd/{count}", "seed": SEED, "frames": [{"random_objects": drawn}]}


def text() -> str:
    """The file's content, made anew."""
    return "".join(json.dumps(spec) + "\n" for spec in choose())


def main(arguments: list[str] | None = None) -> int:
    """0 if the committed list is what this program makes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the list")
    if parser.parse_args(arguments).write:
        write_whole(FILE, text().encode())
    same = FILE.read_text("utf-8") == text()
    sys.stdout.write(f"{FILE.name}: {len(scenes())} scenes, {'as made' if same else 'other than made now'}\n")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
