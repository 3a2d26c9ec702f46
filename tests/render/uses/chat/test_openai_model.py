"""The OpenAI client against a local server."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

import pytest

from diorama.render.uses.chat import ChatError, ChatSettings, Message, Picture, Reply, open_model, open_models
from diorama.render.uses.chat.asking import BudgetError, TemporaryError
from diorama.render.uses.chat.openai_model import _read_reply
from diorama.scene_specs.errors import UsageError
from tests.chat_server import Body, Raw, chat_server

TALK = [
    Message("system", ("Be brief.",)),
    Message("user", ("What is it?", Picture("a.png", b"png"), "And this?")),
]
QUICK: dict[str, Any] = {"first_wait": 0.001, "longest_wait": 0.002}


def ask(settings: ChatSettings) -> Reply:
    with open_models(settings) as models:
        return models.open("openai:m").reply(TALK, max_tokens=9)


def test_messages_and_settings_on_the_wire() -> None:
    with chat_server(lambda number, body: "a red cube") as server:
        settings = ChatSettings(base_url=server.url, parameters={"seed": 7, "temperature": None})
        reply = open_model("openai:some/model", settings).reply(TALK, max_tokens=9)
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("a red cube", *server.tokens)
    (body,) = server.bodies
    url = f"data:image/png;base64,{base64.b64encode(b'png').decode()}"
    content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]
    assert body == {
        "model": "some/model",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [*content, {"type": "text", "text": "And this?"}]},
        ],
        "max_tokens": 9,
        "seed": 7,
    }


@pytest.mark.slow
def test_failures_that_pass() -> None:
    def behavior(number: int, body: Body) -> str | int | float:
        return (429, 503, "malformed", "empty", 60.0, "fine")[number]

    with chat_server(behavior) as server:
        reply = ask(ChatSettings(base_url=server.url, timeout=3, price=(1e6, 1e6), **QUICK))
    assert (reply.text, reply.requests, len(server.bodies)) == ("fine", 6, 6)
    assert reply.cost == pytest.approx(sum(server.tokens))


@pytest.mark.slow
def test_an_answer_that_comes_slowly() -> None:
    with (
        chat_server(lambda number, body: "drip" if number == 1 else "fine") as server,
        open_models(ChatSettings(base_url=server.url, timeout=3, **QUICK)) as models,
    ):
        model = models.open("openai:m")
        model.reply(TALK[1:], max_tokens=9)  # imports the client, which can take seconds
        start = time.monotonic()
        assert model.reply(TALK, max_tokens=9).requests == 2
        assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("usage", "tokens", "cost"),
    [
        (None, (10, 4), None),
        ({}, (10, 4), None),
        ({"prompt_tokens": 0, "completion_tokens": 0}, (10, 4), None),
        ({"prompt_tokens": 7}, (7, 4), None),
        ({"prompt_tokens": 7, "completion_tokens": 0}, (7, 0), 7e-6),
    ],
)
def test_tokens_that_a_server_does_not_count(caplog: Any, usage: Any, tokens: Any, cost: Any) -> None:
    answer = {"choices": [{"message": {"content": "a red cube"}}], **({} if usage is None else {"usage": usage})}
    raw = Raw(200, {}, [json.dumps(answer).encode()])
    with (
        chat_server(lambda number, body: raw) as server,
        open_models(ChatSettings(base_url=server.url, max_tokens=40, price=(1, 1), **QUICK)) as models,
    ):
        model = models.open("openai:m")
        replies = [model.reply(TALK, max_tokens=9, key=str(number)) for number in range(2)]
        assert [(one.input_tokens, one.output_tokens) for one in replies] == [tokens] * 2
        assert [one.cost for one in replies] == [cost if cost is None else pytest.approx(cost)] * 2
        warnings = [one.message for one in caplog.records if "does not say how many tokens" in one.message]
        assert len(warnings) == (cost is None)
        if cost is None and not (usage or {}).get("prompt_tokens"):
            # 28 of 40 are used, and a request takes up to 19.
            with pytest.raises(BudgetError, match="of 40 tokens, 12 are left"):
                model.reply(TALK, max_tokens=9, key="last")


def test_failures_that_stay() -> None:
    with chat_server(lambda number, body: 401) as server, pytest.raises(ChatError, match=r"openai:m: .*told to fail"):
        ask(ChatSettings(base_url=server.url, **QUICK))
    assert len(server.bodies) == 1


def test_a_server_that_is_not_there() -> None:
    with chat_server(lambda number, body: "hi") as server:
        pass
    with pytest.raises(
        ChatError,
        match=r"no usable reply in 2 attempts; .* http://.*: Connection error\. .*attempts failed",
    ):
        ask(ChatSettings(base_url=server.url, attempts=2, **QUICK))


def test_a_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="set OPENAI_API_KEY, or name a server with --base-url"):
        open_model("openai:m")
    with pytest.raises(UsageError, match="expected http://"):
        open_model("openai:m", ChatSettings(base_url="localhost:8000/v1"))


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"content": "yes", "refusal": "no"}, "yes"),
        ({"content": None, "refusal": "no"}, "no"),
        ({"refusal": "no"}, "no"),
        ({"content": [{"text": "yes"}], "refusal": "no"}, None),
        ({"content": None}, None),
    ],
)
def test_a_refusal_is_the_reply_where_there_is_no_content(message: dict[str, object], said: str | None) -> None:
    answer = json.dumps({"choices": [{"message": message}]})
    if said is None:
        with pytest.raises(TemporaryError, match="malformed answer"):
            _read_reply(answer)
    else:
        assert _read_reply(answer).text == said
