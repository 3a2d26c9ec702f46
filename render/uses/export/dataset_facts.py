"""What a store says about the episodes of an export: counts, versions, seeds, identities, assets and their licenses."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from diorama.render.compiler.assets import blend_digest, resolve_blend
from diorama.render.geometry.meshes import is_varied
from diorama.render.store.episode_store import EpisodeReader
from diorama.render.store.selection import chosen_ids
from diorama.render.uses.export.about import About
from diorama.render.uses.export.biases import ObjectCounts
from diorama.render.uses.export.protocol import ExportOptions
from diorama.render.uses.items.scores import Entry, add_guesses, iter_items, rows
from diorama.render.uses.items.stress import Case, Finding, stress
from diorama.scene_specs.asset_roots import package_assets
from diorama.scene_specs.errors import AssetError, PluginError, SpecError, StoreError
from diorama.scene_specs.language.invented import parse_invented
from diorama.scene_specs.language.model_names import PREFIX, is_model
from diorama.scene_specs.language.person import is_person
from diorama.scene_specs.language.registry import plugin, plugins
from diorama.scene_specs.model.look import PLAIN
from diorama.scene_specs.shapes.shapenet import Library, load_model
from diorama.scene_specs.tasks.benchmark import benchmark, benchmark_of
from diorama.scene_specs.tasks.importing.scenes import published_by

_COLUMNS = (
    "episode_id", "split", "width", "height", "image_names", "objects", "options", "spec", "job", "provenance",
    "job_hash", "sha256",
)  # fmt: skip
_log = logging.getLogger(__name__)
OWN = "MIT (comes with Diorama)"
SHAPENET = "ShapeNet's terms of use, https://shapenet.org/terms: non-commercial research and education only"
UNKNOWN = "not stated: add it to [asset_licenses] in about.toml"


@dataclass
class Facts:
    """Counters are by value.

    Attributes:
        assets: name -> hash.
        sources: published data that episodes are derived from.
        guessers: rows of diorama.render.uses.items.scores.rows for tasks, without accuracy.
        learners: what those of `render-eval stress` reach, if scikit-learn is installed.
        digest: SHA-256 over ids and identities.
        asks: whether there are questions or tasks with options.
    """

    episodes: int = 0
    images: int = 0
    counters: dict[str, Counter[str]] = field(default_factory=dict)
    versions: dict[str, Counter[str]] = field(default_factory=dict)
    seeds: set[int] = field(default_factory=set)
    assets: dict[str, str] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)
    guessers: Sequence[Mapping[str, Any]] = ()
    learners: Sequence[Finding] = ()
    digest: str = ""
    objects: ObjectCounts = field(default_factory=ObjectCounts)
    asks: bool = False

    def count(self, name: str, value: str, number: int = 1) -> None:
        """Count a value."""
        self.counters.setdefault(name, Counter())[value] += number

    def licenses(self, about: About) -> dict[str, str]:
        """License of each asset: Diorama's own, ShapeNet's, or that of about.toml."""
        return {name: about.asset_licenses.get(name, _license(name, self.assets[name])) for name in sorted(self.assets)}


def gather(store: EpisodeReader, options: ExportOptions) -> Facts:
    """Read the facts of the episodes that an export has.

    Memory: their ids, and of each evaluation item about 2 KB, its text, and what the learners see of it.
    """
    facts, digest = Facts(asks=options.questions is not None), hashlib.sha256()
    chosen = chosen_ids(store, options)
    known, identities = set(chosen), {}
    with_items = options.questions is None
    for row in store.scan(_COLUMNS, options.where, 256):
        if row["episode_id"] not in known:
            continue
        identities[row["episode_id"]] = (row["job_hash"], row["sha256"])
        spec = json.loads(row["spec"])
        _count_row(facts, row, spec)
        name = benchmark_of(spec.get("task"))
        with_items &= name is not None and benchmark(name).items is not None
    for identity in chosen:
        digest.update(json.dumps([identity, *identities[identity]]).encode())
    facts.digest = digest.hexdigest()
    if {*facts.counters.get("look", ())} <= {PLAIN}:
        facts.counters.pop("look", None)
    if with_items and chosen:
        try:
            _measure_guessers(facts, store, options)
        except (SpecError, StoreError) as error:
            _log.warning("the balance of the items is not measured: %s", error)
    return facts


def _measure_guessers(facts: Facts, store: EpisodeReader, options: ExportOptions) -> None:
    """Measure what is reached without images."""
    entries, cases = {}, []
    for name, item, record in iter_items(store, options, lambda done: None):
        entries[name] = Entry.of(item, record.episode_id)
        cases.append(Case.of(name, item, record))
    add_guesses(entries.values())
    facts.guessers = [row for row in rows(entries.values()) if row["by"] == "task"]
    # The extra `stress`.
    if find_spec("sklearn"):
        facts.learners = stress(cases)


def _count_row(facts: Facts, row: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
    job, provenance = json.loads(row["job"]), json.loads(row["provenance"])
    task, names = spec.get("task") or {}, row["image_names"] or ()
    facts.episodes += 1
    facts.images += len(names)
    facts.objects.add(row["objects"] or (), row["width"], row["height"])
    facts.asks |= bool(row["options"])
    facts.count("split", row["split"] or "unsplit")
    facts.count("task", "/".join(str(task[key]) for key in ("benchmark", "name") if task.get(key)) or "none")
    facts.count("image size", f"{row['width']} x {row['height']}", len(names))
    settings = job["settings"]
    renderer = f"{job['renderer']}, profile {settings.get('profile')}, {settings.get('samples')} samples per pixel"
    if more := settings.get("object_samples"):
        renderer += f" and {more} more around objects"
    if few := settings.get("opaque_samples"):
        renderer += f", {few} in images without glass" + (f" and {settings['samples'] + more} more" if more else "")
    if (most := settings.get("glass_samples") or 0) > settings["samples"]:
        renderer += f", up to {most} in images full of glass"
    facts.count("rendering", renderer)
    facts.count("device", f"{provenance['device']}, {provenance['cpu']}")
    for name, version in provenance["versions"].items():
        facts.versions.setdefault(name, Counter())[str(version)] += 1
    for name, digest in job["assets"].items():
        # Of several files with one name, one of others, so that its license is asked for.
        if name not in facts.assets or not _is_own(name, digest):
            facts.assets[name] = digest
        if name.startswith("stage:"):
            facts.count("stage", name.removeprefix("stage:"))
    look = spec.get("look") or PLAIN
    facts.count("look", look if isinstance(look, str) else look["name"])
    if "seed" in spec:
        facts.seeds.add(spec["seed"])
    name = str(task.get("benchmark"))
    if row["episode_id"].startswith(f"{name}/published/"):
        facts.sources.add(published_by(name))
    sources = _sources_of(name)(task)
    if isinstance(sources, str):
        problem = f"`sources` returned the text {sources!r}; expected a list of texts"
        raise PluginError(f"{plugin('benchmarks', name).label}: {problem}")
    facts.sources.update(sources)


@lru_cache(maxsize=64)
def _sources_of(name: str) -> Callable[[Mapping[str, Any]], Iterable[str]]:
    return (benchmark(name).sources if name in plugins("benchmarks") else None) or (lambda task: ())


def _license(name: str, digest: str) -> str:
    """Return the license of an asset by its name and hash in a job."""
    if _is_own(name, digest):
        return OWN
    return SHAPENET if name.startswith(PREFIX) else UNKNOWN


@lru_cache(maxsize=4096)
def _is_own(name: str, digest: str) -> bool:
    """Whether an asset comes with Diorama. Files of others may have the same names, except stages and meshes."""
    kind, _, rest = name.partition(":")
    own = package_assets()
    try:
        if kind == "blend":
            return blend_digest(resolve_blend(rest)) == digest
        if is_model(name):
            return load_model(name, Library(own / "shapenet_mini") if kind == "shapenet" else None).sha256 == digest
    except AssetError:
        return False
    if kind == "mesh" and is_varied(rest):
        shape, families = parse_invented(rest), plugins("families")
        return is_person(rest) or (shape is not None and shape.family in families and families[shape.family].own)
    files = {
        "stage": [f"stages/{rest}.json"], "look": [f"looks/{rest}.json"],
        "mesh": [f"shapes/{rest}.npz", f"meshes/{rest}.npz"],
    }  # fmt: skip
    return any((own / file).exists() for file in files.get(kind, ()))
