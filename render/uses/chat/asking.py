"""Asking a model: attempts with growing waits, limits and costs of a run, and a log of replies. Thread-safe."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from threading import Event, Lock
from typing import Any

from diorama.scene_specs.errors import ChatError, DioramaError
from diorama.scene_specs.files.writing import GrowingFile
from diorama.scene_specs.tasks.chat import ChatModel, Message, Picture, Reply


class BudgetError(ChatError):
    """A limit of requests or tokens that is reached; the run can be continued with a higher one."""


class TemporaryError(ChatError):
    """A failure that another attempt may not have.

    Args:
        problem: the message.
        wait: seconds that the server asks for.
        tokens: input and output tokens of a reply that could not be used.
    """

    def __init__(self, problem: str, wait: float = 0.0, tokens: tuple[int, int] = (0, 0)) -> None:
        super().__init__(problem)
        self.wait, self.tokens = wait, tokens


class Meter:
    """A count of the requests and tokens of a run, which ends the run at its limits.

    Args:
        max_requests: None for no limit.
        max_tokens: None for no limit.
        price: price of a million input tokens, and of a million output tokens.

    Attributes:
        requests: counted so far.
        tokens: input and output tokens so far.
        stopped: set it to send no more requests.
        failure: failure of the last request, as the end of a message; "" if it did not fail.
    """

    def __init__(self, max_requests: int | None, max_tokens: int | None, price: tuple[float, float]) -> None:
        self._max_requests, self._max_tokens, self._price = max_requests, max_tokens, price
        self._lock = Lock()
        self._reserved = self._longest_input = 0
        self.requests, self.tokens, self.failure = 0, (0, 0), ""
        self.stopped = Event()

    def start(self, output_tokens: int) -> int:
        """Count a request that may produce this number of tokens.

        Prompts are counted by servers only: each is expected to be as long as the longest so far.

        Returns:
            The number of tokens to reserve for it, for `end`.

        Raises:
            BudgetError: a limit is reached.
            ChatError: the run was stopped.
        """
        if self.stopped.is_set():
            raise ChatError("stopped: another request failed, or the run was interrupted")
        with self._lock:
            if self._max_requests is not None and self.requests >= self._max_requests:
                problem = f"stopped: --max-requests {self._max_requests} reached"
                raise BudgetError(f"{problem}; run the same command again to continue{self.failure}")
            used, expected = sum(self.tokens) + self._reserved, self._longest_input + output_tokens
            if self._max_tokens is not None and used + expected > self._max_tokens:
                left = f"{max(0, self._max_tokens - used)} are left and a request may need {expected}"
                raise BudgetError(f"--max-tokens: of {self._max_tokens} tokens, {left}; raise it to continue")
            self.requests += 1
            self._reserved += expected
            return expected

    def end(self, reserved: int, tokens: tuple[int, int]) -> float:
        """Count the tokens of a request that `start` counted; return their cost."""
        with self._lock:
            self._reserved -= reserved
            self._longest_input = max(self._longest_input, tokens[0])
            self.tokens = (self.tokens[0] + tokens[0], self.tokens[1] + tokens[1])
        return (tokens[0] * self._price[0] + tokens[1] * self._price[1]) / 1e6


class ReplyLog:
    """Replies by request.

    Args:
        file: JSON lines that earlier runs and this one write; a line that was cut short is removed. None keeps replies
            in
            memory.

    Raises:
        ChatError: a line of the file is not a reply.
    """

    def __init__(self, file: GrowingFile | None = None) -> None:
        self._file, self._lock = file, Lock()
        self._replies: dict[str, Reply] = {}
        if file is None:
            return
        for number, line in file.read_and_repair(b'{"request": "'):
            try:
                row = json.loads(line)
                request = str(row.pop("request"))
                self._replies[request] = Reply(**row)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                hint = "remove the file to send all requests again"
                raise ChatError(f"{file.path}, line {number}: not a logged reply: {error}; {hint}") from error

    def get(self, request: str) -> Reply | None:
        """Return the reply to a request, if there is one."""
        return self._replies.get(request)

    def add(self, request: str, reply: Reply) -> None:
        """Keep a reply; with a file, it is on the disk when this returns."""
        with self._lock:
            self._replies[request] = reply
            if self._file is not None:
                self._file.append(json.dumps({"request": request, **asdict(reply)}, ensure_ascii=True) + "\n")


class Asker:
    """A model with retries.

    Args:
        name: name of the model.
        model: model that is asked.
        meter: meter of the run.
        log: log of the run.
        settings: parameters of its requests.
        waits: number of attempts, first and longest wait in seconds.
    """

    def __init__(
        self, name: str, model: ChatModel, meter: Meter, log: ReplyLog, settings: Mapping[str, Any],
        waits: tuple[int, float, float],
    ) -> None:  # fmt: skip
        self.name, self.settings = name, settings
        self._model, self._meter, self._log, self._waits = model, meter, log, waits

    def reply(self, messages: Sequence[Message], *, max_tokens: int, key: str = "") -> Reply:
        """Return the model's reply; from the log if it was given to the same messages, settings and key before.

        Args:
            messages: messages of the conversation.
            max_tokens: most tokens of the reply.
            key: tells apart requests that are to get replies of their own.

        Raises:
            ChatError: the last attempt failed, or one in a way that is not temporary.
            BudgetError: a limit of the run is reached.
        """
        request = self._cache_key(messages, max_tokens, key)
        if (known := self._log.get(request)) is not None:
            return known
        attempts, wait, longest = self._waits
        cost = 0.0
        for attempt in range(1, attempts + 1):
            outcome, spent = self._request_once(messages, max_tokens)
            cost += spent
            if isinstance(outcome, Reply):
                reply = replace(outcome, requests=attempt, cost=None if outcome.cost is None else cost)
                self._log.add(request, reply)
                return reply
            if attempt < attempts:
                # Parallel requests that failed together must not come back together.
                self._meter.stopped.wait(min(longest, max(outcome.wait, wait * random.uniform(0.5, 1.0))))
                wait *= 2
        raise ChatError(f"model {self.name}: no usable reply in {attempts} attempts; the last one: {outcome}")

    def _request_once(self, messages: Sequence[Message], max_tokens: int) -> tuple[Reply | TemporaryError, float]:
        """Return a reply or a temporary failure, and its cost."""
        reserved = self._meter.start(max_tokens)
        tokens, failure = (0, 0), ""
        try:
            outcome: Reply | TemporaryError = self._model.reply(messages, max_tokens=max_tokens)
            match outcome:
                case Reply(input_tokens=int(read), output_tokens=int(written)):
                    tokens = (read, written)
                case _:
                    expected = "Reply(text, input_tokens, output_tokens) of diorama.scene_specs.tasks.chat"
                    raise ChatError(f"model {self.name}: its reply is {outcome!r:.100}; expected {expected}")
        except TemporaryError as error:
            outcome, tokens, failure = error, error.tokens, f"; the last request failed: {error}"
        except DioramaError:
            raise
        except (Exception, SystemExit) as error:
            raise ChatError(f"model {self.name} failed: {error!r}") from error
        finally:
            cost = self._meter.end(reserved, tokens)
        self._meter.failure = failure
        return outcome, cost

    def _cache_key(self, messages: Sequence[Message], max_tokens: int, key: str) -> str:
        """Return a hash of everything that decides the reply."""
        said = [[message.role, [*map(_part_key, message.parts)]] for message in messages]
        data = json.dumps([self.name, dict(self.settings), max_tokens, key, said], sort_keys=True)
        return hashlib.sha256(data.encode()).hexdigest()


def _part_key(part: str | Picture) -> str | dict[str, str]:
    return {"text": part} if isinstance(part, str) else hashlib.sha256(part.png).hexdigest()
