"""Chat models of any kind behind one interface: retries, a budget, a log that a later run continues from.

    with open_models(ChatSettings(base_url="http://localhost:8000/v1", max_requests=500)) as models:
        model = models.open("openai:my-model")
        reply = model.reply([Message("user", ("What is this?", Picture("a.png", png)))], max_tokens=30)

`ChatSettings` describes settings and limits.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from diorama.render.uses.chat.asking import Asker, BudgetError, Meter, ReplyLog, TemporaryError
from diorama.scene_specs.errors import ChatError, UsageError
from diorama.scene_specs.files.foreign import without_secrets
from diorama.scene_specs.files.writing import open_growing
from diorama.scene_specs.tasks.chat import ChatModel, Message, Picture, Reply, in_parallel, load_object

__all__ = [
    "Asker", "BudgetError", "ChatError", "ChatModel", "ChatSettings", "Message", "Meter", "Models", "Picture", "Reply",
    "TemporaryError", "in_parallel", "open_model", "open_models",
]  # fmt: skip


@dataclass(frozen=True)
class ChatSettings:
    """How models are asked.

    Attributes:
        base_url: address of an OpenAI-compatible server; "" is OpenAI's, or the one of OPENAI_BASE_URL.
        parameters: sent with each request of `openai:`, or passed to `generate` of `hf:`; None leaves a default out.
        timeout: seconds per request, until its answer is complete.
        max_requests: limit of a run.
        max_tokens: limit of a run, of prompts and replies.
        price: price of a million input tokens, and of a million output tokens.
        attempts: requests per reply, at most.
        first_wait: seconds before the second attempt; each wait is twice as long as the one before.
        longest_wait: seconds between attempts, at most.

    Raises:
        UsageError: a price is negative or no number.
    """

    base_url: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    timeout: float = 120.0
    max_requests: int | None = None
    max_tokens: int | None = None
    price: tuple[float, float] = (0.0, 0.0)
    attempts: int = 8
    first_wait: float = 1.0
    longest_wait: float = 60.0

    def __post_init__(self) -> None:
        if not all(0 <= price < math.inf for price in self.price):
            raise UsageError(f"prices {self.price[0]:g} and {self.price[1]:g}: expected finite numbers of at least 0")


def open_model(name: str, settings: ChatSettings | None = None) -> ChatModel:
    """Open a model without retries.

    Args:
        name: `openai:MODEL`, `hf:MODEL_OR_FOLDER` or `module:Class` (called without arguments).
        settings: settings of requests.

    Raises:
        UsageError: the name is of another form, or the model's library or key is missing.
        PluginError: the class can't be imported.
    """
    settings = settings or ChatSettings()
    kind, colon, rest = name.partition(":")
    if not colon or not rest:
        raise UsageError(f"model {name!r}: expected openai:MODEL, hf:MODEL_OR_FOLDER or module:Class")
    if kind == "openai":
        from diorama.render.uses.chat.openai_model import OpenAIModel

        return OpenAIModel(rest, settings.base_url, settings.parameters, settings.timeout)
    if kind == "hf":
        from diorama.render.uses.chat.hf_model import HuggingFaceModel

        return HuggingFaceModel(rest, settings.parameters)
    model = load_object("models", name)
    try:
        model = model()
    except (Exception, SystemExit) as error:
        problem = f"model {name!r}: can't be created without arguments: {error!r}"
        raise UsageError(f"{problem}; expected a class of models, or of players with speak or choose") from error
    if not callable(getattr(model, "reply", None)):
        raise UsageError(f"model {name!r}: {type(model).__name__} has no method reply(messages, *, max_tokens)")
    return model  # type: ignore[no-any-return]


class Models:
    """Models that share a meter and a log; see `diorama.scene_specs.tasks.chat.ModelOpener`."""

    def __init__(self, settings: ChatSettings, open_log: Callable[[], ReplyLog]) -> None:
        self.meter = Meter(settings.max_requests, settings.max_tokens, settings.price)
        self._settings = settings
        # Opened by the first model: a command that asks none leaves no file.
        self._log = cache(open_log)

    def open(self, name: str) -> Asker:
        """Open a model by name, with retries; see `open_model` and `ModelOpener.open`."""
        settings = self._settings
        waits = (settings.attempts, settings.first_wait, settings.longest_wait)
        # Another server may have another model of this name.
        url = (settings.base_url or os.environ.get("OPENAI_BASE_URL", "")) if name.startswith("openai:") else ""
        about = {**settings.parameters, **({"base_url": without_secrets(url)} if url else {})}
        return Asker(name, open_model(name, settings), self.meter, self._log(), about, waits)

    def stop(self) -> None:
        """Send no more requests."""
        self.meter.stopped.set()


@contextmanager
def open_models(settings: ChatSettings, log: Path | None = None, resume: bool = True) -> Iterator[Models]:
    """Open models whose replies are appended to a file; a request whose reply is in the file is not sent again.

    Args:
        settings: settings of all models.
        log: JSON lines; None keeps replies in memory.
        resume: the file may have replies. If it has and may not, or if another process writes it, opening a model
            raises
            UsageError.
    """
    with ExitStack() as stack:

        def open_log() -> ReplyLog:
            if log is not None and not resume and log.exists():
                raise UsageError(f"{log}: has replies of an earlier run; pass --resume to use them, or remove it")
            return ReplyLog(stack.enter_context(open_growing(log)) if log is not None else None)

        yield Models(settings, open_log)
