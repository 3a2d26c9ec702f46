"""A local server with OpenAI's interface for chat completions, which fails as it is told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Body = dict[str, Any]


class Raw(NamedTuple):
    """An answer as it is sent, in parts, until the client hangs up."""

    status: int
    headers: dict[str, str]
    parts: Iterable[bytes]


# Number of the request, its body -> a reply's text, an HTTP status, "malformed", "empty" (tokens but no reply), "drip"
# (a byte at a time, for a minute), seconds to wait before nothing is sent, or the answer itself.
Behavior = Callable[[int, Body], str | int | float | Raw]


class ChatServer:
    """Counts requests and the tokens that its answers name. tokens: of prompts and replies."""

    def __init__(self, behavior: Behavior) -> None:
        self.behavior, self.bodies = behavior, list[Body]()
        self.tokens = (0, 0)
        self.lock = threading.Lock()
        self.url = ""

    def answer(self, body: Body) -> tuple[int, bytes] | Raw:
        """Status and contents."""
        with self.lock:
            number = len(self.bodies)
            self.bodies.append(body)
        found = self.behavior(number, body)
        if isinstance(found, Raw):
            return found
        if isinstance(found, float):
            time.sleep(found)
            return 500, b"too late"
        if isinstance(found, int):
            return found, b'{"error": {"message": "told to fail"}}'
        if found == "malformed":
            return 200, b'{"choices": [{'
        if found == "drip":
            return 200, b" " * 3000
        used = (len(json.dumps(body["messages"])) // 100, len(found.split()))
        with self.lock:
            self.tokens = (self.tokens[0] + used[0], self.tokens[1] + used[1])
        choices = [] if found == "empty" else [{"index": 0, "message": {"role": "assistant", "content": found}}]
        usage = {"prompt_tokens": used[0], "completion_tokens": used[1]}
        return 200, json.dumps({"choices": choices, "usage": usage}).encode()


@contextmanager
def chat_server(behavior: Behavior) -> Iterator[ChatServer]:
    """Run a server for the block; its address is `url`."""
    state = ChatServer(behavior)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = state.answer(body)
            if not isinstance(answer, Raw):
                status, contents = answer
                parts = map(bytes, zip(contents)) if contents.isspace() else (contents,)
                answer = Raw(status, {"content-length": str(len(contents))}, parts)
            try:
                self.send_response(answer.status)
                for name, value in {"content-type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                for part in answer.parts:
                    self.wfile.write(part)
                    time.sleep(0.02 if part.isspace() else 0)
            except OSError:  # the client has given up
                pass

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
