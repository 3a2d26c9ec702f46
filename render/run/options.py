"""The options of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from diorama.render.machine.device_names import DeviceName
from diorama.render.store.resume import Policy
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.language.validation import option_problems

_Positive = Annotated[int, Field(ge=1)]
_Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class RunOptions:
    """The options of a run. One for a kind of device that does not render is an error, see `plan_workers`.

    Attributes:
        device: kind of device; auto is every GPU that is found, else the CPU.
        workers: number of CPU processes, None for one per core.
        gpus: number of GPUs, None for what `device` implies.
        workers_per_gpu: processes that share a GPU; None measures and chooses.
        threads: per CPU worker, None to share the cores evenly.
        worker_memory: bytes at which a worker is replaced, None for its share of the machine.
        address: of a Ray cluster, None for this machine.
        logical_gpus: number of GPUs that Ray assumes (tests).
        retries: further tries of an episode whose worker died or hung.
        max_failures: number of failed episodes at which the run stops, None never.
        timeout: seconds per image, None to derive it from samples and size.
        store_wait: seconds to retry commits to a store that fails.
        resume: what to do with ids that are stored already but were made from something else.
        keep_implausible: store images that can't be of their Scene, and unusual ones without a second render.
        recheck: render one in so many episodes on two workers, and compare; None for none.
        mix_series: write into a store that holds images of another series of Blender.
        renderer: a registered one, such as "cycles" or "fake", or "package.module:Class".
        commit_every: episodes per commit, if they come that fast.
        asset_roots: folders of .blend materials and meshes.
        json_log: file for one line per event.
        library: root, up and front of the model library, None for the built-in one; see
            diorama.scene_specs.shapes.shapenet.
        skip_broken: count episodes with missing or broken assets as failed, instead of stopping before rendering
            starts.
        profile: None for the default, or for a Scene's own.
        size: (width, height) in pixels; None for that of the stage, or for a Scene's own.
        look: for all specs, None for their own.
        limit: maximum number of episodes of the input.
        until: Unix seconds at which the run has to be over, None for the end of the Slurm job, if it is in one.
        part: (i, n) to render every n-th episode, beginning with the i-th (from 1); None for all. `limit` counts first.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    device: DeviceName = "auto"
    workers: _Positive | None = None
    gpus: _Positive | None = None
    workers_per_gpu: _Positive | None = None
    threads: _Positive | None = None
    worker_memory: _Positive | None = None
    address: str | None = None
    logical_gpus: int | None = None
    retries: _Count = 2
    max_failures: _Positive | None = None
    timeout: Annotated[float, Field(gt=0)] | None = None
    store_wait: Annotated[float, Field(ge=0)] = 300.0
    resume: Policy = "error"
    keep_implausible: bool = False
    recheck: _Positive | None = None
    mix_series: bool = False
    renderer: str = "cycles"
    commit_every: _Positive = 16
    asset_roots: tuple[Path, ...] = ()
    json_log: Path | None = None
    library: tuple[str, str, str] | None = None
    skip_broken: bool = False
    profile: str | None = None
    size: tuple[int, int] | None = None
    look: str | None = None
    limit: _Count | None = None
    until: float | None = None
    part: tuple[_Positive, _Positive] | None = None

    def __post_init__(self) -> None:
        if self.part is not None and self.part[0] > self.part[1]:
            raise UsageError(f"part {self.part[0]}/{self.part[1]}: found part {self.part[0]} of {self.part[1]}")


def parse_options(values: dict[str, Any]) -> RunOptions:
    """Check values that come from Python and return the options.

    Raises:
        UsageError: values are wrong; names every one.
    """
    try:
        return TypeAdapter(RunOptions).validate_python(values)
    except ValidationError as error:
        raise UsageError("\n".join(option_problems(error))) from None
