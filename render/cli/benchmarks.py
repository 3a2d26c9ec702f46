"""Commands of benchmarks, made from the models of their options; see diorama.scene_specs.tasks.benchmark."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import cleandoc
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import click

from diorama.render.cli import options as opt
from diorama.render.cli.command import DioramaCommand, DioramaGroup, log
from diorama.render.cli.output import json_text, progress, write_lines, write_text
from diorama.render.cli.plugin_help import class_keyword
from diorama.scene_specs.errors import PluginError, SpecError, UsageError
from diorama.scene_specs.files.writing import is_stream, output_file
from diorama.scene_specs.language.registry import plugin, plugins

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from diorama.scene_specs.model.spec import EpisodeData
    from diorama.scene_specs.tasks.benchmark import Benchmark, Command, Result, Series

_PATHS = {"file": opt.FILE, "folder": opt.FOLDER, "any": click.Path(exists=True, path_type=Path), "": opt.NEW_PATH}
_METAVARS = {"file": "FILE", "folder": "DIR"}
_like = click.option(
    "--like",
    multiple=True,
    metavar="SPECS",
    help="Generate other episodes than these, as many of each task, split, number of frames, number of objects, and "
    "answer yes or no. Repeat the options that these were generated with, but with another --seed. Repeatable.",
)
_balanced = click.option(
    "--balanced-answers",
    is_flag=True,
    help="Replace episodes until, among questions that read alike, each answer is equally frequent.",
)
_ADDED = {"json": opt.as_json, "out": opt.out, "like": _like, "balanced_answers": _balanced}


def names() -> dict[str, tuple[str, str]]:
    """Return the names of all commands of benchmarks -> benchmark, class of the command; imports none.

    A benchmark's own name has the class "options". Others are short names, which version 0.3 no longer has.
    """
    registered = plugins("benchmarks")
    listed = [
        (text, owner, below)
        for owner in registered.values()
        for text, below in class_keyword(owner, "short_name").items()
    ]
    listed = [*reversed(listed), *((name, owner, "options") for name, owner in registered.items())]
    # Those of packages first: Diorama's own replace them.
    return {text: (owner.name, below) for text, owner, below in sorted(listed, key=lambda each: each[1].own)}


def command(name: str) -> click.Command | None:
    """Return the command of a benchmark, or one with a short name; None if there is none.

    Raises:
        PluginError: the benchmark can't be imported, or does not list the command.
    """
    from diorama.scene_specs.tasks.benchmark import benchmark

    if name not in (known := names()):
        return None
    owner, below = known[name]
    definition = benchmark(owner)
    if owner == name:
        return _group(name, definition) if definition.commands else _command(name, definition, definition.options)
    if below not in definition.commands:
        problem = f"COMMANDS has no class {below!r}, which has short_name={name!r}; add it"
        raise PluginError(f"{plugin('benchmarks', owner).label}: {problem}")
    return _command(name, definition, definition.commands[below], f"render-specs {owner} {below}")


def _group(name: str, benchmark: Benchmark) -> click.Group:
    """Return a command that generates, or invokes a subcommand."""
    options = benchmark.options
    own = _command(name, benchmark, options)
    required = [param for param in own.params if param.required]
    for param in required:
        param.required = False

    @click.pass_context
    def generate(ctx: click.Context, /, **values: Any) -> None:
        given = [param.opts[0] for param in own.params if param.expose_value and opt.is_given(ctx, param.name)]
        if below := ctx.invoked_subcommand:
            if given:
                hint = f"write options of `{below}` after its name"
                raise click.UsageError(f"{', '.join(given)}: for `{name}` without a subcommand; {hint}")
            return
        for param in required:
            if param.opts[0] not in given:
                raise click.UsageError(f"give {param.opts[0]} {param.make_metavar(ctx)}, or a subcommand")
        assert own.callback is not None
        own.callback(**values)

    commands = {below: _command(below, benchmark, model) for below, model in benchmark.commands.items()}
    return DioramaGroup(
        name, commands, invoke_without_command=True, callback=generate, params=own.params, help=options.__doc__
    )


def _command(name: str, benchmark: Benchmark, model: type[Command], long_name: str = "") -> click.Command:
    """Return the command of a model. long_name: what to call instead, if `name` is a short name."""
    from diorama.scene_specs.tasks.benchmark import SpecsCommand, StoreCommand

    @click.pass_context
    def callback(ctx: click.Context, /, **values: Any) -> None:
        if long_name:
            log.warning("`render-specs %s` is now `%s`; version 0.3 has only the new name", name, long_name)
        added = {key: values.pop(key, None) for key in ("as_json", *_ADDED) if key not in model.model_fields}
        given = {key: value for key, value in values.items() if opt.is_given(ctx, key)}
        if issubclass(model, StoreCommand):
            given.setdefault("store", opt.default_store())
        options = _options(model, given)
        like, even = added.get("like") or (), bool(added.get("balanced_answers"))
        if like and even:
            raise click.UsageError("pass --like or --balanced-answers, not both")
        run(benchmark, options, added.get("out"), bool(added.get("as_json")), like, even)

    generates = model is benchmark.options and "seed" in model.model_fields
    for key in reversed((*model.writes, *("like", "balanced_answers") * generates)):
        callback = _ADDED[key](callback)
    params = [parameter(key, field) for key, field in model.model_fields.items()]
    epilog = opt.FILES_HELP if issubclass(model, SpecsCommand) else None
    help = cleandoc(model.__doc__ or "")
    return click.command(name, DioramaCommand, params=params, help=help, epilog=epilog)(callback)


def _options(model: type[Command], given: dict[str, Any]) -> Command:
    """Options from the values of a command line. Raises click.UsageError."""
    from pydantic import ValidationError

    from diorama.scene_specs.language.validation import option_problems

    try:
        return model(**given)
    except ValidationError as error:
        raise click.UsageError("; ".join(option_problems(error))) from error


def parameter(name: str, field: FieldInfo) -> click.Parameter:
    """Return the option or argument of a field."""
    extra: dict[str, Any] = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    kind: Any = field.annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(member for member in get_args(kind) if member is not NoneType)
    many = get_origin(kind) is dict or get_args(kind)[-1:] == (...,)
    value_type = _type(get_args(kind)[0] if many else kind, field, extra)
    metavar: Any = extra.get("metavar", getattr(value_type, "metavar", None) or _METAVARS.get(extra.get("path", "")))
    if "argument" in extra:
        nargs = -1 if many else 1
        return click.Argument([name], type=value_type, nargs=nargs, required=field.is_required(), metavar=metavar)
    declared = [str(extra.get("name", f"--{name.replace('_', '-')}")), name]
    more: dict[str, Any] = {"help": field.description, "metavar": metavar, "required": field.is_required()}
    more["hidden"] = "leaves" in extra
    if "environment" in extra:
        more |= {"is_eager": True, "expose_value": False, "callback": opt.set_environment(str(extra["environment"]))}
    elif get_origin(kind) is dict:
        more |= {"metavar": metavar or "KEY=VALUE", "callback": parse_settings}
    if kind is bool:
        more["is_flag"] = True
    if isinstance(value_type, opt.Numbers) and field.default is not None:
        numbers = field.default if len({*field.default}) > 1 else field.default[:1]
        more["default"] = value_type.separator.join(f"{number:g}" for number in numbers)
    elif not many and not field.is_required():
        more |= {"default": field.default, "show_default": field.default != ""}
    option = click.Option(declared, type=value_type, multiple=many, **more)
    if "group" in extra:
        option.group = extra["group"]  # type: ignore[attr-defined]
    return option


def _type(kind: Any, field: FieldInfo, extra: dict[str, Any]) -> Any:
    """Return the click type of one value."""
    if kind is Path:
        return _PATHS[extra.get("path", "")]
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if get_origin(kind) is tuple:
        return opt.Numbers(get_args(kind)[0], len(get_args(kind)), extra.get("metavar", ""))
    limits = {key: getattr(limit, key) for limit in field.metadata for key in ("ge", "le") if hasattr(limit, key)}
    if limits:
        most = sys.float_info.max
        return opt.Number(limits.get("ge", -most), limits.get("le", most), kind)
    return kind


def parse_settings(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Parse any number of `KEY=VALUE`.

    Raises:
        BadParameter: a value is of another form.
    """
    if any("=" not in value for value in values):
        raise click.BadParameter("expected KEY=VALUE, such as n=3 or delay=2-5")
    return {name: text for name, _, text in (value.partition("=") for value in values)}


