"""Specs of a benchmark: a given number of them, or an endless stream of blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pydantic import ValidationError

from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.language.diagnostics import value_at
from diorama.scene_specs.language.rng import generator, shuffled
from diorama.scene_specs.language.validation import option_problems
from diorama.scene_specs.model.spec import EpisodeData
from diorama.scene_specs.tasks.benchmark import benchmark as find_benchmark

# Episodes of a block.
BLOCK = 256
# Of a benchmark that takes no number of episodes, a block chooses among so many.
_MOST_READ = 4 * BLOCK


def generate(benchmark: str, /, count: int | None = None, seed: int = 0, **options: Any) -> Iterator[EpisodeData]:
    """Generate the specs of a benchmark, one at a time.

    Args:
        benchmark: built-in, or of an installed package; see docs/extending.md.
        count: number of episodes, for benchmarks whose number is not fixed.
        seed: random seed.
        **options: those of `render-specs BENCHMARK`, with underscores.

    Yields:
        Specs as JSON data.

    Raises:
        UsageError: an option is wrong.
        PluginError: the benchmark is unknown.
        SpecError: values make no spec; possibly raised with the first spec only.

    Examples:
        >>> import diorama
        >>> spec = next(diorama.generate("clevr", count=1, seed=1))
        >>> spec["id"], len(spec["frames"])
        ('clevr/train/000000', 1)
    """
    found = find_benchmark(benchmark)
    given = {"seed": seed, **options} if count is None else {"count": count, "seed": seed, **options}
    for name, info in found.options.model_fields.items():
        variable = value_at(info.json_schema_extra, ("environment",))
        if name in given and variable:
            raise UsageError(f"benchmark {benchmark}: {name}: set the variable {variable} instead")
    try:
        chosen = found.options(**given)
    except ValidationError as error:
        raise UsageError(f"benchmark {benchmark}: {'; '.join(option_problems(error))}") from None
    return iter(found.function(chosen.run)(chosen))


@dataclass(frozen=True)
class Source:
    """A benchmark of a stream.

    Attributes:
        benchmark: name of the benchmark.
        weight: share of each block, relative to the other sources.
        options: options as for `generate`, without `count` and `seed`.
    """

    benchmark: str
    weight: float = 1.0
    options: Mapping[str, Any] = field(default_factory=dict)

    def generate(self, count: int, seed: int) -> Iterator[EpisodeData]:
        """Generate specs: of a benchmark that takes a number, by this number, which may stand for several episodes."""
        taken = find_benchmark(self.benchmark).options.model_fields.get("count")
        if taken is None:
            return generate(self.benchmark, seed=seed, **self.options)
        most = min((rule.le for rule in taken.metadata if hasattr(rule, "le")), default=count)
        return generate(self.benchmark, min(count, most), seed, **self.options)


def sources_of(benchmark: str | Mapping[str, Any], options: Mapping[str, Any]) -> tuple[Source, ...]:
    """Return the sources that a caller names, and check their options.

    Args:
        benchmark: a name, or a mixture: name -> weight, or name -> options with the key `weight`.
        options: options of the benchmark, if it is one.

    Raises:
        UsageError: an option is wrong.
        PluginError: a benchmark is unknown.
    """
    if isinstance(benchmark, str):
        sources = [Source(benchmark, 1.0, dict(options))]
    else:
        mixed = {name: dict(own) if isinstance(own, Mapping) else {"weight": own} for name, own in benchmark.items()}
        sources = [Source(name, own.pop("weight", 1.0), own) for name, own in mixed.items()]
        if options:
            raise UsageError(
                f"found {', '.join(sorted(options))} beside a mixture; give each benchmark its own options: "
                '{"mewl": {"weight": 2, "task": "shape"}, "malevic": {"weight": 1}}'
            )
    weights = {source.benchmark: source.weight for source in sources}
    numbers = [weight for weight in weights.values() if isinstance(weight, int | float) and 0 < weight < 1e9]
    if len(numbers) < max(1, len(weights)) or BLOCK * min(numbers) < sum(numbers):
        raise UsageError(
            f"found the weights {weights}; expected a positive number for each, at least 1/{BLOCK} of their sum"
        )
    for source in sources:
        if set_here := sorted({"count", "seed"} & {*source.options}):
            raise UsageError(f"benchmark {source.benchmark}: {set_here[0]} can't be an option of an endless stream")
        source.generate(1, 0)
    return tuple(sources)


class Blocks:
    """An endless stream of blocks of 256 specs. Each depends on its seed and number only.

    A block is what its benchmarks generate for a seed of its own, so it is as balanced as they make it. Surplus
    episodes are left out at random. Ids begin with `live.<seed>.<block>.<part>/`, which no other stream has.

    Args:
        sources: sources of each block, by weight.
        seed: seed of the stream.
        epoch: another one has other episodes.
    """

    def __init__(self, sources: Sequence[Source], seed: int, epoch: int = 0) -> None:
        self._sources, self._seed, self._name = sources, seed, f"{seed}.{epoch}" if epoch else str(seed)
        # How many episodes a benchmark generates for a count of 1.
        self._multiples: dict[int, int] = {}

    def block(self, number: int) -> list[EpisodeData]:
        """Return the specs of a block, in random order.

        Raises:
            DioramaError: what `generate` raises; UsageError if it yields nothing.
        """
        total, done, specs = sum(source.weight for source in self._sources), 0.0, list[EpisodeData]()
        for index, source in enumerate(self._sources):
            done += source.weight
            specs += self._make(index, f"{self._name}.{number}.{index}", int(BLOCK * done / total + 0.5) - len(specs))
        return shuffled(generator(self._seed, f"{self._name}.{number}", "order"), specs)

    def _make(self, index: int, name: str, wanted: int) -> list[EpisodeData]:
        source, found = self._sources[index], list[EpisodeData]()
        if index not in self._multiples:
            self._multiples[index] = max(1, len(list(islice(source.generate(1, self._seed), BLOCK))))
        for more in range(wanted):
            if len(found) >= wanted:
                break
            rng = generator(self._seed, f"{name}.{more}", "block")
            # No fewer for a part: the first few of a benchmark may all have one answer.
            count = -(-BLOCK // self._multiples[index])
            made = list(islice(source.generate(count, int(rng.integers(2**62))), _MOST_READ))
            if not made:
                raise UsageError(f"benchmark {source.benchmark}: these options generate no episode")
            chosen = shuffled(rng, made)[: wanted - len(found)]
            found += [{**spec, "id": f"live.{name}.{more}/{spec['id']}"} for spec in chosen]
        return found
