"""Figures of the gallery: making it, bringing it up to date, its size, and how soon a browser shows it.

    python -m tools.bench_gallery --folder /tmp/bench                      40,000 MEWL episodes, 64 x 48, fake renderer
    python -m tools.bench_gallery --folder /tmp/bench --episodes 4000      a tenth of it

Prints a Markdown table. The browser's figures need Chromium and Playwright (docs/gallery.md). The store and the gallery
are removed at the end; --keep leaves them. One that is there already is refused.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from render.episode.make_record import make_record
from render.model.profiles import settings_for
from render.model.record import EpisodeRecord, RenderKey
from render.renderers.fake import FakeRenderer
from render.store.lance.lance_store import LanceStore
from scene_specs.benchmarks.mewl.generate import TASKS, mewl_spec
from scene_specs.language.spec import EpisodeSpec
from tools.bench_store import peak_kilobytes

BATCH = 64
# Of each task; the store repeats them under other names, splits and durations.
MODELS = 6
SPLITS = (*["train"] * 8, "val", "test")
log = logging.getLogger("bench_gallery")


def models(size: tuple[int, int]) -> list[EpisodeRecord]:
    """Rendered episodes of every MEWL task."""
    settings, renderer = settings_for("draft", *size), FakeRenderer()
    made = []
    for task in TASKS:
        for number in range(MODELS):
            spec = mewl_spec(0, "train", task, number)
            job = RenderKey(
                spec=spec, settings=settings.model_dump(mode="json"), assets={}, version="0", renderer="fake"
            )
            made.append(make_record(renderer, EpisodeSpec.model_validate(spec), job, settings))
    return made


def episodes(count: int, size: tuple[int, int]) -> Iterator[EpisodeRecord]:
    """So many, made of the models."""
    for number, model in enumerate(islice(cycle(models(size)), count)):
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


def fill(store: LanceStore, count: int, size: tuple[int, int]) -> None:
    """Put all episodes."""
    source, done = episodes(count, size), 0
    while batch := list(islice(source, BATCH)):
        store.put(batch)
        store.maybe_compact()
        done += len(batch)
        if done % 4096 == 0:
            log.info("%d episodes stored", done)
    store.compact()


def build(url: str, out: Path) -> tuple[dict[str, Any], float]:
    """Report and peak megabytes (the sum of all its processes) of render-gallery."""
    program, peak = Path(sys.executable).with_name("render-gallery"), 0
    with subprocess.Popen([program, url, "--out", out, "--json"], stdout=subprocess.PIPE) as child:
        while child.poll() is None:
            peak = max(peak, sum(map(peak_kilobytes, family(child.pid))))
            time.sleep(0.2)
        assert child.stdout is not None
        text = child.stdout.read()
    if child.returncode:
        raise SystemExit(f"render-gallery ended with {child.returncode}")
    return json.loads(text), peak / 1024


def family(process: int) -> list[int]:
    """A process and its children."""
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        children = []
    return [process, *(int(child) for child in children)]


def bytes_below(folder: Path) -> tuple[int, int]:
    """Bytes in files and on the disk (whole blocks), of everything below a folder."""
    stats = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum(stat.st_size for stat in stats), sum(stat.st_blocks * 512 for stat in stats)


def looked_at(page_file: Path) -> Iterator[tuple[str, str]]:
    """(what, figure) of the pages in a browser."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
        ready = []
        for _ in range(5):
            page = browser.new_page()
            page.goto(page_file.as_uri(), wait_until="commit")
            page.wait_for_selector("a.card")
            # The next frame: what was asked for is drawn, and a key would be answered.
            ready.append(page.evaluate("new Promise(done => requestAnimationFrame(() => done(performance.now())))"))
        yield "list to be used, from opening the file, worst of 5", f"{max(ready) / 1e3:.2f} s"
        yield "memory of its script", f"{page.evaluate('performance.memory.usedJSHeapSize') / 1e6:.0f} MB"
        for what, change in (
            ("a filter", "shape=cube&color=red"),
            ("sorting by the smallest visible fraction", "sort=visible"),
            ("the first search in texts (they are loaded)", "q=red metal cube"),
            ("another search", "q=blue glass"),
        ):
            yield what, f"{moved(page, f'#?{change}'):.2f} s"
        episode = page.locator("a.card").first.get_attribute("href")
        yield "opening an episode, all pictures there", f"{moved(page, episode, PICTURES):.2f} s"
        browser.close()


