"""Starting and finding Ray, without a running one."""

from __future__ import annotations

from typing import Any

import pytest
import ray

from render.model.errors import RenderError, UsageError
from render.run.local_ray import local_ray, ray_nodes


def test_a_ray_that_does_not_start_is_reported_whatever_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fail)
    with pytest.raises(RenderError, match="Ray did not start on this machine: RuntimeError"), local_ray():
        pass
    with pytest.raises(UsageError, match="no Ray cluster answers there: RuntimeError"), ray_nodes("far:1"):
        pass
