"""The core and its wings: which modules are the core, what it may consist of, and which wing may import which."""

from __future__ import annotations

from collections.abc import Mapping

import networkx

from tests.walls import import_graph

# The core is what these import, directly or not: the run loop, workers, store, and plug-ins, found by their place.
SEEDS = ("diorama.render.run.batch", "diorama.render.run.loop", "diorama.render.run.worker")
SEED_ROOMS = ("diorama.render.renderers", "diorama.render.passes", "diorama.render.store.lance.lance_store")
# Room of the core -> why rendering needs it.
CORE = {
    "diorama.render.annotations": "boxes, masks and relations of a record",
    "diorama.render.compiler": "specs become Scenes",
    "diorama.render.episode": "one episode in a worker",
    "diorama.render.geometry": "camera, meshes and rasterizer of compiler, annotations and the fake renderer",
    "diorama.render.machine": "Blender's series, names of devices, scratch folders",
    "diorama.render.passes": "what a frame can ask a renderer for",
    "diorama.render.renderers": "Cycles and the fake renderer",
    "diorama.render.run": "batches and workers",
    "diorama.render.store": "where episodes go",
    "diorama.scene_specs.asset_roots": "folders that a spec's files may come from",
    "diorama.scene_specs.checks": "checks of a spec before anything is rendered",
    "diorama.scene_specs.errors": "exceptions and exit codes",
    "diorama.scene_specs.files": "untrusted, strict and atomic files",
    "diorama.scene_specs.language": "names, diagnostics, random number generators, plug-in registry",
    "diorama.scene_specs.model": "data classes",
    "diorama.scene_specs.reading": "spec files become EpisodeSpecs",
    "diorama.scene_specs.rotation": "angles in Blender's conventions",
    "diorama.scene_specs.shapes": "meshes of models and of invented shapes",
}
# In a room of the core, but no part of it -> why it lies there.
BESIDE = {
    "diorama.render.run.doctor": "checks what a run needs",
    "diorama.render.run.last_status": "what `--status` says",
    "diorama.render.run.probe": "test render of the doctor",
    "diorama.render.run.run_batch": "dry runs of `render-batch`",
    "diorama.render.store.analysis": "statistics and differences of stores",
    "diorama.render.store.copying": "copies a store",
    "diorama.render.store.lance.file_system": "moves stores between file systems",
    "diorama.render.store.lance.history": "when an episode changed",
    "diorama.render.store.lance.repair": "goes back after a power cut",
    "diorama.render.store.lance.verify": "looks for damage in a store",
    "diorama.render.store.processes": "reads a store in several processes",
    "diorama.render.store.row_checks": "looks for damage in a row",
    "diorama.render.store.selection": "which episodes a command reads",
    "diorama.scene_specs.files.tables": "tables of commands",
    "diorama.scene_specs.files.writing": "output that a user names",
    "diorama.scene_specs.model.schema": "JSON Schema of specs, for editors",
    "diorama.scene_specs.shapes.invented.families": "plug-ins, found by their place",
}
# Wing -> the wings that it may import, and why. What lies in `diorama.scene_specs.tasks` itself is open to all.
WINGS: dict[str, dict[str, str]] = {
    # Reads models in a process that the core starts by name, for those that the cache lacks; it needs the core alone.
    "ingest": {},
    "benchmarks.icca": {"benchmarks.kilogram": "its games show KiloGram's tangrams"},
    "benchmarks.novel": {"benchmarks.mewl": "the words that no task of MEWL uses"},
    "benchmarks.*": {
        "tasks.exporting": "layouts of their published formats",
        "tasks.importing": "published files become specs",
    },
    "tasks.exporting": {},
    "tasks.importing": {},
    "tasks.questions": {},
    "uses.chat": {},
    "uses.contrast": {"uses.rerender": "finds and edits episodes",
                      "tasks.questions": "whether an edit shows"},
    "uses.draw": {},
    "uses.evaluation": {"uses.chat": "asks models", "uses.items": "what was asked"},
    "uses.export": {"benchmarks.clevr": "`clevr-masks` recovers the cameras of published scenes",
                    "tasks.exporting": "layouts", "tasks.importing": "sources of a published episode",
                    "uses.draw": "the sheet of a dataset card", "uses.io": "atomic files",
                    "uses.items": "items in exports and their figures in cards"},
    "uses.gallery": {"tasks.questions": "expressions and questions of an image", "uses.draw": "colors of objects",
                     "uses.io": "atomic files", "uses.items": "what an image shows"},
    "uses.io": {},
    "uses.items": {"tasks.questions": "questions are items, too"},
    "uses.live": {"uses.items": "makes items of episodes"},
    "uses.rerender": {"uses.draw": "sheets, strips and views from above"},
}  # fmt: skip


def core_modules(sources: Mapping[str, str]) -> set[str]:
    """The modules of the core, with the packages above them. sources: POSIX path -> text, with `diorama/` in front."""
    graph = import_graph(sources)
    modules = {path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in sources}
    reached = {name for name in modules if name in SEEDS or is_in(name, SEED_ROOMS)}
    for name in sorted(reached & graph.nodes):
        reached |= networkx.descendants(graph, name)
    packages = {name.rsplit(".", level)[0] for name in reached for level in range(1, name.count("."))}
    return (reached | packages) & modules - {"diorama"}


def is_in(module: str, rooms: Mapping[str, str] | tuple[str, ...]) -> bool:
    return any(f"{module}.".startswith(f"{room}.") for room in rooms)


def wing_of(module: str) -> str:
    """The wing of a module, such as "ingest", "uses.export" or "benchmarks.mewl"; "" for what is in none."""
    parts = module.split(".")[2:4]
    if parts[:1] == ["ingest"]:
        return "ingest"
    return ".".join(parts) if len(parts) == 2 and (parts[0] == "benchmarks" or ".".join(parts) in WINGS) else ""


def forbidden_imports(sources: Mapping[str, str]) -> list[tuple[str, str]]:
    """Imports from one wing to another that WINGS has no reason for."""
    edges = ((a, b, wing_of(a), wing_of(b)) for a, b in import_graph(sources).edges)
    return sorted(
        (a, b) for a, b, wing, other in edges if other not in ("", wing) and wing and not _allowed(wing, other)
    )


def _allowed(wing: str, other: str) -> bool:
    group = f"{wing.partition('.')[0]}.*"
    return other in WINGS.get(wing, {}) or other in WINGS.get(group, {})
