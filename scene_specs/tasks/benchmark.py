"""What a benchmark is: a module or package, registered in the group `diorama.benchmarks`, that offers

    Options        a `Command`: the options of `render-specs NAME`, which yields specs as JSON data
    COMMANDS       more classes of this kind, for `render-specs NAME COMMAND`; optional
    verify_spec, verify_record
                   see `Verifier`; in the module itself or in its file `verify`; optional
    items(episode) yields the evaluation items of a rendered episode, see diorama.scene_specs.tasks.items; in the
                   module itself or in its file `items`; optional
    asked(spec)    returns what a spec asks, see `Asked`, for `--balanced-answers`; in the module itself or in its file
                   `items`; optional
    contrasts(data, change, rng)
                   yields edits of a spec with the truth recomputed, see diorama.scene_specs.tasks.contrast; in the
                   module itself or in its file `contrast`; optional
    sources(task)  yields the published data that episodes with this task are derived from, for dataset cards; in the
                   module itself or in its file `importing`; optional
    import_published(path, camera, strict)
                   yields published episodes as EpisodeSpec for `render-specs import --from NAME`; in the module itself
                   or in its file `importing`; optional. Parameters `questions` and `images` get these options

A command is a class: its docstring is the help, and examples if it ends with a paragraph `Examples:`; its fields are
the options; `run` names the function that runs it. Only the class is imported for the help, so a benchmark keeps its
functions in other files than `__init__`. See scene_specs/benchmarks/clevr for a short one.

The type of a field decides what an option accepts: bool (a flag), int, float, str, Path, Literal (a choice),
tuple[int, int] (`3-10`), tuple[float, float] (`-10:40`), tuple[int, int, int] (`R,G,B`), tuple[X, ...] (repeatable),
dict[str, str] (repeatable `KEY=VALUE`). `option` and `argument` give the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Protocol, cast

from pydantic import BaseModel, ConfigDict, Field

from diorama.scene_specs.errors import Diagnostic, PluginError
from diorama.scene_specs.language.registry import plugin, plugins

if TYPE_CHECKING:
    from diorama.scene_specs.model.record import EpisodeRecord
    from diorama.scene_specs.model.spec import EpisodeData


def option(default: Any, description: str, ge: float | None = None, le: float | None = None, **extra: str) -> Any:
    """Describe a field of a command as an option.

    Args:
        default: `...` makes the option required.
        ge: least number.
        le: greatest number.
        extra: `metavar`: placeholder of the value. `name`: such as "--set", if it differs from the field. `path`:
            "file", "folder" or "any", if the path must exist. `environment`: variable that the option sets until the
            command ends. `group`: title of this option, and of those that follow it, in the help. `leaves`: version
            that no longer has the option; until then, the help leaves it out, and its use is warned about.
    """
    return Field(default, description=description, ge=ge, le=le, json_schema_extra={**extra})


def argument(default: Any = ..., **extra: str) -> Any:
    """Describe a field of a command as a positional argument; see `option`."""
    return Field(default, json_schema_extra={**extra, "argument": True})


Seed = Annotated[int, option(..., "Random seed.", ge=0, le=2**63 - 1, group="Sampling")]
First = Annotated[
    int, option(..., "Number of the episode to start with; numbers start at 0.", ge=0, le=10**9 - 1, group="Sampling")
]


class Command(BaseModel):
    """Options of a command. A validator that raises ValueError reports options that contradict each other.

    Attributes:
        run: "file:function" of the benchmark. The function gets the options and returns specs (any iterable, or a
            Series), or a Result.
        writes: options that the command line adds, "out" and "json".
        check: see SpecsCommand.
        text: see Report.
        short_name: `render-specs SHORT_NAME` warns and does the same as `render-specs NAME COMMAND`, until version
            0.3. It has to be a text in the head of the class, because the names are read from the source.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: ClassVar[str] = "generate:generate"
    writes: ClassVar[tuple[str, ...]] = ("out",)
    check: ClassVar[str] = ""
    text: ClassVar[str] = ""
    short_name: ClassVar[str] = ""

    def __init_subclass__(cls, **named: Any) -> None:
        """Set class variables from keywords: `class Audit(Report, run="audit:audit")`."""
        for name in ("run", "writes", "check", "text", "short_name"):
            if name in named:
                setattr(cls, name, named.pop(name))
        super().__init_subclass__(**named)


