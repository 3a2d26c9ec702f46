"""The functions of `import diorama`: generate specs, compile and render them, fill, read and export stores.

docs/python.md has an example of each. Commands and functions share their code: `render-batch` and `render_to_store`
call diorama.render.run.run_batch, `render-export` and `export` call diorama.render.uses.export.run_export.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel

from diorama.render.annotations import annotate
from diorama.render.annotations.annotate import observer_annotations
from diorama.render.compiler import compile_episode
from diorama.render.compiler.assets import check_assets
from diorama.render.machine.blender_series import require_module
from diorama.render.machine.device_names import DEVICE_NAMES, DeviceName
from diorama.render.renderers import make_renderer
from diorama.render.renderers.fake import FakeRenderer
from diorama.render.store import open_store
from diorama.render.uses.export.protocol import ExportOptions, ExportReport
from diorama.render.uses.export.run_export import run_export
from diorama.render.uses.rerender.render_process import call_in_child, may_render_here
from diorama.scene_specs.asset_roots import searching
from diorama.scene_specs.checks.semantics import check_spec
from diorama.scene_specs.errors import StoreError, UsageError
from diorama.scene_specs.files.notebook import register
from diorama.scene_specs.model.passes import Passes, Renderer
from diorama.scene_specs.model.profiles import episode_settings
from diorama.scene_specs.model.record import EpisodeRecord, FrameAnnotation
from diorama.scene_specs.model.scene import LEAST_SIDE, MOST_SIDE, Scene
from diorama.scene_specs.model.spec import EpisodeSpec, spec_text
from diorama.scene_specs.reading.source import SpecSource, parse_episode
from diorama.scene_specs.shapes.shapenet import library_setting
from diorama.scene_specs.tasks.benchmark import benchmark as find_benchmark
from diorama.scene_specs.tasks.blocks import generate, sources_of

if TYPE_CHECKING:
    from diorama.render.run.summary import Summary
    from diorama.render.store.lance.lance_store import LanceStore
    from diorama.render.uses.live.stream import Live

# fmt: off
__all__ = [
    "EpisodeRecord", "EpisodeSpec", "ExportReport", "FakeRenderer", "Passes", "RenderedImage", "Renderer", "Scene",
    "compile_spec", "export", "generate", "live", "open_store", "render_scene", "render_to_store",
    "samples",
]
# fmt: on

Spec = EpisodeSpec | Scene | Mapping[str, Any]
Name = str | PathLike[str]


# Drawing takes a while to import, and is only needed in a notebook.
register(EpisodeRecord, "diorama.render.uses.draw.notebook:record_html")
register(Scene, "diorama.render.uses.draw.notebook:scene_html")


@dataclass(frozen=True)
class RenderedImage:
    """One image of an episode.

    Attributes:
        name: as in the store.
        passes: arrays.
        truth: its annotations.
    """

    name: str
    passes: Passes
    truth: FrameAnnotation


def compile_spec(
    spec: Spec | str,
    profile: str | None = None,
    size: tuple[int, int] | None = None,
    asset_roots: Name | Sequence[Name] = (),
) -> Scene:
    """Compile a spec to a Scene, in which every number is filled in.

    Args:
        spec: an EpisodeSpec, plain JSON data, or the JSON text of one episode. Of a Scene, only the settings change.
        profile: the default is `standard`, or a Scene's own settings.
        size: (width, height) in pixels; the default is the stage's size, or a Scene's own.
        asset_roots: folders of .blend materials and meshes.

    Raises:
        SpecError: the spec is wrong; has every diagnostic.
        CompileError: no layout is found.
        AssetError: an asset is missing or broken.
        UsageError: an argument is wrong.

    Examples:
        >>> import diorama
        >>> frame = diorama.FrameSpec(objects=[diorama.ObjectSpec(shape="cube", location=(0, 0))])
        >>> scene = diorama.compile_spec(diorama.EpisodeSpec(id="a/1", frames=[frame]))
        >>> scene.frames[0].objects[0].shape
        'cube'
    """
    _check_size(size)
    if isinstance(spec, EpisodeSpec):
        check_spec(spec)
        episode: EpisodeSpec | Scene = spec
    else:
        episode = parse_episode(spec if isinstance(spec, str) else spec_text(spec))
    return compile_episode(episode, episode_settings(episode, profile, size), _root_paths(asset_roots))


def render_scene(
    scene: Scene,
    device: str = "auto",
    threads: int = 0,
    renderer: Renderer | None = None,
    asset_roots: Name | Sequence[Name] = (),
) -> list[RenderedImage]:
    """Render every image of a Scene, in order, to arrays with their annotations.

    You can call it from any thread, and after a fork: Blender then works in one child process, which renders one Scene
    after the other.

    Args:
        scene: of `compile_spec`.
        device: auto, gpu (any), cpu, cuda, optix, hip, oneapi or metal.
        threads: number of CPU threads, 0 for all.
        renderer: used instead of Cycles and left open, such as FakeRenderer().
        asset_roots: folders of .blend materials and meshes.

    Raises:
        RenderError: the renderer failed.
        DeviceError: the device is not available.
        AssetError: an asset is missing or has changed.
        UsageError: an argument is wrong.

    Examples:
        >>> import diorama
        >>> scene = diorama.compile_spec({"version": 1, "id": "a/1", "frames": [{"objects": [{"shape": "cube"}]}]})
        >>> image = diorama.render_scene(scene, renderer=diorama.FakeRenderer())[0]
        >>> image.passes.color.shape, image.truth.objects[0].shape
        ((240, 320, 3), 'cube')
    """
    devices = ("gpu", *DEVICE_NAMES)
    _require("scene", scene, isinstance(scene, Scene), "a Scene; compile_spec makes one from a spec")
    _require("device", device, device in devices, ", ".join(devices))
    _require("threads", threads, type(threads) is int and threads >= 0, "an integer of at least 0")
    _require("renderer", renderer, not isinstance(renderer, str), "an object, such as FakeRenderer()")
    roots = _root_paths(asset_roots)
    if renderer is None and not may_render_here():
        return call_in_child(render_scene, scene, device, threads, None, roots)
    with searching(roots), ExitStack() as stack:
        check_assets(scene, roots)
        if renderer is None:
            renderer = stack.enter_context(closing(make_renderer("cycles", device, threads, roots)))
        images = []
        for frame in scene.frames:
            observers = observer_annotations(scene, frame)
            for view in frame.views:
                passes = renderer.render(scene, frame, view)
                truth = annotate(scene, frame, view, passes, observers=observers)
                images.append(RenderedImage(frame.image_name(view), passes, truth))
        return images


def _options_here(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a run with the model library of this process, and with checked folders."""
    roots = {"asset_roots": _root_paths(options["asset_roots"])} if "asset_roots" in options else {}
    return {"library": library_setting(), **options, **roots}


