"""iWISDM (BashivanLab/iWISDM): configurations, task files, trials, answers, and the mix of tasks.

Runs the checkout's code with the Python that `--python` names, which has its requirements.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image
from scipy.stats import chi2_contingency

from diorama.render.api import compile_spec, render_scene
from diorama.render.renderers import make_renderer
from diorama.scene_specs.benchmarks.iwisdm import Options, Pictures
from diorama.scene_specs.benchmarks.iwisdm.autotask_config import benchmark_limits
from diorama.scene_specs.benchmarks.iwisdm.export import task_file
from diorama.scene_specs.benchmarks.iwisdm.generate import trial_specs
from diorama.scene_specs.benchmarks.iwisdm.importing import import_published
from diorama.scene_specs.benchmarks.iwisdm.pictures import write_models
from diorama.scene_specs.benchmarks.iwisdm.published_tasks import Limits
from diorama.scene_specs.benchmarks.iwisdm.stimuli import DEFAULT, VIEW_ANGLES
from diorama.scene_specs.benchmarks.iwisdm.truth import Truth
from diorama.scene_specs.errors import SpecError, UsageError
from diorama.scene_specs.shapes.shapenet import set_library_environment
from diorama.scene_specs.tasks.csv_table import csv_table
from tools.claims.crosschecks import Row, read_json, variation
from tools.programs import git

MARK = "benchmarking/create_bench.py"
SEEDS = (11, 22, 33)
LEVELS = ("low", "medium", "high")
FILES = {"all": "all", "category": "cat", "location": "loc", "identity": "obj"}
MEASURES = ("delays", "constants", "objects asked again", "objects", "joins")
# The total variation of a measure above which the mix differs, and the level of its test.
MOST_VARIATION, LEVEL = 0.05, 0.05
TRIALS, TRIALS_PER_TASK = 100, 10
_SCRIPT = Path(__file__).parent / "originals/iwisdm.py"
_TIMEOUT = 7200
Trials = Iterable[tuple[str, int]]


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield the comparisons of every file that is there."""
    yield _configurations(checkout)
    with TemporaryDirectory() as name:
        folder = Path(name)
        yield _read_back(_history(checkout, folder / "history"), "task files and trials of older commits")
        if options.python is None:
            return
        stimuli = _stimuli(folder / "stimuli")
        for level in LEVELS:
            tasks, trials = folder / level / "tasks", folder / level / "trials"
            for path in (tasks, trials):
                path.mkdir(parents=True)
            query = {**_query(checkout, level, "all", 10, 1), "tasks": str(tasks), "trials": str(trials)}
            _run(options.python, checkout, stimuli, "write", query)
            yield _read_back([tasks, trials], f"{level}: their task files and trials, read and proved", stimuli)
            yield _answers(checkout, options.python, stimuli, level, folder)
        yield _frames(folder, stimuli)
        if options.items:
            theirs = (
                (level, choice, seed, [(one["instruction"], one["epochs"]) for one in infos])
                for level in LEVELS
                for choice in FILES
                for seed in SEEDS
                for query in [_query(checkout, level, choice, options.items, seed)]
                for infos in [_run(options.python, checkout, stimuli, "mix", query)]
            )
            yield from mix(theirs, options.items)


def _query(checkout: Path, level: str, choice: str, count: int, seed: int) -> dict[str, Any]:
    limits = benchmark_limits(level, choice)
    config, defaults = read_json(checkout / f"benchmarking/configs/{level}_complexity_{FILES[choice]}.json"), Limits()
    own = {"frames": limits.frames, "joins": limits.joins, "delay": defaults.delay, "reuse": defaults.reuse}
    return {"config": config, "count": count, "seed": seed, **own}


def _run(python: str, checkout: Path, stimuli: Path, command: str, query: Any) -> Any:
    line = [python, str(_SCRIPT), str(checkout.absolute()), str(stimuli), command]
    # The published code iterates over sets of strings, so its trials depend on the hash seed, too.
    settings = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(line, input=json.dumps(query), capture_output=True, text=True, timeout=_TIMEOUT, env=settings)
    if done.returncode:
        raise UsageError(f"{python}: the published code failed: {done.stderr.strip()[-400:]}")
    return json.loads(done.stdout)


