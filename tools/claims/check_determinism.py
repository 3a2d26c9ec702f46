"""Check that images and truth are identical, however they are made.

    python -m tools check-determinism [--profile standard] [--episodes 10]

Renders the same specs with render-batch: one worker; two workers; one worker with two threads; reversed order; and a
new worker for every episode. Then compares SHA-256 of images and truth. Also compiles at other sizes and profiles and
checks that no object moves. Exit code 1 if anything differs.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from diorama.render.api import compile_spec, open_store
from tools.programs import positive, run_json, write_specs


def digest(store: Path) -> str:
    """Return the SHA-256 of the truth of all episodes, images included, sorted by id."""
    opened = open_store(str(store))
    truths = (json.dumps(opened.get(name).truth, sort_keys=True) for name in sorted(name for name, _ in opened.ids()))
    return hashlib.sha256("".join(truths).encode()).hexdigest()


def rendered_digests(specs: list[dict[str, Any]], profile: str, folder: Path) -> dict[str, str]:
    """Render the specs in all ways; return the digest of each store."""
    forward, backward = write_specs(folder / "f.jsonl", specs), write_specs(folder / "b.jsonl", specs[::-1])
    common = ("--device", "cpu", "--profile", profile)
    found: dict[str, str] = {}
    for label, file, workers, threads in (
        ("1 worker, 1 thread", forward, 1, 1),
        ("2 workers", forward, 2, 1),
        ("1 worker, 2 threads", forward, 1, 2),
        ("reversed order", backward, 1, 1),
    ):
        store = folder / f"{len(found)}.lance"
        run_json("render-batch", file, "--workers", workers, "--threads", threads, *common, "--out", store)
        found[label] = digest(store)
    store = folder / "restart.lance"
    for k, spec in enumerate(specs):
        run_json("render-batch", write_specs(folder / f"one{k}.jsonl", [spec]), *common, "--workers", 1, "--out", store)
    return {**found, "a new process per episode": digest(store)}


def moved_scenes(specs: list[dict[str, Any]]) -> int:
    """Count the scenes whose layout changes with the profile or the size."""
    moved = 0
    others = (("draft", (320, 240)), ("reference", (1280, 960)), ("standard", (160, 120)), ("standard", (640, 360)))
    for spec in specs:
        base = compile_spec(spec, "standard", (320, 240)).frames
        moved += sum(compile_spec(spec, *other).frames != base for other in others)
    return moved


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--episodes", type=positive, default=10)
    parser.add_argument("--profile", default="standard")


def main(options: Namespace) -> int:
    """Run all variants; 1 if they differ."""
    frame = {"random_objects": {"count": [1, 6], "materials": ["rubber", "metal", "glass"]}}
    about = {"version": 1, "seed": 5, "frames": [frame]}
    specs = [{**about, "id": f"same/{number:03d}"} for number in range(options.episodes)]
    with tempfile.TemporaryDirectory() as name:
        found = rendered_digests(specs, options.profile, Path(name))
    for label, value in found.items():
        print(f"{value[:16]}  {label}")
    moved = moved_scenes(specs)
    print(f"scenes that moved with profile or size: {moved}")
    return int(len(set(found.values())) > 1 or moved > 0)
