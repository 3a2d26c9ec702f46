"""Import published iWISDM files: task files, trials (`task_info.json`), and stimulus sets for their names.

A trial names stimuli, which are images, by number. If Diorama exported it, annotations.json has their names. Models of
these pictures can be shown (see pictures.py); otherwise, Diorama's models stand for them: equal ones for equal,
different ones for different.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from diorama.scene_specs.benchmarks.iwisdm import Options
from diorama.scene_specs.benchmarks.iwisdm.constraints import answers_of
from diorama.scene_specs.benchmarks.iwisdm.copies import in_task, in_trial
from diorama.scene_specs.benchmarks.iwisdm.frame_plan import FramePlan
from diorama.scene_specs.benchmarks.iwisdm.generate import spec_of, target_answer
from diorama.scene_specs.benchmarks.iwisdm.keyed_rng import KeyedRng
from diorama.scene_specs.benchmarks.iwisdm.pictures import read_category_names, read_models, stimuli_of
from diorama.scene_specs.benchmarks.iwisdm.published_tasks import OPERATORS
from diorama.scene_specs.benchmarks.iwisdm.stimuli import (
    DEFAULT,
    MODELS,
    PICTURE,
    PROPERTIES,
    VIEW_ANGLES,
    Item,
    Stimuli,
)
from diorama.scene_specs.benchmarks.iwisdm.task_graph import Expression, PlacedTask, Shown, TaskGraph
from diorama.scene_specs.benchmarks.iwisdm.trial import Trial, make_trial
from diorama.scene_specs.benchmarks.iwisdm.verify import verify_spec
from diorama.scene_specs.errors import Diagnostic, SpecError, located, read_each, spec_error
from diorama.scene_specs.files.foreign import parse_json, read_text
from diorama.scene_specs.language.diagnostics import preview_json
from diorama.scene_specs.language.validation import validated
from diorama.scene_specs.model.spec import EpisodeData, EpisodeSpec
from diorama.scene_specs.tasks.importing.scenes import segment

log = logging.getLogger(__name__)
# The names of trial files: today's, and those of older versions of the published code.
_TRIALS = ("task_info.json", "trial_info", "compo_task_example")
_ATTRIBUTES = {"Location": "location", "SNCategory": "category", "SNObject": "identity", "SNViewAngle": "view_angle"}
_KEYS = {"location": "location", "category": "category", "object": "identity", "view_angle": "view_angle"}
_MOST_FRAMES = 200
# Stimuli, and (category, identity) of each published pair of numbers.
_Known = tuple[Stimuli, Mapping[tuple[int, int], tuple[str, str]]]


class _Object(BaseModel):
    location: Any = ""
    space: tuple[int, int]
    category: int = Field(ge=0)
    object: int = Field(ge=0)
    view_angle: int = Field(alias="view angle")
    epochs: int = Field(ge=0, lt=_MOST_FRAMES)
    is_distractor: bool = False


class _Entry(BaseModel):
    count: int
    obj: _Object
    tasks: list[Any] | None = None
    attended_attr: dict[str, list[str]] = {}


class _Info(BaseModel):
    epochs: int = Field(ge=1, le=_MOST_FRAMES)
    objects: list[_Entry] | list[_Object]
    instruction: str
    answers: list[str]


class _Names(BaseModel):
    models: list[str]


class _Operator(BaseModel):
    name: str
    child: list[_Operator] = []
    value: Any = None
    when: Any = None


class _Task(BaseModel):
    n_frames: int = Field(ge=1, le=_MOST_FRAMES)
    operator: _Operator
    whens: dict[str, str] | None = None


def import_published(
    path: Path, camera: str = "recover", strict: bool = False, images: Path | None = None
) -> Iterator[EpisodeSpec]:
    """Yield an episode per task file or trial; of a folder, those below it, by name and number.

    A task file gives one trial of its task with objects that are sampled from its name.

    Args:
        strict: an answer that does not follow from the instruction is a diagnostic instead of a warning.
        images: a stimulus set, whose tables name categories; by default, categories are Diorama's in alphabetical
            order. If it has the models that pictures.write_models makes, trials show its pictures. Ids:
            `iwisdm/published/<folder>/<name>`.

    Raises:
        SpecError: after the last valid file, with all diagnostics.
    """
    names, pictures = (read_category_names(sorted(images.rglob("*.csv"))), read_models(images)) if images else ({}, {})
    if images and not names:
        raise spec_error("found no table (.csv) of a stimulus set, or only empty ones", file=str(images))
    of_set = stimuli_of(pictures, images) if images and pictures else None
    files = [path] if path.is_file() else _trial_files(path)
    if not files:
        raise spec_error("found no task file and no trial in this folder", file=str(path))

    def episode(file: Path) -> Iterator[EpisodeSpec]:
        with located(file=str(file)):
            reasons: list[str] = []
            match parse_json(read_text(file)):
                case {"operator": _} as data if file.name not in _TRIALS:
                    task = validated(_Task, data)
                    spec = _of_task(task, file)
                    reasons += in_task(task)
                case data:
                    info = validated(_Info, data)
                    exported = _read_known(file)
                    spec = _of_trial(info, exported, names, pictures, of_set)
                    reasons += in_trial(info, file)
                    spec["task"]["questions"] = _read_questions(file, exported, spec["task"])
            spec["id"] = _trial_id(file)
            if reasons := [*reasons, *filter(None, [verify_spec(spec)])]:
                if strict:
                    raise SpecError([Diagnostic.of(reason, file=str(file)) for reason in reasons])
                log.warning("%s: %s", file, "; ".join(reasons))
        yield EpisodeSpec.model_validate(spec)

    yield from read_each(files, episode)


def _trial_files(folder: Path) -> list[Path]:
    task = re.compile(r"(task_)?[0-9]+(_[0-9]+)?(\+[a-z]+-[0-9]+)?\.json")
    files = [file for file in sorted(folder.rglob("*")) if file.name in _TRIALS or task.fullmatch(file.name)]
    # Texts and numbers take turns.
    parts = {file: re.split("([0-9]+)", str(file)) for file in files}
    return sorted(files, key=lambda file: [int(part) if k % 2 else part for k, part in enumerate(parts[file])])


def _trial_id(file: Path) -> str:
    """`iwisdm/published/<folder of all trials or tasks>/<number of the trial or task>`, as the export needs it.

    Folders of both kinds are called alike in all sets, so the split and the name of the set come before. The number of
    one of several tasks of a trial comes after.
    """
    at = file.absolute()
    if at.name in _TRIALS:
        at = at.parents[1] if at.parent.name == "frames" else at.parent
    above, *parents = (parent.name for parent in at.parents)
    folder, numbered = segment(above), re.search(r"([0-9]{1,9})(?:_([0-9]{1,9}))?(\+[a-z]+-[0-9]+)?$", at.stem)
    if folder in ("tasks", "trials"):
        folder = f"{segment(parents.pop(0))}-{folder}"
    number, task, member = numbered.groups("") if numbered else (segment(at.stem), "", "")
    split = next((parent for parent in parents[:1] if parent in ("train", "val", "test")), "")
    return "/".join(("iwisdm", "published", "-".join(filter(None, (split, folder, task))), number + member))


def _read_known(file: Path) -> _Known | None:
    """Return what the numbers of a trial mean that Diorama exported; None for another trial. Raises SpecError."""
    frames = file.absolute().parent
    beside = frames.with_name("annotations.json")
    if frames.name != "frames" or not beside.is_file():
        return None
    match parse_json(read_text(beside), str(beside)):
        case {"models": _} as data:
            models = validated(_Names, data, str(beside)).models
        case _:
            return None
    stimuli = stimuli_of(models, beside)
    shown = [(identity.split("/")[0], identity) for identity in models]
    return stimuli, {(stimuli.categories.index(pair[0]), number): pair for number, pair in enumerate(shown)}


def _read_questions(file: Path, exported: _Known | None, task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the graph of the task file of a trial of one task, with the trial's answer; nothing if there is none.

    A published task file does not fix its constants, so one with constants is left out. Raises SpecError.
    """
    beside = _task_file(file.absolute().parents[1], exported is not None)
    due = [(at, text) for at, text in enumerate(task["answers"]) if text != "null"]
    if beside is None or len(due) != 1:
        return []
    (frame, answer), stimuli = due[0], exported[0] if exported else DEFAULT
    with located(file=str(beside)):
        published = validated(_Task, parse_json(read_text(beside)))
        graph = TaskGraph.of(_parse(published.operator, frame, stimuli))
    return (
        []
        if graph.constants and exported is None
        else [{"answer_frame": frame, "answer": answer, "operator": graph.data()}]
    )


