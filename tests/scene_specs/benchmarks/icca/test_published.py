"""Published prompts, on a small clone with code of the published form, and what others read of played games."""

from __future__ import annotations

import ast
import base64
import csv
import json
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from diorama.render.uses.chat import ChatSettings, open_models
from diorama.scene_specs.benchmarks.icca import Play, Prompt
from diorama.scene_specs.benchmarks.icca.play_files import play_games, show_prompt
from diorama.scene_specs.benchmarks.icca.score import Played, read_tokenizer, scores
from diorama.scene_specs.benchmarks.icca.transcripts import read_transcripts
from diorama.scene_specs.errors import UsageError
from tests.chat_server import Body, chat_server
from tests.scene_specs.benchmarks.icca.test_game_folders import human

# The classes of the published file, with texts of our own.
CODE = """
from itertools import chain
from openai import OpenAI


class Base:
    def get_spkr_prompt(self, intro, t, images, target, settings, records=[]):
        label = self.model_args.label_space[[one["filename"] for one in images].index(target)]
        past = [*chain.from_iterable(one["spkr_trial_record"] for one in records)]
        return intro + past + self._get_spkr_prompt(f"Round {t + 1}", label), None

    def get_lsnr_prompt(self, intro, t, images, target, message, records, no_history, omit_img, has_intro):
        past = [*chain.from_iterable(one["lsnr_trial_record"] for one in records)]
        return intro + past + self._get_lsnr_prompt(f"Round {t + 1}", images, message, omit_img), None

    def update_with_spkr_pred(self, prompt, text):
        return [*prompt, {"role": "assistant", "content": text}]

    def get_spkr_feedback(self, picked, target, images):
        return user("none" if picked == "invalid" else "yes" if picked == target["filename"] else "no")

    update_with_lsnr_pred = update_with_spkr_pred


def user(*content):
    parts = [{"type": "text", "text": one} if isinstance(one, str) else one for one in content]
    return {"role": "user", "content": parts}


class GPTModel(Base):
    def __init__(self, model_args, organization, key):
        print("hello")
        self.model_args, self.client = model_args, OpenAI(api_key=key)

    def query(self, query):
        system = {"role": "system", "content": f"I am the {self.model_args.role}."}
        self.client.chat.completions.create(messages=[system, *query], seed=42, max_tokens=1, temperature=0)

    def get_spkr_intro(self, images):
        return [user(self.model_args.intro_text, *map(self.image, images))]

    def get_lsnr_intro(self):
        return [user(self.model_args.intro_text)]

    def image(self, one):
        return {"type": "image_url", "image_url": {"url": one["URL"], "detail": "low"}}

    def _get_spkr_prompt(self, name, label):
        return [user(f"{name}, ", f"say {label}")]

    def _get_lsnr_prompt(self, name, images, message, omit):
        return [user(f"{name}, ", *([] if omit else map(self.image, images)), f"which is {message}?")]

    def _get_lsnr_feedback(self, answer, label, message):
        return user("yes" if answer == label else f"no, {label}" if answer in self.model_args.label_space else "what?")
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    (tmp_path / "clone/src/args").mkdir(parents=True)
    (tmp_path / "clone/src/MLLMs.py").write_text(CODE)
    for role, versions in (("spkr", ("simple", "explicit")), ("lsnr", ("standard", "masked"))):
        texts = {"GPT": {version: f"{role} {version}" for version in versions}}
        (tmp_path / f"clone/src/args/intro_texts_{role}.json").write_text(json.dumps(texts))
    return tmp_path / "clone"


def play(clone: Path, folder: Path, out: Path, **parameters: Any) -> list[Body]:
    """Play with models that answer a, none, a, none, ..., and return what the server got."""

    def behavior(number: int, body: Body) -> str:
        return "one\n line" if "spkr" in body["messages"][0]["content"] else ("a", "Image B")[number // 2 % 2]

    more: dict[str, Any] = {"prompts_as": "gpt", "published": clone, "folders": out / "played", "out": out / "o.jsonl"}
    options = Play(games=(folder,), speaker="openai:s", listener="openai:l", speaker_variant="S3", parallel=1, **more)
    with chat_server(behavior) as server:
        settings = ChatSettings(base_url=server.url, parameters=dict(parameters))
        with open_models(settings) as models:
            list(play_games(options, models).items)
    return server.bodies


def test_published_prompts_on_the_wire(clone: Path, tmp_path: Path) -> None:
    folder = human(tmp_path / "games")
    bodies = play(clone, folder, tmp_path)
    (transcript,) = read_transcripts(tmp_path / "o.jsonl")
    first, second = transcript.trials[:2]
    assert (first.message, first.answer, second.answer, second.choice) == ("one\n line", "A", "IMAGE B", "")
    speaker, listener = bodies[4:6]
    for body, tokens in ((speaker, 30), (listener, 1)):
        assert {key: body[key] for key in ("seed", "temperature", "max_tokens")} == {
            "seed": 42, "temperature": 0, "max_tokens": tokens,
        }  # fmt: skip
    said = speaker["messages"]
    assert " ".join(one["role"] for one in said) == "system user user assistant user user assistant user user"
    assert said[0]["content"] == "I am the spkr." and said[3]["content"] == "one\n line"
    assert said[1]["content"][0] == {"type": "text", "text": "spkr explicit"}
    image = said[1]["content"][1]["image_url"]
    files = {path.read_bytes() for path in folder.glob("*.jpg")}
    assert image["detail"] == "low" and base64.b64decode(image["url"].removeprefix("data:image/jpeg;base64,")) in files
    assert said[-1]["content"][0] == {"type": "text", "text": "Round 3, "}
    assert said[-2]["content"] == [{"type": "text", "text": "none"}]
    heard = listener["messages"]
    assert heard[0]["content"] == "I am the lsnr." and heard[1]["content"][0]["text"] == "lsnr standard"
    assert [one["content"] for one in heard if one["role"] == "assistant"] == ["A", "IMAGE B"]
    assert heard[-2]["content"][0]["text"] == "what?"


def test_parameters_of_users_come_first(clone: Path, tmp_path: Path) -> None:
    (seeds,) = {
        (body["seed"], body["temperature"]) for body in play(clone, human(tmp_path / "games"), tmp_path, seed=7)
    }
    assert seeds == (7, 0)


def test_records_for_the_published_notebook(clone: Path, tmp_path: Path) -> None:
    folder = human(tmp_path / "games")
    play(clone, folder, tmp_path)
    (transcript,) = read_transcripts(tmp_path / "o.jsonl")
    (file,) = (tmp_path / "played").glob("*/records_*_output.csv")
    assert file.name == "records_openai-s_S3_openai-l_L3_output.csv"
    rows = [*csv.DictReader(StringIO(file.read_text(), newline=""))]
    assert [row[""] for row in rows] == [str(k) for k in range(24)]
    for row, trial in zip(rows, transcript.trials, strict=True):
        assert (row["spkr_msg"], row["targetImg"], row["lsnr_pred"]) == (
            "one\n line", trial.target, trial.choice or "invalid",
        )  # fmt: skip
        for role, label in (("spkr", trial.speaker_label), ("lsnr", trial.listener_label)):
            assert row[f"tgt_label_for_{role}"] == label
            assert ast.literal_eval(row[f"{role}_trial_fns"])["ABCD".index(label)] == trial.target


def test_the_prompt_of_a_published_folder(clone: Path, tmp_path: Path) -> None:
    folder = human(tmp_path)
    assert 'message: the "red" one, number 1\n' in show_prompt(Prompt(game=folder, trial=1)).text
    shown = show_prompt(Prompt(game=folder, trial=1, prompts_as="gpt", published=clone)).text
    assert 'which is the "red" one, number 1?' in shown and "lsnr standard" in shown
    with pytest.raises(UsageError, match="expected a clone of lil-lab/ICCA"):
        show_prompt(Prompt(game=folder, prompts_as="claude", published=clone))
    for wrong in ({"prompts_as": "gpt"}, {"prompts_as": "gpt", "published": clone, "form": "collage"}):
        with pytest.raises(ValueError, match="--prompts-as"):
            Prompt(game=folder, **wrong)


@pytest.mark.readers
def test_length_in_tokens(tmp_path: Path) -> None:
    tokenizers = import_module("tokenizers")
    tokenizers.Tokenizer(tokenizers.models.WordLevel({"x": 0, "?": 1}, "?")).save(str(tmp_path / "t.json"))
    tokenize = read_tokenizer(tmp_path / "t.json")
    assert [*tokenize("a red one")] == ["?"]
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(UsageError, match="expected a tokenizer"):
        read_tokenizer(tmp_path / "bad.json")


def test_tokens_are_a_measure() -> None:
    targets = tuple("abcd" * 6)
    played = Played("g", "1", targets, ("red cube",) * 24, (True,) * 24)
    assert "tokens" not in {row.measure for row in scores([played])}
    assert {row.mean for row in scores([played], tokenize=list) if row.measure == "tokens"} == {8.0}
