"""Whether the machines of a run are still there, by what Ray knows of them."""

from __future__ import annotations

import time

import ray

from render.model.errors import RenderError

# Ray itself takes 15 s to see that a node is gone; asking is a round trip to its head.
_EVERY_SECONDS = 3.0


class RayLostError(RenderError):
    """Not one machine of the run's Ray is left to render on."""


def node_lost(node: str) -> bool:
    """Whether Ray says that a machine is gone. node: its id for Ray; empty: that all are."""
    return all(not there["Alive"] or (node and there["NodeID"] != node) for there in ray.nodes())


class NodeMonitor:
    """Asks now and then whether Ray still has a machine. What is started where it has none would wait for ever."""

    def __init__(self) -> None:
        self._asked = time.monotonic()

    def look(self) -> None:
        """Raises RayLostError if it has none."""
        now = time.monotonic()
        if now - self._asked < _EVERY_SECONDS:
            return
        self._asked = now
        if node_lost(""):
            raise RayLostError(
                "Ray has no machine left to render on: its raylet ended, perhaps for want of memory. What was "
                "committed is safe: run the same command again to go on"
            )
