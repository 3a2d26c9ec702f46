"""A private Ray on this machine, for the length of a run."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import ray

# Records of a few megabytes wait here between worker and committer; Ray's default would take a third of the memory.
_OBJECT_STORE_BYTES = 512 * 2**20


@contextmanager
def local_ray(gpus: int | None = None) -> Iterator[int]:
    """Start Ray, give the number of GPUs it sees, and shut it down. gpus: make Ray believe in so many (tests)."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init(
        include_dashboard=False,
        log_to_driver=False,
        configure_logging=False,
        logging_level=logging.ERROR,
        num_gpus=gpus,
        object_store_memory=_OBJECT_STORE_BYTES,
        # A run on one machine listens on that machine alone.
        _node_ip_address="127.0.0.1",
    )
    try:
        yield int(ray.cluster_resources().get("GPU", 0))
    finally:
        ray.shutdown()
