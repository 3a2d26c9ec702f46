"""Settings of the classic tasks, as a user writes them: `n=3`, `delay=1-4`, `property=category`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from scene_specs.benchmarks.iwisdm.bank import TASKS, Span
from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES

# Whole numbers of settings: (least, most).
_LIMITS: Mapping[str, Span] = MappingProxyType(
    {
        "delay": (0, 30), "n": (1, 20), "length": (1, 60), "targets": (0, 100), "tests": (1, 20), "items": (1, 12),
        "objects": (1, 4),
    }
)  # fmt: skip


def settings_of(task: str) -> dict[str, Any]:
    """Name -> default of what can be set. Raises SpecError for an unknown task."""
    if task not in TASKS:
        raise refused(f"found task {task!r}; allowed: {', '.join(TASKS)}")
    parameters = list(inspect.signature(TASKS[task]).parameters.values())[1:]
    return {one.name: one.default for one in parameters}


def read_settings(task: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Settings as texts (`3`, `1-4`, `category`) in the form that the task takes. Raises SpecError."""
    defaults = settings_of(task)
    found: dict[str, Any] = {}
    for name, text in given.items():
        if name not in defaults:
            raise refused(f"task {task} has no setting {name!r}; it has: {', '.join(defaults) or 'none'}")
        found[name] = _setting(name, text, defaults[name])
    if found.get("length", defaults.get("length", 1)) <= found.get("n", defaults.get("n", 0)):
        raise refused(f"task {task}: the row is no longer than n", "set a greater length")
    return found


def _setting(name: str, text: str, default: Any) -> Any:
    if name == "property":
        if text not in PROPERTIES:
            raise refused(f"found property {text!r}; allowed: {', '.join(PROPERTIES)}")
        return text
    least, most = _LIMITS[name]
    fewest, dash, greatest = text.partition("-")
    numbers = [part for part in (fewest, greatest) if part or dash]
    whole = all(part.isascii() and part.isdigit() and len(part) < 4 for part in numbers)
    values = [int(part) for part in numbers] if whole and numbers else [-1]
    if values != sorted(values) or not all(least <= value <= most for value in values):
        raise refused(f"{name}: found {text!r}; expected whole numbers from {least} to {most}, a span as 1-4")
    if isinstance(default, tuple):
        return (values[0], values[-1])
    if len(values) > 1:
        raise refused(f"{name}: found {text!r}; expected one number")
    return values[0]
