"""Measure the gallery: build, update, size, and browser.

    python -m tools bench-gallery --folder /tmp/bench                  # 40,000 MEWL episodes, 64 x 48, fake renderer
    python -m tools bench-gallery --folder /tmp/bench --episodes 4000  # a tenth of it

Prints a Markdown table. The figures of the browser need Chromium and Playwright (docs/gallery.md). The store and the
gallery are removed at the end; --keep keeps them. A store or gallery that exists already is an error.
"""

from __future__ import annotations

import json
import logging
import shutil
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from diorama.render.compiler.render_key import render_key_of
from diorama.render.episode.make_record import make_record
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store.lance.lance_store import LanceStore
from diorama.scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.model.profiles import settings_for
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeSpec
from tools.measuring.bench_store import fill
from tools.programs import positive, print_figures, run_measured

# Of each task; the store repeats them under other names, splits and durations.
MODELS = 6
SIZE = (64, 48)
SPLITS = (*["train"] * 8, "val", "test")


def models() -> list[EpisodeRecord]:
    """Render episodes of every MEWL task."""
    settings, renderer = settings_for("draft", *SIZE), FakeRenderer()
    specs = [mewl_spec(0, "train", task, number) for task in TASKS for number in range(MODELS)]
    parsed = map(EpisodeSpec.model_validate, specs)
    return [make_record(renderer, spec, render_key_of(spec, settings, "fake"), settings) for spec in parsed]


def episodes(count: int) -> Iterator[EpisodeRecord]:
    """Yield `count` episodes that repeat the models."""
    for number, model in enumerate(islice(cycle(models()), count)):
        split = SPLITS[number % len(SPLITS)]
        task = model.scene.task or {}
        name = f"mewl/{split}/{task['name']}/{number:06d}"
        seconds = {step: value * (1 + number % 97 / 97) for step, value in model.provenance.seconds.items()}
        changes = {
            "episode_id": name,
            "job": model.job.model_copy(update={"spec": {**model.job.spec, "id": name, "split": split}}),
            "scene": model.scene.model_copy(update={"id": name, "split": split}),
            "provenance": model.provenance.model_copy(update={"seconds": seconds}),
        }
        yield model.model_copy(update=changes)


def build(url: str, out: Path) -> tuple[dict[str, Any], float]:
    """Run render-gallery; return its report and its peak memory in MB, summed over all of its processes."""
    text, _, peak = run_measured("render-gallery", url, "--out", out, "--json")
    return json.loads(text), peak


def bytes_below(folder: Path) -> tuple[int, int]:
    """Return the bytes of all files in a folder, and the bytes of the disk blocks that they take."""
    stats = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum(stat.st_size for stat in stats), sum(stat.st_blocks * 512 for stat in stats)


def measure_browser(page_file: Path) -> Iterator[tuple[str, str]]:
    """Yield (measured, figure) of the pages in a browser."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        ready = []
        for _ in range(5):
            page = browser.new_page()
            page.goto(page_file.as_uri(), wait_until="commit")
            page.wait_for_selector("a.card")
            # One frame later the list is drawn and keys work.
            ready.append(page.evaluate("new Promise(done => requestAnimationFrame(() => done(performance.now())))"))
        yield "list ready, from opening the file, worst of 5", f"{max(ready) / 1e3:.2f} s"
        yield "memory of its script", f"{page.evaluate('performance.memory.usedJSHeapSize') / 1e6:.0f} MB"
        for what, change in CHANGES.items():
            yield what, f"{seconds_to_show(page, f'#?{change}'):.2f} s"
        episode = page.locator("a.card").first.get_attribute("href")
        yield "opening an episode, all images loaded", f"{seconds_to_show(page, episode, PICTURES):.2f} s"
        browser.close()


CHANGES = {
    "a filter": "shape=cube&color=red", "sorting by the smallest visible fraction": "sort=visible",
    "the first search in texts (they are loaded)": "q=red metal cube", "another search": "q=blue glass",
}  # fmt: skip
FRESH = "document.querySelector('#list:not([hidden]) a.card:not(.seen)')"
PICTURES = "document.querySelector('.stage') && [...document.querySelectorAll('.stage img')].every(one => one.complete)"


def seconds_to_show(page: Any, address: str, until: str = FRESH) -> float:
    """Return the seconds from a change of the address until the new content is there."""
    mark = "for (const one of document.querySelectorAll('a.card')) one.classList.add('seen');"
    look = f"const look = () => ({until}) ? done(performance.now() - start) : requestAnimationFrame(look);"
    go = f"location.hash = {json.dumps(address)}; requestAnimationFrame(look);"
    script = f"new Promise(done => {{ const start = performance.now(); {mark} {look} {go} }})"
    return float(page.evaluate(script)) / 1e3


def measure(folder: Path, count: int) -> Iterator[tuple[str, str]]:
    """Yield (measured, figure). Raises UsageError without Playwright, which the last figures need."""
    if find_spec("playwright") is None:
        raise UsageError("the package playwright is missing; use the Python of .venv-readers, see make test-all")
    url, out = str(folder / "bench.lance"), folder / "gallery"
    store = LanceStore.create(url, fsync=False)
    fill(store, episodes(count))
    store.compact()
    yield "the store", f"{(store.bytes_on_disk() or 0) / 1e9:.2f} GB"
    report, peak = build(url, out)
    yield "build", f"{report['seconds']:.0f} s, {count / report['seconds']:.0f} episodes/s; peak memory {peak:.0f} MB"
    inside, on_disk = bytes_below(out)
    yield "folder", f"{inside / 1e9:.2f} GB in files, {on_disk / 1e9:.2f} GB on the disk"
    index = [path for path in (out / "data").glob("*/*.js") if not path.name.startswith("text-")]
    texts = list((out / "data").glob("*/text-*.js"))
    sizes = [sum(path.stat().st_size for path in some) / 1e6 for some in (index, texts)]
    yield "index that a page loads; texts that a search loads", f"{sizes[0]:.1f} MB; {sizes[1]:.1f} MB"
    report, _ = build(url, out)
    yield "update without changes", f"{report['seconds']:.1f} s"
    first = next(episodes(1))
    changed = first.provenance.model_copy(update={"created": "2026-01-01T00:00:00+00:00"})
    store.replace([first.model_copy(update={"provenance": changed})])
    report, _ = build(url, out)
    yield f"update with {report['built']} changed", f"{report['seconds']:.1f} s"
    yield from measure_browser(out / "index.html")


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, required=True, help="where store and gallery are made and removed")
    parser.add_argument("--episodes", type=positive, default=40_000)
    parser.add_argument("--keep", action="store_true", help="keep store and gallery")


def main(options: Namespace) -> None:
    """Measure and print. Raises UsageError if a store or gallery is there already."""
    logging.getLogger("diorama.render").setLevel(logging.WARNING)
    created = [options.folder / name for name in ("bench.lance", "gallery")]
    for path in filter(Path.exists, created):
        raise UsageError(f"--folder {options.folder}: {path} is there already; name another folder, or remove it")
    options.folder.mkdir(parents=True, exist_ok=True)
    title = f"{options.episodes} episodes x 7 images of {SIZE[0]} x {SIZE[1]}"
    print_figures(title, measure(options.folder, options.episodes), created, options.keep)