def run(
    benchmark: Benchmark,
    options: Command,
    out: Path | None,
    as_json: bool,
    like: Sequence[str] = (),
    even: bool = False,
) -> None:
    """Run a command of a benchmark and write what it returns.

    Args:
        benchmark: benchmark of the command.
        options: the command with its options.
        out: file for the output, None for stdout.
        as_json: write JSON instead of text.
        like: specs whose siblings are generated.
        even: generate each answer of a group of questions equally often.

    Raises:
        DioramaError: what the command raises.
    """
    from diorama.scene_specs.tasks.benchmark import Report, Result, Series

    if out is not None and str(out) != "-":
        # Before the work.
        output_file(out)
    with _inputs(benchmark, options) as inputs:
        produced: Any
        if isinstance(options, Report):
            rows = benchmark.function(options.run)(*inputs)
            produced = Result(rows, benchmark.function(options.text)(rows))
        elif like:
            produced = _siblings(benchmark, options, like)
        elif even:
            produced = _balanced_series(benchmark, options)
        else:
            produced = benchmark.function(options.run)(options, *inputs)
        if isinstance(produced, Result):
            _write_result(produced, out, as_json)
            return
        series = Series.of(produced)
        if "out" in options.writes:
            lines = (json.dumps(item, separators=(",", ":")) for item in series.items)
            write_lines(out, lines, series.unit, series.total)
            return
        for _ in progress(series.items, series.unit, series.total):
            pass
        if series.done:
            click.echo(series.done)


