"""A Slurm of several nodes on one machine: Debian's programs, each node in network, PID and host name namespaces."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from diorama.scene_specs.errors import UsageError
from tools.programs import children_of

CORES, MEGABYTES = 2, 4000
USERS = {"root": 0, "ada": 30001, "bob": 30002}
_PROGRAMS = ("slurmctld", "slurmd", "sbatch", "munged", "ip", "nsenter", "unshare")
_SECONDS = 60.0

_CONF = """
ClusterName=check
SlurmctldHost=control(10.77.0.1)
SlurmUser=root
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/control.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/control.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
KillWait=10
NodeName=n[1-{nodes}] NodeAddr=10.77.0.[11-{last}] CPUs={cores} CoresPerSocket={cores} RealMemory={megabytes}
PartitionName=main Nodes=ALL Default=YES MaxTime=60 DefaultTime=10
"""
_CGROUP_CONF = """
CgroupPlugin=cgroup/v1
ConstrainCores=yes
ConstrainRAMSpace=yes
"""
_CONTROL = """set -e
hostname control
mount --bind $FOLDER/passwd /etc/passwd
mount --bind $FOLDER/hosts /etc/hosts
# Other users have to reach a Python that is in the home folder of root.
case $PREFIX in ~root/*)
    mkdir $FOLDER/python
    mount --bind $PREFIX $FOLDER/python
    mount -t tmpfs -o mode=755 tmpfs ~root
    mkdir -p $PREFIX
    mount --bind $FOLDER/python $PREFIX
esac
ip link set lo up
ip link add br0 type bridge
ip addr add 10.77.0.1/24 dev br0
ip link set br0 up
munged --key-file=$FOLDER/munge/key --socket=$FOLDER/munge/socket --pid-file=$FOLDER/munge/pid \\
    --log-file=$FOLDER/munge/log --seed-file=$FOLDER/munge/seed --force
exec slurmctld -D
"""
_NODE = """set -e
hostname $1
until ip link set eth0 up 2>/dev/null; do sleep 0.1; done
ip link set lo up
ip addr add $2/24 dev eth0
mount --bind $FOLDER/tmp-$1 /tmp
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
exec slurmd -D -N $1
"""


def _as_user(name: str) -> list[str]:
    """Return the options of nsenter that make a command run as a user."""
    return ["-S", str(USERS[name]), "-G", str(USERS[name])]


class MiniSlurm:
    """While entered, Slurm runs. Each node has 2 cores and 4,000 MB, which control groups enforce.

    folder: for its files, which every user can enter.
    """

    def __init__(self, folder: Path, nodes: int) -> None:
        missing = [name for name in _PROGRAMS if shutil.which(name) is None]
        if os.geteuid() or missing:
            raise UsageError(
                f"needs root and these programs, which are missing: {', '.join(missing) or 'none'}. On Debian: "
                "apt-get install --no-install-recommends slurm-wlm munge iproute2"
            )
        self.folder, self.nodes = folder, nodes
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        facts = {"SLURM_CONF": str(folder / "slurm.conf"), "FOLDER": str(folder), "PREFIX": sys.base_prefix}
        self.environment = {**os.environ, **facts}

    def __enter__(self) -> MiniSlurm:
        self._write_files()
        try:
            self._start_namespace("control", "-mnu", "bash", "-c", _CONTROL)
            self._wait(lambda: "UP" in self.call("scontrol", "ping", check=False), "slurmctld")
            for number in range(1, self.nodes + 1):
                self._start_node(f"n{number}", f"10.77.0.{10 + number}")
            self._wait(lambda: f"{self.nodes} idle" in self.call("sinfo", "-h", "-o", "%D %T", check=False), "slurmd")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes.values()):
            # unshare forwards no other signal to its namespace.
            process.kill()
            process.wait()
        # The processes of running jobs need a moment to end.
        time.sleep(1.0)
        for group in Path("/sys/fs/cgroup").glob("*/slurm_n[0-9]*"):
            for path in sorted((path for path in [group, *group.rglob("*")] if path.is_dir()), reverse=True):
                with suppress(OSError):
                    path.rmdir()
        munged = self.folder / "munge" / "pid"
        if munged.exists():
            os.kill(int(munged.read_text()), signal.SIGTERM)

    def _write_files(self) -> None:
        for name in ("munge", "state", *(f"spool-n{number}" for number in range(1, self.nodes + 1))):
            (self.folder / name).mkdir(mode=0o755)
        for number in range(1, self.nodes + 1):
            (self.folder / f"tmp-n{number}").mkdir()
            (self.folder / f"tmp-n{number}").chmod(0o1777)
        (self.folder / "munge/key").touch(0o600)
        (self.folder / "munge/key").write_bytes(os.urandom(128))
        facts = {"folder": self.folder, "nodes": self.nodes, "last": 10 + self.nodes}
        (self.folder / "slurm.conf").write_text(_CONF.format(**facts, cores=CORES, megabytes=MEGABYTES))
        (self.folder / "cgroup.conf").write_text(_CGROUP_CONF)
        hosts = "".join(f"10.77.0.{10 + k} n{k}\n" for k in range(1, self.nodes + 1))
        (self.folder / "hosts").write_text(f"127.0.0.1 localhost\n10.77.0.1 control\n{hosts}")
        users = Path("/etc/passwd").read_text()
        for name, number in USERS.items():
            (self.folder / name).mkdir(mode=0o700)
            os.chown(self.folder / name, number, number)
            users += f"{name}:x:{number}:{number}::{self.folder}/{name}:/bin/bash\n" * bool(number)
        (self.folder / "passwd").write_text(users)

    def _start_namespace(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.out").open("wb") as output:
            line = [*self._inside(), "unshare", *command]
            process = subprocess.Popen(line, env=self.environment, stdout=output, stderr=output)
        self._processes[name] = process
        return process

    def _start_node(self, name: str, address: str) -> None:
        node = self._start_namespace(
            name, "-mnup", "--fork", "--kill-child", "--mount-proc", "bash", "-c", _NODE, "node", name, address
        )
        # Until then, the process is still in the network of this machine or of slurmctld.
        others = [Path(f"/proc/{pid}/ns/net").readlink() for pid in ("self", self._processes["control"].pid)]
        self._wait(lambda: Path(f"/proc/{node.pid}/ns/net").readlink() not in others, name)
        self.call("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", str(node.pid))
        self.call("ip", "link", "set", f"to-{name}", "master", "br0", "up")

    def _inside(self) -> list[str]:
        """Return the beginning of a command line that enters the namespaces of slurmctld."""
        return ["nsenter", "-t", str(self._processes["control"].pid), "-m", "-n", "-u"] if self._processes else []

    def _wait(self, ready: Callable[[], bool], name: str) -> None:
        deadline = time.monotonic() + _SECONDS
        while not ready():
            if time.monotonic() > deadline or any(process.poll() is not None for process in self._processes.values()):
                logs = "".join(path.read_text()[-2000:] for path in sorted(self.folder.glob("*.out")))
                raise AssertionError(f"{name} did not start within {_SECONDS:.0f} s: {logs}")
            time.sleep(0.2)

    def on_node(self, name: str, *command: str, user: str = "root") -> str:
        """Run a command on a node as a user and return its output, whatever its exit code."""
        (slurmd,) = children_of(self._processes[name].pid)
        line = ["nsenter", "-t", str(slurmd), "-m", "-n", "-p", *_as_user(user), *command]
        done = subprocess.run(line, capture_output=True, text=True, timeout=_SECONDS, check=False)
        return done.stdout + done.stderr

    def kill_tasks(self) -> None:
        """Kill the processes of all jobs at once and without a warning, which `scancel` would give them."""
        for path in Path("/sys/fs/cgroup/memory").glob("slurm_n[0-9]*/uid_*/job_*/step_*/task_*/cgroup.procs"):
            for process in path.read_text().split():
                with suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)

    def processes(self, name: str, user: str) -> int:
        """Return how many processes of a user run on a node, without the zombies that slurmd, its init, keeps."""
        states = self.on_node(name, "ps", "-o", "stat=", "-u", str(USERS[user])).split()
        return sum(not state.startswith("Z") for state in states)

    def call(self, *command: str, user: str = "root", check: bool = True) -> str:
        """Run a command beside slurmctld as a user and return its output. Raises CalledProcessError."""
        line = [*self._inside(), *_as_user(user), f"--wd={self.folder / user}", *command]
        done = subprocess.run(
            line, env={**self.environment, "HOME": str(self.folder / user)}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        if check and done.returncode:
            raise AssertionError(f"{' '.join(command)}: exit code {done.returncode}: {done.stdout}")
        return done.stdout
