"""Servers of models that send too much, lie about tokens, or lead to other servers."""

from __future__ import annotations

import itertools
import json
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from diorama.render.uses.chat import ChatError, ChatSettings, Message, Meter, open_models
from tests.chat_server import Raw, chat_server

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