def _stimuli(folder: Path) -> Path:
    """A stimulus set of random colors and alphas, numbered as in `--format iwisdm-stimuli`."""
    rows, rng = [], np.random.default_rng(0)
    for number, (category, _) in enumerate(DEFAULT.identities):
        for side in range(len(VIEW_ANGLES)):
            ref = number * len(VIEW_ANGLES) + side
            rows.append((ref, DEFAULT.categories.index(category), number, side, category))
            for split in ("train", "val"):
                (folder / split / str(ref)).mkdir(parents=True)
                picture = Image.fromarray(rng.integers(0, 256, (100, 100, 4), dtype=np.uint8))
                picture.save(folder / split / str(ref) / "image.png")
    for split in ("train", "val"):
        (folder / f"{split}_meta.csv").write_text(csv_table([("ref", "ctg_mod", "obj_mod", "ang_mod", "ctg"), *rows]))
    return folder


def _configurations(checkout: Path) -> Row:
    """Return how many configurations can't be read, or give no tasks."""
    files = sorted((checkout / "benchmarking/configs").glob("*.json"))
    failed = []
    for file in files:
        try:
            list(trial_specs(Options(config=file, count=20, unique="none")))
        except SpecError as error:
            failed.append(str(error))
    return Row("benchmarking/configs: read, 20 tasks each", len(files), len(failed), note="; ".join(failed))


def _history(checkout: Path, folder: Path) -> list[Path]:
    """Write the task files and trials of all commits to a folder."""
    listed = git(checkout, "log", "--all", "--diff-filter=A", "--format=commit %H", "--name-only").splitlines()
    commit = ""
    for line in listed:
        commit = line.removeprefix("commit ") if line.startswith("commit ") else commit
        if re.search(r"(/tasks/.*/\d+\.json|/trial_info|/task_info\.json|/compo_task_example)$", line):
            (folder / line).parent.mkdir(parents=True, exist_ok=True)
            (folder / line).write_text(git(checkout, "show", f"{commit}:{line}"))
    return [folder] if folder.exists() else []


def _read_back(folders: Iterable[Path], what: str, stimuli: Path | None = None) -> Row:
    """Return how many files can't be read, or have an answer that does not follow."""
    read, failed = 0, []
    for folder in folders:
        try:
            for _ in import_published(folder, strict=True, images=stimuli):
                read += 1
        except SpecError as error:
            failed += [f"{Path(one.file).parent.name}: {one.problem}" for one in error.diagnostics]
    # The reader knows 2 x 2 places.
    known = sum("space (2, 0)" in one for one in failed)
    return Row(what, read + len(failed), len(failed), known, "; ".join(failed))


def _answers(checkout: Path, python: str, stimuli: Path, level: str, folder: Path) -> Row:
    """Return how many of our trials have another answer in the published code."""
    queries, own = [], []
    fields = {"benchmark": level, "count": TRIALS, "trials_per_task": TRIALS_PER_TASK}
    for spec in trial_specs(Options.model_validate(fields)):
        task = spec["task"]
        file = folder / level / f"own{task['number']}.json"
        truth = Truth.of_spec(spec)
        file.write_text(json.dumps(task_file(truth.questions[0], truth)))
        shown = []
        for one in task["objects"]:
            place = int("right" in one["location"]), int("bottom" in one["location"])
            shown.append([one["frame"], *place, one["category"], one["object"], VIEW_ANGLES.index(one["view_angle"])])
        queries.append([str(file), shown])
        own.append(task["answers"][-1])
    found = [one["answer"] for one in _run(python, checkout, stimuli, "answer", queries)]
    differ = sum(one != other for one, other in zip(found, own, strict=True))
    note = f"{TRIALS // TRIALS_PER_TASK} tasks"
    return Row(f"{level}: our task files read by env.read_task, answers", len(own), differ, note=note)