def render_to_store(
    specs: str | PathLike[str] | Spec | Iterable[str | PathLike[str] | Spec],
    store: str | PathLike[str],
    *,
    profile: str | None = None,
    size: tuple[int, int] | None = None,
    limit: int | None = None,
    renderer: str = "cycles",
    device: DeviceName = "auto",
    workers: int | None = None,
    resume: Literal["error", "replace", "keep"] = "error",
    dry_run: bool = False,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Summary:
    """Render specs into a store, as `render-batch` does: in several processes, and only what the store lacks.

    Ctrl-C finishes and commits what is in flight, then raises KeyboardInterrupt; the same call continues. A script
    needs
    no `if __name__ == "__main__"`.

    Args:
        specs: files, folders and globs; or specs, which are read to the end before the first is rendered.
        store: path or URL; created if needed.
        profile: as in `compile_spec`.
        size: as in `compile_spec`.
        limit: maximum number of specs.
        renderer: cycles, fake, one of an installed package, or "package.module:Class".
        device: as in `render_scene`, except gpu: pass `gpus`, the number of GPUs, instead.
        workers: number of CPU processes, None for one per core.
        resume: what to do with stored ids whose inputs changed: raise ConflictError, render them again, or keep them.
        dry_run: compile instead of rendering, and estimate time and disk space.
        progress: called with the numbers of finished episodes and of all that are to be rendered. Without it, a
            terminal
            shows a line.
        **options: other fields of diorama.render.run.options.RunOptions, such as gpus, threads, max_failures, timeout.

    Returns:
        A summary, which counts `rendered`, `skipped` and `failed` episodes; a failed one raises no exception.

    Raises:
        SpecError: specs are wrong; has all diagnostics.
        UsageError: an argument is wrong.
        ConflictError: stored episodes were made from something else.
        AssetError: an asset is missing or broken.
        DeviceError: the device is not available, or every GPU failed.
        StoreError: the store can't be read or written.

    Examples:
        >>> import diorama
        >>> specs = diorama.generate("clevr", count=2, seed=1)
        >>> summary = diorama.render_to_store(specs, "clevr.lance", size=(64, 48), renderer="fake", workers=1)
        >>> summary.rendered, summary.skipped
        (2, 0)
    """
    require_module("ray")
    from diorama.render.run.batch import Batch
    from diorama.render.run.options import parse_options
    from diorama.render.run.run_batch import run_batch

    _check_size(size)
    folder = _checked_path("store", store)
    given = {"profile": profile, "size": size, "limit": limit, "renderer": renderer, "device": device}
    run_options = parse_options({"workers": workers, "resume": resume, **given, **_options_here(options)})
    summary = run_batch(Batch(_open_source(specs), folder, run_options, progress), dry_run)
    if summary.left and summary.stopped == "interrupt":
        raise KeyboardInterrupt(f"{summary.left} episodes left; call again to continue")
    return summary


def live(
    benchmark: str | Mapping[str, Any],
    /,
    *,
    seed: int,
    profile: str = "draft",
    size: tuple[int, int] | None = None,
    ahead: int = 64,
    workers: int | None = None,
    look: str | None = None,
    questions: int | None = None,
    record: str | PathLike[str] | None = None,
    address: str | None = None,
    renderer: str = "cycles",
    device: DeviceName = "auto",
    run: Mapping[str, Any] | None = None,
    **options: Any,
) -> Live:
    """Return an endless iterator of evaluation items, which several processes render ahead.

    The items and their order depend on the benchmark, its options, `seed`, `profile`, `size`, `look` and `questions`
    only. Episodes come in blocks of 256, each as balanced as its benchmarks and questions are. See docs/live.md.

    Args:
        benchmark: built-in, or of an installed package; or a mixture: name -> weight, or name -> the options of this
            benchmark and `weight`.
        seed: of the stream.
        profile: as in `compile_spec`.
        size: as in `compile_spec`.
        ahead: maximum number of episodes that are rendered ahead of the caller.
        workers: number of CPU processes, None for one per core.
        look: for all episodes, None for their own.
        questions: maximum number of questions per image, in place of the items of the benchmark.
        record: store that keeps each episode of which an item was returned.
        address: of a Ray cluster, None for this machine.
        renderer: as in `render_to_store`.
        device: as in `render_to_store`.
        run: other fields of diorama.render.run.options.RunOptions, such as {"gpus": 2}.
        **options: those of `render-specs BENCHMARK`, with underscores, except `count` and `seed`.

    Raises:
        UsageError: an argument is wrong, or the benchmark has no items.
        PluginError: the benchmark is unknown.

    Examples:
        >>> import diorama
        >>> with diorama.live("mewl", seed=1, size=(64, 48), renderer="fake", workers=1, ahead=2) as stream:
        ...     item = next(stream)
        >>> item.score(item.answer)
        1.0
    """
    require_module("ray")
    from diorama.render.run.options import parse_options
    from diorama.render.uses.live.stream import BATCH_ONLY, Live, LiveOptions

    _check_size(size)
    for name, value, least in (("seed", seed, 0), ("ahead", ahead, 1), ("questions", questions, 1)):
        right = (value is None and name == "questions") or (type(value) is int and value >= least)
        _require(name, value, right, f"an integer of at least {least}")
    sources = sources_of(benchmark, options)
    for source in sources if questions is None else ():
        if find_benchmark(source.benchmark).items is None:
            raise UsageError(f"benchmark {source.benchmark} has no evaluation items; pass questions=N for N per image")
    given = {"profile": profile, "size": size, "look": look, "workers": workers, "address": address}
    given |= {"renderer": renderer, "device": device}
    more = _options_here(run or {})
    if wrong := sorted(more.keys() & {*given, *BATCH_ONLY}):
        raise UsageError(
            f"run: found {', '.join(wrong)}; a stream takes {', '.join(given)} as arguments, and has no "
            f"{', '.join(BATCH_ONLY)}"
        )
    run_options = parse_options({**given, **more})
    store = None if record is None else _checked_path("record", record)
    return Live(LiveOptions(sources, seed, ahead, questions, store, run_options))


def export(
    store: str | PathLike[str],
    format: str,
    out: str | PathLike[str],
    *,
    overwrite: bool = False,
    limit: int | None = None,
    where: str | None = None,
    splits: str | Sequence[str] = (),
    at: int | str | None = None,
    shard_size: int | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> ExportReport:
    """Export a store to a folder. A second call writes only what is missing.

    Args:
        store: path or URL.
        format: one of `render-export --list-formats`.
        out: the folder.
        overwrite: replace exported episodes that differ.
        limit: maximum number of episodes.
        where: SQL filter.
        splits: one or several, none for all.
        at: version number or tag of the store.
        shard_size: episodes per file, for formats that have several in a file.
        progress: called with the numbers of finished episodes and of all.

    Raises:
        UsageError: an argument is wrong.
        PluginError: the format is unknown.
        StoreError: the store can't be read; or, after everything else is exported, episodes are damaged.
        ConflictError: after everything else is exported: exported episodes differ from the store.

    Examples:
        >>> import diorama
        >>> diorama.export("clevr.lance", "folder", "pictures").exported
        2
    """
    for name, value, least in (("limit", limit, 0), ("shard_size", shard_size, 1)):
        right = value is None or (isinstance(value, Integral) and value >= least)
        _require(name, value, right, f"an integer of at least {least}")
    options = ExportOptions(overwrite=overwrite, limit=limit, where=where, shard_size=shard_size)
    splits = [splits] if isinstance(splits, str) else splits
    on_progress = progress or (lambda done, total: None)
    report = run_export(
        _checked_path("store", store), format, Path(out), options, at=at, splits=splits, on_progress=on_progress
    )
    if error := report.error():
        raise error
    return report


def samples(folder: Name) -> LanceStore:
    """Open the store of a folder of samples, which `make samples` builds.

    Args:
        folder: the folder, of which `gallery` and `dataset` show the same episodes.

    Raises:
        StoreError: the folder has no such store.

    Examples:
        >>> import diorama
        >>> diorama.samples("samples").count() > 0
        True
    """
    store = Path(_checked_path("folder", folder)) / "samples.lance"
    if not store.exists():
        raise StoreError(f"{store}: no such store; pass a folder that `make samples` built")
    return open_store(store)


def _require(name: str, value: object, right: bool, allowed: str) -> None:
    if not right:
        raise UsageError(f"{name}: found {reprlib.repr(value)}; allowed: {allowed}")


def _check_size(size: tuple[int, int] | None) -> None:
    match size:
        case None | [int(), int()] if all(LEAST_SIDE <= side <= MOST_SIDE for side in size or ()):
            return
    raise UsageError(f"size {size!r}: allowed are a width and height, two integers from {LEAST_SIDE} to {MOST_SIDE}")


def _checked_path(name: str, value: Name) -> str:
    _require(name, value, isinstance(value, str | PathLike), "a path")
    return fspath(value)


def _root_paths(asset_roots: Name | Sequence[Name]) -> tuple[Path, ...]:
    """Return the paths of one asset root or several."""
    roots = asset_roots if isinstance(asset_roots, Sequence) and not isinstance(asset_roots, str) else [asset_roots]
    return tuple(Path(_checked_path("asset_roots", root)) for root in roots)


def _open_source(specs: str | PathLike[str] | Spec | Iterable[Any]) -> SpecSource:
    """Return the files or specs; the first of several tells which they are."""
    given = [specs] if isinstance(specs, str | PathLike | Mapping | BaseModel) else specs
    if not isinstance(given, Iterable):
        raise UsageError(f"specs: found {specs!r}; allowed: files, folders and globs, or specs")
    items = iter(given)
    first = next(items, None)
    if isinstance(first, str | PathLike):
        return SpecSource([first, *items])
    return SpecSource.of([] if first is None else chain([first], items))
