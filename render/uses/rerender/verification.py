"""Verification of spec files and stores: that named assets exist, and that each answer follows from its episode."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from diorama.render.compiler import compile_episode
from diorama.render.compiler.assets import NO_COLOR, colored_parts, is_linked, linked_colors
from diorama.render.compiler.attributes import draw_items
from diorama.render.compiler.cameras import first_eye
from diorama.render.compiler.constraints import claims_of
from diorama.render.compiler.piles import build_piles
from diorama.render.geometry.meshes import load_mesh
from diorama.render.geometry.solid import is_closed
from diorama.render.renderers.cycles import create_renderer
from diorama.render.store.selection import StoreEpisodes
from diorama.scene_specs.asset_roots import find_asset, searching
from diorama.scene_specs.checks.object_checks import random_shapes
from diorama.scene_specs.errors import AssetError, Diagnostic, DioramaError, PluginError, SpecError, located, spec_error
from diorama.scene_specs.files import strict_json
from diorama.scene_specs.language.diagnostics import PathDiagnostic
from diorama.scene_specs.language.model_names import parse_mesh, parse_model
from diorama.scene_specs.language.registry import plugin_error, plugins
from diorama.scene_specs.language.rng import Keys
from diorama.scene_specs.model.profiles import episode_settings
from diorama.scene_specs.model.scene import Scene
from diorama.scene_specs.model.spec import ColoredPart, EpisodeSpec, FrameSpec
from diorama.scene_specs.model.stage import StageError, load_stage, stage_of
from diorama.scene_specs.reading.source import Item
from diorama.scene_specs.shapes.shapenet import library
from diorama.scene_specs.tasks.benchmark import benchmark_of, verifier_of

log = logging.getLogger(__name__)
# Deviation from the box of a shape, and of a normal from its length.
_BOX = 0.01


@dataclass
class Verification:
    """The result for a set of episodes.

    Attributes:
        diagnostics: what is wrong.
        episodes: number of episodes without a diagnostic.
        unverified: how many of these have no verifier.
        missing: names of their benchmarks that are not installed.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    episodes: int = 0
    unverified: int = 0
    missing: set[str] = field(default_factory=set)

    def add(self, task: Any, episode: str, method: str, data: Any, files: Mapping[str, Path], **location: Any) -> None:
        """Verify one episode.

        Args:
            task: task of the episode; its benchmark decides the verifier.
            episode: id of the episode.
            method: method of the verifier.
            data: argument of the method, a spec or a record.
            files: name -> published file or folder, for the verifiers that have an argument of this name.
            **location: file and line.
        """
        verifier = verifier_of(task)
        try:
            with located(**location):
                if verifier is not None:
                    verify = getattr(verifier, method)
                    parameters = signature(verify).parameters
                    if reason := verify(data, **{name: files[name] for name in files if name in parameters}):
                        raise spec_error(reason, episode=episode, path="task")
        except SpecError as error:
            self.diagnostics += error.diagnostics
            return
        except Exception as error:
            blamed = plugin_error(error)
            # Diorama's own errors, such as that of a missing --svg, are not about one episode.
            if blamed is None and isinstance(error, DioramaError | OSError | MemoryError):
                raise
            log.debug("the verifier failed", exc_info=True)
            problem = str(blamed or f"the verifier failed: {error!r:.300}")
            self.diagnostics.append(Diagnostic.of(problem, episode=episode, **location))
            return
        self.episodes += 1
        self.unverified += verifier is None
        if task and "benchmark" in task and verifier is None and benchmark_of(task) is None:
            self.missing.add(str(task["benchmark"]))


def verify_files(items: Iterable[Item], files: Mapping[str, Path] = MappingProxyType({})) -> Verification:
    """Verify the episodes of checked files by the rules of their benchmark.

    Args:
        items: the episodes.
        files: see `Verification.add`.
    """
    result = Verification()
    for item in items:
        data = item.data()
        result.add(data.get("task"), item.episode.id, "verify_spec", data, files, file=item.file, line=item.line)
    return result


def verify_store(url: str, files: Mapping[str, Path] = MappingProxyType({})) -> Verification:
    """Verify the rendered episodes of a store; a damaged episode is a diagnostic.

    Args:
        url: URL of the store.
        files: see `Verification.add`.

    Raises:
        StoreError: the store can't be read.
    """
    result = Verification()
    store = StoreEpisodes(url)
    for record in store.valid(store.ids()):
        result.add(record.scene.task, record.episode_id, "verify_record", record, files, file=url)
    result.diagnostics += [Diagnostic.of(line, file=url) for line in store.damaged]
    return result