def _frames(folder: Path, stimuli: Path) -> Row:
    """Return how many pixels of their frames differ by more than 1 of 255 from ours, which show the same pictures."""
    models, pixels, differ, known = folder / "models", 0, 0, 0
    list(write_models(Pictures(folder=stimuli, split="train", out=models)).items)
    set_library_environment((str(models), "+y", "-z"))
    with closing(make_renderer("cycles", "cpu", 0, ())) as renderer:
        for level in LEVELS:
            for spec in import_published(folder / level / "trials", images=models):
                frames = folder / level / "trials" / f"trial{spec.id.rpartition('/')[2]}" / "frames"
                for k, image in enumerate(render_scene(compile_spec(spec), renderer=renderer)):
                    with Image.open(frames / f"epoch{k}.png") as picture:
                        theirs = np.asarray(picture.convert("RGB"), dtype=int)
                    off = np.abs(theirs - image.passes.color).max(axis=2) > 1
                    pixels += off.size
                    differ += int(off.sum())
                    known += int(off[99:126, 99:126].sum())
    return Row("pixels of their frames, with their pictures as models", pixels, differ, known, "ends of the cross")


def measures(trials: Trials) -> dict[str, Counter[int]]:
    """Return how often each number of delays, constants, ... comes."""
    found: dict[str, Counter[int]] = {name: Counter() for name in MEASURES}
    for text, frames in trials:
        question = text[re.match(r"(?:(?:observe object \d+|delay), )*", text).end() :]  # type: ignore[union-attr]
        objects = text.count("observe")
        sides = re.split(r" (?:not )?equals ", question)
        asked = Counter(re.findall(r"object (\d+)", question))
        named = len(re.findall(r"object \d+ (?:not )?equals", question)) + len(re.findall(r"equals \w+ of", question))
        constants = 2 * (len(sides) - 1) - named
        counts = (frames - objects, constants, sum(n > 1 for n in asked.values()), objects)
        for name, count in zip(MEASURES, (*counts, len(re.findall(" and | or ", question))), strict=True):
            found[name][count] += 1
    return found


def mix(theirs: Iterable[tuple[str, str, int, Trials]], items: int) -> Iterator[Row]:
    """Yield a row per level and property: the largest total variation, and the smallest p, corrected by Holm."""
    results: list[tuple[str, float, float, str]] = []
    for level, choice, seed, trials in theirs:
        fields = {"benchmark": level, "properties": choice, "count": items, "seed": seed, "unique": "none"}
        specs = trial_specs(Options.model_validate(fields))
        ours = measures((spec["task"]["instruction"], len(spec["frames"])) for spec in specs)
        for name, counts in measures(trials).items():
            keys = sorted({*counts, *ours[name]})
            pairs = [(ours[name][key], counts[key]) for key in keys]
            means = "/".join(f"{sum(key * part[key] for key in keys) / items:.2f}" for part in (ours[name], counts))
            assert counts.total() == ours[name].total() == items
            results.append((f"{level}-{choice}", variation(counts, ours[name]), _same(pairs), f"{name} {means}"))
    corrected = _holm([p for _, _, p, _ in results])
    for label in dict.fromkeys(label for label, *_ in results):
        rows = [(row, p) for row, p in zip(results, corrected, strict=True) if row[0] == label]
        differ = sum(row[1] > MOST_VARIATION or p < LEVEL for row, p in rows)
        worst, least = max(row[1] for row, _ in rows), min(p for _, p in rows)
        note = f"total variation at most {worst:.3f}, p at least {least:.2f}; means ours/theirs, last seed: "
        yield Row(f"mix of {label}", len(rows) * items, differ, note=note + ", ".join(row[3] for row, _ in rows[-5:]))


def _same(pairs: list[tuple[int, int]]) -> float:
    """Return the p-value of two samples of one size from one distribution; rare classes are pooled."""
    rare = [pair for pair in pairs if sum(pair) < 10]
    classes = [pair for pair in pairs if sum(pair) >= 10]
    if rare:
        classes.append((sum(a for a, _ in rare), sum(b for _, b in rare)))
    return float(chi2_contingency(classes, correction=False).pvalue)


def _holm(values: list[float]) -> list[float]:
    order, found = np.argsort(values), np.zeros(len(values))
    found[order] = np.maximum.accumulate(np.array(values)[order] * np.arange(len(values), 0, -1)).clip(max=1)
    return list(found)
