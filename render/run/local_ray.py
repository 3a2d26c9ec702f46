"""The Ray of a run: a private one on this machine for the duration of the run, or an existing cluster.

Ray has no options for some of what a private Ray needs: to start in a second, to listen on this machine only, and to
leave output and signals to the command. `_set_names` sets names inside Ray's modules for these, and nothing else does.
tests/render/run/test_local_ray.py notices if a release of Ray doesn't read one of these names any longer.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import ray
from ray._private import node as ray_node
from ray._private import ray_constants
from ray._private import utils as ray_utils
from ray._private import worker as ray_worker
from ray._private.parameter import RayParams
from ray._raylet import AuthenticationTokenLoader, Config  # type: ignore[attr-defined]  # missing in its stubs
from ray.job_config import JobConfig

from diorama.render.machine.scratch import SCRATCH, find_abandoned, owned_folder, scratch_folder
from diorama.render.run.machine import cores_here, memory_here, memory_limits, object_store_bytes, workers_that_fit
from diorama.render.run.worker_plan import Node
from diorama.scene_specs.errors import DeviceError, RayFailedError, first_line

log = logging.getLogger(__name__)

# A Unix socket's path has 107 characters at most, of which those of Ray and of the private folder take up to 79.
_LONGEST_FOLDER = 28
_NODE_SECONDS = 10.0
_CONNECT_SECONDS = 10
_ANSWER_SECONDS = 2.0
_END_SECONDS = 10.0
_DEFAULTS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
_QUIET: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "logging_level": logging.ERROR}


@contextmanager
def local_ray(gpus: int | None = None) -> Iterator[None]:
    """Start Ray, and shut it down afterwards. A Ray that runs already is used and left running.

    Args:
        gpus: number of GPUs that Ray assumes (tests).

    Raises:
        RayFailedError: Ray does not start.
    """
    if ray.is_initialized():
        yield
        return
    folder = _private_folder()
    with _quiet_ray(), _private_ray_environment(folder):
        _start_here(gpus, folder)
        try:
            yield
        finally:
            _end_here(folder)


def _private_folder() -> Path:
    """Make a folder for the sockets, logs and session of Ray that only this user can open. Raises RayFailedError."""
    base = Path(tempfile.gettempdir())
    base = base if len(os.fsencode(base)) <= _LONGEST_FOLDER else Path("/tmp")
    # Of runs that were killed.
    for folder in find_abandoned(base, "ray-"):
        _remove_folder(folder)
    try:
        return owned_folder(base, "ray-")
    except OSError as error:
        raise RayFailedError(
            f"Ray did not start on this machine: {error}. Set TMPDIR to a folder that you can write"
        ) from error


@contextmanager
def _set_names(names: MutableMapping[str, Any], **values: Any) -> Iterator[None]:
    """Set variables of the environment, or names in one of Ray's modules, and restore them afterwards."""
    before = {name: names[name] for name in values if name in names}
    names.update(values)
    try:
        yield
    finally:
        for name in values:
            names.pop(name, None)
        names.update(before)


class _QuickNode(ray_node.Node):
    """A node without what a run on one machine never uses: the autoscaler, the dashboard, and the collection of logs.

    Together they take two seconds to start and one to end.
    """

    def __init__(self, ray_params: RayParams, **options: Any) -> None:
        ray_params.update(no_monitor=True, include_log_monitor=False)
        super().__init__(ray_params, **options)

    def start_api_server(self, **_: Any) -> None:
        """Start nothing. With include_dashboard=False, Ray would start a smaller server."""

    def start_raylet(self, *args: Any, **options: Any) -> None:
        """Start the raylet and notice at once that the node is up. Ray itself looks for it once per second.

        Raises:
            RuntimeError: the head has ended. Ray would wait for it for a minute, and then end this process.
        """
        self.check_head()
        super().start_raylet(*args, **options)
        deadline = time.monotonic() + _NODE_SECONDS
        head = self.get_gcs_client()  # type: ignore[no-untyped-call]
        while self.check_head() and not head.get_all_node_info() and time.monotonic() < deadline:
            time.sleep(0.02)

    def check_head(self) -> bool:
        """Return whether the head (gcs_server) runs. Raises RuntimeError if it has ended."""
        (head,) = self.all_processes[ray_constants.PROCESS_TYPE_GCS_SERVER]
        if (code := head.process.poll()) is not None:
            raise RuntimeError(f"its head (gcs_server) ended with {code}")
        return True