def _siblings(benchmark: Benchmark, options: Command, names: Sequence[str]) -> Series:
    from diorama.scene_specs.errors import spec_error
    from diorama.scene_specs.reading.source import read_benchmark
    from diorama.scene_specs.tasks.benchmark import Series, benchmark_of
    from diorama.scene_specs.tasks.siblings import siblings

    def check(data: dict[str, Any]) -> None:
        if (owner := benchmark_of(data.get("task"))) != benchmark.name:
            problem = f"--like: found an episode of {owner or 'no benchmark'}; expected one of {benchmark.name}"
            raise spec_error(problem, episode=data["id"])
        if "settings" in data:
            raise spec_error("--like: found a resolved scene; pass the spec that it was made of", episode=data["id"])

    given = [*read_benchmark(names, benchmark.name, check)]
    return Series(siblings(given, *_maker(benchmark, options)), len(given))


def _balanced_series(benchmark: Benchmark, options: Command) -> Series:
    from diorama.scene_specs.tasks.benchmark import Series
    from diorama.scene_specs.tasks.siblings import balanced

    if benchmark.asked is None:
        problem = f"{benchmark.name} does not say what its episodes ask: it has no function `asked`"
        raise UsageError(f"--balanced-answers: {problem}; omit the option")
    return Series(balanced(benchmark.asked, *_maker(benchmark, options)))


def _maker(benchmark: Benchmark, options: Command) -> tuple[Callable[[int], Iterable[EpisodeData]], int]:
    """Return a function that generates specs from a seed, and the seed of the options."""

    def make(seed: int) -> Iterable[EpisodeData]:
        specs = benchmark.function(options.run)(options.model_copy(update={"seed": seed}))
        # Of these specs some are kept, so a report on all of them would be wrong.
        logging.disable(logging.WARNING)
        try:
            return [*specs]
        finally:
            logging.disable(logging.NOTSET)

    seed: int = getattr(options, "seed")  # noqa: B009  # Not all commands have one.
    return make, seed


@contextmanager
def _inputs(benchmark: Benchmark, options: Command) -> Iterator[tuple[Any, ...]]:
    """Yield what the function of a command gets besides its options."""
    from diorama.scene_specs.tasks.benchmark import ModelCommand, SpecsCommand, StoreCommand

    match options:
        case SpecsCommand():
            from diorama.scene_specs.reading.source import read_benchmark

            check = benchmark.function(options.check) if options.check else None
            yield (read_benchmark(options.files, benchmark.name, check),)
        case StoreCommand():
            from diorama.render.store.selection import StoreEpisodes

            yield (StoreEpisodes(options.store),)
        case ModelCommand():
            from diorama.render.uses.chat import ChatSettings, open_models

            given = ("base_url", "timeout", "max_requests", "max_tokens", "price")
            parameters = {name: json_or_text(value) for name, value in options.parameters.items()}
            settings = ChatSettings(parameters=parameters, **{name: getattr(options, name) for name in given})
            log = None if is_stream(options.out) else Path(f"{options.out}.replies")
            with open_models(settings, log, options.resume) as models:
                yield (models,)
        case _:
            yield ()


def json_or_text(value: str) -> Any:
    """Return a value in JSON, or the text itself."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def _write_result(result: Result, out: Path | None, as_json: bool) -> None:
    """Write text or JSON, and the chart. Raises SpecError for the diagnostics of a result."""
    if result.chart is not None:
        from diorama.render.uses.draw.charts import Panel, line_chart

        chart = result.chart
        write_text(chart.path, line_chart(chart.title, chart.axis, [Panel(*panel) for panel in chart.panels]), "--plot")
    write_text(out, json_text(result.data, result.ascii_only) if as_json else result.text)
    if result.diagnostics:
        # A text on the terminal lists them already.
        listed = not as_json and out is None
        raise SpecError(result.diagnostics[:1] if listed else result.diagnostics)
