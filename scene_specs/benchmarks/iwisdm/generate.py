"""Trials as specs: wanted answers, and trials by number.

A trial depends on its frame plan and number only, except where tasks must differ or answers are balanced: then those
before it are planned, too.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from diorama.scene_specs.benchmarks.iwisdm import Options, autotask_config
from diorama.scene_specs.benchmarks.iwisdm import Stimuli as StimulusOptions
from diorama.scene_specs.benchmarks.iwisdm.answer_balance import split_has
from diorama.scene_specs.benchmarks.iwisdm.autotask import AutoTasks, DrawnTask
from diorama.scene_specs.benchmarks.iwisdm.classic_tasks import TASKS, read_settings
from diorama.scene_specs.benchmarks.iwisdm.constraints import PUBLISHED, Requirements, TargetAnswer, answers_of
from diorama.scene_specs.benchmarks.iwisdm.frame_plan import FramePlan, chained, with_described, with_fillers
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.operators import Value
from diorama.scene_specs.benchmarks.iwisdm.published_tasks import Limits, PublishedTasks
from diorama.scene_specs.benchmarks.iwisdm.stimuli import (
    DEFAULT,
    LOCATIONS,
    VARIANTS,
    VIEW_ANGLES,
    Item,
    Stimuli,
    object_spec,
    read_stimuli,
)
from diorama.scene_specs.benchmarks.iwisdm.task_graph import PlacedTask, Shown, TaskGraph
from diorama.scene_specs.benchmarks.iwisdm.trial import Trial, answer_text, attainable, make_trial, object_numbers
from diorama.scene_specs.errors import located, spec_error
from diorama.scene_specs.files.foreign import read_text
from diorama.scene_specs.model.spec import EpisodeData, FrameData
from diorama.scene_specs.tasks.benchmark import Series

# Bounds the planning of earlier trials that balanced answers need.
MAX_TRIALS = 10_000_000
# Attempts to draw a trial that differs from the earlier ones of its task.
_ATTEMPTS = 50
# (key, options) -> one of the options.
Choose = Callable[[str, Sequence[Any]], Any]


def generate(options: Options) -> Series:
    """Trials by the options of `render-specs iwisdm`. Raises SpecError."""
    return Series(trial_specs(options), options.count, "trials")


def trial_specs(options: Options, stimuli: Stimuli | None = None) -> Iterator[EpisodeData]:
    """Trials first ... first + count - 1 as JSON data that EpisodeSpec takes; ids `iwisdm/<split>/<set>/<6 digits>`.

    <set> is --name, or name, seed and a digest of the other options, so that any two sets fit into one store. A trial
    does not depend on `first` and `count`.

    Args:
        stimuli: replace the file of the options.

    Raises:
        SpecError: for files that can't be read, for numbers from 10,000,000 on, or if draws find no further task.
    """
    with located(file=str(options.config or "")):
        yield from _Run(options, stimuli or _load_stimuli(options.stimuli)).specs()


def _load_stimuli(file: Path | None) -> Stimuli:
    return read_stimuli(read_text(file), str(file)) if file else DEFAULT


def stimulus_specs(options: StimulusOptions) -> Series:
    """Specs that show each view of each model once, four in a frame; an episode per category. Raises SpecError."""
    stimuli = _load_stimuli(options.stimuli)
    all_models = Options(benchmark="low", count=1, split=options.split, stimuli=options.stimuli, fixation="none")
    name = _set_name(all_models, "stimuli") if options.stimuli else "stimuli"

    variants = range(1 if stimuli.stage == "pictures" else VARIANTS)

    def specs() -> Iterator[EpisodeData]:
        for number, category in enumerate(stimuli.categories):
            views = itertools.product(stimuli.models[category], VIEW_ANGLES, variants)
            shown = [
                Shown(Item(LOCATIONS[k % 4], category, f"{category}/{model}", side, variant))
                for k, (model, side, variant) in enumerate(views)
            ]
            frames = tuple(tuple(shown[k : k + 4]) for k in range(0, len(shown), 4))
            text = " ".join(f"observe object {k}," for k in range(1, len(frames) + 1))
            trial = Trial(frames, (), text, ("null",) * len(frames))
            yield spec_of(trial, all_models, stimuli, "stimuli", number, name)

    return Series(specs(), len(stimuli.categories), "episodes")


class Balance:
    """Goes through all options of a key in a new order per round, so that their counts differ by at most one."""

    def __init__(self, seed: int, name: str) -> None:
        self._seed, self._name = seed, name
        self._orders: dict[str, Iterator[int]] = {}

    def choose(self, key: str, options: Sequence[Any]) -> Any:
        """One of the options; each key must always come with the same options."""
        return options[next(self._orders.setdefault(key, self._shuffled_answers(key, len(options))))]

    def _shuffled_answers(self, key: str, count: int) -> Iterator[int]:
        for turn in itertools.count():
            yield from KeyedRng(self._seed, self._name, f"balance {key} {turn}").shuffled(range(count))


def target_answer(task: TaskGraph, stimuli: Stimuli, choose: Choose) -> TargetAnswer:
    """Return a wanted answer, and the conditions of the Switches that lead to it.

    Where all branches give answers of one kind, every answer comes equally often through every branch. Otherwise the
    branch is chosen first, then one of its answers.
    """
    leaves = task.leaves()
    kinds = [kind for _, kind in leaves]
    if len({*kinds}) == 1:
        value: Value = choose(kinds[0], answers_of(kinds[0], stimuli))
        conditions, _ = choose(f"{len(leaves)} ways to {value}", leaves)
    else:
        conditions, kind = choose(" ".join(kinds), leaves)
        value = choose(kind, answers_of(kind, stimuli))
    return TargetAnswer(value, conditions)


class _Run:
    """What all trials share. Raises SpecError for a configuration that can't be read."""

    def __init__(self, options: Options, stimuli: Stimuli) -> None:
        self.options, self.stimuli = options, stimuli
        self.requirements = Requirements(options.condition_matters, options.foils)
        self.name, self.plan_of = self._frame_plans()
        self.set_name = options.name or _set_name(options, self.name)
        self.balance = Balance(options.seed, f"{options.split} {self.name}") if options.balanced else None

    def _frame_plans(self) -> tuple[str, Callable[[int], FramePlan]]:
        """Return the name that ids contain, and frame plans by task number."""
        options, seed, split = self.options, self.options.seed, self.options.split
        if task := options.task:
            settings = read_settings(task, options.settings)
            return task, lambda number: TASKS[task](KeyedRng(seed, task, f"session {split} {number}"), **settings)
        name = "auto" if options.config else f"{options.benchmark}-{options.properties}"
        chain = options.chain
        name += f"-x{chain}" if chain > 1 else ""
        tasks = AutoTasks(self._choose_tasks().draw, seed, f"{split} {name}", options.unique, self._accepts)
        return name, lambda number: chained(
            [tasks.task(number * chain + k) for k in range(chain)], KeyedRng(seed, name, f"chain {split} {number}")
        )

    def _choose_tasks(self) -> PublishedTasks:
        """How tasks are drawn. Raises SpecError."""
        options, level = self.options, self.options.benchmark
        config = autotask_config.read_config(read_text(options.config), str(options.config)) if options.config else None
        limits = Limits(longest=options.longest_delay or 1)
        if level:
            own = autotask_config.benchmark_limits(level, options.properties)
            if config is None:
                config = autotask_config.published_form(own)
            elif options.properties != "all":
                config = autotask_config.restrict_config(config, own.properties)
            limits = limits._replace(frames=own.frames, joins=own.joins)
        assert config is not None  # The options require one of both.
        return PublishedTasks(config, limits, self.stimuli)

    def _accepts(self, drawn: DrawnTask, placed: PlacedTask) -> bool:
        """Whether a task belongs to the split, and has every answer that balance or --condition-matters may need."""
        options = self.options
        own = options.hold_out == "none" or split_has(drawn.structure, options.split, options.hold_out)
        return own and attainable(placed, self.stimuli, self.requirements._replace(condition_matters=True))

    def _rng(self, number: int, purpose: str, detail: str = "") -> KeyedRng:
        return KeyedRng(self.options.seed, f"{self.name} {number}", f"{purpose} {self.options.split}{detail}")

    def specs(self) -> Iterator[EpisodeData]:
        first, end, per_task = self.options.first, self.options.first + self.options.count, self.options.trials_per_task
        if end > MAX_TRIALS:
            raise spec_error(f"found trials {first} to {end - 1}; trials are numbered from 0 to {MAX_TRIALS - 1}")
        seen: set[tuple[Any, ...]] = set()
        # Balance depends on all trials before; the check for repeated trials on those of the same task.
        for number in range(0 if self.balance else first - first % per_task, end):
            task, position = divmod(number, per_task)
            if position == 0:
                seen.clear()
            plan = self._with_distractors(self.plan_of(task), number)
            wanted = self._wanted_answers(plan, number)
            if plan.details is not None:
                if self.requirements != PUBLISHED:
                    raise spec_error(f"--condition-matters and --foils have no effect on task {self.name}", "omit them")
                answers = [bool(answer and answer.value) for answer in wanted]
                plan = plan.details(plan, answers, self.stimuli, self._rng(number, "details"))
                wanted = [None] * len(wanted)
            if number < first and per_task == 1:
                continue
            with located(episode=f"iwisdm/{self.options.split}/{self.set_name}/{number:06d}"):
                trial = self._new_trial(plan, wanted, number, seen)
            if number >= first:
                yield spec_of(trial, self.options, self.stimuli, self.name, number, self.set_name)

    def _with_distractors(self, plan: FramePlan, number: int) -> FramePlan:
        rng = self._rng(number, "distractors")
        if self.options.distractor_frames:
            plan = with_fillers(plan, self.options.distractor_frames, rng)
        return with_described(plan, self.options.distractors, rng) if self.options.distractors else plan

    def _wanted_answers(self, plan: FramePlan, number: int) -> list[TargetAnswer | None]:
        rng = self._rng(number, "wanted")
        choose: Choose = self.balance.choose if self.balance else lambda _, options: rng.pick(options)
        targets: list[TargetAnswer | None] = []
        for k, placed in enumerate(plan.placed):
            if k in plan.aims:
                targets.append(TargetAnswer(plan.aims[k]))
            elif k in plan.shares and self.balance is None:
                targets.append(TargetAnswer(rng.chance(plan.shares[k])))
            else:
                targets.append(target_answer(placed.task, self.stimuli, choose))
        return targets

    def _new_trial(
        self, plan: FramePlan, wanted: list[TargetAnswer | None], number: int, seen: set[tuple[Any, ...]]
    ) -> Trial:
        """Return a trial that differs from all earlier ones of its task."""
        # Without these options, an answer that is not possible is left open.
        least = int(len(wanted) == 1 and any(wanted) and (self.options.balanced or self.requirements != PUBLISHED))
        for attempt in range(_ATTEMPTS):
            rng = self._rng(number, "objects", f" {attempt}")
            trial = make_trial(plan, wanted, self.stimuli, rng, self.requirements, least)
            if (content := (trial.frames, trial.instruction)) not in seen:
                seen.add(content)
                return trial
        problem = f"{_ATTEMPTS} draws of its task repeated earlier trials only"
        raise spec_error(problem, "ask for fewer trials per task, or give more stimuli")


