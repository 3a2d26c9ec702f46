"""Runs the code of an iWISDM checkout, unchanged. The Python that runs this file has its requirements; no Diorama.

    python iwisdm.py CHECKOUT STIMULI COMMAND < QUERY.json

STIMULI is a stimulus set; the answer on stdout is JSON. Commands and their queries:

    mix     {"config", "frames": [6, 6], "joins": [1, 1], "count", "seed", "delay", "reuse"}: draws tasks as
            benchmarking/create_bench.py does, allowing duplicates; one trial of each, as in task_info.json
    write   the same, and "tasks", "trials": folders for task files and trials with images
    answer  [[task file, [[epoch, column, row, category, object, view angle], ...]], ...]: the words and the answer of
            each task on these objects
"""

from __future__ import annotations

import json
import random
import sys
import types
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

checkout, stimuli, command = sys.argv[1:]
sys.path.insert(0, checkout)
try:
    import torch  # noqa: F401
except ImportError:
    # Only one of their ways to save frames needs it.
    sys.modules["torch"] = types.SimpleNamespace(Tensor=type("Tensor", (), {}))  # type: ignore[assignment]

sg: Any = import_module("iwisdm.envs.shapenet.stim_generator")
tg: Any = import_module("iwisdm.envs.shapenet.task_generator")


class Later(tg.SNOperator):  # type: ignore[misc]
    """What tg.graph_to_operators would build."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__()
        self.arguments = arguments


def built(operator: Any) -> Any:
    """The operators of a task."""
    if isinstance(operator, Later):
        return tg.graph_to_operators(*operator.arguments)
    return tg.Switch(*map(built, operator.child))


def trials(env: Any, query: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield each accepted task and the info of one trial (create_bench.create_tasks, which also writes images)."""
    random.seed(query["seed"])
    import_module("numpy").random.seed(query["seed"])
    lowest, highest = query["frames"]
    longest = max(highest - 2, 0)
    settings = {"max_delay": longest, "delay_prob": query["delay"], "dup_prob": query["reuse"]}
    env.set_env_spec(env.init_env_spec(add_fixation_cue=True, auto_gen_config=query["config"], **settings))
    left, build = query["count"], tg.graph_to_operators
    while left:
        # Without env.generate_tasks, which keeps every task; operators are built of tasks of the right length only.
        tg.graph_to_operators = Later
        (graph, *_), (_, task) = env.task_gen.generate_task()
        tg.graph_to_operators = build
        joins = sum(label in ("And", "Or") for _, label in graph.nodes(data="label"))
        if not (lowest <= task.n_frames <= highest and query["joins"][0] <= joins <= query["joins"][1]):
            continue
        task = tg.TemporalTask(operator=built(task._operator), n_frames=task.n_frames, whens=task.whens)
        _, info = env.init_compositional_tasks([task])[0].get_task_info_dict()
        text = info["instruction"]
        if not query["joins"][0] <= text.count(" and ") + text.count(" or ") <= query["joins"][1]:
            continue
        if not 0 <= task.n_frames - text.count("observe") <= longest:
            continue
        left -= 1
        yield task, info


def write(env: Any, query: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what trials holds, and write the files."""
    files = import_module("iwisdm.utils.read_write")
    for number, (task, _) in enumerate(trials(env, query)):
        files.write_task(task, str(Path(query["tasks"], f"{number}.json")))
        ((images, _, info),) = env.generate_trials(tasks=[task], mode="train")
        files.write_trial(images, info, str(Path(query["trials"], f"trial{number}")))
        yield info


def answer(env: Any, path: str, shown: list[list[Any]]) -> dict[str, str]:
    """The words and the answer of a task."""
    task = env.read_task(path)
    _restore(task._operator, json.loads(Path(path).read_text())["operator"])
    objset = sg.ObjectSet(n_epoch=task.n_frames)
    for epoch, column, row, category, number, angle in shown:
        kind = sg.SNCategory(category)
        model = sg.SNObject(kind, number)
        location = sg.Space(env.env_spec.grid[column, row]).sample_loc()
        attributes = [location, kind, model, sg.SNViewAngle(model, angle)]
        item = sg.Object(attributes, when=f"last{task.n_frames - 1 - epoch}")
        objset.add(item, task.n_frames - 1, add_if_exist=True)
    (value,) = task.get_target(objset)
    registration = import_module("iwisdm.envs.shapenet.registration")
    return {"question": str(task), "answer": str(registration.get_target_value(value))}


def _restore(node: Any, data: dict[str, Any]) -> None:
    """Put the constants of a file back, which read_task draws anew."""
    for child, below in zip(list(node.child), data["child"], strict=False):
        if "value" in below and isinstance(node, tg.Same):
            node.replace_child(child, sg.get_attr_dict()[below["name"]](value=below["value"]))
        elif hasattr(child, "child"):
            _restore(child, below)


asked = json.load(sys.stdin)
made = import_module("iwisdm").make(env_id="ShapeNet", dataset_fp=stimuli)
commands: dict[str, Any] = {
    "answer": lambda: [answer(made, path, shown) for path, shown in asked],
    "mix": lambda: [info for _, info in trials(made, asked)],
    "write": lambda: list(write(made, asked)),
}
json.dump(commands[command](), sys.stdout)
