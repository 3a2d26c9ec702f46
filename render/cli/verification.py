"""Reading of checked spec files, and `render-specs check --prove`, which verifies the truth of each episode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from operator import methodcaller
from typing import TYPE_CHECKING, Any

from diorama.render.model.errors import AssetError, Diagnostic, SpecError, UsageError
from diorama.scene_specs.language.errors import located

if TYPE_CHECKING:
    import pathlib

    from diorama.render.model.record import EpisodeRecord
    from diorama.scene_specs.language.benchmark import Verifier
    from diorama.scene_specs.language.diagnostics import PathDiagnostic
    from diorama.scene_specs.language.scene import Scene
    from diorama.scene_specs.language.spec import EpisodeSpec
    from diorama.scene_specs.language.strict_json import Path
    from diorama.scene_specs.reading.source import Item, SpecSource


@dataclass
class Verification:
    """The result for a set of episodes.

    episodes: the number of episodes without a diagnostic. unverified: how many of these have no verifier.
    """

    diagnostics: list[Diagnostic] = field(default_factory=list)
    episodes: int = 0
    unverified: int = 0

    def add(self, task: Any, location: Diagnostic, verify: Callable[[Verifier], str]) -> None:
        """Verify one episode. location: an empty diagnostic with its file, line and id."""
        from diorama.scene_specs.language.benchmark import verifier_of

        verifier = verifier_of(task)
        try:
            with located(file=location.file, line=location.line):
                reason = verify(verifier) if verifier is not None else ""
        except SpecError as error:
            self.diagnostics += error.diagnostics
            return
        if reason:
            self.diagnostics.append(replace(location, path="task", problem=reason))
            return
        self.episodes += 1
        self.unverified += verifier is None


def verify_files(source: SpecSource) -> Verification:
    """Verify the episodes of checked files by the rules of their benchmark."""
    result = Verification()
    for item in source:
        data = _json_data(item)
        location = Diagnostic(item.file, item.line, item.episode.id, "", "")
        result.add(data.get("task"), location, methodcaller("verify_spec", data))
    return result


def verify_store(path: str) -> Verification:
    """Verify the rendered episodes of a store; a damaged episode is a diagnostic. Raises StoreError."""
    result = Verification()
    store = StoreEpisodes(path)
    for record in store.valid(store.ids()):
        location = Diagnostic(path, 0, record.episode_id, "", "")
        result.add(record.scene.task, location, methodcaller("verify_record", record))
    result.diagnostics += [Diagnostic(path, 0, "", "", line) for line in store.damaged]
    return result


class MissingAssets:
    """Finds models and .blend files that a spec names and that are not there. Each name is looked up once."""

    def __init__(self, asset_roots: Sequence[pathlib.Path]) -> None:
        self._roots = asset_roots
        self._problem = cache(self._find_problem)

    def __call__(self, episode: EpisodeSpec | Scene) -> Iterator[PathDiagnostic]:
        """Yield a diagnostic for each location that names a missing asset. Raises UsageError for wrong settings."""
        from diorama.scene_specs.language.diagnostics import PathDiagnostic
        from diorama.scene_specs.language.spec import EpisodeSpec

        for path, name in _assets_of(episode) if isinstance(episode, EpisodeSpec) else ():
            if problem := self._problem(name):
                # Messages about files below asset roots say what to do.
                model = name.startswith("shapenet:")
                hint = "name one that is there, or the folder that has it with --shapenet" if model else ""
                yield PathDiagnostic(path, problem, hint)

    def _find_problem(self, name: str) -> str:
        from diorama.render.geometry.asset_roots import find_asset
        from diorama.render.geometry.shapenet import library
        from diorama.scene_specs.language.model_names import parse_mesh

        try:
            if name.startswith("shapenet:"):
                library().find(name)
            else:
                mesh = parse_mesh(name)
                find_asset(mesh.path if mesh else name, self._roots)
        except AssetError as error:
            return str(error)
        return ""


def _assets_of(spec: EpisodeSpec) -> Iterator[tuple[Path, str]]:
    """Yield the location and name of every model and .blend file in a spec whose name has the right form."""
    from diorama.scene_specs.checks.object_checks import random_shapes
    from diorama.scene_specs.language.model_names import parse_mesh, parse_model

    for number, frame in enumerate(spec.frames):
        made: list[tuple[Path, Any]] = [(("objects", k), item) for k, item in enumerate(frame.objects)]
        shapes: list[tuple[Path, Any]] = [((*path, "shape"), item.shape) for path, item in made]
        made += [(("pointer",), frame.pointer)] if frame.pointer is not None else []
        if frame.random_objects is not None:
            shapes += [(("random_objects", *path), shape) for path, shape in random_shapes(frame.random_objects)]
        found: list[tuple[Path, str]] = [
            (path, shape)
            for path, shape in shapes
            if isinstance(shape, str) and (parse_model(shape) or parse_mesh(shape))
        ]
        for path, item in made:
            blend = str(getattr(item.material, "blend", ""))
            found += [((*path, "material", "blend"), blend)] if blend.endswith(".blend") else []
        yield from ((("frames", number, *path), name) for path, name in found)


@contextmanager
def open_checked(files: tuple[str, ...]) -> Iterator[SpecSource]:
    """Open spec files after a check of all of them. Raises SpecError with every diagnostic."""
    from diorama.scene_specs.reading.source import SpecSource

    with SpecSource(files) as source:
        diagnostics, _ = source.check()
        if diagnostics:
            raise SpecError(diagnostics)
        yield source


@contextmanager
def episodes_of(files: tuple[str, ...], store: str | None) -> Iterator[Iterator[EpisodeSpec | Scene]]:
    """The episodes of checked files, or the specs from which those of a store were made. Raises SpecError."""
    if store is None:
        with open_checked(files) as source:
            yield (item.episode for item in source)
    else:
        from diorama.render.episode.find import source_of

        stored = StoreEpisodes(store)
        yield map(source_of, stored.read(stored.ids()))


def read_benchmark(
    files: tuple[str, ...], benchmark: str, check: Callable[[Any], object] | None = None
) -> Iterator[dict[str, Any]]:
    """Each episode as JSON data. check: raises SpecError for an episode of another benchmark.

    Raises SpecError if files are wrong or hold episodes of another benchmark.
    """
    with open_checked(files) as source:
        for item in source:
            data = _json_data(item)
            found = (data.get("task") or {}).get("benchmark")
            with located(file=item.file, line=item.line):
                if check is not None:
                    check(data)
                elif found != benchmark:
                    problem = f"found benchmark {found!r}; expected {benchmark!r}"
                    raise SpecError([Diagnostic("", 0, item.episode.id, "task", problem)])
            yield data


class StoreEpisodes:
    """The episodes of a store, as commands of benchmarks read them."""

    def __init__(self, store: str) -> None:
        from diorama.render.store import open_store

        self._path, self._store = store, open_store(store)
        self.damaged: list[str] = []

    def ids(self) -> list[str]:
        """All ids, sorted."""
        return sorted(key for key, _ in self._store.ids())

    def read(self, ids: Sequence[str]) -> Iterator[EpisodeRecord]:
        """The episodes with these ids, in their order. Raises UsageError if one is damaged."""
        for record in self.valid(ids):
            if self.damaged:
                break
            yield record
        if self.damaged:
            damaged = "; ".join(self.damaged)
            raise UsageError(f"{self._path}: damaged: {damaged}; `render-specs check --prove --store` lists all")

    def valid(self, ids: Sequence[str]) -> Iterator[EpisodeRecord]:
        """The episodes with these ids that are not damaged; `damaged` gets a line for each of the others."""
        from diorama.render.store.selection import iter_valid_records

        return iter_valid_records(self._store, ids, self.damaged, lambda _: None)


def _json_data(item: Item) -> dict[str, Any]:
    data: dict[str, Any] = item.episode.model_dump(mode="json", exclude_none=True)
    return data