def spec_of(trial: Trial, options: Options, stimuli: Stimuli, name: str, number: int, set_name: str) -> EpisodeData:
    """Return the spec as JSON data that diorama.scene_specs.model.spec.EpisodeSpec takes: frames of the stage of the
    stimuli.

    A frame holds only what is visible, so that equal frames of different trials have equal specs. `task`:
    `instruction`, `answers` (one per frame, "null" where none is due), `objects` (of each frame, with their numbers
    in the instruction), `questions` (each task's graph with its constants, its answer and when it is due),
    `categories` and `models`: the meaning of the numbers `category` and `object` of `objects`.
    """
    frames = []
    for at, shown in enumerate(trial.frames):
        objects = sorted((object_spec(seen.item, options.split) for seen in shown), key=lambda item: item["name"])
        frame: FrameData = {"objects": objects} if objects else {}
        if options.fixation != "none":
            frame["fixation"] = (trial.answers[at] != "null") == (options.fixation == "action")
        if options.background is not None:
            frame["background"] = list(options.background)
        frames.append(frame)
    return {
        "version": 1,
        "id": f"iwisdm/{options.split}/{set_name}/{number:06d}",
        "seed": options.seed,
        "stage": stimuli.stage,
        "split": options.split,
        "frames": frames,
        "task": {
            "benchmark": "iwisdm",
            "name": name,
            "number": number,
            "task": number // options.trials_per_task,
            "instruction": trial.instruction,
            "answers": list(trial.answers),
            "questions": [
                {
                    "answer_frame": answered.placed.answer_frame,
                    "answer": answer_text(answered.value),
                    "operator": answered.placed.task.data(answered.constants),
                }
                for answered in trial.answered
            ],
            "objects": _object_data(trial, stimuli),
            "categories": list(stimuli.categories),
            "models": list(stimuli.values("identity")),
        },
    }


