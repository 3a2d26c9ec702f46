"""A model of lmms-eval that gives the replies of a file: JSON, player -> item id -> reply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lmms_eval.api.model import lmms
from lmms_eval.models.registry_v2 import ModelManifest

MANIFEST = ModelManifest(model_id="player", chat_class_path="lmms_player.Player")


class Player(lmms):  # type: ignore[misc]
    """Looks at each message, and replies by the id of the item."""

    is_simple = False

    def __init__(self, replies: str, player: str, **others: Any) -> None:
        super().__init__()
        self.replies: dict[str, str] = json.loads(Path(replies).read_text())[player]

    def generate_until(self, requests: list[Any]) -> list[str]:
        found = []
        for _, doc_to_messages, _, doc_id, task, split in (request.args for request in requests):
            item = self.task_dict[task][split][doc_id]
            (message,) = doc_to_messages(item)
            shown = [part["url"].size for part in message["content"] if part["type"] == "image"]
            assert len(shown) == sum(bool(part["image"]) for part in item["parts"]) > 0
            found.append(self.replies[item["id"]])
        return found

    def loglikelihood(self, requests: list[Any]) -> Any:
        raise NotImplementedError

    def generate_until_multi_round(self, requests: list[Any]) -> Any:
        raise NotImplementedError
