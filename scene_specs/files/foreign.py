"""Files and texts of strangers: reading them ends, and printing them does nothing to a terminal."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from diorama.scene_specs.errors import spec_error

# Larger than any file that Diorama reads in one piece; a store's images are not read through here.
MOST_BYTES = 1 << 30
# Names of variables with keys and tokens, and the fields of a signed request that have them.
_SECRET = re.compile("SECRET|TOKEN|PASSWORD|ACCESS_KEY|API_KEY", re.IGNORECASE)
_SIGNED = re.compile(r"(security-token[^\w\n]{1,5}|signature=|credential=)[\w+/=%.~-]+", re.IGNORECASE)


def read_foreign(path: Path, most: int = MOST_BYTES) -> bytes:
    """Read a regular file of at most `most` bytes.

    The file is opened first and judged by what was opened, so nothing can be put into its place in between.

    Raises:
        OSError: the file can't be read, is larger, or is a pipe or a device.
    """
    # A pipe that nobody writes to would otherwise hold the process when it is opened.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as stream:
        state = os.fstat(stream.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if state.st_size > most:
            raise OSError(errno.EFBIG, f"larger than {most / 2**20:,.0f} MiB", str(path))
        # Not the limit, as that much memory would be allocated for each small file.
        content = stream.read(state.st_size + 1)
        if state.st_size < len(content) <= most:
            # The file grows, or has no size, as those of /proc.
            content += stream.read(most + 1 - len(content))
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most / 2**20:,.0f} MiB", str(path))
    return content


def file_state(path: Path) -> tuple[int, ...]:
    """Size, date, time of the last change, and number of a file: one differs after it is written or replaced.

    Raises:
        OSError: there is no such file.
    """
    now = path.stat()
    return (now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino)


def is_of_others(path: Path) -> bool:
    """Return whether a file or folder exists that belongs to another user, or that all may write."""
    with suppress(OSError):
        state = path.stat()
        return state.st_uid != os.geteuid() or bool(state.st_mode & stat.S_IWOTH)
    return False


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """Read a UTF-8 file, with line breaks as \n and without a byte order mark.

    Raises:
        SpecError: the file can't be read.
    """
    try:
        text = read_foreign(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise spec_error(f"byte {error.start}: not UTF-8", "save the file as UTF-8", file=str(path)) from None
    except (OSError, ValueError) as error:
        # ValueError: a name with a NUL or a surrogate.
        raise spec_error(f"can't be read: {getattr(error, 'strerror', '') or error}", file=str(path)) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_json(text: str, file: str = "", line: int = 0) -> Any:
    """Parse JSON.

    Raises:
        SpecError: the text is not JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise spec_error("invalid JSON: nested too deeply", file=file, line=line) from None
    except ValueError as error:
        raise spec_error(f"invalid JSON: {error}", file=file, line=line) from None


def printable(text: str) -> str:
    """Escape every character that a terminal may obey as JSON does, so JSON stays the same JSON.

    Line breaks and tabs stay.
    """
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else json.dumps(c)[1:-1] for c in text)


def without_secrets(text: str) -> str:
    """Remove passwords of URLs, what signs requests to S3, and the values of this user's keys and tokens.

    A server may send back what it was sent, also escaped for URLs, HTML or JSON.
    """
    pairs = [*os.environ.items()]
    with suppress(OSError, RuntimeError):
        stored = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials").expanduser()
        pairs += [
            (line, line.partition("=")[2].strip()) for line in read_foreign(stored).decode(errors="replace").split("\n")
        ]
    # Shorter values, such as `true`, stand in any text.
    values = {value for name, value in pairs if _SECRET.search(name) and len(value) >= 8}
    for value in sorted(values, key=len, reverse=True):
        escaped = (quote(value, safe, errors="replace") for safe in ("", "/"))
        for form in (value, *escaped, escape(value), value.replace("/", "\\/")):
            text = text.replace(form, "***")
    return _SIGNED.sub(r"\1***", re.sub(r"://[^/\s]*@", "://***@", text))


def cut(text: str, most: int) -> str:
    """Replace the middle of a long text by the number of characters that are left out."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} ... {len(text) - 2 * half:,} characters ... {text[-half:]}"


def refuse_links(root: Path, path: Path) -> None:
    """Refuse symbolic links from `root`, which may be one, down to `path`.

    Raises:
        OSError: a folder in between, or `path` itself, is a symbolic link.
    """
    for part in (path, *path.parents):
        if part == root:
            return
        if part.is_symlink():
            raise OSError(errno.ELOOP, "is a symbolic link; nothing is written through it", str(part))
