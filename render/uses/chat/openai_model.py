"""Models behind OpenAI's interface for chat completions, which most servers of models offer, too."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from threading import Thread
from typing import Any

from diorama.render.uses.chat.asking import TemporaryError
from diorama.scene_specs.errors import ChatError, UsageError
from diorama.scene_specs.tasks.chat import Message, Picture, Reply

log = logging.getLogger(__name__)
# Timed out, conflicting, too early, and too many requests; so are all errors of the server.
_TEMPORARY = (408, 409, 425, 429)
# Bytes of an answer, decoded; tokens of one prompt or reply; characters of a server's text in a message.
_MOST_BYTES, _MOST_TOKENS, _SHOWN = 8 << 20, 10_000_000, 300


class OpenAIModel:
    """A model by its name on the server. Temperature 0, unless `parameters` say otherwise."""

    def __init__(self, name: str, base_url: str, parameters: Mapping[str, Any], timeout: float) -> None:
        try:
            import openai
        except ImportError as error:
            raise UsageError(
                "openai: models need the openai client; install it: pip install '.[openai]' in the clone of Diorama"
            ) from error
        self._name, self._openai, self._parameters = name, openai, parameters
        # Servers of one's own ask for no key, but the client does.
        own = base_url or os.environ.get("OPENAI_BASE_URL")
        if own and not own.startswith(("http://", "https://")):
            raise UsageError(f"openai:{name}: server {own!r}: expected http://... or https://...; see --base-url")
        key = os.environ.get("OPENAI_API_KEY") or ("none" if own else None)
        if key is None:
            raise UsageError(f"openai:{name}: set OPENAI_API_KEY, or name a server with --base-url")
        # The server that is named gets the images, no other. `_bound` reads no other encoding than gzip.
        client = openai.DefaultAsyncHttpxClient(
            follow_redirects=False, headers={"accept-encoding": "gzip"}, event_hooks={"response": [_bound]}
        )
        # `Asker` retries, so that each request is counted.
        self._client = openai.AsyncOpenAI(
            api_key=key, base_url=base_url or None, timeout=timeout, max_retries=0, http_client=client
        )
        # The client's timeout is for each read: only a task can be ended while a slow answer arrives byte by byte.
        self._timeout, self._loop, self._warned = timeout, asyncio.new_event_loop(), False
        Thread(target=self._loop.run_forever, daemon=True).start()

    def reply(self, messages: Sequence[Message], *, max_tokens: int) -> Reply:
        """Return the model's reply; see `ChatModel.reply`.

        Raises:
            TemporaryError: another attempt may succeed.
            ChatError: none will.
        """
        values: dict[str, Any] = {"temperature": 0, "max_tokens": max_tokens, **self._parameters}
        body = {
            "model": self._name,
            "messages": [{"role": message.role, "content": _content_data(message)} for message in messages],
            **{key: value for key, value in values.items() if value is not None},
        }
        try:
            # The text of the answer: the client's own reading accepts answers that lack what is needed here.
            asked = asyncio.wait_for(self._client.chat.completions.with_raw_response.create(**body), self._timeout)
            text = asyncio.run_coroutine_threadsafe(asked, self._loop).result().http_response.text
        except TimeoutError as error:
            raise TemporaryError(f"openai:{self._name}: no complete answer in {self._timeout:g} s") from error
        except self._openai.APIStatusError as error:
            problem = f"openai:{self._name}: {error.message:.{_SHOWN}}"
            if 300 <= error.status_code < 400:
                target = error.response.headers.get("location", "")
                problem += f": it redirects to {target!r:.{_SHOWN}}, which is not followed; name it with --base-url"
            if error.status_code < 500 and error.status_code not in _TEMPORARY:
                raise ChatError(problem) from error
            raise TemporaryError(problem, _retry_seconds(error.response.headers.get("retry-after"))) from error
        except self._openai.APIError as error:
            cause = f" {error.__cause__!s:.{_SHOWN}}" if error.__cause__ else ""
            problem = f"{self._client.base_url}: {error.message:.{_SHOWN}}{cause}"
            raise TemporaryError(f"openai:{self._name}: {problem}") from error
        reply = _read_reply(text)
        if reply.cost is not None:
            return reply
        if not self._warned:
            self._warned = True
            log.warning(
                "openai:%s: the server does not say how many tokens a request took; one is counted for every three "
                "characters of text, images count nothing, and the cost is null",
                self._name,
            )
        characters = sum(len(part) for one in messages for part in one.parts if isinstance(part, str))
        return replace(
            reply,
            input_tokens=reply.input_tokens or -(-characters // 3),
            output_tokens=reply.output_tokens or -(-len(reply.text) // 3),
        )


def _content_data(message: Message) -> Any:
    if all(isinstance(part, str) for part in message.parts):
        return "\n".join(str(part) for part in message.parts)
    return [*map(_part_data, message.parts)]


def _part_data(part: str | Picture) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = "jpeg" if part.png.startswith(b"\xff\xd8") else "png"
    url = f"data:image/{kind};base64,{base64.b64encode(part.png).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


async def _bound(response: Any) -> None:
    """Read an answer before the client does, which would decode any number of bytes, of errors, too.

    Raises:
        TemporaryError: it is larger than `_MOST_BYTES`, or of an encoding that was not asked for.
    """
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    if encoding not in ("gzip", "identity"):
        raise TemporaryError(f"the server's answer has the encoding {encoding!r:.{_SHOWN}}; expected gzip or none")
    inflater, content = zlib.decompressobj(zlib.MAX_WBITS | 32), bytearray()
    try:
        async for chunk in response.stream:
            room = _MOST_BYTES + 1 - len(content)
            content += inflater.decompress(chunk, room) if encoding == "gzip" else chunk[:room]
            if len(content) > _MOST_BYTES:
                raise TemporaryError(f"the server's answer is larger than {_MOST_BYTES >> 20} MiB")
    except zlib.error as error:
        raise TemporaryError(f"the server's answer can't be decoded: {error}") from error
    await response.stream.aclose()
    # Some of Python's character sets decompress, too. httpx changed its name, so it is taken from the response.
    response.headers["content-type"] = "application/json"
    response.stream = import_module(type(response).__module__.partition(".")[0]).ByteStream(bytes(content))


def _read_reply(text: str) -> Reply:
    """Return the reply in an answer's text, without a cost if the server did not count its tokens.

    Raises:
        TemporaryError: the answer has no reply.
    """
    tokens = (0, 0)
    try:
        answer = json.loads(text)
        usage = answer.get("usage") or {}
        given = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        counts = (int(given[0] or 0), int(given[1] or 0))
        if not all(0 <= count <= _MOST_TOKENS for count in counts):
            raise ValueError("numbers of tokens that no request has")
        tokens, cost = counts, 0.0 if any(counts) and None not in given else None
        match answer["choices"][0]["message"]:
            case {"content": str(said)}:
                return Reply(said, *tokens, cost=cost)
            case {"refusal": str(said), **others} if others.get("content") is None:
                return Reply(said, *tokens, cost=cost)
        raise TypeError("no content")
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise TemporaryError(f"malformed answer of the server: {text[:200]!r}", tokens=tokens) from error


def _retry_seconds(header: str | None) -> float:
    try:
        return float(header or 0)
    except ValueError:  # a date
        return 0.0
