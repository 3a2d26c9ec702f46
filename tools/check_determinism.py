"""Are pictures and truth identical, however they are made?

    python -m tools.check_determinism [--samples-profile standard] [--episodes 10]

Renders the same specs with render-batch: one worker; two workers; one worker with two threads; reversed order;
and one worker that has just
started for every episode. Then compares SHA-256 of pictures and of all truth. Also compiles at other sizes and
profiles and
checks that no object moved. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from render.compiler import compile_episode
from render.model.profiles import settings_for
from render.model.scene import Scene
from render.store import open_or_create
from scene_specs.language.spec import EpisodeSpec


def specs(count: int) -> list[EpisodeSpec]:
    """Random frames, glass among them."""
    return [
        EpisodeSpec.model_validate(
            {
                "version": 1,
                "id": f"same/{number:03d}",
                "seed": 5,
                "frames": [{"random_objects": {"count": [1, 6], "materials": ["rubber", "metal", "glass"]}}],
            }
        )
        for number in range(count)
    ]


def write(path: Path, made: list[EpisodeSpec]) -> Path:
    """As JSONL."""
    path.write_text("".join(spec.model_dump_json(exclude_none=True) + "\n" for spec in made))
    return path


def digest(store: Path) -> str:
    """SHA-256 over the truth of all episodes, pictures included, sorted by id."""
    opened = open_or_create(str(store))
    whole = hashlib.sha256()
    for name in sorted(name for name, _ in opened.ids()):
        whole.update(json.dumps(opened.get(name).truth, sort_keys=True).encode())
    return whole.hexdigest()


def batch(*arguments: str) -> None:
    """Run render-batch; raises if it fails."""
    command = [str(Path(sys.executable).with_name("render-batch")), *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def places(scene: Scene) -> str:
    """Everything of the frames but the sampling."""
    return json.dumps([frame.model_dump(mode="json") for frame in scene.frames])


def main() -> int:
    """Run all variants; exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--profile", default="standard")
    options = parser.parse_args()
    made = specs(options.episodes)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        forward, backward = write(folder / "f.jsonl", made), write(folder / "b.jsonl", made[::-1])
        common = ("--device", "cpu", "--profile", options.profile)
        variants = {
            "1 worker, 1 thread": (str(forward), "--workers", "1", "--threads", "1"),
            "2 workers": (str(forward), "--workers", "2", "--threads", "1"),
            "1 worker, 2 threads": (str(forward), "--workers", "1", "--threads", "2"),
            "reversed order": (str(backward), "--workers", "1", "--threads", "1"),
        }
        found = {}
        for k, (label, arguments) in enumerate(variants.items()):
            store = folder / f"{k}.lance"
            batch(*arguments, *common, "--out", str(store))
            found[label] = digest(store)
        store = folder / "restart.lance"
        for k, spec in enumerate(made):
            batch(str(write(folder / f"one{k}.jsonl", [spec])), *common, "--workers", "1", "--out", str(store))
        found["a new process an episode"] = digest(store)
    for label, value in found.items():
        sys.stdout.write(f"{value[:16]}  {label}\n")
    moved = 0
    for spec in made:
        base = places(compile_episode(spec, settings_for("standard", 320, 240)))
        for profile, width, height in (
            ("draft", 320, 240),
            ("reference", 1280, 960),
            ("standard", 160, 120),
            ("standard", 640, 360),
        ):
            moved += places(compile_episode(spec, settings_for(profile, width, height))) != base
    sys.stdout.write(f"scenes that moved with profile or size: {moved}\n")
    return int(len(set(found.values())) > 1 or moved > 0)


if __name__ == "__main__":
    sys.exit(main())
