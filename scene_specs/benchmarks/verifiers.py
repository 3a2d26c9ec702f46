"""The registry of verifiers: how the stored truth of each benchmark's episodes is checked."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from scene_specs.benchmarks.rendered import RenderedEpisode

# Imported on first use: most runs have the episodes of one benchmark.
_MODULES = {name: f"scene_specs.benchmarks.{name}.verify" for name in ("icca", "iwisdm", "kilogram", "malevic", "mewl")}


class Verifier(Protocol):
    """The `verify` module of a benchmark. Both functions raise SpecError for an episode that they can't read."""

    def verify_spec(self, data: dict[str, Any]) -> str:
        """Why the stored truth of a spec, as JSON data, is wrong; "" if it is right."""
        ...

    def verify_record(self, episode: RenderedEpisode) -> str:
        """Why the stored truth of a rendered episode is wrong; "" if it is right."""
        ...


def benchmark_of(task: Mapping[str, Any] | None) -> str | None:
    """The benchmark that verifies an episode with this `task`; None if no benchmark does.

    A task without a `benchmark` that has options and a map of words is one of MEWL.
    """
    task = task or {}
    if "benchmark" not in task and "options" in task and ("words" in task or "lexicon" in task):
        return "mewl"
    name = str(task.get("benchmark"))
    return name if name in _MODULES else None


def verifier_of(task: Mapping[str, Any] | None) -> Verifier | None:
    """The verifier of an episode with this `task`; None if there is nothing to verify."""
    name = benchmark_of(task)
    return None if name is None else cast(Verifier, import_module(_MODULES[name]))
