"""Options and arguments that several commands share, and the types of their values."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from diorama.render.machine.device_names import DEVICE_NAMES
from diorama.scene_specs.errors import UsageError

if TYPE_CHECKING:
    from diorama.render.store.lance.reader import LanceReader
    from diorama.render.store.selection import Selection

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
NEW_PATH = click.Path(path_type=Path)
_PROFILE = (
    "Rendering quality: draft (for previews), standard (for datasets), fine (four times the cost of standard), "
    "reference (4096 samples per pixel), or clevr-512 (the settings of the published CLEVR images, 512 samples per "
    "pixel)."
)
FILES_HELP = "FILES are .json and .jsonl files, folders, globs, and - for standard input."


class Number(click.ParamType):  # type: ignore[type-arg]  # Before click 8.4 it takes no type arguments.
    """The type of a number. Unlike click's ranges, it rejects `nan` and adds no range to the help.

    Args:
        low: least value.
        high: greatest value.
        kind: int, or float for any finite number.
    """

    name = "n"

    def __init__(self, low: float, high: float = sys.float_info.max, kind: type[int] | type[float] = int) -> None:
        self._low, self._high, self._kind = low, high, kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number.

        Raises:
            BadParameter: the value is another.
        """
        try:
            number = self._kind(value)
        except ValueError:
            number = math.nan
        if not self._low <= number <= self._high:
            noun = "an integer" if self._kind is int else "a number"
            bounded = self._high < sys.float_info.max
            limits = f"from {self._low:,} to {self._high:,}" if bounded else f"of at least {self._low:,}"
            self.fail(f"found {value}; expected {noun} {limits}", param, ctx)
        return number


class Numbers(click.ParamType):  # type: ignore[type-arg]  # Before click 8.4 it takes no type arguments.
    """The type of two integers `3-10`, two numbers `-10:40` (one stands for both), or an sRGB color `128,128,128`."""

    name = "numbers"

    def __init__(self, kind: type[int] | type[float], count: int, metavar: str = "") -> None:
        self._kind, self._count = kind, count
        self.separator, form, more = {
            (int, 2): ("-", "MIN-MAX", ", such as 3-10, or one number"),
            (float, 2): (":", "MIN:MAX", ", two numbers, or one number for both"),
            (int, 3): (",", "R,G,B", " from 0 to 255, such as 128,128,128"),
        }[kind, count]
        self.metavar = metavar or form
        self._expected = self.metavar + more

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Return the numbers.

        Raises:
            BadParameter: the value is of another form.
        """
        parts = value.split(self.separator)
        if len(parts) == 1 and self._count == 2:
            parts *= 2
        try:
            numbers = tuple(map(self._kind, parts))
        except ValueError:
            numbers = ()
        plain = self._kind is float or all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts)
        if len(numbers) != self._count or not plain or (self._count == 3 and max(numbers) > 255):
            self.fail(f"found {value!r}; expected {self._expected}", param, ctx)
        return numbers


def parsed(parse: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return the callback of an option whose value `parse` makes of the text; its UsageError names the option."""

    def convert(_ctx: click.Context, _param: click.Parameter, text: str | None) -> Any:
        try:
            return None if text is None else parse(text)
        except UsageError as error:
            raise click.BadParameter(str(error)) from error

    return convert


def _parse_size(text: str) -> tuple[int, int]:
    """Parse `WIDTHxHEIGHT` as (width, height) in pixels. Raises UsageError."""
    from diorama.scene_specs.model.scene import LEAST_SIDE, MOST_SIDE

    width, _, height = text.lower().partition("x")
    if not (text.isascii() and width.isdigit() and height.isdigit()):
        raise UsageError(f"found {text!r}; expected WIDTHxHEIGHT, such as 320x240")
    if not all(len(side) <= 5 and LEAST_SIDE <= int(side) <= MOST_SIDE for side in (width, height)):
        raise UsageError(f"found {text!r}; expected a width and height from {LEAST_SIDE} to {MOST_SIDE}")
    return (int(width), int(height))


