"""Retries, limits, costs and the log of replies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Barrier, Event
from typing import Any, ClassVar

import pytest

from diorama.render.uses.chat import (
    BudgetError,
    ChatError,
    ChatSettings,
    Message,
    Meter,
    Picture,
    Reply,
    TemporaryError,
    in_parallel,
    open_model,
    open_models,
)
from diorama.scene_specs.errors import PluginError, UsageError

HELLO = [Message("user", ("hello", Picture("a.png", b"png")))]
QUICK: dict[str, Any] = {"first_wait": 0.001, "longest_wait": 0.002}
NAME = "tests.render.uses.chat.test_asking:Flaky"


class Flaky:
    """Fails before every third reply, with tokens of its own."""

    made: ClassVar[list[Flaky]] = []

    def __init__(self) -> None:
        self.calls = 0
        Flaky.made.append(self)

    def reply(self, messages: Sequence[Message], *, max_tokens: int) -> Reply:
        self.calls += 1
        if self.calls % 3:
            raise TemporaryError("busy", tokens=(10, 0))
        return Reply("hi", 100, 5)


class NeedsMore:
    def __init__(self, game: object) -> None: ...


class Broken:
    def reply(self, messages: Sequence[Message], *, max_tokens: int) -> Reply:
        raise TemporaryError("busy")


def test_failed_attempts_are_repeated_and_paid() -> None:
    with open_models(ChatSettings(price=(2.0, 8.0), **QUICK)) as models:
        reply = models.open(NAME).reply(HELLO, max_tokens=5)
    assert (reply.text, reply.requests) == ("hi", 3)
    assert reply.cost == pytest.approx((2.0 * 120 + 8.0 * 5) / 1e6)
    assert (models.meter.requests, models.meter.tokens) == (3, (120, 5))


@pytest.mark.parametrize("price", [(-1.0, 2.0), (1.0, float("nan"))])
def test_prices_are_numbers_of_at_least_0(price: tuple[float, float]) -> None:
    with pytest.raises(UsageError, match=f"prices {price[0]:g} and {price[1]:g}: expected finite"):
        ChatSettings(price=price)


def test_attempts_end() -> None:
    with open_models(ChatSettings(attempts=4, **QUICK)) as models:
        model = models.open("tests.render.uses.chat.test_asking:Broken")
        with pytest.raises(ChatError, match="no usable reply in 4 attempts; the last one: busy"):
            model.reply(HELLO, max_tokens=5)
    assert models.meter.requests == 4


def test_a_limit_names_what_failed() -> None:
    with open_models(ChatSettings(max_requests=2, **QUICK)) as models:
        model = models.open("tests.render.uses.chat.test_asking:Broken")
        with pytest.raises(BudgetError, match="again to continue; the last request failed: busy"):
            model.reply(HELLO, max_tokens=5)


def test_limits_of_a_run() -> None:
    with open_models(ChatSettings(max_requests=4, **QUICK)) as models:
        model = models.open(NAME)
        model.reply(HELLO, max_tokens=5, key="1")
        with pytest.raises(BudgetError, match="stopped: --max-requests 4 reached; run the same command again"):
            model.reply(HELLO, max_tokens=5, key="2")
    with open_models(ChatSettings(max_tokens=124, **QUICK)) as models, pytest.raises(BudgetError, match="114 are left"):
        model = models.open(NAME)
        model.reply(HELLO, max_tokens=120, key="1")
    assert models.meter.tokens == (10, 0)


def test_the_token_limit_counts_prompts_under_way() -> None:
    meter = Meter(None, 1000, (0.0, 0.0))
    meter.end(meter.start(50), (400, 50))
    reserved = meter.start(50)
    with pytest.raises(BudgetError, match="100 are left and a request may need 450"):
        meter.start(50)
    meter.end(reserved, (0, 0))
    assert meter.start(50) == 450


def test_replies_in_the_log_are_not_asked_again(tmp_path: Path) -> None:
    log = tmp_path / "replies"
    with open_models(ChatSettings(**QUICK), log) as models:
        first = models.open(NAME).reply(HELLO, max_tokens=5, key="1")
    log.write_bytes(log.read_bytes() + b'{"request": "cut')
    Flaky.made.clear()
    with open_models(ChatSettings(**QUICK), log) as models:
        model = models.open(NAME)
        assert model.reply(HELLO, max_tokens=5, key="1") == first
        assert Flaky.made[0].calls == 0
        other = [Message("user", ("hello", Picture("a.png", b"another")))]
        for messages, key, limit in ((HELLO, "2", 5), (other, "1", 5), (HELLO, "1", 6)):
            model.reply(messages, max_tokens=limit, key=key)
        assert Flaky.made[0].calls == 9
    assert len(log.read_text().splitlines()) == 4
    text = log.read_text()
    log.write_text(text.removesuffix("\n"))
    with open_models(ChatSettings(**QUICK), log) as models:
        models.open(NAME).reply(other, max_tokens=5, key="1")
    assert log.read_text() == text and Flaky.made[-1].calls == 0
    log.write_text('{"precious": [1')
    with pytest.raises(UsageError, match="not written by"), open_models(ChatSettings(), log) as models:
        models.open(NAME)
    assert log.read_text() == '{"precious": [1'
    log.write_text("[]\n")
    with pytest.raises(ChatError, match="line 1: not a logged reply"), open_models(ChatSettings(), log) as models:
        models.open(NAME)


def test_a_log_has_one_writer(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with open_models(ChatSettings(), log) as models, open_models(ChatSettings(), log) as others:
        assert not log.exists()
        models.open(NAME)
        with pytest.raises(UsageError, match="another command is writing it"):
            others.open(NAME)
    assert not log.exists()
    log.write_text("")
    with open_models(ChatSettings(), log, resume=False) as models, pytest.raises(UsageError, match="pass --resume"):
        models.open(NAME)


def test_threads_share_the_meter() -> None:
    with open_models(ChatSettings(**QUICK, attempts=50)) as models:
        model = models.open(NAME)
        keys = [str(k) for k in range(60)]
        replies = list(in_parallel(lambda key: model.reply(HELLO, max_tokens=5, key=key), keys, 8, models.stop))
    assert len(replies) == 60
    assert models.meter.requests == sum(reply.requests for reply in replies)
    assert models.meter.tokens[1] == 300


def test_an_error_stops_the_other_threads() -> None:
    with open_models(ChatSettings(max_requests=10, first_wait=60, longest_wait=60, attempts=2)) as models:
        model = models.open("tests.render.uses.chat.test_asking:Broken")
        # Ten wait for their second attempt when the eleventh ends the run.
        with pytest.raises(BudgetError):
            list(
                in_parallel(lambda key: model.reply(HELLO, max_tokens=5, key=key), map(str, range(20)), 11, models.stop)
            )


def test_results_under_way_come_before_the_error() -> None:
    together, stopped = Barrier(4), Event()

    def work(number: int) -> int:
        if number < 4:
            together.wait(100)
        if number == 0:
            raise ChatError("0 failed")
        assert stopped.wait(100)
        return number

    kept = []
    with pytest.raises(ChatError, match="0 failed"):
        for one in in_parallel(work, range(9), 4, stopped.set):
            kept.append(one)
    assert {1, 2, 3} <= {*kept}


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), SystemExit(0)])
def test_a_model_that_raises_is_named(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def reply(*_: object, **__: object) -> Reply:
        raise error

    monkeypatch.setattr(Broken, "reply", reply)
    with (
        open_models(ChatSettings()) as models,
        pytest.raises(ChatError, match=r"test_asking:Broken failed: .*\(") as found,
    ):
        models.open("tests.render.uses.chat.test_asking:Broken").reply(HELLO, max_tokens=5)
    assert repr(error) in str(found.value) and models.meter.requests == 1


def test_names_of_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_own_model.py").write_text("class Model:\n    reply = print\nclass Other:\n    pass\n")
    monkeypatch.chdir(tmp_path)
    assert callable(open_model("my_own_model:Model").reply)
    with pytest.raises(UsageError, match="Other has no method reply"):
        open_model("my_own_model:Other")
    with pytest.raises(UsageError, match=r"NeedsMore.*can't be created without arguments"):
        open_model("tests.render.uses.chat.test_asking:NeedsMore")
    with pytest.raises(PluginError, match="can't import no_such_module:Model"):
        open_model("no_such_module:Model")
    with pytest.raises(UsageError, match="expected openai:MODEL, hf:MODEL_OR_FOLDER or module:Class"):
        open_model("gpt")
