"""The store on a real S3 gateway: starts Ceph's on this machine, kills writers, stops the gateway, tries wrong keys.

    python -m tools.store_s3 --kills 15 --folder /tmp/ceph

Needs Debian's packages radosgw, ceph-mon, ceph-osd, and obstore. One monitor, one OSD in memory and one
gateway on 127.0.0.1; some 500 MB of memory. Nothing of it is in `make test`.
"""

from __future__ import annotations

import argparse
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from render.model.errors import StoreError
from render.store.lance.lance_store import LanceStore
from tests.factories import make_record

ROOT = Path(__file__).resolve().parents[1]
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
    """One monitor, one OSD, one gateway. Started by `cluster`."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def _tool(self, *command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def ceph(self, *words: str) -> str:
        """A command of the cluster's administrator."""
        return self._tool("ceph", "-c", f"{self.folder}/ceph.conf", "--connect-timeout", "30", *words)

    def _daemon(self, name: str, *command: str) -> None:
        output = (self.folder / f"{name}.out").open("ab")
        self._running[name] = subprocess.Popen(
            [*command, "-c", f"{self.folder}/ceph.conf", "-f"], stdout=output, stderr=output
        )
        output.close()

    def start(self) -> None:
        """Make and start all three; returns when the gateway answers."""
        for name in ("mon", "osd", "rgw"):
            (self.folder / name).mkdir(parents=True)
        fsid, conf, keyring = str(uuid.uuid4()), self.folder / "ceph.conf", f"{self.folder}/keyring"
        mon = free_port()
        conf.write_text(CONF.format(fsid=fsid, folder=self.folder, mon=mon, gateway=self.port))
        make = ("ceph-authtool", keyring, "--gen-key", "-n")
        self._tool("ceph-authtool", "--create-keyring", keyring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
        self._tool(
            *make, "client.admin", "--cap", "mon", "allow *", "--cap", "osd", "allow *", "--cap", "mgr", "allow *"
        )
        self._tool(*make, USER, "--cap", "mon", "allow rw", "--cap", "osd", "allow rwx")
        monmap = f"{self.folder}/monmap"
        self._tool("monmaptool", "--create", "--fsid", fsid, "--addv", "a", f"[v1:127.0.0.1:{mon}]", monmap)
        self._tool("ceph-mon", "-c", str(conf), "--mkfs", "-i", "a", "--monmap", monmap, "--keyring", keyring)
        self._daemon("mon", "ceph-mon", "-i", "a")
        osd = str(uuid.uuid4())
        self.ceph("osd", "new", osd)
        self.ceph(
            "auth", "get-or-create", "osd.0", "mon", "allow profile osd", "osd", "allow *", "-o", f"{keyring}.osd"
        )
        self._tool("ceph-authtool", keyring, "--import-keyring", f"{keyring}.osd")
        self._tool("ceph-osd", "-c", str(conf), "-i", "0", "--mkfs", "--osd-uuid", osd)
        self._daemon("osd", "ceph-osd", "-i", "0")
        self.start_gateway()
        admin = (
            "radosgw-admin",
            "-c",
            str(conf),
            "-n",
            USER,
            "user",
            "create",
            "--uid",
            "lab",
            "--display-name",
            "lab",
        )
        self._tool(*admin, "--access-key", "a", "--secret-key", "b")

    def start_gateway(self) -> None:
        """Returns when it answers."""
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
        raise SystemExit(f"the gateway did not come up in {UP_SECONDS:.0f} s; see {self.folder}/*.log")

    def kill_gateway(self) -> None:
        """As a crash would."""
        self._running["rgw"].kill()
        self._running["rgw"].wait()

    def stop(self) -> None:
        """End all that were started here."""
        for process in reversed(self._running.values()):
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[Ceph]:
    """A running Ceph; the environment of this process points S3 at it."""
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
    """PUT /bucket, signed as obstore signs it."""
    from datetime import timedelta

    import obstore
    from obstore.store import S3Store

    # An empty key in a bucket is the bucket itself.
    signed = obstore.sign(S3Store("bucket"), "PUT", "", timedelta(seconds=60))
    request = urllib.request.Request(signed, method="PUT")
    urllib.request.urlopen(request, timeout=30).close()


def outage(ceph: Ceph, url: str) -> dict[str, int]:
    """The gateway dies in mid-commit and comes back: nothing acknowledged is lost, and writing goes on."""
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
    assert len(ids) == len(set(ids)), "an episode is there twice"
    assert set(acknowledged) <= set(ids), "an acknowledged episode is lost"
    opened.get_many(ids)
    return {"acknowledged": len(acknowledged), "refused": refused, "stored": len(ids)}


def strangers() -> dict[str, str]:
    """What is said of a wrong key, a wrong secret and a bucket that isn't there: each an error, each within a bound."""
    said = {}
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
            said[what] = f"{time.monotonic() - start:.1f} s: {error}"
        else:
            raise SystemExit(f"{what}: nothing was refused")
        finally:
            os.environ.update(before)
        assert time.monotonic() - start < UP_SECONDS, f"{what}: took too long"
    assert "stranger/0" not in dict(LanceStore.open("s3://bucket/outage.lance").ids()), "a stranger wrote"
    return said


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=15)
    parser.add_argument("--folder", type=Path, required=True, help="a folder to be made, for Ceph's files")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    # Ended from outside, it takes Ceph with it all the same.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with cluster(options.folder) as ceph:
        facts = outage(ceph, "s3://bucket/outage.lance")
        sys.stdout.write(json.dumps(facts) + "\n")
        sys.stdout.write(json.dumps(strangers(), indent=1) + "\n")
        sys.stdout.flush()
        command = [sys.executable, "-m", "tools.store_kill", "--kills", str(options.kills)]
        done = subprocess.run([*command, "--store", "s3://bucket/kill.lance"], cwd=ROOT, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