def set_environment(name: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return the callback of a parameter that sets a variable to a path until the command ends."""

    def set_variable(ctx: click.Context, _param: click.Parameter, value: Any) -> Any:
        if value is not None:
            before = os.environ.get(name)
            os.environ[name] = str(Path(value).absolute())
            ctx.call_on_close(lambda: os.environ.pop(name) if before is None else os.environ.update({name: before}))
        return value

    return set_variable


def is_given(ctx: click.Context, name: str | None) -> bool:
    """Return whether a parameter is on the command line."""
    return ctx.get_parameter_source(name or "") is ParameterSource.COMMANDLINE


def default_store() -> str:
    """Return the store to use if none is named."""
    return os.environ.get("DIORAMA_STORE") or "diorama.lance"


def open_reader(url: str, at: str | None = None, splits: Sequence[str] = ()) -> LanceReader:
    """Open a store at its newest version, or at a version number or tag.

    Raises:
        StoreError: the store can't be read.
        UsageError: no episode has one of the splits.
    """
    from diorama.render.store import open_at, open_store
    from diorama.render.store.selection import check_splits

    store = open_store(url) if at is None else open_at(url, at)
    check_splits(store, splits)
    return store


def group(title: str, option: Callable[[_Decorated], _Decorated]) -> Callable[[_Decorated], _Decorated]:
    """Add an option that begins a group of the help: it and the options that follow stand below this title."""

    def add(function: Any) -> Any:
        added: Any = option(function)
        added.__click_params__[-1].group = title
        return added

    return add


def together(*options: Callable[[Any], Any]) -> Callable[[_Decorated], _Decorated]:
    """Several arguments and options as one, in this order."""

    def add(function: Any) -> Any:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def flag(name: str, help: str) -> Callable[[_Decorated], _Decorated]:
    """Add an option without a value."""
    return click.option(name, is_flag=True, help=help)


def number(
    name: str, help: str, low: float, high: float = sys.float_info.max, default: int | None = None
) -> Callable[[_Decorated], _Decorated]:
    """Add an option with an integer from `low` to `high`."""
    return click.option(name, type=Number(low, high), default=default, help=help)


def repeated(name: str, parameter: str, metavar: str, help: str) -> Callable[[_Decorated], _Decorated]:
    """Add an option that can be given several times; its values are the tuple `parameter`."""
    return click.option(name, parameter, multiple=True, metavar=metavar, help=help)


def value(name: str, metavar: str, help: str, kind: Any = None) -> Callable[[_Decorated], _Decorated]:
    """Return an option with one value."""
    return click.option(name, metavar=metavar, help=help, type=kind)


def choice(name: str, values: Sequence[str], help: str) -> Callable[[_Decorated], _Decorated]:
    """Add an option with one of several values; the default is the first value."""
    return click.option(name, type=click.Choice(values), default=values[0], help=help)


def limit(noun: str, most: float = sys.float_info.max) -> Callable[[_Decorated], _Decorated]:
    """Add --limit, a maximum number of `noun`."""
    return group("Selection", number("--limit", f"Maximum number of {noun}.  [default: all]", 0, most))


def profile(default: str = "standard") -> Callable[[_Decorated], _Decorated]:
    """Add --profile, whose help says this default."""
    return group("Rendering", click.option("--profile", metavar="NAME", help=f"{_PROFILE}  [default: {default}]"))


def size(default: str = "that of the spec's stage, such as 320x240 for `clevr`") -> Callable[[_Decorated], _Decorated]:
    """Add --size, whose help says this default."""
    help = f"Image size in pixels.  [default: {default}]"
    return click.option("--size", metavar="WxH", callback=parsed(_parse_size), help=help)


def renderer(default: str = "cycles", more: str = "") -> Callable[[_Decorated], _Decorated]:
    """Add --renderer.

    Args:
        default: the value without the option.
        more: default for the help, where the value says nothing.
    """
    help = f"Renderer: cycles, fake (test images without Blender), the name of a plugin, or module:Class.{more}"
    return click.option("--renderer", default=default, show_default=not more, metavar="NAME", help=help)


def timeout(least: float) -> Callable[[_Decorated], _Decorated]:
    """Add --timeout, of at least so many seconds."""
    help = "Maximum seconds per image.  [default: computed from samples per pixel and image size]"
    return click.option("--timeout", type=Number(least, kind=float), metavar="SECONDS", help=help)


shapenet = group("Assets", click.option(
    "--shapenet", metavar="DIR", type=click.Path(exists=True, file_okay=False), is_eager=True, expose_value=False,
    callback=set_environment("DIORAMA_SHAPENET"),
    help="Root folder of ShapeNetCore.  [default: $DIORAMA_SHAPENET, or `root` in the section [shapenet] of "
    "./assets.toml or ~/.config/diorama/assets.toml, or else the 64 packaged models]",
))  # fmt: skip
asset_root = group("Assets", click.option(
    "--asset-root", "asset_roots", metavar="DIR", multiple=True, type=FOLDER,
    help="Folder in which to look for the meshes and .blend files that specs name; repeatable.  [default: none]",
))  # fmt: skip
as_json = group("Output", click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text."))
mix_series = flag("--mix-series", "Allow a store whose images come from another Blender series (4.5 or 5.2).")
out = group("Output", click.option("--out", type=NEW_PATH, metavar="FILE", help="Output file.  [default: stdout]"))
files = click.argument("files", nargs=-1, required=True)


class _Device(click.Choice[str]):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "gpu":
            self.fail(
                "found gpu; auto takes a GPU if there is one. To insist, pass the maker's: cuda or optix (NVIDIA), "
                "hip (AMD), oneapi (Intel), metal (Apple)",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


device = group("Rendering", click.option(
    "--device", type=_Device(DEVICE_NAMES), default=DEVICE_NAMES[0], help="Device to render on. auto: "
    "NVIDIA GPUs if there are any, otherwise the CPU. It is an error if a specified device does not exist."
))  # fmt: skip
store = click.argument("url", metavar="[STORE]", default=default_store)
at = group("Selection", value("--at", "VERSION", "Version number or tag of the store.  [default: the newest version]"))
where = group("Selection", click.option(
    "--where", metavar="SQL", help="SQL filter on columns of the store, such as \"split = 'train'\". If a column "
    "doesn't exist, the message lists all.  [default: all]"
))  # fmt: skip
splits = group(
    "Selection", repeated("--split", "splits", "NAME", "Include only this split; repeatable.  [default: all]")
)
questions = group("Selection", click.option(
    "--questions", type=Number(1, 1000), metavar="N", help="Instead of the items of benchmarks, use up to N questions "
    "about each image as items (see `render-specs questions`; exports: --format eval, huggingface, webdataset).  "
    "[default: no questions]",
))  # fmt: skip
families = group("Selection", repeated(
    "--family", "families", "NAME",
    "With --questions: family of questions; repeatable. forms: negations, exceptions, quantifiers and numbers.  "
    "[default: all but the forms]",
))  # fmt: skip
# Those that select items of a store.
selection = together(families, questions, limit("episodes"), splits, where, at)


def open_selected(url: str, values: dict[str, Any]) -> tuple[LanceReader, Selection]:
    """Open a store and take the options of `selection` out of the values of a command.

    Raises:
        StoreError: the store can't be read.
        UsageError: no episode has one of the splits.
    """
    from diorama.render.store.selection import Selection, condition

    splits = values.pop("splits")
    where = condition(values.pop("where"), splits=splits)
    chosen = Selection(where=where, **{name: values.pop(name) for name in ("limit", "questions", "families")})
    return open_reader(url, values.pop("at"), splits), chosen


workers = click.option("--workers", type=Number(1), help="Number of processes.  [default: one per core]")
