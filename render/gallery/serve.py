"""A gallery on this machine's own loopback address, for browsers that may not open files."""

from __future__ import annotations

import functools
import logging
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from render.model.errors import UsageError

log = logging.getLogger(__name__)
HOST = "127.0.0.1"
_KEPT = "public, max-age=31536000, immutable"


class _Handler(SimpleHTTPRequestHandler):
    """Files below the gallery's folder, to this machine only."""

    def send_head(self) -> Any:
        """As http.server's; refuses other names of this machine, by which a foreign page could read along."""
        name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if name not in ("localhost", HOST):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        """Nobody needs 40,000 folder names."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        """What lies under the hash of its contents never changes."""
        hashed = self.path.startswith(("/episodes/", "/data/"))
        self.send_header("Cache-Control", _KEPT if hashed else "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """To the log, not to the terminal."""
        log.debug(format, *args)


def server_of(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server of a gallery's folder; `serve_forever` runs it. port: 0 for any free one. Raises UsageError."""
    handler = functools.partial(_Handler, directory=str(folder))
    try:
        return ThreadingHTTPServer((HOST, port), handler)
    except OSError as error:
        raise UsageError(f"--port {port}: can't be served on: {error.strerror or error}; name another") from error


def address_of(server: ThreadingHTTPServer) -> str:
    """What to open in a browser."""
    return f"http://{HOST}:{server.server_address[1]}/"
