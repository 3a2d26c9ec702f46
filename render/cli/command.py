"""Base of every command: common options, errors as messages and exit codes, and logging to stderr.

Imports nothing heavy: `--help` of every command loads this module.
"""

from __future__ import annotations

import atexit
import errno
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from inspect import cleandoc
from pathlib import Path
from typing import IO, Any, cast

import click
from click.core import ParameterSource

from diorama.render import __version__
from diorama.scene_specs.errors import DioramaError, UsageError, counted
from diorama.scene_specs.files.foreign import cut, printable, without_secrets
from diorama.scene_specs.files.writing import NO_SPACE, unwritable
from diorama.scene_specs.language.registry import plugin_error

MAX_DIAGNOSTICS = 50
INTERRUPTED = 130
# Longer ones get a line of their own, as click has it.
_OPTION_WIDTH = 30
# Characters of a message, with -vv that of an exception, too.
_LONGEST_RECORD = 20_000

log = logging.getLogger("diorama")


class _EchoHandler(logging.Handler):
    """Write records with click, which handles colors, encodings and its own test runner.

    Messages have their level as a prefix (`error: ...`), except at level INFO.
    """

    def emit(self, record: logging.LogRecord) -> None:
        prefix = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        try:
            click.echo(prefix + printable(cut(without_secrets(self.format(record)), _LONGEST_RECORD)), err=True)
        except Exception:
            self.handleError(record)


_echo = _EchoHandler()


class _PrintableOutput:
    """Stdout on which texts of a stranger's files can't control the terminal. Everything else is the stream's."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text with control characters escaped."""
        self._stream.write(printable(text))
        return len(text)


def set_up_logging(verbose: int = 0) -> None:
    """Log to stderr. Progress bars are shown where notices are.

    Args:
        verbose: 0 for notices and warnings, -1 for warnings only, 1 for details, 2 also for those of libraries.
    """
    root = logging.getLogger()
    root.addHandler(_echo)
    root.setLevel(logging.DEBUG if verbose > 1 else logging.INFO if verbose > 0 else logging.WARNING)
    level = logging.DEBUG if verbose > 0 else logging.INFO if verbose == 0 else logging.WARNING
    logging.getLogger("diorama").setLevel(level)


def report(error: DioramaError, limit: int = MAX_DIAGNOSTICS) -> None:
    """Log an error. For a SpecError, log one line per diagnostic, at most `limit`, and the number of the others."""
    for problem in error.diagnostics[:limit] or (error,):
        log.error("%s", problem)
    if (more := len(error.diagnostics) - limit) > 0:
        log.error("and %s (`render-specs check --json` lists all)", counted(more, "more error"))
    if "Permission denied" in str(error) and os.environ.get("DIORAMA_CONTAINER"):
        log.error("the container's user may not use a mounted folder; run it as yours: --user $(id -u):$(id -g)")
    log.debug("raised at:", exc_info=error)


