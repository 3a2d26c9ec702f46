"""What `render-batch` and `diorama.render_to_store` do: a run, or a dry run."""

from __future__ import annotations

import time
from contextlib import closing

from diorama.render.compiler import compile_episode
from diorama.render.run.batch import Batch
from diorama.render.run.estimate import Work, read_measured
from diorama.render.run.local_ray import node_here
from diorama.render.run.machine import find_cards
from diorama.render.run.status import Progress
from diorama.render.run.summary import Summary
from diorama.render.run.worker import Failure
from diorama.render.run.worker_plan import plan_workers
from diorama.render.store import peek
from diorama.scene_specs.errors import CompileError, DeviceError, SpecError

# Seconds from the command to the first episode.
_START_SECONDS = 4.0


def run_batch(batch: Batch, dry_run: bool = False) -> Summary:
    """Check all specs, then render what is missing.

    Args:
        batch: to run.
        dry_run: compile instead of rendering.

    Raises:
        DioramaError: what `check_devices`, `plan` and `render` of the batch raise.
    """
    with batch.source:
        if dry_run:
            batch.plan()
            return _compile_missing(batch)
        batch.check_devices()
        batch.plan()
        return batch.render()


def _compile_missing(batch: Batch) -> Summary:
    """Compile what would be rendered. The summary names the episodes for which no layout is found."""
    summary = batch.summary
    summary.estimate = _predict_run(batch)
    with closing(Progress(summary, dry_run=True, on_progress=batch.on_progress)) as progress:
        for decision in batch.decisions(peek(summary.store)):
            if decision.kind not in ("render", "replace"):
                continue
            start = time.monotonic()
            try:
                compile_episode(decision.episode, decision.settings, batch.options.asset_roots)
                summary.would_replace += decision.kind == "replace"
            except (CompileError, SpecError) as error:
                summary.failed.append(Failure.of(error, decision.episode.id))
            progress.advance(seconds=time.monotonic() - start)
            progress.tick()
    batch.count_decisions()
    return summary


def _predict_run(batch: Batch) -> dict[str, float | bool]:
    """Predict what the run that `plan` prepared takes, see `predict`; {} if its devices are not here."""
    options, todo = batch.options, batch.summary.todo
    if options.address is not None:
        return {}
    node = node_here(find_cards(device=options.device).count)
    try:
        plans = plan_workers(options, [node], todo)
    except DeviceError:
        return {}
    cards = len({plan.card for plan in plans} - {None})
    cores = cards or min(node.cores, sum(plan.threads for plan in plans))
    return predict(batch.work, cores, batch.kind_of_run(plans))


def predict(work: Work, cores: int, kind: str) -> dict[str, float | bool]:
    """Predict seconds and bytes of a run.

    Args:
        work: of the run.
        cores: number of cores or GPUs.
        kind: renderer, device and host.

    Returns:
        `seconds`, `bytes`, and `measured`: whether earlier runs told the speed.
    """
    known = read_measured().get(kind, Work())
    speed = known.seconds / known.cost if known.cost else 1.0
    factor = known.bytes / known.expected_bytes if known.expected_bytes else 1.0
    seconds = _START_SECONDS + work.cost * speed / cores if work.cost else 0.0
    return {"seconds": round(seconds, 1), "bytes": round(work.expected_bytes * factor), "measured": known.cost > 0}
