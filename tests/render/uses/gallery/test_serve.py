"""The gallery's server: its own folder, to this machine alone."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from diorama.render.uses.gallery.serve import HOST, address_of, server_of
from diorama.scene_specs.errors import UsageError

HASHED = "episodes/0af/0af00000000000000000/page.js"
EMPTY = HASHED.replace("page.js", "0.png")


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    folder = tmp_path / "g"
    for name in (HASHED, "data/rows.jsonl", "index.html"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("a page")
    (folder / EMPTY).touch()
    (tmp_path / "secret").write_text("secret")
    with server_of(folder) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def get(port: int, path: str, host: str | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(HOST, port, timeout=240)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", host or f"{HOST}:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    answer.body = answer.read()  # type: ignore[attr-defined]
    connection.close()
    return answer


def test_it_gives_its_folder_and_no_more(port: int) -> None:
    page = get(port, "/")
    assert (page.status, page.body) == (200, b"a page")  # type: ignore[attr-defined]
    # The last two are a zero byte and half of a surrogate pair, which no file's name has.
    for path in ("/../secret", "/%2e%2e/secret", "/episodes/", "/nothing", "/%00", "/%ed%a0%80"):
        assert get(port, path).status == 404, path


def test_only_what_never_changes_is_kept_by_browsers(port: int) -> None:
    """An update may change what is missing, and the rows, whose name has no hash."""
    assert "immutable" in get(port, f"/{HASHED}").headers["Cache-Control"]
    for path in ("/", "/data/rows.jsonl", f"/{HASHED}x", f"/{EMPTY}", "/data/0af000000000/index-0000.js"):
        assert get(port, path).headers["Cache-Control"] == "no-cache", path


def test_a_request_of_no_known_form_is_answered(port: int) -> None:
    with socket.create_connection((HOST, port), timeout=240) as connection:
        connection.sendall(b"GET / and / HTTP/1.1\r\n\r\n")
        assert connection.makefile("rb").readline().split()[1] == b"400"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example:80"])
def test_other_names_of_this_machine_are_refused(port: int, host: str) -> None:
    """Else a page elsewhere, whose name is made to lead here, could read along."""
    assert get(port, "/", host).status == 421
    assert get(port, "/", f"localhost:{port}").status == 200


def test_a_port_that_is_taken_is_named(port: int, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"--port {port}: can't listen on it: Address already in use"):
        server_of(tmp_path, port)
    with server_of(tmp_path) as server:
        assert address_of(server) == f"http://127.0.0.1:{server.server_address[1]}/"
