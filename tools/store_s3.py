"""Test the store on a real S3 gateway: kills, an outage, wrong keys.

    python -m tools store-s3 --kills 15 --folder /tmp/ceph

Starts Ceph on this machine: one monitor, one OSD in memory and one gateway on 127.0.0.1, with some 500 MB of memory.
Kills writers, stops the gateway and tries wrong keys. Needs Debian's packages radosgw, ceph-mon, ceph-osd, and obstore.
`make test` runs none of this.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import uuid
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from render.model.errors import StoreError
from render.store.lance.lance_store import LanceStore
from tests.factories import make_record
from tools.programs import ROOT

USER = "client.rgw.a"
UP_SECONDS = 90.0
OUTAGE_SECONDS = 4.0
log = logging.getLogger("store_s3")

CONF = """[global]
fsid = {fsid}
mon host = [v1:127.0.0.1:{mon}]
mon initial members = a
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
auth allow insecure global id reclaim = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
mon allow pool size one = true
mon max pg per osd = 1000
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 2147483648
ms bind msgr2 = false
public addr = 127.0.0.1
cluster addr = 127.0.0.1
keyring = {folder}/keyring
mon data = {folder}/mon
osd data = {folder}/osd
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
mon cluster log file = {folder}/cluster.log
crash dir = {folder}
rgw frontends = beast endpoint=127.0.0.1:{gateway}
rgw data = {folder}/rgw
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Ceph:
    """One monitor, one OSD and one gateway; `cluster` starts them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def _tool(self, *command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def ceph(self, *words: str) -> str:
        """Run a command as the cluster's administrator and return its output."""
        return self._tool("ceph", "-c", f"{self.folder}/ceph.conf", "--connect-timeout", "30", *words)

    def _daemon(self, name: str, *command: str) -> None:
        output = (self.folder / f"{name}.out").open("ab")
        self._running[name] = subprocess.Popen(
            [*command, "-c", f"{self.folder}/ceph.conf", "-f"], stdout=output, stderr=output
        )
        output.close()

    def start(self) -> None:
        """Create and start all three; return when the gateway answers."""
        for name in ("mon", "osd", "rgw"):
            (self.folder / name).mkdir(parents=True)
        fsid, conf, keyring = str(uuid.uuid4()), self.folder / "ceph.conf", f"{self.folder}/keyring"
        mon = free_port()
        conf.write_text(CONF.format(fsid=fsid, folder=self.folder, mon=mon, gateway=self.port))
        any_mon, any_osd = ("--cap", "mon", "allow *"), ("--cap", "osd", "allow *")
        make = ("ceph-authtool", keyring, "--gen-key", "-n")
        self._tool("ceph-authtool", "--create-keyring", *make[1:], "mon.", *any_mon)
        self._tool(*make, "client.admin", *any_mon, *any_osd, "--cap", "mgr", "allow *")
        self._tool(*make, USER, "--cap", "mon", "allow rw", "--cap", "osd", "allow rwx")
        monmap = f"{self.folder}/monmap"
        self._tool("monmaptool", "--create", "--fsid", fsid, "--addv", "a", f"[v1:127.0.0.1:{mon}]", monmap)
        self._tool("ceph-mon", "-c", str(conf), "--mkfs", "-i", "a", "--monmap", monmap, "--keyring", keyring)
        self._daemon("mon", "ceph-mon", "-i", "a")
        osd, rights = str(uuid.uuid4()), ("mon", "allow profile osd", "osd", "allow *")
        self.ceph("osd", "new", osd)
        self.ceph("auth", "get-or-create", "osd.0", *rights, "-o", f"{keyring}.osd")
        self._tool("ceph-authtool", keyring, "--import-keyring", f"{keyring}.osd")
        self._tool("ceph-osd", "-c", str(conf), "-i", "0", "--mkfs", "--osd-uuid", osd)
        self._daemon("osd", "ceph-osd", "-i", "0")
        self.start_gateway()
        admin = ("radosgw-admin", "-c", str(conf), "-n", USER, "user", "create", "--uid", "lab")
        self._tool(*admin, "--display-name", "lab", "--access-key", "a", "--secret-key", "b")

    def start_gateway(self) -> None:
        """Start the gateway; return when it answers."""
        self._daemon("rgw", "radosgw", "-n", USER)
        give_up = time.monotonic() + UP_SECONDS
        while time.monotonic() < give_up:
            if self._running["rgw"].poll() is not None:
                raise SystemExit(f"the gateway ended; see {self.folder}/*.log")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}", timeout=2).close()
                return
            except OSError:
                time.sleep(0.3)
        raise SystemExit(f"the gateway did not answer within {UP_SECONDS:.0f} s; see {self.folder}/*.log")

    def kill_gateway(self) -> None:
        """Kill the gateway, as a crash would."""
        self._running["rgw"].kill()
        self._running["rgw"].wait()

    def stop(self) -> None:
        """Kill all processes."""
        for process in reversed(self._running.values()):
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[Ceph]:
    """Run Ceph until the block ends; the environment of this process points S3 at it."""
    ceph = Ceph(folder)
    try:
        start = time.monotonic()
        ceph.start()
        log.info("gateway up after %.0f s", time.monotonic() - start)
        settings = {"ENDPOINT": f"http://127.0.0.1:{ceph.port}", "ALLOW_HTTP": "true", "REGION": "default"}
        os.environ.update({f"AWS_{key}": value for key, value in settings.items()})
        os.environ.update({"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"})
        make_bucket(ceph)
        yield ceph
    finally:
        ceph.stop()


