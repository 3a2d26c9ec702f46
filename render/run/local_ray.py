"""A private Ray on this machine, for the length of a run."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray._private import worker as ray_worker

log = logging.getLogger(__name__)

# Records of a few megabytes wait here between worker and committer; Ray's default would take a third of the memory.
_OBJECT_STORE_BYTES = 512 * 2**20


@contextmanager
def local_ray(gpus: int | None = None) -> Iterator[int]:
    """Start Ray, give the number of GPUs it sees, and shut it down; a Ray that is up already is used and left up.

    gpus: make Ray believe in so many (tests).
    """
    if ray.is_initialized():
        yield _gpus_seen()
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Ray's advice on a cluster's security is not about one that lives as long as a command; its token stays on.
    logging.getLogger("ray").setLevel(logging.ERROR)
    # Ray prints workers' deaths to standard output, which is ours: the run reports them itself.
    setattr(ray_worker, "print_to_stdstream", _keep)  # noqa: B010 - mypy holds Ray's own signature
    with warnings.catch_warnings():
        # Ray starts its processes by fork and exec at once: Lance's locks do not come along.
        warnings.filterwarnings("ignore", message="lance is not fork-safe")
        ray.init(
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
            logging_level=logging.ERROR,
            num_gpus=gpus,
            object_store_memory=_OBJECT_STORE_BYTES,
        )
    try:
        yield _gpus_seen()
    finally:
        ray.shutdown()


def _gpus_seen() -> int:
    return int(ray.cluster_resources().get("GPU", 0))


def _keep(data: dict[str, Any], **_: Any) -> None:
    """Ray's own words, for who asks for details (-vv)."""
    log.debug("%s", "\n".join(data.get("lines", ())))
