"""Serves a gallery on the loopback address, for browsers that may not open files."""

from __future__ import annotations

import functools
import logging
import re
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

from diorama.scene_specs.errors import UsageError

log = logging.getLogger(__name__)
HOST = "127.0.0.1"
_MOST_CONNECTIONS = 64
_IMMUTABLE = "public, max-age=31536000, immutable"
# Folders that are named after a hash of their contents.
_HASHED = re.compile("/(episodes/[0-9a-f]{3}|data)/[0-9a-f]{12,}/")


class _Handler(SimpleHTTPRequestHandler):
    """Serves files below the gallery's folder to this machine only."""

    # Seconds that a browser may be silent.
    timeout = 15

    def send_head(self) -> Any:
        """Refuse links, and other host names, through which a page of another site could read it (DNS rebinding)."""
        name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if name not in ("localhost", HOST):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        path = Path(self.translate_path(self.path))
        try:
            # Of a folder, the index is served.
            linked = any((path / name).resolve() != path / name for name in ("", "index.html", "index.htm"))
        except ValueError:
            # No file has such a name: a zero byte, or half of a surrogate pair.
            linked = True
        if linked:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        """Never list folders; there may be 40,000."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def send_response_only(self, code: int, message: str | None = None) -> None:
        """Remember the status: an error must not be cached, since a rerun repairs the gallery."""
        self._found = code in (HTTPStatus.OK, HTTPStatus.NOT_MODIFIED)
        super().send_response_only(code, message)

    def send_header(self, keyword: str, value: str) -> None:
        """Send a header, for empty files one that keeps browsers from caching: a rerun repairs them."""
        self._found = self._found and (keyword, value) != ("Content-Length", "0")
        super().send_header(keyword, value)

    def end_headers(self) -> None:
        """Let browsers cache the files whose path contains a hash of their contents."""
        self.send_header("Cache-Control", _IMMUTABLE if self._found and _HASHED.match(self.path) else "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Write to the log instead of the terminal."""
        log.debug(format, *args)


class _Server(ThreadingHTTPServer):
    """Closes connections beyond a number, so that those that send nothing do not fill the machine with threads."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._free = BoundedSemaphore(_MOST_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a request, if one is free."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a request, in its thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


def server_of(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """Create a server for a gallery's folder; `serve_forever` runs it.

    Args:
        port: 0 for any free port.

    Raises:
        UsageError: an argument, option or name is wrong.
    """
    handler = functools.partial(_Handler, directory=str(folder.resolve()))
    try:
        return _Server((HOST, port), handler)
    except OSError as error:
        raise UsageError(f"--port {port}: can't listen on it: {error.strerror or error}; pass another port") from error


def address_of(server: ThreadingHTTPServer) -> str:
    """Return the URL of a server."""
    return f"http://{HOST}:{server.server_address[1]}/"
