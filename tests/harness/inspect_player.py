"""Runs in the environment of Inspect AI: python inspect_player.py EXPORT REPLIES LOGS

Evaluates all tasks of an export with Inspect's mock model, once per player. REPLIES: JSON, player -> item id -> reply.
The mock model sees messages only, so it recognizes an item by its texts and images. Prints JSON: player -> benchmark ->
accuracy.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from inspect_ai import eval as evaluate
from inspect_ai.model import ModelOutput, ModelUsage, get_model

export, replies, logs = map(Path, sys.argv[1:])
# Inspect AI takes no absolute paths.
os.chdir(export)


def digest(content: bytes | str) -> str:
    return hashlib.sha256(content if isinstance(content, bytes) else content.encode()).hexdigest()


def known_items() -> dict[tuple[str, ...], str]:
    """Texts and images of an item, in order -> its id."""
    found = {}
    for file in sorted(export.glob("*/items.jsonl")):
        for line in file.read_text().strip().split("\n"):
            item = json.loads(line)
            parts = [(export / one["image"]).read_bytes() if one["image"] else one["text"] for one in item["parts"]]
            found[tuple(map(digest, parts))] = item["id"]
    return found


def play(player: dict[str, str], items: dict[tuple[str, ...], str]) -> dict[str, float]:
    def answer(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        (message,) = messages
        parts = [
            one.text if one.type == "text" else base64.b64decode(one.image.removeprefix("data:image/png;base64,"))
            for one in message.content
        ]
        made = ModelOutput.from_content("mockllm", player[items[tuple(map(digest, parts))]])
        # Without usage, Inspect downloads a tokenizer to count tokens.
        made.usage = ModelUsage()
        return made

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    done = evaluate("diorama_tasks.py", model=model, log_dir=str(logs), display="none")
    assert all(one.status == "success" for one in done), [one.error for one in done]
    return {one.eval.task.removeprefix("diorama_"): one.results.scores[0].metrics["accuracy"].value for one in done}


if __name__ == "__main__":
    items = known_items()
    found = {}
    for name, player in json.loads(replies.read_text()).items():
        logs = Path(sys.argv[3]) / name
        found[name] = play(player, items)
    print(json.dumps(found))