def _discard_output() -> None:
    """Discard what stdout could not take: Python would try to write it again at exit, and fail."""
    try:
        sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as null:
            os.dup2(null.fileno(), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device. Otherwise, other files would get their numbers."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))


def _set_verbosity(_ctx: click.Context, param: click.Parameter, value: int) -> None:
    if value:
        set_up_logging(-1 if param.name == "quiet" else value)


def _add_version(command: click.Command) -> click.Command:
    # A new option for each command: click keeps in it the name of the program that asked first.
    return click.version_option(__version__, message="%(prog)s %(version)s", help="Show the version and exit.")(command)


_EAGER: Any = {"is_eager": True, "expose_value": False, "show_default": False, "callback": _set_verbosity}
_COMMON_OPTIONS: dict[str, Callable[[click.Command], Any]] = {
    "--verbose": click.option(
        "-v", "--verbose", count=True, help="Print details; -vv also prints the log messages of libraries.", **_EAGER
    ),
    "--quiet": click.option("-q", "--quiet", is_flag=True, help="Print only results, warnings and errors.", **_EAGER),
    "--version": _add_version,
}


def _is_about_path(error: OSError) -> bool:
    """Return whether a path of the user is what failed, not a device or this program."""
    access = (errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP)
    # The name can also be the number of an open file.
    return error.errno in access and isinstance(error.filename, str | bytes | os.PathLike)


def _reported(error: BaseException) -> DioramaError | None:
    """Return the error to report in one line; None for the end of a command, and for a bug."""
    match error:
        case DioramaError():
            return error
        case OSError() if error.errno in NO_SPACE:
            _discard_output()
            return unwritable(error.filename or "output", error)
        case OSError() if _is_about_path(error):
            # Of a file that nothing else expected to be so, such as a folder that this user may not list.
            return UsageError(f"{os.fsdecode(error.filename)}: {error.strerror or error}")
    return plugin_error(error)


@contextmanager
def _reporting() -> Iterator[None]:
    """Report an error of the block, and end the command with its exit code."""
    try:
        yield
        return
    except KeyboardInterrupt:
        log.error("interrupted")
        code = INTERRUPTED
    except (Exception, SystemExit) as error:
        if (reported := _reported(error)) is None:
            raise
        report(reported)
        code = reported.exit_code
    raise click.exceptions.Exit(code)


class DioramaCommand(click.Command):
    """A command with the common options that turns a DioramaError into its message and exit code.

    Its help has options in groups, see `options.group`, and the examples that follow the line `Examples:` in its
    docstring.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        missing = "Python runs without docstrings (PYTHONOPTIMIZE=2), so help texts are missing."
        text = self.help or (missing if sys.flags.optimize > 1 else "")
        self.help, _, self.examples = cleandoc(text).partition("\n\nExamples:\n")
        # `render-store tag` has a --version of its own.
        taken = {name for param in self.params for name in param.opts}
        for name, option in _COMMON_OPTIONS.items():
            if name not in taken:
                option(self)
                self.params[-1].group = "Common options"  # type: ignore[attr-defined]

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run as a program. Tests call `main`, which only raises SystemExit."""
        _open_closed_streams()
        try:
            return self.main(*args, **options)
        except SystemExit as end:
            # Ray's C++ part, if it was interrupted while it started, crashes when Python takes down its modules.
            if "ray" in sys.modules and end.code == INTERRUPTED:
                atexit._run_exitfuncs()
                with suppress(OSError):
                    sys.stdout.flush()
                    sys.stderr.flush()
                os._exit(INTERRUPTED)
            raise

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Create the context; subcommands inherit its settings. Its options can fail, too, such as one that lists."""
        if extra.get("parent") is None:
            set_up_logging()
        settings = {"max_content_width": 100, "show_default": True, "help_option_names": ["-h", "--help"]}
        with _reporting():
            return super().make_context(*args, **{**settings, **extra})

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke the command; exit with the code of the error that it raises.

        Hidden options are those that version 0.3 no longer has.
        """
        for param in self.params:
            hidden = isinstance(param, click.Option) and param.hidden
            if hidden and ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE:
                log.warning("version 0.3 has no %s; it uses the default", param.opts[0])
        with _reporting(), redirect_stdout(cast(IO[str], _PrintableOutput(sys.stdout))):
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups."""
        groups: dict[str, list[tuple[str, str]]] = {}
        title = "Options"
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) and isinstance(param, click.Option):
                title = getattr(param, "group", title)
                groups.setdefault(title, []).append(record)
        width = min(_OPTION_WIDTH, max(len(name) for rows in groups.values() for name, _ in rows))
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), text) for name, text in rows])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog and the examples."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write(self.examples + "\n")


class DioramaGroup(DioramaCommand, click.Group):
    """A group of commands with the behavior of DioramaCommand."""

    command_class = DioramaCommand

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand; for an unknown one, suggest the nearest, also of those that are imported on demand."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            from diorama.scene_specs.language.diagnostics import did_you_mean

            hint = did_you_mean(args[0], self.list_commands(ctx)) or "--help lists all"
            ctx.fail(f"unknown command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options and the subcommands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)
