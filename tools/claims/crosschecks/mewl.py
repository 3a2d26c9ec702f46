"""MEWL (jianggy/MEWL): captions and prompts of exported episodes by the published captioner, and ours."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import MagicMock, patch

import diorama
from diorama.scene_specs.benchmarks.mewl.captions import INSTRUCTION, questions
from diorama.scene_specs.benchmarks.mewl.generate import TASKS
from tools.claims.crosschecks import Row

MARK = "baselines/gpt3.py"
EPISODES = 5


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield a row for each task: episodes whose prompts, with captions and names, differ."""
    # It asks a service, which captions do not need.
    stubs = {name: MagicMock() for name in ("openai", "model", "model.consts")}
    path = patch.object(sys, "path", [str(checkout / "baselines"), *sys.path])
    with patch.dict(sys.modules, stubs), path:
        captioner = import_module("gpt3").MewlCaptioner()
    with TemporaryDirectory() as work:
        for task in TASKS:
            specs = [*diorama.generate("mewl", task=task, split="test", count=options.items or EPISODES)]
            store, out = f"{work}/{task}.lance", Path(work, task)
            diorama.render_to_store(specs, store, renderer="fake", size=(160, 120), workers=1)
            diorama.export(store, "mewl", str(out))
            captions = getattr(captioner, {"bootstrap": "bootstarp"}.get(task, task))
            differ = 0
            for number, spec in enumerate(specs):
                contexts, (query, choices, answer) = captions(out / f"test/{task}/{number}")
                blocks = "".join(f"Context: {text}\nName: {name}\n\n" for text, name in contexts)
                theirs = [f"{INSTRUCTION}\n\n{blocks}Context: {query}\nName: {choice}" for choice in choices]
                own = questions(spec)
                differ += (theirs, answer) != (own["prompts"], own["answer"])
            yield Row(f"captions and prompts of {task}", len(specs), differ)