class SpecsCommand(Command):
    """A command that reads specs: its function also gets the episodes of `files`, as JSON data.

    Attributes:
        check: "file:function" that raises SpecError for an episode of another benchmark; by default its name decides.
    """

    writes: ClassVar[tuple[str, ...]] = ("json", "out")
    files: tuple[str, ...] = argument()


class Report(SpecsCommand):
    """A report on specs: its function gets the episodes only, and returns rows, as JSON data.

    `render-specs report NAME` writes a benchmark's first report.

    Attributes:
        text: "file:function" that makes a table of the rows.
    """


class StoreCommand(Command):
    """A command that reads rendered episodes: its function also gets the Episodes of `store`."""

    store: str = argument("", metavar="[STORE]")


class ModelCommand(Command):
    """A command that may ask chat models: its function also gets a ModelOpener (diorama.scene_specs.tasks.chat).

    Replies are kept in `<out>.replies`, so that a run with `resume` doesn't pay for them again.
    """

    out: Path | None = None
    resume: bool = False
    base_url: str = option(
        "", "Address of an OpenAI-compatible server.  [default: that of OpenAI]", metavar="URL", group="Models"
    )
    parameters: dict[str, str] = option(
        {},
        "Parameter of each request, such as temperature=0.7. VALUE is JSON; null removes one that is sent by default. "
        "Repeatable.",
        name="--set",
    )
    timeout: float = option(120.0, "Seconds to wait for a reply.", ge=0.001)
    max_requests: int | None = option(None, "Maximum number of requests of this run.  [default: no limit]", ge=1)
    max_tokens: int | None = option(
        None, "Maximum number of tokens, of prompts and replies, of this run.  [default: no limit]", ge=1
    )
    price: tuple[float, float] = option(
        (0.0, 0.0), "Prices of a million input tokens and of a million output tokens.", metavar="INPUT:OUTPUT"
    )
    parallel: int = option(1, "Number of games or questions to work on at a time.", ge=1, le=256)


class Episodes(Protocol):
    """The episodes of a store."""

    def ids(self) -> Collection[str]:
        """Return all ids, sorted."""

    def read(self, ids: Sequence[str]) -> Iterator[EpisodeRecord]:
        """Yield the episodes with these ids, in their order.

        Raises:
            UsageError: an episode is damaged.
        """


@dataclass(frozen=True)
class Series:
    """Items that are made one by one: JSON data for --out, or any objects if the function writes its own files.

    Attributes:
        total: number of items, for progress bars.
        unit: what they are.
        done: printed at the end.
    """

    items: Iterable[Any]
    total: int | None = None
    unit: str = "episodes"
    done: str = ""

    @classmethod
    def of(cls, items: Series | Iterable[Any]) -> Series:
        """Return what a function of a benchmark made as a Series."""
        return items if isinstance(items, Series) else cls(items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


@dataclass(frozen=True)
class Result:
    """What a command reports: text, or `data` with --json.

    Attributes:
        diagnostics: errors that end it with exit code 2.
        chart: lines to draw as SVG.
        ascii_only: whether other characters are escaped in JSON.
    """

    data: Any
    text: str
    diagnostics: Sequence[Diagnostic] = ()
    chart: Chart | None = None
    ascii_only: bool = True


@dataclass(frozen=True)
class Chart:
    """A line chart.

    Attributes:
        panels: (title, name -> points (x, y, low, high), greatest y or None, level to mark or None).
    """

    path: Path
    title: str
    axis: str
    panels: Sequence[tuple[str, Mapping[str, Sequence[tuple[float, float, float, float]]], float | None, float | None]]


class Asked(NamedTuple):
    """What an episode asks, for sets in which each answer is equally frequent.

    Attributes:
        group: the same for questions that a reader of the text would answer alike.
        answers: all that the text allows, or their places among the options.
    """

    group: str
    answer: str
    answers: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.group} with the answer {self.answer}"


