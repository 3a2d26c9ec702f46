"""What every command shares: errors become a line and an exit code, logging goes to stderr, files appear whole.

Imports nothing heavy: `--help` of every command passes through here.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from render.model.errors import DioramaError, SpecError, UsageError

SHOWN_FAULTS = 50
INTERRUPTED = 130
# What a full disk, a quota or a limit on files' size say.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

log = logging.getLogger("diorama")
_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


class _EchoHandler(logging.Handler):
    """Through click, so that colors, encodings and click's test runner are its business and not ours."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            click.echo(self.format(record), err=True)
        except Exception:
            self.handleError(record)


class _LevelFormatter(logging.Formatter):
    """`error: ...`, `warning: ...`; plain progress has no prefix."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return text if record.levelno == logging.INFO else f"{record.levelname.lower()}: {text}"


def set_up_logging(verbose: int = 0) -> None:
    """Diorama's log to stderr: warnings and what is going on; with `verbose` also details."""
    handler = _EchoHandler()
    handler.setFormatter(_LevelFormatter())
    root = logging.getLogger()
    for old in [h for h in root.handlers if isinstance(h, _EchoHandler)]:
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.DEBUG if verbose > 1 else logging.INFO if verbose else logging.WARNING)
    level = logging.DEBUG if verbose else logging.INFO
    for name in ("diorama", "render", "scene_specs"):
        logging.getLogger(name).setLevel(level)


def verbose_option(command: _Decorated) -> _Decorated:
    """Adds -v/--verbose, which sets up logging when it is read; the command itself doesn't see it."""

    def callback(_ctx: click.Context, _param: click.Parameter, value: int) -> None:
        set_up_logging(value)

    return click.option(
        "-v",
        "--verbose",
        count=True,
        is_eager=True,
        expose_value=False,
        callback=callback,
        help="More of what happens; twice for libraries too.",
    )(command)


def rgb_value(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, int, int] | None:
    """Callback of an option that takes an 8-bit sRGB color: `128,128,128`."""
    if value is None:
        return None
    parts = value.split(",")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and int(part) < 256 for part in parts):
        raise click.BadParameter(f"{value!r}; write R,G,B from 0 to 255, such as 128,128,128")
    red, green, blue = map(int, parts)
    return (red, green, blue)


def shapenet_option(command: _Decorated) -> _Decorated:
    """Adds --shapenet, the root of the models' library; it is put into the environment for as long as the command runs,
    where everything that reads models looks."""

    def callback(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
        if value is None:
            return
        before = os.environ.get("DIORAMA_SHAPENET")
        os.environ["DIORAMA_SHAPENET"] = str(Path(value).absolute())

        def restore() -> None:
            if before is None:
                os.environ.pop("DIORAMA_SHAPENET", None)
            else:
                os.environ["DIORAMA_SHAPENET"] = before

        ctx.call_on_close(restore)

    return click.option(
        "--shapenet",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False),
        is_eager=True,
        expose_value=False,
        callback=callback,
        help="Root of a ShapeNetCore [default: $DIORAMA_SHAPENET, assets.toml, or our own 64 models].",
    )(command)


def report(error: DioramaError, shown: int = SHOWN_FAULTS) -> None:
    """Log an error, one line a diagnostic; of very many diagnostics the first `shown` and how many more there are."""
    if not isinstance(error, SpecError):
        log.error("%s", error)
    else:
        for diagnostic in error.diagnostics[:shown]:
            log.error("%s", diagnostic)
        more = len(error.diagnostics) - shown
        if more > 0:
            log.error("and %d more fault%s (`render-specs check --json` lists all)", more, "" if more == 1 else "s")
    log.debug("where it was raised:", exc_info=error)


@contextmanager
def _errors_end_the_command(ctx: click.Context) -> Iterator[None]:
    if not any(isinstance(handler, _EchoHandler) for handler in logging.getLogger().handlers):
        set_up_logging()
    try:
        yield
    except DioramaError as error:
        report(error)
        ctx.exit(error.exit_code)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        where = f"{error.filename}: " if error.filename else ""
        report(
            UsageError(f"{where}can't be written: {error.strerror}; make room or name another place, and run it again")
        )
        _drop_output()
        ctx.exit(UsageError.exit_code)
    except KeyboardInterrupt:
        log.error("interrupted")
        ctx.exit(INTERRUPTED)


def _drop_output() -> None:
    """What stdout could not take would be tried once more, and fail, when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())


class DioramaCommand(click.Command):
    """A command that ends with the exit code of the DioramaError that reaches it (see render.model.errors)."""

    def invoke(self, ctx: click.Context) -> Any:
        """As click's, with our errors caught."""
        with _errors_end_the_command(ctx):
            return super().invoke(ctx)


class DioramaGroup(click.Group):
    """A group of commands that ends with the exit code of the DioramaError that reaches it."""

    def invoke(self, ctx: click.Context) -> Any:
        """As click's, with our errors caught."""
        with _errors_end_the_command(ctx):
            return super().invoke(ctx)


def parse_size(_ctx: click.Context, _param: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Callback of `--size`: `WIDTHxHEIGHT` as (width, height) pixels, each from 1 to 16384. Raises BadParameter."""
    if value is None:
        return None
    width, _, height = value.lower().partition("x")
    if not (value.isascii() and width.isdigit() and height.isdigit()):
        raise click.BadParameter(f"{value!r} is no size; write WIDTHxHEIGHT, such as 320x240")
    if not all(len(side) <= 5 and 1 <= int(side) <= 16384 for side in (width, height)):
        raise click.BadParameter(f"{value!r}: width and height go from 1 to 16384")
    return (int(width), int(height))


@contextmanager
def atomic_writer(out: Path | None) -> Iterator[IO[str]]:
    """A text stream, UTF-8: stdout for None or `-`, else a file that takes its name only once all of it is written.

    A pipe or a device, such as /dev/null, is written to as it is: renamed over, it would be gone. Of a link, the file
    that it leads to is written. Raises UsageError where the file can't be written.
    """
    if out is None or str(out) == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    device: IO[str] | None = None
    with _refusals_said(out):
        if out.exists() and not out.is_file() and not out.is_dir():
            device = out.open("w", encoding="utf-8", newline="\n")
        else:
            out = out.resolve()
            out.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=".part")
    if device is not None:
        with device:
            yield device
        return
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        with _refusals_said(out):
            # mkstemp makes files that only their owner reads; the result should follow the user's umask as any other.
            umask = os.umask(0)
            os.umask(umask)
            Path(temporary).chmod(0o666 & ~umask)
            if out.is_dir():
                raise UsageError(f"--out {out}: is a folder; name a file")
            Path(temporary).replace(out)
    finally:
        Path(temporary).unlink(missing_ok=True)


@contextmanager
def _refusals_said(out: Path) -> Iterator[None]:
    """What the system has against a file, even against looking for it, as a UsageError."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        # A link that leads to itself is a RuntimeError of pathlib, which has its own words.
        reason = error.strerror if isinstance(error, OSError) else None
        raise UsageError(f"--out {out}: can't be written: {reason or error}") from error