def _set_name(options: Options, name: str) -> str:
    """`<name>-<seed>`, and a digest of all other options that are not at their default and decide about contents."""
    known = {"count", "first", "seed", "split", "task", "chain", "name"}
    # Without a configuration, the name has these.
    known |= set() if options.config else {"benchmark", "properties"}
    given = options.model_dump(mode="json", exclude_defaults=True, exclude=known)
    given |= {key: read_text(Path(given[key])) for key in ("config", "stimuli") if key in given}
    if not given:
        return f"{name}-{options.seed}"
    return f"{name}-{options.seed}-{hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:8]}"


def _object_data(trial: Trial, stimuli: Stimuli) -> list[dict[str, Any]]:
    numbers = object_numbers(trial.frames)
    identities = stimuli.values("identity")
    asked = [answered.placed.task.asked for answered in trial.answered]
    return [
        {
            "number": numbers[frame],
            "frame": frame,
            "location": seen.item.location,
            "category": stimuli.categories.index(seen.item.category),
            "object": identities.index(seen.item.identity),
            "view_angle": seen.item.view_angle,
            "is_distractor": seen.distractor,
            "asked": {
                str(k): list(frames[frame]) for k, frames in enumerate(asked) if frame in frames and not seen.distractor
            },
        }
        for frame, shown in enumerate(trial.frames)
        for seen in shown
    ]