class AssetCheck:
    """Finds models and .blend files that a spec names and that are not there, and faulty shapes of packages.

    For `SpecSource`.

    Args:
        measure: whether Cycles measures that materials of .blend files show the colors that they take.

    Attributes:
        stages_left_out: number of the specs so far that name no stage.
    """

    def __init__(self, asset_roots: Sequence[Path], measure: bool = False) -> None:
        self._roots, self._measure = asset_roots, measure
        self.stages_left_out = 0
        self._problem = cache(self._find_problem)

    def __call__(self, episode: EpisodeSpec | Scene) -> Iterator[PathDiagnostic]:
        """Yield a diagnostic for each location that names a missing or faulty asset.

        Raises:
            UsageError: the settings of the model library are wrong.
        """
        if not isinstance(episode, EpisodeSpec):
            return
        self.stages_left_out += "stage" not in episode.model_fields_set
        blends = [*colored_parts(episode)]
        problems = [problem for part in blends for problem in self._color_problems(*part)]
        yield from problems or (self._unshown_colors(episode) if self._measure and blends else ())
        for path, name in _assets_of(episode):
            if problem := self._problem(name):
                # Messages about files below asset roots say what to do.
                model = name.startswith("shapenet:")
                hint = "name one that is there, or the folder that has it with --shapenet" if model else ""
                yield PathDiagnostic(path, problem, hint)
        for number, frame in enumerate(episode.frames):
            with searching(self._roots):
                if problem := _contact_problem(frame, episode, number, self._roots):
                    yield PathDiagnostic(("frames", number, "constraints"), problem)

    def _color_problems(
        self, path: strict_json.Path, part: ColoredPart, blend: tuple[str, str]
    ) -> Iterator[PathDiagnostic]:
        try:
            if not is_linked(blend, self._roots) and part.color is not None:
                yield PathDiagnostic((*path, "color"), *NO_COLOR)
        except AssetError as error:
            yield PathDiagnostic((*path, "material", "blend"), str(error))

    def _unshown_colors(self, episode: EpisodeSpec) -> Iterator[PathDiagnostic]:
        """Yield a diagnostic for the first material of an episode that takes a color and does not show it."""
        with closing(create_renderer("cpu", 0, self._roots)) as renderer, searching(self._roots):
            try:
                scene = compile_episode(episode, episode_settings(episode), self._roots)
                for frame in scene.frames:
                    renderer.check_colors(scene, frame)
            except DioramaError as error:
                yield PathDiagnostic((), str(error))

    def _find_problem(self, name: str) -> str:
        try:
            if name.startswith("shapenet:"):
                library().find(name)
            elif name in plugins("shapes"):
                problem = _shape_problem(name)
                return f"{plugins('shapes')[name].label}: {problem}" if problem else ""
            else:
                mesh = parse_mesh(name)
                find_asset(mesh.path if mesh else name, self._roots)
        except (AssetError, PluginError) as error:
            return str(error)
        return ""


def _contact_problem(frame: FrameSpec, episode: EpisodeSpec, number: int, roots: Sequence[Path]) -> str:
    """Return what keeps objects from being in, on or beside others, as far as no search is needed; "" if nothing."""
    if claims_of(frame):
        stage, keys = stage_of(episode), Keys(episode.seed, episode.id, episode.frame_name(number))
        try:
            items = draw_items(frame, stage, keys, first_eye(frame, stage, keys), linked_colors(episode, roots))
            build_piles(frame, items, keys.generator("contacts"), searching=False)
        except DioramaError as error:
            # Faults of named assets are found above.
            return getattr(error, "problem", "")
    return ""


def _shape_problem(name: str) -> str:
    """Return how the mesh of a shape differs from what docs/extending.md asks for; "" if it doesn't.

    Raises:
        AssetError: it can't be read.
        PluginError: its plug-in can't be imported.
    """
    mesh = load_mesh(name)
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    if mesh.cavities:
        # What holds others may be flat.
        low, high = np.minimum(low, -1), np.maximum(high, 1)
    if np.abs([low + 1, high - 1]).max() > _BOX:
        box = " x ".join(f"{x:.3g} to {y:.3g}" for x, y in zip(low, high, strict=True))
        return f"its mesh fills {box}; allowed: -1 to 1 on each axis"
    if not is_closed(replace(mesh, vertices=mesh.vertices.round(4))):
        return "its mesh is not closed; allowed: each edge has two triangles, which name it in opposite directions"
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    if np.einsum("ij,ij->", a, np.cross(b, c)) <= 0:
        return "its triangles are clockwise seen from outside; allowed: counter-clockwise"
    across = np.cross(b - a, c - a)[:, None]
    outwards = (mesh.normals[mesh.triangles] * across).sum(axis=2) > -_BOX * np.linalg.norm(across, axis=2)
    if not outwards.all() or np.abs(np.linalg.norm(mesh.normals, axis=1) - 1).max() > _BOX:
        return "its normals point inwards, or don't have the length 1"
    return ""


def _assets_of(spec: EpisodeSpec) -> Iterator[tuple[strict_json.Path, str]]:
    """Yield the location and name of every model and shape of a package in a spec.

    Names of another form are left out; a stage that is unknown is reported by the other checks.
    """
    with suppress(StageError):
        yield from ((("stage",), name) for name in load_stage(spec.stage).defaults.shapes if _is_foreign(name))
    for number, frame in enumerate(spec.frames):
        at = ("frames", number)
        listed: list[tuple[strict_json.Path, Any]] = [
            ((*at, "objects", k), item) for k, item in enumerate(frame.objects)
        ]
        shapes: list[tuple[strict_json.Path, Any]] = [((*path, "shape"), item.shape) for path, item in listed]
        if frame.random_objects is not None:
            shapes += [((*at, "random_objects", *path), shape) for path, shape in random_shapes(frame.random_objects)]
        for path, shape in shapes:
            if isinstance(shape, str) and (parse_model(shape) or parse_mesh(shape) or _is_foreign(shape)):
                yield path, shape


def _is_foreign(shape: str) -> bool:
    """Whether a package other than Diorama provides a shape."""
    return shape in plugins("shapes") and not plugins("shapes")[shape].own