FRESH = "document.querySelector('#list:not([hidden]) a.card:not(.seen)')"
PICTURES = "document.querySelector('.stage') && [...document.querySelectorAll('.stage img')].every(one => one.complete)"


def moved(page: Any, address: str, until: str = FRESH) -> float:
    """Seconds from a change of the address to what it shows, which is made anew each time."""
    mark = "for (const one of document.querySelectorAll('a.card')) one.classList.add('seen');"
    look = f"const look = () => ({until}) ? done(performance.now() - start) : requestAnimationFrame(look);"
    go = f"location.hash = {json.dumps(address)}; requestAnimationFrame(look);"
    script = f"new Promise(done => {{ const start = performance.now(); {mark} {look} {go} }})"
    return float(page.evaluate(script)) / 1e3


def measure(folder: Path, count: int, size: tuple[int, int]) -> Iterator[tuple[str, str]]:
    """(what, figure) one by one."""
    url, out = str(folder / "bench.lance"), folder / "gallery"
    store = LanceStore.create(url, fsync=False)
    fill(store, count, size)
    yield "the store", f"{(store.bytes_on_disk() or 0) / 1e9:.2f} GB"
    report, peak = build(url, out)
    yield "made", f"{report['seconds']:.0f} s, {count / report['seconds']:.0f} episodes/s; peak memory {peak:.0f} MB"
    inside, on_disk = bytes_below(out)
    yield "folder", f"{inside / 1e9:.2f} GB in files, {on_disk / 1e9:.2f} GB on the disk"
    index = [path for path in (out / "data").glob("*/*.js") if not path.name.startswith("text-")]
    texts = list((out / "data").glob("*/text-*.js"))
    sizes = [sum(path.stat().st_size for path in some) / 1e6 for some in (index, texts)]
    yield "index that a page loads; texts that a search loads", f"{sizes[0]:.1f} MB; {sizes[1]:.1f} MB"
    report, _ = build(url, out)
    yield "again, nothing new", f"{report['seconds']:.1f} s"
    first = next(iter(episodes(1, size)))
    changed = first.provenance.model_copy(update={"created": "2026-01-01T00:00:00+00:00"})
    store.replace([first.model_copy(update={"provenance": changed})])
    report, _ = build(url, out)
    yield f"again, {report['built']} changed", f"{report['seconds']:.1f} s"
    yield from looked_at(out / "index.html")


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="store and gallery are made and removed in it")
    parser.add_argument("--episodes", type=int, default=40_000)
    parser.add_argument("--size", type=int, nargs=2, default=(64, 48), metavar=("W", "H"))
    parser.add_argument("--keep", action="store_true", help="leave store and gallery there")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("render").setLevel(logging.WARNING)
    made = [options.folder / name for name in ("bench.lance", "gallery")]
    for path in made:
        if path.exists():
            parser.error(f"--folder {options.folder}: {path} is there already; name another folder, or remove it")
    options.folder.mkdir(parents=True, exist_ok=True)
    sys.stdout.write(
        f"| {options.episodes} episodes x 7 pictures of {options.size[0]} x {options.size[1]} | |\n|---|---|\n"
    )
    try:
        for what, figure in measure(options.folder, options.episodes, tuple(options.size)):
            sys.stdout.write(f"| {what} | {figure} |\n")
            sys.stdout.flush()
    finally:
        if not options.keep:
            for path in made:
                shutil.rmtree(path, ignore_errors=True)


if __name__ == "__main__":
    main()