@contextmanager
def _private_ray_environment(folder: Path) -> Iterator[None]:
    """Let Ray listen on 127.0.0.1 only, with a token that is in no file; undo the settings afterwards.

    Temporary files of its processes are in `folder` and the scratch folder, and go with the run, however a worker ends.
    """
    (folder / "t").mkdir()
    scratch = scratch_folder()
    settings = {
        "TMPDIR": str(folder / "t"),
        SCRATCH: str(scratch),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        # Ray's switch for systems whose firewalls ask the user: it binds nothing to other addresses then.
        ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR: "0",
    }
    if any(limit.source != "machine" for limit in memory_limits()[:1]):
        # Ray measures the whole machine: it would kill workers because of the memory that other jobs take.
        settings["RAY_memory_monitor_refresh_ms"] = "0"
    try:
        with _set_names(os.environ, **settings), _set_names(vars(ray_constants), ENABLE_RAY_CLUSTER=False):
            _reread_token()
            yield
    finally:
        _reread_token()
        shutil.rmtree(scratch, ignore_errors=True)


def _reread_token() -> None:
    """Make Ray forget the token that it has read, perhaps from the home folder, and follow the environment."""
    # In this order: Ray aborts if it misses a token that its settings ask for.
    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()


def _job_config() -> JobConfig:
    """Let workers search the working directory for modules only if this process does: it may hold others' files."""
    return JobConfig(_client_job="" not in sys.path and str(Path.cwd()) not in sys.path)


def _start_here(gpus: int | None, folder: Path) -> None:
    with warnings.catch_warnings(), _set_names(vars(ray_node), Node=_QuickNode):
        # Ray forks and calls exec immediately, so the locks of Lance are not inherited.
        warnings.filterwarnings("ignore", message="lance is not fork-safe")
        try:
            try:
                _init_here(gpus, folder)
            except Exception as error:
                # A busy machine may be too slow for Ray's own limits.
                log.warning("Ray did not start on this machine: %s; trying once more", first_line(error))
                ray.shutdown()
                _init_here(gpus, folder)
        except Exception as error:
            ray.shutdown()
            # Ray raises plain Exceptions if its processes do not start. The folder stays, because it has their logs.
            raise RayFailedError(
                f"Ray did not start on this machine: {first_line(error)} Check with render-doctor, and read the logs "
                f"in {folder}/r/session_latest/logs; then run the same command again"
            ) from error
        except BaseException:
            _end_here(folder)
            raise


def _init_here(gpus: int | None, folder: Path) -> None:
    ray.init(
        # Without an address, Ray would join any cluster that runs on this machine.
        address="local",
        include_dashboard=False,
        num_gpus=gpus,
        # By default, Ray starts a process for each core of the machine, also for those of other jobs.
        num_cpus=cores_here(),
        object_store_memory=object_store_bytes(memory_here()),
        job_config=_job_config(),
        **_QUIET,
        # Ray opens its own folder to everybody, so it is a folder inside the private one.
        _temp_dir=str(folder / "r"),
    )


def _end_here(folder: Path) -> None:
    """Shut Ray down and remove its folder."""
    ray.shutdown()
    _remove_folder(folder)


def _remove_folder(folder: Path) -> None:
    """Remove the folder of a Ray that has ended.

    Ray kills a raylet that takes more than a second to end. The workers that it was starting would then make the folder
    anew, and look for the raylet for half a minute.
    """
    deadline = time.monotonic() + _END_SECONDS
    while (left := _starting_workers(folder)) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    shutil.rmtree(folder, ignore_errors=True)


