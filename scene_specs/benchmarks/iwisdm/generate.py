"""Trials as specs: any one alone from its plan and number, planned with those before it where tasks must differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scene_specs.benchmarks.iwisdm.autotask import UNIQUE, AutoTasks
from scene_specs.benchmarks.iwisdm.backwards import Wanted
from scene_specs.benchmarks.iwisdm.balance import Balance, Chance, wanted_for
from scene_specs.benchmarks.iwisdm.bank import TASKS
from scene_specs.benchmarks.iwisdm.compose import alone, chained, with_described, with_fillers
from scene_specs.benchmarks.iwisdm.config import AutoTaskConfig
from scene_specs.benchmarks.iwisdm.draws import Draws
from scene_specs.benchmarks.iwisdm.emit import spec_of
from scene_specs.benchmarks.iwisdm.input_errors import refused
from scene_specs.benchmarks.iwisdm.session import Session
from scene_specs.benchmarks.iwisdm.setup import MOST_TRIALS, Setup
from scene_specs.benchmarks.iwisdm.space import Space
from scene_specs.benchmarks.iwisdm.trial import Trial, make_trial

# Draws of another trial where one of a task came out as an earlier one did.
_ATTEMPTS = 50
Sessions = Callable[[int], Session]


def auto_sessions(
    config: AutoTaskConfig, setup: Setup, name: str, trials: int, unique: str = "frames", chain: int = 1
) -> Sessions:
    """Frame plans of AutoTask's tasks, by task number. chain: tasks a trial.

    Raises SpecError at once if the space has fewer tasks than `trials` trials need.
    """
    if unique not in UNIQUE:
        raise refused(f"found {unique!r}; allowed: {', '.join(UNIQUE)}")
    needed = -(-trials // setup.trials_per_task) * chain
    tasks = AutoTasks(Space(config), setup.seed, f"{setup.split} {name}", unique, needed)

    def session(number: int) -> Session:
        row = [tasks.task(number * chain + k) for k in range(chain)]
        if chain == 1:
            return alone(row[0])
        return chained(row, Draws(setup.seed, name, f"chain {setup.split} {number}"))

    return session


def bank_sessions(task: str, setup: Setup, settings: dict[str, Any]) -> Sessions:
    """Frame plans of a classic task, by number. settings: as scene_specs.benchmarks.iwisdm.settings reads them."""
    return lambda number: TASKS[task](Draws(setup.seed, task, f"session {setup.split} {number}"), **settings)


def trial_specs(sessions: Sessions, setup: Setup, name: str, first: int, count: int) -> Iterator[dict[str, Any]]:
    """Trials first ... first + count - 1 as JSON data that EpisodeSpec takes; ids `iwisdm/<split>/<name>/<6 digits>`.

    A trial is the same whichever others are asked for: those before it are planned too where it depends on them.
    Raises SpecError for numbers from 10,000,000 on.
    """
    if first < 0 or first + count > MOST_TRIALS:
        raise refused(f"found trials {first} to {first + count - 1}; they are numbered from 0 to {MOST_TRIALS - 1}")
    balance = Balance(setup.seed, f"{setup.split} {name}") if setup.balanced else None
    seen: set[tuple[Any, ...]] = set()
    # Only balance depends on all trials before; that no two of a task are the same, on those of the task.
    start = 0 if balance else first - first % setup.trials_per_task
    for number in range(start, first + count):
        task, place = divmod(number, setup.trials_per_task)
        if place == 0:
            seen.clear()
        session = _with_distractors(sessions(task), setup, f"{name} {number}")
        wanted = _wanted(session, setup, balance, f"{name} {number}")
        if number < first and setup.trials_per_task == 1:
            continue
        trial = _new_trial(session, wanted, setup, f"{name} {number}", seen)
        if number >= first:
            yield spec_of(trial, setup, name, number)


def _with_distractors(session: Session, setup: Setup, key: str) -> Session:
    draws = Draws(setup.seed, key, f"distractors {setup.split}")
    if setup.fillers:
        session = with_fillers(session, setup.fillers, draws)
    return with_described(session, setup.described, draws) if setup.described else session


def _wanted(session: Session, setup: Setup, balance: Balance | None, key: str) -> list[Wanted | None]:
    draws = Draws(setup.seed, key, f"wanted {setup.split}")
    found: list[Wanted | None] = []
    for number, one in enumerate(session.placed):
        if number in session.aims:
            found.append(Wanted(session.aims[number]))
        elif number in session.shares and balance is None:
            found.append(Wanted(draws.chance(session.shares[number])))
        else:
            found.append(wanted_for(one.task, setup.stimuli, balance or Chance(draws)))
    return found


def _new_trial(
    session: Session, wanted: list[Wanted | None], setup: Setup, key: str, seen: set[tuple[Any, ...]]
) -> Trial:
    """One that no earlier trial of its task is."""
    for attempt in range(_ATTEMPTS):
        draws = Draws(setup.seed, key, f"objects {setup.split} {attempt}")
        trial = make_trial(session, wanted, setup.stimuli, draws, setup.options)
        content = (trial.frames, trial.instruction)
        if content not in seen:
            seen.add(content)
            return trial
    raise refused(
        f"trial {key}: in {_ATTEMPTS} draws its task gave only trials that are there already",
        "ask for fewer trials a task, or give more stimuli",
    )
