"""Settings of the classic tasks: the keyword arguments of their functions, read from texts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from scene_specs.benchmarks.iwisdm.classic_tasks import TASKS, Span
from scene_specs.benchmarks.iwisdm.stimuli import PROPERTIES
from scene_specs.language.errors import check_choice, spec_error

# Integer settings: (minimum, maximum).
_LIMITS: Mapping[str, Span] = {
        "delay": (0, 30), "n": (1, 20), "length": (1, 60), "targets": (0, 100), "tests": (1, 20), "items": (1, 12),
        "objects": (1, 4), "pairs": (1, 8), "lures": (0, 100), "ax": (0, 100), "ay": (0, 100), "bx": (0, 100),
        "by": (0, 100),
    }  # fmt: skip


def read_settings(task: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a task from texts (`3`, `1-4`, `category`). Raises SpecError."""
    check_choice("task", task, TASKS)
    defaults = {one.name: one.default for one in [*inspect.signature(TASKS[task]).parameters.values()][1:]}
    found: dict[str, Any] = {}
    for name, text in texts.items():
        if name not in defaults:
            raise spec_error(f"task {task} has no setting {name!r}; it has: {', '.join(defaults) or 'none'}")
        found[name] = _setting(name, text, defaults[name])
    if found.get("length", defaults.get("length", 1)) <= found.get("n", defaults.get("n", 0)):
        raise spec_error(f"task {task}: length must be greater than n", "set a greater length")
    return found


def _setting(name: str, text: str, default: Any) -> Any:
    if name == "property":
        check_choice("property", text, PROPERTIES)
        return text
    least, most = _LIMITS[name]
    found = re.fullmatch("([0-9]{1,3})(?:-([0-9]{1,3}))?", text)
    values = [int(part) for part in found.groups() if part] if found else [-1]
    if values != sorted(values) or not all(least <= value <= most for value in values):
        raise spec_error(f"{name}: found {text!r}; expected integers from {least} to {most}, a span as 1-4")
    if isinstance(default, tuple):
        return (values[0], values[-1])
    if len(values) > 1:
        raise spec_error(f"{name}: found {text!r}; expected one number")
    return values[0]
