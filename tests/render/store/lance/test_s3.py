"""A store on S3, against a server (moto), and against one that ignores conditional PUT."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from diorama.render.store.copying import copy
from diorama.render.store.lance.lance_store import LanceStore
from diorama.render.store.lance.location import check_conditional_put
from diorama.render.store.lance.verify import verify
from diorama.scene_specs.errors import StoreError
from tests.render.store.rendered import rendered

# In the environment that has moto; ends with its standard input.
SERVER = """
import sys
import boto3
from moto.server import ThreadedMotoServer

server = ThreadedMotoServer("127.0.0.1", 0)
server.start()
endpoint = "http://%s:%d" % server.get_host_and_port()
keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
boto3.client("s3", endpoint_url=endpoint, **keys).create_bucket(Bucket="bucket")
print(endpoint, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _forget_servers() -> None:
    """Each test has a server of its own; what is remembered of the one before is another's."""
    check_conditional_put.cache_clear()


def use(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    settings = {"ENDPOINT": endpoint, "ALLOW_HTTP": "true", "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b"}
    for name, value in {**settings, "REGION": "us-east-1", "DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    command = [os.environ["DIORAMA_MOTO"], "-c", SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin and server.stdout
        # Flask writes a banner first.
        endpoint = next(line.strip() for line in server.stdout if line.startswith("http"))
        use(monkeypatch, endpoint)
        yield "s3://bucket"
        server.stdin.close()
        server.wait(240)


@pytest.mark.readers
def test_a_store_on_s3(bucket: str, tmp_path: Path) -> None:
    url = f"{bucket}/data.lance"
    assert LanceStore.peek(url) is None
    with pytest.raises(StoreError, match="there is no store"):
        LanceStore.open(url)
    store = LanceStore.open_or_create(url)
    store.put([rendered("demo/0"), rendered("demo/1", seed=1)])
    store.put([rendered("demo/2", seed=2)])
    assert LanceStore.open(url).get("demo/1") == rendered("demo/1", seed=1)
    store.compact()
    assert verify(LanceStore.open(url)).intact
    local = LanceStore.create(str(tmp_path / "t.lance"), fsync=False)
    assert copy(LanceStore.open(url), local).copied == 3
    assert copy(local, LanceStore.open_or_create(f"{bucket}/again.lance")).copied == 3


@pytest.mark.readers
def test_wrong_credentials_and_a_bucket_that_is_not_there(bucket: str) -> None:
    with pytest.raises(StoreError, match="s3://nowhere/x"):
        LanceStore.open_or_create("s3://nowhere/x.lance")


class _Careless(BaseHTTPRequestHandler):
    """Takes every PUT, whatever its conditions."""

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("ETag", '"0"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_DELETE = do_PUT

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Careless)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    use(monkeypatch, f"http://127.0.0.1:{server.server_port}")
    yield "s3://bucket/data.lance"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_a_server_that_ignores_conditional_put_is_refused(careless: str) -> None:
    with pytest.raises(StoreError, match="this server ignores If-None-Match on PUT"):
        check_conditional_put(careless)


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_RETRIES", "0")
    with pytest.raises(StoreError, match="can't be written"):
        check_conditional_put("s3://bucket/data.lance")