def _starting_workers(folder: Path) -> list[int]:
    """Return the ids of the workers of the Ray in a folder that have not yet started; then they change their names."""
    pids = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(f"--temp-dir={folder}/r") in path.read_bytes().split(b"\0"):
                pids.append(int(path.parent.name))
    return pids


@contextmanager
def ray_nodes(address: str | None = None, logical_gpus: int | None = None) -> Iterator[list[Node]]:
    """Connect to Ray and yield its nodes, largest first.

    Args:
        address: of a cluster, as for `ray.init`; None starts Ray on this machine.
        logical_gpus: number of GPUs that Ray assumes (tests).

    Raises:
        DeviceError: no cluster answers at the address.
        RayFailedError: Ray does not start on this machine.
    """
    if address is None:
        with local_ray(logical_gpus):
            first, *others = nodes_of_cluster()
            yield [first, *others] if others else [node_here(first.gpus)]
        return
    with _quiet_ray():
        try:
            _check_reachable(address)
            ray.init(address=address, job_config=_job_config(), **_QUIET)
        except (ConnectionError, RuntimeError, ValueError, OSError, OverflowError) as error:
            raise DeviceError(
                f"--address {address}: no Ray cluster answers there: {first_line(error).rstrip('.')}. "
                f"Check with `ray status --address {address}`; leave out --address to render on this machine"
            ) from error
        try:
            yield nodes_of_cluster()
        finally:
            ray.shutdown()


def _check_reachable(address: str) -> None:
    """Connect to HOST:PORT. Raises OSError, OverflowError. Ray itself would try for many minutes, and log each try."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()


def head_answers() -> bool:
    """Return whether the head of the connected Ray accepts connections. A call of Ray itself would wait for it."""
    host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()
    except OSError:
        return False
    return True


def nodes_of_cluster() -> list[Node]:
    """Return the nodes of the connected Ray, largest first."""
    nodes = [
        Node(
            id=str(node["NodeID"]),
            cores=int(node["Resources"].get("CPU", 0)),
            gpus=int(node["Resources"].get("GPU", 0)),
        )
        for node in ray.nodes()
        if node["Alive"]
    ]
    # A head node often offers no CPUs.
    useful = [node for node in nodes if node.cores > 0]
    return sorted(useful or nodes, key=lambda node: (-node.gpus, -node.cores, node.id))


def node_here(gpus: int) -> Node:
    """Return this machine, as far as this process may use it."""
    return Node("", cores_here(), gpus, workers_that_fit(memory_here()))


@contextmanager
def _quiet_ray() -> Iterator[None]:
    """Keep Ray off the terminal and off the handlers of SIGTERM, and undo this afterwards."""
    # Ray's warnings about the security of clusters do not apply to one that ends with this command.
    logger = logging.getLogger("ray")
    level = logger.level
    logger.setLevel(logging.ERROR)
    with (
        _set_names(os.environ, **{name: _DEFAULTS[name] for name in _DEFAULTS.keys() - os.environ.keys()}),
        # Ray prints the deaths of workers to standard output, which belongs to the command; the run reports them.
        _set_names(vars(ray_worker), print_to_stdstream=_log_output),
        _set_names(vars(threading), excepthook=_log_failed_thread),
        # Ray's handlers exit immediately, and that of its C++ part aborts; those of `Interrupts` finish the run.
        _set_names(vars(ray_utils), set_sigterm_handler=lambda _: None),
        _set_names(vars(ray_constants), RAY_DISABLE_FAILURE_SIGNAL_HANDLER=True),
    ):
        try:
            yield
        finally:
            logger.setLevel(level)


def _log_output(data: dict[str, Any], **_: Any) -> None:
    """Log the output of Ray, which -vv shows."""
    log.debug("%s", "\n".join(data.get("lines", ())))


def _log_failed_thread(failed: threading.ExceptHookArgs) -> None:
    """Log the error of a thread, which -vv shows: Ray's threads fail if its head is lost, which the run reports."""
    if failed.thread is not None and failed.thread.name.startswith("ray_"):
        log.debug("%s: %s", failed.thread.name, failed.exc_value)
    else:
        threading.__excepthook__(failed)