class Verifier(Protocol):
    """Verification of a benchmark. Both functions raise SpecError for an episode that they can't read."""

    def verify_spec(self, data: EpisodeData) -> str:
        """Return why the stored truth of a spec, as JSON data, is wrong; "" if it is right."""

    def verify_record(self, episode: EpisodeRecord) -> str:
        """Return why the stored truth of a rendered episode is wrong; "" if it is right."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark of the registry, imported.

    Attributes:
        module: what its entry point names.
    """

    name: str
    module: Any

    @property
    def options(self) -> type[Command]:
        """The options of its generation.

        Raises:
            PluginError: it has none.
        """
        return cast(type[Command], self._load_attribute(self.module, "Options"))

    @property
    def commands(self) -> dict[str, type[Command]]:
        """The other commands of the benchmark: name -> class."""
        return {one.__name__.lower(): one for one in getattr(self.module, "COMMANDS", ())}

    @property
    def verifier(self) -> Verifier | None:
        """The verification of the benchmark, if it has one."""
        return cast(Verifier | None, self._module_or_file("verify_spec", "verify"))

    @property
    def items(self) -> Callable[[EpisodeRecord], Iterable[Any]] | None:
        """The function that makes its evaluation items (diorama.scene_specs.tasks.items.Item), if it has one."""
        return getattr(self._module_or_file("items", "items"), "items", None)

    @property
    def contrasts(self) -> Callable[..., Iterator[Any]] | None:
        """The function that yields edits of a spec (diorama.scene_specs.tasks.contrast.Edit), if it has one."""
        return getattr(self._module_or_file("contrasts", "contrast"), "contrasts", None)

    @property
    def asked(self) -> Callable[[EpisodeData], Asked] | None:
        """The function that says what a spec, as JSON data, asks, if it has one."""
        return getattr(self._module_or_file("asked", "items"), "asked", None)

    @property
    def sources(self) -> Callable[[Mapping[str, Any]], Iterable[str]] | None:
        """The function that names the published data that an episode is derived from, if it has one."""
        return getattr(self._module_or_file("sources", "importing"), "sources", None)

    def _module_or_file(self, name: str, file: str) -> Any:
        """Return the module itself, if it has this function, or else its file; None if there is neither."""
        if callable(getattr(self.module, name, None)):
            return self.module
        file = f"{self._package_name}.{file}"
        return import_module(file) if hasattr(self.module, "__path__") and util.find_spec(file) else None

    @property
    def _package_name(self) -> str:
        return str(getattr(self.module, "__name__", self.name))

    def function(self, target: str) -> Callable[..., Any]:
        """Return the function `file:name`, of the module itself or of its file.

        Raises:
            PluginError: there is none.
        """
        file, _, name = target.partition(":")
        found = getattr(self.module, name, None)
        if not callable(found):
            try:
                found = self._load_attribute(import_module(f"{self._package_name}.{file}"), name)
            except ModuleNotFoundError as error:
                raise PluginError(f"benchmark {self.name!r} has no {name}: {error}") from error
        return cast(Callable[..., Any], found)

    def _load_attribute(self, module: Any, name: str) -> Any:
        if not hasattr(module, name):
            raise PluginError(f"benchmark {self.name!r} has no {name} in {self._package_name}")
        return getattr(module, name)


def benchmark(name: str) -> Benchmark:
    """Import a benchmark by name.

    Raises:
        PluginError: there is none, or it can't be imported.
    """
    return Benchmark(name, plugin("benchmarks", name).load())


def benchmark_of(task: Mapping[str, Any] | None) -> str | None:
    """Return the benchmark of an episode with this `task`; None if there is none or it is unknown."""
    known = plugins("benchmarks")
    if task and "benchmark" not in task:
        # Only episodes of older versions name none.
        own = (one for one in known.values() if one.own)
        return next((one.name for one in own if getattr(one.load(), "claims", lambda task: False)(task)), None)
    name = str((task or {}).get("benchmark"))
    return name if name in known else None


def verifier_of(task: Mapping[str, Any] | None) -> Verifier | None:
    """Return the verifier of an episode with this `task`; None if there is nothing to verify."""
    name = benchmark_of(task)
    return None if name is None else benchmark(name).verifier
