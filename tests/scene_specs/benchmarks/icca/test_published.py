"""Published folders as prompts, and what others read of played games."""

from __future__ import annotations

import ast
import csv
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


def play(folder: Path, out: Path) -> None:
    """Play with models that answer a, none, a, none, ..."""

    def behavior(number: int, body: Body) -> str:
        return "one line" if "You are the speaker" in str(body["messages"][1]) else ("a", "Image X")[number // 2 % 2]

    more: dict[str, Any] = {"folders": out / "played", "out": out / "o.jsonl"}
    options = Play(games=(folder,), speaker="openai:s", listener="openai:l", speaker_variant="S3", parallel=1, **more)
    with chat_server(behavior) as server, open_models(ChatSettings(base_url=server.url)) as models:
        list(play_games(options, models).items)


def test_records_for_the_published_notebook(tmp_path: Path) -> None:
    folder = human(tmp_path / "games")
    play(folder, tmp_path)
    (transcript,) = read_transcripts(tmp_path / "o.jsonl")
    (file,) = (tmp_path / "played").glob("*/records_*_output.csv")
    assert file.name == "records_openai-s_S3_openai-l_L3_output.csv"
    rows = [*csv.DictReader(StringIO(file.read_text(), newline=""))]
    assert [row[""] for row in rows] == [str(k) for k in range(24)]
    for row, trial in zip(rows, transcript.trials, strict=True):
        assert (row["spkr_msg"], row["targetImg"], row["lsnr_pred"]) == (
            trial.message, trial.target, trial.choice or "invalid",
        )  # fmt: skip
        for role, label in (("spkr", trial.speaker_label), ("lsnr", trial.listener_label)):
            assert row[f"tgt_label_for_{role}"] == label
            assert ast.literal_eval(row[f"{role}_trial_fns"])["ABCD".index(label)] == trial.target


def test_the_prompt_of_a_published_folder(tmp_path: Path) -> None:
    folder = human(tmp_path)
    assert 'message: the "red" one, number 1\n' in show_prompt(Prompt(game=folder, trial=1)).text


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