def make_bucket(ceph: Ceph) -> None:
    """Create the bucket with a PUT request that obstore signs."""
    import obstore
    from obstore.store import S3Store

    # An empty key names the bucket itself.
    signed = obstore.sign(S3Store("bucket"), "PUT", "", timedelta(seconds=60))
    request = urllib.request.Request(signed, method="PUT")
    urllib.request.urlopen(request, timeout=30).close()


def outage(ceph: Ceph, url: str) -> dict[str, int]:
    """Kill the gateway during a commit and restart it: no acknowledged episode may be lost, and writing continues."""
    store = LanceStore.open_or_create(url)
    acknowledged: list[str] = []
    refused = 0
    back = threading.Timer(OUTAGE_SECONDS, ceph.start_gateway)
    for number in range(30):
        if number == 8:
            threading.Timer(0.05, ceph.kill_gateway).start()
            back.start()
        name = f"outage/{number}"
        try:
            store.put([make_record(name, seed=number % 5)])
            acknowledged.append(name)
        except StoreError as error:
            refused += 1
            log.info("refused: %s", str(error)[:160])
            time.sleep(1.0)
    back.join()
    opened = LanceStore.open(url)
    ids = [key for key, _ in opened.ids()]
    assert len(ids) == len(set(ids)), "an episode is stored twice"
    assert set(acknowledged) <= set(ids), "an acknowledged episode is lost"
    opened.get_many(ids)
    return {"acknowledged": len(acknowledged), "refused": refused, "stored": len(ids)}


def wrong_access() -> dict[str, str]:
    """Return the errors for a wrong key, a wrong secret and a missing bucket; each must come within a time limit."""
    errors = {}
    for what, changes, url in (
        ("wrong key", {"AWS_ACCESS_KEY_ID": "nobody"}, "s3://bucket/outage.lance"),
        ("wrong secret", {"AWS_SECRET_ACCESS_KEY": "wrong"}, "s3://bucket/outage.lance"),
        ("no such bucket", {}, "s3://nowhere/outage.lance"),
    ):
        start, before = time.monotonic(), {name: os.environ[name] for name in changes}
        os.environ.update(changes)
        try:
            LanceStore.open_or_create(url).put([make_record("stranger/0")])
        except StoreError as error:
            errors[what] = f"{time.monotonic() - start:.1f} s: {error}"
        else:
            raise SystemExit(f"{what}: the store accepted it")
        finally:
            os.environ.update(before)
        assert time.monotonic() - start < UP_SECONDS, f"{what}: took too long"
    assert "stranger/0" not in dict(LanceStore.open("s3://bucket/outage.lance").ids()), (
        "a writer without access wrote an episode"
    )
    return errors


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument("--kills", type=int, default=15)
    parser.add_argument("--folder", type=Path, required=True, help="a new folder for Ceph's files")


def main(options: Namespace) -> int:
    """Run all tests; return the exit code of store-kill. Raises AssertionError."""
    # Stops Ceph, too, when this process is terminated.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with cluster(options.folder) as ceph:
        print(json.dumps(outage(ceph, "s3://bucket/outage.lance")))
        print(json.dumps(wrong_access(), indent=1), flush=True)
        command = [sys.executable, "-m", "tools", "store-kill", "--kills", str(options.kills)]
        return subprocess.run([*command, "--store", "s3://bucket/kill.lance"], cwd=ROOT, check=False).returncode
