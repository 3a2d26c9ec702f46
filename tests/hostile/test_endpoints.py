"""Servers that send too much, lie about tokens, lead to other servers, or send back the secrets that they got."""

from __future__ import annotations

import itertools
import json
import threading
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from diorama.render.uses.chat import ChatError, ChatSettings, Message, Meter, open_models
from tests.chat_server import Raw, chat_server
from tests.hostile.traps import run_bounded

HELLO = [Message("user", ("hello",))]
MIB = 1 << 20


def packed(form: int, size: int = 200) -> list[bytes]:
    """Compressed spaces, MiB of them. form: of zlib, 31 for gzip."""
    stream = zlib.compressobj(9, zlib.DEFLATED, form)
    return [*(stream.compress(b" " * MIB) for _ in range(size)), stream.flush()]


def answer(**values: object) -> bytes:
    return json.dumps({"choices": [{"message": {"content": "a cube"}}], **values}).encode()


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Fail if the block uses more MiB of Python's memory."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < size * MIB
    finally:
        tracemalloc.stop()


def refusal(found: Raw, attempts: int = 1, meters: list[Meter] | None = None) -> str:
    """The message with which an answer is refused."""
    with chat_server(lambda number, body: found) as server, pytest.raises(ChatError) as caught:
        settings = ChatSettings(base_url=server.url, timeout=20, attempts=attempts, first_wait=0.001)
        with open_models(settings) as models:
            if meters is not None:
                meters.append(models.meter)
            models.open("openai:m").reply(HELLO, max_tokens=5)
    return str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("status", [200, 400, 503])
def test_a_gzip_bomb(status: int) -> None:
    bomb = Raw(status, {"content-encoding": "gzip"}, packed(31))
    with at_most(60):
        assert "answer is larger than 8 MiB" in refusal(bomb)


@pytest.mark.slow
def test_a_character_set_that_decompresses() -> None:
    bomb = Raw(200, {"content-type": "application/json; charset=zlib_codec"}, packed(15))
    with at_most(60):
        assert "malformed answer" in refusal(bomb)


def test_an_answer_without_end() -> None:
    assert "answer is larger than 8 MiB" in refusal(Raw(200, {}, itertools.repeat(b"x" * 65536)))


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_encoding_that_was_not_asked_for(encoding: str) -> None:
    assert f"has the encoding {encoding!r}; expected gzip" in refusal(Raw(200, {"content-encoding": encoding}, [b"x"]))


def test_a_compressed_answer_and_a_damaged_one() -> None:
    stream = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = stream.compress(answer()) + stream.flush()
    with (
        chat_server(lambda number, _: Raw(200, {"content-encoding": "gzip"}, [body])) as server,
        open_models(ChatSettings(base_url=server.url)) as models,
    ):
        assert models.open("openai:m").reply(HELLO, max_tokens=5).text == "a cube"
    assert "can't be decoded" in refusal(Raw(200, {"content-encoding": "gzip"}, [b"no gzip"]))


@pytest.mark.parametrize("status", [401, 503])
def test_the_text_of_an_error_is_cut(status: int) -> None:
    told = json.dumps({"error": {"message": "x" * 1_000_000}}).encode()
    assert 200 < len(refusal(Raw(status, {}, [told]))) < 1000


@pytest.mark.parametrize("tokens", [-5_000_000, 10**12, "9" * 4000])
def test_tokens_that_no_request_has(tokens: object) -> None:
    meters: list[Meter] = []
    usage = {"prompt_tokens": 3, "completion_tokens": tokens}
    assert "malformed answer" in refusal(Raw(200, {}, [answer(usage=usage)]), 2, meters)
    assert meters[0].tokens == (0, 0)


def test_nested_json() -> None:
    assert "no usable reply in 2 attempts" in refusal(Raw(200, {}, [b"[" * 1_000_000]), attempts=2)
    assert "Error code: 400" in refusal(Raw(400, {}, [b"[" * 1_000_000]))


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    with chat_server(lambda number, body: "from elsewhere") as other:
        told = refusal(Raw(status, {"location": f"{other.url}/chat/completions"}, [b""]))
        assert f"redirects to '{other.url}/chat/completions', which is not followed" in told
        assert not other.bodies


@contextmanager
def echoing_server(code: str) -> Iterator[str]:
    """A server for S3 that refuses everything with the request in its answer, in three forms, and 5 MB of text."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = str(self.headers)
            echo = f"{headers} {quote(headers, safe='')} {json.dumps(headers)}"
            body = f"<Error><Code>{code}</Code><Message>{echo}\nerror: all is lost\n{'x' * 5_000_000}</Message></Error>"
            self.send_response(403)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body.encode())

        do_HEAD = do_PUT = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.alike
@pytest.mark.parametrize("stored", [False, True], ids=["variables", "file"])
@pytest.mark.parametrize(("code", "options"), [("Odd", ()), ("AccessDenied", ("-vv",)), ("Odd", ("-vv",))])
def test_a_server_that_sends_back_our_keys(tmp_path: Path, code: str, options: tuple[str, ...], stored: bool) -> None:
    keys = {
        "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEBYaDK+session/token==",
    }
    file = tmp_path / "credentials"
    file.write_text("[default]\n" + "".join(f"{name.lower()} = {value}\n" for name, value in keys.items()))
    own = {"AWS_SHARED_CREDENTIALS_FILE": str(file)} if stored else keys
    with echoing_server(code) as address:
        env = {**own, "AWS_ENDPOINT": address, "AWS_ALLOW_HTTP": "1", "AWS_REGION": "r"}
        done = run_bounded("render-store", "ls", "s3://bucket/x.lance", *options, env=env)
    said = done.out + done.err
    assert done.code == 4, said[:3000]
    for value in keys.values():
        # Also the first half of what is shown.
        assert not [form for form in (value, quote(value, safe="")) if form[:12] in said], said[:3000]
    assert "\nerror: all is lost" not in done.err.partition("raised at:")[0]
    assert len(said) < 30_000
    assert ("security-token" in said) == (code == "Odd" or bool(options))
