"""The examples of docs/live.md with other packages.

`DIORAMA_LIVE=PYTHON python -m tests.render.uses.live.test_live_page` runs the tasks of verifiers with a Python that has
them and Diorama. They need numpy 2, so Python 3.13 and its Blender, an environment that `make test-all` does not make.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.test_docs import ROOT, blocks_of

PAGE = ROOT / "docs" / "live.md"
GYMNASIUM = """
from gymnasium.utils.env_checker import check_env
if __name__ == "__main__":
    env = DioramaEnv(size=(64, 48), seed=1, renderer="fake", workers=1, ahead=4)
    total = 0.0
    for _ in range(3):
        seen, facts = env.reset()
        assert env.observation_space.contains(seen)
        _, reward, done, _, after = env.step(facts["options"].index(env.item.answer))
        assert done and after["answer"] == env.item.answer
        total += reward
        assert env.step((facts["options"].index(env.item.answer) + 1) % 5)[1] == 0.0
    env.close()
    print("total", total)
"""
VERIFIERS = """
import asyncio, itertools
from verifiers.v1.graph import MessageNode
from verifiers.v1.types import AssistantMessage
taskset = DioramaTaskset(vf.TasksetConfig())
for task in itertools.islice(taskset, 3):
    for reply, expected in ((task.item.label, 1.0), ("", 0.0), (" ".join(task.item.options), 0.0)):
        given = vf.TraceTask(type="DioramaTask", data=task.data)
        trace = vf.Trace.model_construct(task=given, nodes=[], rewards={}, metrics={}, root_reply=reply)
        asyncio.run(task.score(trace))
        assert trace.reward == expected, (reply, trace.rewards)
    kinds = [part.type for message in task.data.prompt for part in message.content]
    assert kinds.count("image_url") == 7 and "text" in kinds, kinds
print("total", task.data.idx + 1)
"""
TRAINING = "\nassert len(right) == ITEMS and np.isfinite(loss.item())\nprint('total', number)\n"


def run(kind: str, python: str, more: str, **names: str) -> str:
    """Run a block of the page, and further lines; what they print."""
    (block,) = (block for block in blocks_of(PAGE) if block.words == ("python", kind))
    text = block.text + more
    for name, value in names.items():
        text = text.replace(name, value)
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [python, "-c", text]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.readers
def test_the_environment_of_gymnasium_gives_rewards() -> None:
    assert run("gymnasium", sys.executable, GYMNASIUM).endswith("total 3.0\n")


@pytest.mark.readers
def test_the_training_loop_runs() -> None:
    assert run("training", sys.executable, TRAINING, RENDERER='"fake"', ITEMS="32").endswith("total 32\n")


@pytest.mark.parametrize("kind", ["gymnasium", "verifiers"])
def test_a_wrapper_has_about_twenty_lines(kind: str) -> None:
    (block,) = (block for block in blocks_of(PAGE) if block.words == ("python", kind))
    lines = [line for line in block.text.splitlines() if line.strip() and not line.startswith(("import", "from"))]
    assert len(lines) <= 22


if __name__ == "__main__":
    assert run("verifiers", os.environ["DIORAMA_LIVE"], VERIFIERS, RENDERER='"fake"').endswith("total 3\n")