def _task_file(trial: Path, exported: bool) -> Path | None:
    """Return the task file of the folder of a trial: as published, n trials of each task follow one another."""
    number = trial.name.removeprefix("trial")
    tasks = trial.parents[1] / "tasks"
    if trial.parent.name == "trials" and number.isdecimal() and not exported:
        trials = _numbers(sorted(trial.parent.glob("trial*")), "trial")
        numbers = _numbers(sorted(tasks.glob("*.json")), "")
        if not numbers or len(trials) % len(numbers) or {*trials, *numbers} != {*range(len(trials))}:
            return None
        number = str(int(number) // (len(trials) // len(numbers)))
    file = tasks / f"{number}.json"
    return file if file.is_file() else None


def _numbers(paths: Iterable[Path], prefix: str) -> list[int]:
    stems = (path.stem.removeprefix(prefix) for path in paths)
    return [int(stem) for stem in stems if stem.isdecimal()]


def _of_trial(
    info: _Info,
    exported: _Known | None,
    names: Mapping[int, str],
    pictures: Mapping[str, set[int]],
    of_set: Stimuli | None,
) -> EpisodeData:
    """Return a trial as JSON data of a spec. pictures: as of `read_models`; empty for stand-ins. Raises SpecError."""
    entries = [obj if isinstance(obj, _Entry) else _Entry(count=0, obj=obj, attended_attr={}) for obj in info.objects]
    pairs = {(entry.obj.category, entry.obj.object) for entry in entries}
    # Pictures can also show a trial of other models.
    if exported and (of_set is None or of_set.stage == exported[0].stage):
        stimuli, known = exported
    elif of_set:
        labels = {pair: names.get(pair[0], "") for pair in sorted(pairs)}
        stimuli, known = of_set, {pair: (label, f"{label}/{PICTURE}{pair[1]}") for pair, label in labels.items()}
    else:
        stimuli, known = _stand_ins(pairs, names)
    frames: list[list[Shown]] = [[] for _ in info.answers]
    if len(frames) != info.epochs:
        raise spec_error(f"found {len(frames)} answers; expected one for each of {info.epochs} epochs")
    asked: dict[tuple[int, str], dict[str, list[str]]] = {}
    for entry in entries:
        obj = entry.obj
        if obj.epochs >= len(frames) or {*obj.space} - {0, 1}:
            problem = f"found epoch {obj.epochs} and space {obj.space}"
            raise spec_error(problem, f"expected one of {len(frames)} epochs, counted from 0, and 2 x 2 places")
        location = f"{('top', 'bottom')[obj.space[1]]} {('left', 'right')[obj.space[0]]}"
        if (obj.epochs, location) in asked:
            raise spec_error(f"found two objects of epoch {obj.epochs} at {location}", "expected one")
        shown = known.get((obj.category, obj.object))
        if shown is None or (of_set and obj.view_angle not in pictures.get(shown[1], ())):
            reason = "no picture shows" if of_set else "annotations.json does not name"
            hint = "--images: expected the models of the trial's own stimulus set and split" if of_set else ""
            problem = f"found category {obj.category}, object {obj.object} from angle {obj.view_angle}, which {reason}"
            raise spec_error(problem, hint)
        if not 0 <= obj.view_angle < len(VIEW_ANGLES):
            raise spec_error(f"found view angle {obj.view_angle}; expected 0 to {len(VIEW_ANGLES) - 1}")
        frames[obj.epochs].append(Shown(Item(location, *shown, VIEW_ANGLES[obj.view_angle]), obj.is_distractor))
        asked[obj.epochs, location] = {
            number: [_KEYS[key] for key in keys if key in _KEYS] for number, keys in entry.attended_attr.items()
        }
    instruction, *answers = (_with_labels(text, names) for text in (info.instruction.strip(), *info.answers))
    spec = _episode_data(Trial(tuple(map(tuple, frames)), (), instruction, tuple(answers)), stimuli)
    for data in spec["task"]["objects"]:
        data["asked"] = asked[data["frame"], data["location"]]
    return spec


def _with_labels(text: str, names: Mapping[int, str]) -> str:
    """Return a text with the names of categories as `read_table` changes them."""
    for label in names.values():
        text = re.sub(re.escape(label).replace(r"\-", "[ -]"), label.replace("\\", r"\\"), text, flags=re.IGNORECASE)
    return text


def _episode_data(trial: Trial, stimuli: Stimuli) -> EpisodeData:
    return spec_of(trial, Options(benchmark="low", count=1, split="val"), stimuli, "published", 0, "published")


def _stand_ins(shown: set[tuple[int, int]], names: Mapping[int, str]) -> _Known:
    """Diorama's models for published pairs of numbers. Raises SpecError for too many of them.

    Numbers from 0 to 7 keep their order; others take what is free.
    """
    labels = dict(names or enumerate(DEFAULT.categories))
    models = {name: tuple(f"#{k + 1}" for k in range(MODELS)) for name in sorted(labels.values())}
    free = [name for name in models if name not in {labels.get(category) for category, _ in shown}]
    models_by_pair: dict[tuple[int, int], tuple[str, str]] = {}
    for category, number in sorted(shown):
        if category not in labels:
            if names or not free:
                raise spec_error(f"found category {category}, which has no name", "pass --images with its stimulus set")
            labels[category] = free.pop(0)
        label = labels[category]
        taken = {identity for _, identity in models_by_pair.values()}
        ranks = [number, *range(MODELS)] if number < MODELS else range(MODELS)
        left = [f"{label}/#{rank + 1}" for rank in ranks if f"{label}/#{rank + 1}" not in taken]
        if not left:
            raise spec_error(f"found more than {MODELS} different objects of category {category}")
        models_by_pair[category, number] = (label, left[0])
    return Stimuli(models), models_by_pair


def _of_task(task: _Task, file: Path) -> EpisodeData:
    """One trial of a task as JSON data of a spec. Raises SpecError."""
    graph = TaskGraph.of(_parse(task.operator, task.n_frames - 1))
    if (gives := graph.operator(graph.root).gives) not in ("boolean", "branch", *PROPERTIES):
        raise spec_error(f"found a {gives} in place of a question", "expected an operator such as IsSame at the root")
    plan = FramePlan(task.n_frames, (PlacedTask(graph, task.n_frames - 1),))
    rng = KeyedRng(0, _trial_id(file), "published task")
    wanted = target_answer(graph, DEFAULT, lambda _, options: rng.pick(options))
    return _episode_data(make_trial(plan, [wanted], DEFAULT, rng), DEFAULT)


def _parse(published: _Operator, last: int, stimuli: Stimuli = DEFAULT) -> Expression:
    """Return a published operator or constant. last: the frame of the answer. Raises SpecError."""
    name, children = published.name, published.child
    if kind := _ATTRIBUTES.get(name):
        if children:
            raise spec_error(f"{name}: found operators below it; expected none below a constant")
        return Expression("CONST", property=kind, value=_parse_constant(kind, published.value, stimuli))
    if name == "Select":
        when = re.fullmatch(r"last(\d{1,3})", str(published.when))
        if when is None or int(when[1]) > last:
            raise spec_error(f"Select: found when {published.when!r}; expected last0 to last{last}")
        children = [child for child in children if child.value is not None or child.name not in _ATTRIBUTES]
        return Expression(name, tuple(_parse(child, last, stimuli) for child in children), frame=last - int(when[1]))
    return Expression(OPERATORS.get(name, name), tuple(_parse(child, last, stimuli) for child in children))


def _parse_constant(name: str, value: Any, stimuli: Stimuli) -> str | None:
    """Return a constant in words; None if each trial draws one. Raises SpecError."""
    if value is None:
        return None
    values = answers_of(name, stimuli)
    if name != "location":
        if type(value) is int and 0 <= value < len(values):
            return str(values[value])
        expected = f"a number from 0 to {len(values) - 1}"
    else:
        match value:
            case [float() | int() as x, float() | int() as y] if 0 <= x <= 1 and 0 <= y <= 1:
                return f"{'top' if y < 0.5 else 'bottom'} {'left' if x < 0.5 else 'right'}"
        expected = "[x, y] in shares of the image"
    raise spec_error(f"found {name} {preview_json(value)}; expected {expected}")
