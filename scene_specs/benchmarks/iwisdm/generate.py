"""Trials as specs: settings of a run, wanted answers, and trials by number.

A trial depends on its frame plan and number only, except where tasks must differ or answers are balanced: then those
before it are planned, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from scene_specs.benchmarks import iwisdm
from scene_specs.benchmarks.iwisdm.autotask import UNIQUE, AutoTasks, TaskSpace
from scene_specs.benchmarks.iwisdm.autotask_config import AutoTaskConfig, benchmark, read_config
from scene_specs.benchmarks.iwisdm.classic_tasks import TASKS, read_settings
from scene_specs.benchmarks.iwisdm.constraints import Options, TargetAnswer, answers_of
from scene_specs.benchmarks.iwisdm.frame_plan import FramePlan, chained, with_described, with_fillers
from scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from scene_specs.benchmarks.iwisdm.operators import Value
from scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, Stimuli, object_spec, read_stimuli
from scene_specs.benchmarks.iwisdm.task_graph import TaskGraph
from scene_specs.benchmarks.iwisdm.trial import Trial, answer_text, make_trial, object_numbers
from scene_specs.language.benchmark import Series
from scene_specs.language.errors import spec_error
from scene_specs.language.foreign import read_text

SPLITS: tuple[str, ...] = ("train", "val", "test")
FIXATION: tuple[str, ...] = ("hold", "action", "none")
# Bounds the planning of earlier trials that balanced answers need.
MAX_TRIALS = 10_000_000
# As in the published code: branches of a Switch may agree, and objects that must differ are any two.
PUBLISHED = Options()
# Attempts to draw a trial that differs from the earlier ones of its task.
_ATTEMPTS = 50
_Item = TypeVar("_Item")
# Frame plans by task number.
FramePlans = Callable[[int], FramePlan]


@dataclass(frozen=True)
class TrialSettings:
    """The settings that all trials of a run share.

    trials_per_task: trial i is of task i // trials_per_task. balanced: answers exactly balanced over all trials from
    number 0 on. fillers, described: most distractors in empty frames and beside other objects. fixation: the cross is
    shown until the answer is due ("hold"), only then ("action"), or never. background: 8-bit sRGB, None for black.
    """

    seed: int = 0
    split: str = "train"
    stimuli: Stimuli = DEFAULT
    trials_per_task: int = 1
    balanced: bool = False
    options: Options = PUBLISHED
    fillers: int = 0
    described: int = 0
    fixation: str = "hold"
    background: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**63 or self.trials_per_task < 1 or min(self.fillers, self.described) < 0:
            raise spec_error("found a seed, a number of trials per task or of distractors out of range")
        if self.split not in SPLITS or self.fixation not in FIXATION:
            raise spec_error(f"found {self.split!r}, {self.fixation!r}; allowed: {', '.join((*SPLITS, *FIXATION))}")


def generate(options: iwisdm.Options) -> Series:
    """Trials by the options of `render-specs iwisdm`. Raises SpecError."""
    file = options.stimuli
    settings = TrialSettings(
        seed=options.seed,
        split=options.split,
        stimuli=read_stimuli(read_text(file), str(file)) if file else DEFAULT,
        trials_per_task=options.trials_per_task,
        balanced=options.balanced,
        options=Options(options.condition_matters, options.foils),
        fillers=options.distractor_frames,
        described=options.distractors,
        fixation=options.fixation,
        background=options.background,
    )
    plans, name = _plan_sessions(options, settings)
    return Series(trial_specs(plans, settings, name, options.first, options.count), options.count, "trials")


def _plan_sessions(options: iwisdm.Options, settings: TrialSettings) -> tuple[FramePlans, str]:
    """Frame plans, and the name that ids contain."""
    if options.task:
        return classic_plans(options.task, settings, read_settings(options.task, options.settings)), options.task
    if options.config:
        config, name = read_config(read_text(options.config), str(options.config)), "auto"
    else:
        assert options.benchmark is not None
        config = benchmark(options.benchmark, options.properties)
        name = f"{options.benchmark}-{options.properties}"
    if options.longest_delay:
        config = config.model_copy(update={"longest_delay": options.longest_delay})
    name += f"-x{options.chain}" if options.chain > 1 else ""
    trials = options.first + options.count
    return auto_plans(config, settings, name, trials, options.unique, options.chain), name


def auto_plans(
    config: AutoTaskConfig, settings: TrialSettings, name: str, trials: int, unique: str = "frames", chain: int = 1
) -> FramePlans:
    """Frame plans of AutoTask's tasks, by task number. chain: tasks per trial.

    Raises SpecError at once if the space has fewer tasks than `trials` trials need.
    """
    if unique not in UNIQUE:
        raise spec_error(f"found {unique!r}; allowed: {', '.join(UNIQUE)}")
    needed = -(-trials // settings.trials_per_task) * chain
    tasks = AutoTasks(TaskSpace(config), settings.seed, f"{settings.split} {name}", unique, needed)
    return lambda number: chained(
        [tasks.task(number * chain + k) for k in range(chain)],
        KeyedRng(settings.seed, name, f"chain {settings.split} {number}"),
    )


def classic_plans(task: str, settings: TrialSettings, arguments: dict[str, Any]) -> FramePlans:
    """Frame plans of a classic task, by number. arguments: see `classic_tasks.read_settings`."""
    return lambda number: TASKS[task](KeyedRng(settings.seed, task, f"session {settings.split} {number}"), **arguments)


class Chance:
    """Chooses at random; all options are equally likely."""

    def __init__(self, rng: KeyedRng) -> None:
        self._rng = rng

    def choose(self, _key: str, options: Sequence[_Item]) -> _Item:
        """One of the options."""
        return self._rng.pick(options)


class Balance:
    """Goes through all options of a key in a new order per round, so that their counts differ by at most one."""

    def __init__(self, seed: int, name: str) -> None:
        self._seed, self._name = seed, name
        self._taken: Counter[str] = Counter()
        self._rounds: dict[str, list[int]] = {}

    def choose(self, key: str, options: Sequence[_Item]) -> _Item:
        """One of the options; each key must always come with the same options."""
        turn, position = divmod(self._taken[key], len(options))
        self._taken[key] += 1
        if position == 0:
            rng = KeyedRng(self._seed, self._name, f"balance {key} {turn}")
            self._rounds[key] = rng.shuffled(range(len(options)))
        return options[self._rounds[key][position]]


def target_answer(task: TaskGraph, stimuli: Stimuli, by: Chance | Balance) -> TargetAnswer:
    """A wanted answer, and the conditions of the Switches that lead to it.

    Where all branches give answers of one kind, every answer comes equally often through every branch. Otherwise the
    branch is chosen first, then one of its answers.
    """
    leaves = task.leaves()
    kinds = [kind for _, kind in leaves]
    if len({*kinds}) == 1:
        value: Value = by.choose(kinds[0], answers_of(kinds[0], stimuli))
        conditions, _ = by.choose(f"{len(leaves)} ways to {value}", leaves)
    else:
        conditions, kind = by.choose(" ".join(kinds), leaves)
        value = by.choose(kind, answers_of(kind, stimuli))
    return TargetAnswer(value, conditions)


def trial_specs(
    plans: FramePlans, settings: TrialSettings, name: str, first: int, count: int
) -> Iterator[dict[str, Any]]:
    """Trials first ... first + count - 1 as JSON data that EpisodeSpec takes; ids `iwisdm/<split>/<name>/<6 digits>`.

    A trial does not depend on `first` and `count`. Raises SpecError for numbers from 10,000,000 on.
    """
    if first < 0 or first + count > MAX_TRIALS:
        found = f"found trials {first} to {first + count - 1}"
        raise spec_error(f"{found}; trials are numbered from 0 to {MAX_TRIALS - 1}")
    balance = Balance(settings.seed, f"{settings.split} {name}") if settings.balanced else None
    seen: set[tuple[Any, ...]] = set()
    # Balance depends on all trials before; the check for repeated trials on those of the same task.
    start = 0 if balance else first - first % settings.trials_per_task
    for number in range(start, first + count):
        task, position = divmod(number, settings.trials_per_task)
        if position == 0:
            seen.clear()
        plan = _with_distractors(plans(task), settings, f"{name} {number}")
        wanted = _wanted(plan, settings, balance, f"{name} {number}")
        if number < first and settings.trials_per_task == 1:
            continue
        trial = _new_trial(plan, wanted, settings, f"{name} {number}", seen)
        if number >= first:
            yield spec_of(trial, settings, name, number)


def _with_distractors(plan: FramePlan, settings: TrialSettings, key: str) -> FramePlan:
    rng = KeyedRng(settings.seed, key, f"distractors {settings.split}")
    if settings.fillers:
        plan = with_fillers(plan, settings.fillers, rng)
    return with_described(plan, settings.described, rng) if settings.described else plan


def _wanted(plan: FramePlan, settings: TrialSettings, balance: Balance | None, key: str) -> list[TargetAnswer | None]:
    rng = KeyedRng(settings.seed, key, f"wanted {settings.split}")
    found: list[TargetAnswer | None] = []
    for number, one in enumerate(plan.placed):
        if number in plan.aims:
            found.append(TargetAnswer(plan.aims[number]))
        elif number in plan.shares and balance is None:
            found.append(TargetAnswer(rng.chance(plan.shares[number])))
        else:
            found.append(target_answer(one.task, settings.stimuli, balance or Chance(rng)))
    return found


def _new_trial(
    plan: FramePlan, wanted: list[TargetAnswer | None], settings: TrialSettings, key: str, seen: set[tuple[Any, ...]]
) -> Trial:
    """A trial that differs from all earlier ones of its task."""
    for attempt in range(_ATTEMPTS):
        rng = KeyedRng(settings.seed, key, f"objects {settings.split} {attempt}")
        trial = make_trial(plan, wanted, settings.stimuli, rng, settings.options)
        content = (trial.frames, trial.instruction)
        if content not in seen:
            seen.add(content)
            return trial
    problem = f"trial {key}: {_ATTEMPTS} draws of its task repeated earlier trials only"
    raise spec_error(problem, "ask for fewer trials per task, or give more stimuli")


def spec_of(trial: Trial, settings: TrialSettings, name: str, number: int) -> dict[str, Any]:
    """The spec as JSON data that scene_specs.language.spec.EpisodeSpec takes: frames of the `quadrants` stage.

    A frame holds only what is visible, so that equal frames of different trials have equal specs. `task`:
    `instruction`, `answers` (one per frame, "null" where none is due), `objects` (of each frame, with their numbers in
    the instruction), `questions` (each task's graph with its constants, its answer and when it is due), `categories`
    and `models`: the meaning of the numbers `category` and `object` of `objects`.
    """
    due = {one.placed.answer_frame for one in trial.answered}
    frames = []
    for at, shown in enumerate(trial.frames):
        objects = sorted((object_spec(one.item, settings.split) for one in shown), key=lambda item: str(item["name"]))
        frame: dict[str, Any] = {"objects": objects} if objects else {}
        if settings.fixation != "none":
            frame["fixation"] = (at in due) == (settings.fixation == "action")
        if settings.background is not None:
            frame["background"] = list(settings.background)
        frames.append(frame)
    return {
        "version": 1,
        "id": f"iwisdm/{settings.split}/{name}/{number:06d}",
        "seed": settings.seed,
        "stage": "quadrants",
        "split": settings.split,
        "frames": frames,
        "task": {
            "benchmark": "iwisdm",
            "name": name,
            "number": number,
            "task": number // settings.trials_per_task,
            "instruction": trial.instruction,
            "answers": list(trial.answers),
            "questions": [
                {
                    "answer_frame": one.placed.answer_frame,
                    "answer": answer_text(one.value),
                    "operator": one.placed.task.data(one.constants),
                }
                for one in trial.answered
            ],
            "objects": _objects(trial, settings.stimuli),
            "categories": list(settings.stimuli.categories),
            "models": [identity for _, identity in settings.stimuli.identities],
        },
    }


def _objects(trial: Trial, stimuli: Stimuli) -> list[Mapping[str, Any]]:
    numbers = object_numbers(trial.frames)
    identities = [identity for _, identity in stimuli.identities]
    found: list[Mapping[str, Any]] = []
    for frame, shown in enumerate(trial.frames):
        for one in shown:
            asked = {
                str(k): list(task.placed.task.asked[frame])
                for k, task in enumerate(trial.answered)
                if frame in task.placed.task.asked and not one.distractor
            }
            found.append(
                {
                    "number": numbers[frame],
                    "frame": frame,
                    "location": one.item.location,
                    "category": stimuli.categories.index(one.item.category),
                    "object": identities.index(one.item.identity),
                    "view_angle": one.item.view_angle,
                    "is_distractor": one.distractor,
                    "asked": asked,
                }
            )
    return found
