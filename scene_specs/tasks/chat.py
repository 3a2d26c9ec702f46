"""Conversations with chat models: the messages that benchmarks write, and the replies that they read.

`diorama.render.uses.chat` has the models. Benchmarks don't import it; they get a `ModelOpener` from the command line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from diorama.scene_specs.language.registry import find_plugin

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Picture:
    """An image of a message.

    Attributes:
        name: name for logs; models don't get it.
        png: the contents of a PNG file, or of a JPEG file.
    """

    name: str
    png: bytes


@dataclass(frozen=True)
class Message:
    """A message of a conversation: texts and images in order."""

    role: Role
    parts: tuple[str | Picture, ...]


@dataclass(frozen=True)
class Reply:
    """A model's reply.

    Attributes:
        requests: number of requests until it came.
        cost: cost of all of them, in the currency of the prices that were given; None if the tokens are estimates.
    """

    text: str
    input_tokens: int
    output_tokens: int
    requests: int = 1
    cost: float | None = 0.0


class ChatModel(Protocol):
    """A model that continues a conversation. `reply` is called by several threads at once."""

    def reply(self, messages: Sequence[Message], *, max_tokens: int) -> Reply:
        """Return the next message of the assistant, of at most `max_tokens` tokens.

        Raises:
            diorama.render.uses.chat.TemporaryError: the request failed, and another attempt may not.
        """


class OpenedModel(Protocol):
    """A model with retries, a budget, and a log of its replies.

    Attributes:
        settings: parameters of its requests.
    """

    name: str
    settings: Mapping[str, Any]

    def reply(self, messages: Sequence[Message], *, max_tokens: int, key: str = "") -> Reply:
        """Return the reply; see `diorama.render.uses.chat.Asker`.

        Args:
            key: distinguishes equal conversations.
        """


class ModelOpener(Protocol):
    """Opens models that share a budget and a log."""

    def open(self, name: str) -> OpenedModel:
        """Open a model by name: openai:MODEL, hf:MODEL_OR_FOLDER or module:Class.

        Raises:
            UsageError: the name or the settings are wrong.
            PluginError: the class can't be imported.
        """

    def stop(self) -> None:
        """Send no more requests: those that wait fail at once, those under way end."""


def in_parallel(
    work: Callable[[_Item], _Result], items: Iterable[_Item], workers: int, stop: Callable[[], None]
) -> Iterator[_Result]:
    """Yield the results of `work`, which runs in threads, as they are ready; with one worker in order and unthreaded.

    After an error, or if the caller stops reading, items that wait are dropped, and `stop` is called to shorten those
    that are worked on. An error is raised when these have ended; their results come first.
    """
    if workers == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(workers) as pool:
        left = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(left):
                left.remove(future)
                yield future.result()
        except BaseException as error:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            if not isinstance(error, GeneratorExit):
                for future in as_completed([one for one in left if not one.cancelled()]):
                    if future.exception() is None:
                        yield future.result()
            raise


def load_object(noun: str, name: str) -> Any:
    """Import the object `package.module:object`, of an installed package or of a file in the current folder.

    Raises:
        PluginError: it can't be imported.
    """
    # Commands start without the current folder on the path, which `python -m` has.
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    return find_plugin(noun, name).load()
