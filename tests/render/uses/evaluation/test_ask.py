"""Asking a model: messages, limits, and runs that continue."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Barrier
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner

from diorama.render.cli.eval import main
from diorama.render.uses.chat import Message, Picture, Reply
from diorama.render.uses.evaluation.ask import message_of
from diorama.scene_specs.tasks.answer_rule import LETTERS
from diorama.scene_specs.tasks.items import items_of
from tests.chat_server import chat_server
from tests.compatibility.commands import run
from tests.render.uses.export.helpers import make_store
from tests.render.uses.items.eval_stores import episodes, eval_store

MODEL = "tests.render.uses.evaluation.test_ask:Player"


class Player:
    """Answers with the last letter or word that a question offers, and remembers what it was asked."""

    asked: ClassVar[list[Message]] = []

    def reply(self, messages: Sequence[Message], *, max_tokens: int) -> Reply:
        (message,) = messages
        Player.asked.append(message)
        assert max_tokens == 256 and any(isinstance(part, Picture) for part in message.parts)
        return Reply("no", 10, 1)


@pytest.fixture(autouse=True)
def _forget() -> None:
    Player.asked.clear()


def test_a_run_continues_after_its_limit(tmp_path: Path) -> None:
    store = eval_store(tmp_path, "malevic", "kilogram").url
    out = tmp_path / "p.jsonl"
    ask = ("render-eval", "ask", store, "--model", MODEL, "--out", out)
    run(*ask, "--max-requests", "2", "--parallel", "1", exit_codes=(1,))
    first = out.read_text()
    assert len(first.splitlines()) == 2
    out.write_text(first + '{"id": "kilo')
    text = run(*ask, "--parallel", "4", "--price", "2:8")
    assert text.startswith("asked 4 items: 4 requests, 40 tokens read, 4 written")
    assert out.read_text().startswith(first) and len(Player.asked) == 6
    assert run(*ask).startswith("asked 0 items: 0 requests")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["prompts"] for row in rows} == {"kilogram 1", "malevic 1"} and {row["model"] for row in rows} == {MODEL}
    assert [row["cost"] for row in rows] == pytest.approx([0.0] * 2 + [28e-6] * 4)
    table = run("render-eval", "score", out, "--store", store)
    assert "| task | malevic: pos1 | 2 | 0.0 |" in table


class Slow(Player):
    """Replies to the first question at once, and to others later."""

    def reply(self, messages: Sequence[Message], *, max_tokens: int) -> Reply:
        first = not Player.asked
        reply = super().reply(messages, max_tokens=max_tokens)
        time.sleep(0 if first else 0.3)
        return reply


def test_replies_under_way_at_the_limit_are_kept(tmp_path: Path) -> None:
    store, out = eval_store(tmp_path, "malevic", episodes_each=6).url, tmp_path / "p"
    limits = ("--parallel", "4", "--max-requests", "4")
    run("render-eval", "ask", store, "--model", MODEL.replace("Player", "Slow"), "--out", out, *limits, exit_codes=(1,))
    assert len(Player.asked) == len(out.read_text().splitlines()) == 4


def test_replies_of_two_models_are_not_mixed(tmp_path: Path) -> None:
    store = eval_store(tmp_path, "malevic").url
    out = tmp_path / "p.jsonl"
    run("render-eval", "ask", store, "--model", MODEL, "--out", out)
    other = out.read_text().replace(MODEL, "other:Model")
    out.write_text(other)
    run("render-eval", "ask", store, "--model", MODEL, "--out", out, exit_codes=(2,))
    assert out.read_text() == other and len(Player.asked) == 2


@pytest.mark.parametrize(
    "text", ["no predictions\n", '{"precious": [1, 2, 3]}', "precious", '{"precious": [1', "[" * 100_000]
)
def test_files_of_others_are_left_alone(tmp_path: Path, text: str) -> None:
    out = tmp_path / "notes.json"
    out.write_text(text)
    run("render-eval", "ask", eval_store(tmp_path, "malevic").url, "--model", MODEL, "--out", out, exit_codes=(2,))
    assert out.read_text() == text and not Player.asked


def test_a_last_line_without_its_end_counts(tmp_path: Path) -> None:
    ask = ("render-eval", "ask", eval_store(tmp_path, "malevic").url, "--model", MODEL, "--out", tmp_path / "p")
    run(*ask)
    text = (tmp_path / "p").read_text()
    (tmp_path / "p").write_text(text.removesuffix("\n"))
    assert run(*ask).startswith("asked 0 items: 0 requests") and (tmp_path / "p").read_text() == text


def test_a_device_is_refused(tmp_path: Path) -> None:
    command = ["ask", eval_store(tmp_path, "malevic").url, "--model", MODEL, "--out", os.devnull]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2 and "--out /dev/null: not a regular file" in result.stderr


def test_replies_with_other_settings_are_not_mixed(tmp_path: Path) -> None:
    store, out = eval_store(tmp_path, "malevic").url, tmp_path / "p"
    ask = ("render-eval", "ask", store, "--model", MODEL, "--out", out)
    run(*ask)
    text = out.read_text()
    for other in (("--set", "temperature=1"), ("--reply-tokens", "255")):
        result = CliRunner().invoke(main, [*map(str, ask[1:]), *other])
        assert result.exit_code == 2 and "name another file" in result.stderr
    rows = [json.loads(line) for line in text.splitlines()]
    assert {json.dumps(row.pop("settings")) for row in rows} == {'{"reply_tokens": 256}'}
    # Earlier versions wrote no settings.
    out.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(*ask).startswith("asked 0 items")


def test_what_a_limit_asked_can_be_scored(tmp_path: Path) -> None:
    ask = ("render-eval", "ask", eval_store(tmp_path, "malevic").url, "--model", MODEL, "--out", tmp_path / "p")
    following = run(*ask, "--limit", "1").partition("next: ")[2].partition(", and")[0].split()
    assert following[-2:] == ["--limit", "1"] and "| all |  | 1 |" in run(*following)


def test_more_than_a_chunk_is_asked_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    together = Barrier(4)

    def reply(*_: object, **__: object) -> Reply:
        together.wait(100)
        return Reply("no", 10, 1)

    monkeypatch.setattr("diorama.render.uses.evaluation.ask._CHUNK", 2)
    monkeypatch.setattr(Player, "reply", reply)
    command = ("ask", eval_store(tmp_path, "malevic", episodes_each=4).url, "--model", MODEL, "--out", tmp_path / "p")
    assert run("render-eval", *command, "--parallel", "4").startswith("asked 4 items")


def test_replies_to_other_numbers_of_questions_are_not_mixed(tmp_path: Path) -> None:
    """The questions of an image depend on how many there are."""
    ask = ("render-eval", "ask", eval_store(tmp_path, "clevr").url, "--model", MODEL, "--out", tmp_path / "p.jsonl")
    assert "--questions 2" in run(*ask, "--questions", "2")
    run(*ask, "--questions", "3", exit_codes=(2,))


def test_a_wrong_price_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["ask", "none", "--model", MODEL, "--out", str(tmp_path / "p"), "--price", "2:"])
    assert done.exit_code == 2 and "found '2:'; expected INPUT:OUTPUT" in done.stderr


def test_a_server_gets_texts_and_images_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    store = eval_store(tmp_path, "icca", episodes_each=1).url
    with chat_server(lambda number, body: "Answer: A") as server:
        url = server.url.replace("://", "://me:secret@")
        arguments = ("--model", "openai:m", "--base-url", url, "--set", "temperature=1")
        run("render-eval", "ask", store, *arguments, "--out", tmp_path / "p", "--limit", "1", "--parallel", "1")
    assert len(server.bodies) == 4 and {body["temperature"] for body in server.bodies} == {1}
    assert '"temperature": 1' in (tmp_path / "p").read_text() and "secret" not in (tmp_path / "p").read_text()
    (message,) = server.bodies[0]["messages"]
    kinds = [part["type"] for part in message["content"]]
    assert kinds == ["text", *["text", "image_url"] * 4, "text"]
    row = run("render-eval", "score", tmp_path / "p", "--store", store).splitlines()[2]
    assert row.startswith("| all |  | 4 | 25.0 |")


def test_messages_show_what_items_name() -> None:
    (episode, *_) = episodes("mewl")
    (item,) = items_of(episode)
    message = message_of(item, episode)
    pictures = [part for part in message.parts if isinstance(part, Picture)]
    assert [one.png for one in pictures] == [image.png for image in episode.images]
    assert f"{LETTERS[item.options.index(item.answer)]}. {item.answer}" in str(message.parts[-1])


class Odd:
    """Replies with `said`."""

    said: Any = None

    def reply(self, messages: Sequence[Message], *, max_tokens: int) -> Any:
        return self.said


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("no", "its reply is 'no'; expected Reply(text, input_tokens, output_tokens)"),
        (Reply("A", None, None), "its reply is Reply(text='A', input_tokens=None, "),  # type: ignore[arg-type]
    ],
)
def test_a_reply_of_another_type_is_refused(
    said: Any, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Odd, "said", said)
    store = eval_store(tmp_path, "malevic").url
    model = MODEL.replace("Player", "Odd")
    result = CliRunner().invoke(main, ["ask", store, "--model", model, "--out", str(tmp_path / "p")])
    assert result.exit_code == 1 and expected in result.stderr


def test_half_a_character_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Odd, "said", Reply("A \ud83d", 1, 1))
    store, out = eval_store(tmp_path, "malevic").url, tmp_path / "p"
    run("render-eval", "ask", store, "--model", MODEL.replace("Player", "Odd"), "--out", out)
    assert {json.loads(line)["reply"] for line in out.read_text().splitlines()} == {"A \ud83d"}


def test_episodes_without_items_are_skipped(tmp_path: Path) -> None:
    store = eval_store(tmp_path, "malevic")
    plain = make_store(tmp_path)
    export, out = ("render-export", "--format", "eval", "--out"), tmp_path / "p"
    run("render-eval", "ask", plain.url, "--model", MODEL, "--out", out, exit_codes=(2,))
    run(*export, tmp_path / "none", plain.url, exit_codes=(2,))
    assert not out.exists() and not (tmp_path / "none").exists()
    run(*export, tmp_path / "eval", eval_store(tmp_path / "other", "icca").url)
    store.put([plain.get("demo/a")])
    text = run("render-eval", "ask", store.url, "--model", MODEL, "--out", out)
    assert text.startswith("asked 2 items") and len(out.read_text().splitlines()) == 2
    assert "| all |  | 2 |" in run("render-eval", "score", out, "--store", store.url)
    for skipped in ("", ", skipped 2 already there"):
        text = run(*export, tmp_path / "eval", store.url)
        assert text == f"exported {0 if skipped else 2} episodes to {tmp_path / 'eval'}{skipped}\n"
    # Exports into one folder are merged by benchmark.
    tasks = (tmp_path / "eval/diorama_tasks.py").read_text()
    assert "def icca()" in tasks and "def malevic()" in tasks
