"""The core stands alone, and wings know of each other what the table says."""

from __future__ import annotations

import pytest

from tests.rooms import BESIDE, CORE, WINGS, core_modules, forbidden_imports, is_in, wing_of
from tests.test_walls import all_sources
from tests.walls import import_graph

BATCH = "diorama/render/run/batch.py"


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return all_sources()


def test_the_core_consists_of_its_rooms(sources: dict[str, str]) -> None:
    core = core_modules(sources)
    assert {BATCH.removesuffix(".py").replace("/", "."), "diorama.render.store.lance.lance_store"} <= core
    packages = {"diorama.render", "diorama.scene_specs"}
    assert [name for name in sorted(core - packages) if not is_in(name, CORE)] == []
    assert [name for name in sorted(core) if is_in(name, BESIDE)] == []


def test_the_rooms_of_the_core_hold_nothing_else(sources: dict[str, str]) -> None:
    modules = {path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in sources}
    others = sorted(modules - core_modules(sources))
    strangers = [name for name in others if is_in(name, CORE) and not is_in(name, BESIDE)]
    assert strangers == []
    assert [room for room in (*CORE, *BESIDE) if not any(is_in(name, (room,)) for name in modules)] == []


@pytest.mark.parametrize(
    "wing",
    ["render.ingest.preparing", "render.uses.items.scores", "scene_specs.tasks.truth", "scene_specs.benchmarks.mewl"],
)
def test_an_import_out_of_the_core_is_seen(sources: dict[str, str], wing: str) -> None:
    planted = {**sources, BATCH: f"{sources[BATCH]}\n\ndef later():\n    import diorama.{wing}\n"}
    assert f"diorama.{wing}" in core_modules(planted)
    assert not is_in(f"diorama.{wing}", CORE)


def test_wings_import_only_what_the_table_says(sources: dict[str, str]) -> None:
    assert forbidden_imports(sources) == []
    parts = [path.split("/") for path in sources if path.count("/") > 3]
    wings = {".".join(path[2:4]) for path in parts if path[2] in ("uses", "tasks")}
    assert wings == {wing for wing in WINGS if wing.startswith(("uses", "tasks"))}


def test_every_line_of_the_table_is_used(sources: dict[str, str]) -> None:
    """An exemption that nothing needs hides the next import."""
    used = {(wing_of(a), wing_of(b)) for a, b in import_graph(sources).edges}
    unused = [
        (wing, other)
        for wing, others in WINGS.items()
        for other in others
        if not any(b == other and a.startswith(wing.rstrip("*")) for a, b in used)
    ]
    assert unused == []


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("render/uses/gallery/x.py", "render.uses.export.protocol"),
        ("render/uses/export/x.py", "scene_specs.tasks.questions.generate"),
        ("scene_specs/benchmarks/mewl/x.py", "scene_specs.benchmarks.icca.truth"),
        ("scene_specs/tasks/questions/x.py", "scene_specs.benchmarks.clevr"),
        ("render/ingest/x.py", "render.uses.draw.charts"),
        ("render/uses/gallery/x.py", "render.ingest.preparing"),
    ],
)
def test_an_import_between_wings_is_seen(sources: dict[str, str], path: str, target: str) -> None:
    planted = {**sources, f"diorama/{path}": f"import diorama.{target}"}
    importer = f"diorama/{path}".removesuffix(".py").replace("/", ".")
    assert forbidden_imports(planted) == [(importer, f"diorama.{target}")]
