"""ICCA (lil-lab/ICCA): games, arguments, introductions, measures, and answers as the published loop scores them."""

from __future__ import annotations

import base64
import contextlib
import io
import itertools
import os
import re
import sys
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator, Sequence
from glob import glob
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, patch
from zlib import crc32

import numpy as np
from PIL import Image

from diorama.scene_specs.benchmarks.icca import Options, Presented, game_folders, score
from diorama.scene_specs.benchmarks.icca.game import LISTENER_VARIANTS, SPEAKER_VARIANTS, Game, new_game, read_listener
from diorama.scene_specs.benchmarks.icca.generate import generate
from diorama.scene_specs.benchmarks.icca.layout import graph_from_json
from diorama.scene_specs.benchmarks.icca.play import ListenerView, Setup, play
from diorama.scene_specs.benchmarks.icca.play_files import write_played
from diorama.scene_specs.benchmarks.icca.players import RecordedSpeaker, SteadySpeaker
from diorama.scene_specs.benchmarks.icca.prompts import Part, messages_of, png_bytes
from diorama.scene_specs.benchmarks.icca.published import PublishedPrompts
from diorama.scene_specs.benchmarks.icca.transcripts import lines_of, transcripts_of
from diorama.scene_specs.tasks.chat import Picture
from tools.claims.crosschecks import Row, read_json

MARK = "src/run_icca.py"
# Libraries of the published code that its loop does not use.
_UNUSED = (
    "pandas", "sklearn", "sklearn.metrics", "tqdm", "openai", "httpx", "anthropic", "google", "google.generativeai",
    "google.generativeai.types",
)  # fmt: skip
# Accuracy of people in the last repetition, in percent (Hua and Artzi 2024).
LAST_ACCURACY = 99.54
OWN_GAMES = 13
# Models with requests to a server.
_SERVICES = ("GPT", "Claude", "Gemini")


def check(checkout: Path, options: Namespace) -> Iterator[Row]:
    """Yield the comparisons of every file that is there."""
    folders = game_folders.game_folders([checkout / "src/ICCA_data"])
    games = game_folders.read_games(folders)
    pilots = f"{sum(game.iteration == 'pilot0' for game in games)} pilots"
    yield Row("game folders", len(folders), len(folders) - len(games), 0, pilots)
    file = checkout / "src/args/interaction_args_lsnr.json"
    yield Row("arguments", 1, int(read_listener(file.read_text(), "L3") != LISTENER_VARIANTS["L3"]))
    accuracy = [row.mean for row in score.scores(map(score.played_recording, games)) if row.measure == "accuracy"]
    wrong = round(100 * accuracy[-1], 2) != LAST_ACCURACY
    yield Row("people's accuracy, repetition 6", 1, int(wrong), 0, " ".join(f"{100 * one:.2f}" for one in accuracy))
    yield from _distances(checkout, games)
    with TemporaryDirectory() as folder:
        yield _notebook(checkout, games, Path(folder) / "played")
    stubs = patch.dict(sys.modules, {name: MagicMock() for name in _UNUSED})
    path = patch.object(sys, "path", [str(checkout / "src"), *sys.path])
    with stubs, path, TemporaryDirectory() as folder:
        loop = import_module("run_icca")
        games += _own_games(Path(folder))
        for model in (*_SERVICES, "IDEFICS", "llava"):
            yield from _prompts(checkout, loop, games, model)


def _distances(checkout: Path, games: Sequence[Game]) -> Iterator[Row]:
    """Compare the notebook's functions between consecutive messages: of all words, and of those that it counts."""
    cells = _cells(checkout)
    found = {"np": np, **_tagger(cells["import spacy\nnlp = spacy.load"])}
    for name in ("editDistance", "get_msg_distance"):
        exec(cells[f"def {name}"], found)
    distance, seen = found["editDistance"], list[tuple[list[str], list[str], Any]]()

    def recorded(later: list[str], earlier: list[str]) -> Any:
        seen.append((earlier, later, distance(later, earlier)))
        return seen[-1][2]

    found["editDistance"] = recorded
    said = [
        [one.message for one, k in zip(game.recorded, game.targets, strict=True) if k == image]
        for game in games
        for image in range(4)
    ]
    pairs = [pair for messages in said for pair in itertools.pairwise(messages)]
    for words in ("all words", found["counted"]):
        seen.clear()
        for pair in pairs:
            if words == "all words":
                recorded(*map(score.plain_words, pair[::-1]))
            else:
                found["get_msg_distance"](pair)
        differ = 0
        for earlier, later, (wnd, wnr) in seen:
            own = score.novelty(earlier, later, published=True)
            differ += (own, score.rate(own, earlier, later, published=True)) != (int(wnd), float(wnr))
        means = np.reshape([wnr for *_, (_, wnr) in seen], (len(said), -1)).mean(axis=0)
        note = "WNR " + " ".join(f"{one:.3f}" for one in means)
        yield Row(f"WND and WNR of people's messages, {words}", len(seen), differ, 0, note)


def _cells(checkout: Path) -> dict[str, str]:
    cells = read_json(checkout / "src/collect_metrics.ipynb")["cells"]
    return {text.split("(")[0]: text for cell in cells if (text := "".join(cell["source"]).strip())}


def _notebook(checkout: Path, games: Sequence[Game], out: Path) -> Row:
    """What the notebook prints for records_*_output.csv of played games, without its tokenizer, against our scores."""
    title = "the notebook on our records: accuracy, words, WND, WNR"
    try:
        pandas = import_module("pandas")
    except ImportError:
        return Row(title, 0, 0, 0, "pandas is not installed")
    setup = Setup(Presented(), SPEAKER_VARIANTS["S1"], LISTENER_VARIANTS["L3"])
    lines = {}
    for game in games:
        trials = play(game, RecordedSpeaker(game, setup), _First(), setup)
        lines[game.name] = [*lines_of(game, setup, ("recorded", "first"), trials)]
    write_played(games, lines, out)
    cells, printed = _cells(checkout), io.StringIO()
    found: dict[str, Any] = {"np": np, "os": os, "pd": pandas, "glob": glob, "defaultdict": defaultdict}
    found |= {**_tagger(cells["import spacy\nnlp = spacy.load"]), "processor": SimpleNamespace(tokenize=str.split)}
    # scikit-learn's report has more, which the notebook does not print.
    found["classification_report"] = lambda gold, answers, **_: {"accuracy": np.mean(gold.values == answers.values)}
    for name in ("editDistance", "get_msg_distance", "get_speaker_metrics", "get_accuracies"):
        exec(cells[f"def {name}"], found)
    files = str(out / "*/records_*_output.csv")
    with contextlib.redirect_stdout(printed):
        found["get_accuracies"]("", "", files, "tgt_label_for_lsnr", "lsnr_pred", str(out))
        found["get_speaker_metrics"]("", "", files, "spkr_msg", str(out))
    theirs = [float(one) for one in re.findall(r"\d\.\d*", printed.getvalue().replace(files, ""))]
    played = (score.played_transcript(one) for game in games for one in transcripts_of("\n".join(lines[game.name])))
    own = [row.mean for row in score.scores(played, "published")]
    differ = sum(abs(one - other) > 1e-6 for one, other in zip(own, theirs, strict=False)) + abs(len(own) - len(theirs))
    return Row(title, len(own), differ, 0, str(found["counted"]))


def _tagger(cell: str) -> dict[str, Any]:
    """Return `nlp` of the notebook's cell, and what it counts; without spaCy's model, the content words of scores."""
    found: dict[str, Any] = {"counted": "parts of speech by spaCy"}
    try:
        exec(cell.split("processor")[0], found)
    except (ImportError, OSError):
        # OSError: spaCy has no model.
        found["counted"] = "content words (spaCy's en_core_web_sm is not installed)"
        found["nlp"] = lambda text: [SimpleNamespace(lemma_=word, pos_="NOUN") for word in score.content_words(text)]
    return found


def _prompts(checkout: Path, loop: Any, games: Sequence[Game], name: str) -> Iterator[Row]:
    """What the published loop sends for both roles, and what is sent here; which answers are right."""
    values = differ = 0
    for number, listener in enumerate(LISTENER_VARIANTS.values()):
        speaker = [*SPEAKER_VARIANTS.values()][number % len(SPEAKER_VARIANTS)]
        published = PublishedPrompts(name.lower(), checkout, speaker, listener)
        shown = {"form": "collage", "labels": "positions"} if name == "llava" else {}
        setup = Setup(Presented().model_copy(update=shown), speaker, listener, published=published)
        for game in games:
            theirs, rows = _send_theirs(checkout, loop, game, name, setup)
            replies = {role: iter([reply for _, reply in sent]) for role, sent in theirs.items()}
            said = SimpleNamespace(speak=lambda _, all=replies: next(all["spkr"]))
            heard = SimpleNamespace(choose=lambda _, all=replies: next(all["lsnr"]))
            pictures = dict[Part, Picture]()
            trials = play(game, said, heard, setup)
            for trial, row, *pair in zip(trials, rows, theirs["spkr"], theirs["lsnr"], strict=True):
                differ += trial.correct != (row["lsnr_pred"] == row["tgt_label_for_lsnr"])
                for role, prompt, (sent, _) in zip(published.tokens, trial.prompts, pair, strict=True):
                    parameters = {"max_tokens": published.tokens[role], **published.parameters}
                    own = [parameters if name in _SERVICES else {}, *_flat(messages_of(game, prompt, pictures), name)]
                    values += 1
                    differ += own != sent
    yield Row(f"prompts and answers of {name}, L1 to L7", values, differ)


def _flat(messages: Sequence[Any], name: str) -> list[tuple[Any, ...]]:
    """Texts and images with number and role of their messages, and their detail."""
    return [
        (number, one.role, part)
        if isinstance(part, str)
        else (number, one.role, part.name if name == "llava" else _code(part.png, part.name == "mask"), part.detail)
        for number, one in enumerate(messages)
        for part in one.parts
    ]


def _code(data: bytes, mask: bool = False) -> str:
    return "mask" if mask else base64.b64encode(data).decode()


def _send_theirs(checkout: Path, loop: Any, game: Game, name: str, setup: Setup) -> tuple[dict[str, list[Any]], Any]:
    """What the published loop sends per role and trial (parameters, then as `_flat`) with the replies; its rows."""
    sent: dict[str, list[Any]] = {"spkr": [], "lsnr": []}
    kind: Any = getattr(loop, {"llava": "LlavaModel"}.get(name, f"{name}Model"))
    assert game.folder is not None
    codes = {file: _code((game.folder / file).read_bytes()) for file in game.images}

    class Model(kind):  # type: ignore[misc]
        def __init__(self, arguments: Any) -> None:
            self.model_args = arguments
            if name in _SERVICES:
                super().__init__(arguments, *([""] * (1 + (name == "GPT"))))
                self.configured = loop.genai.GenerationConfig.call_args

        def query(self, query: Any, images: Any = ()) -> str:
            found, messages = dict[str, Any](), [{"role": "user", "content": query}]
            if name in _SERVICES:
                super().query(query)
            if name == "Gemini":
                found = {**self.configured.kwargs, "max_tokens": self.configured.kwargs["max_output_tokens"]}
            elif name in _SERVICES:
                found = self.client.mock_calls[0].kwargs
                self.client.reset_mock()
                system = [{"role": "system", "content": found["system"]}] if "system" in found else []
                messages = [*system, *found["messages"]]
            elif name == "llava":
                files = " ".join("mask" if one["URL"] == "mask" else one["filename"] for one in images)
                messages = [{"role": "user", "content": [{"url": files}, "".join(query)]}]
            names = {"max_tokens": "max_tokens", "seed": "seed", "temperature": "temperature", "stop_sequences": "stop"}
            parameters = {names[key]: value for key, value in found.items() if key in names}
            parameters |= {"extra_body": {"top_k": found["top_k"]}} if "top_k" in found else {}
            number = len(sent[self.model_args.role])
            labels = self.model_args.label_space
            answer = [*labels, "none of them", labels[0].lower()][crc32(f"{game.name} {number}".encode()) % 6]
            reply = f"the one,\nnumber {number}" if self.model_args.role == "spkr" else answer
            sent[self.model_args.role].append(([parameters, *flat(messages)], reply))
            return reply

    def flat(messages: Any) -> Iterator[tuple[Any, ...]]:
        for number, one in enumerate(messages):
            for part in [one["content"]] if isinstance(one["content"], str) else one["content"]:
                image = part if isinstance(part, dict) else {}
                image = image.get("image_url") or image.get("source") or image
                found = image.get("text") or image.get("url") or image.get("data") or part
                is_image = "url" in image or found in codes.values() or found == "mask"
                yield (number, one["role"], found, *([image.get("detail", "")] if is_image else []))

    def intro(role: str, version: str) -> str:
        texts = read_json(checkout / f"src/args/intro_texts_{role}.json")
        texts = next(value for key, value in texts.items() if key.lower() == name.lower())
        return str(texts.get(version, texts.get("standard")))

    listener, published = setup.listener, setup.published
    images = [{"filename": one, "URL": codes[one]} for one in (game.images[k] for k in game.speaker_order)]
    orders = [] if listener.mask else [game.listener_order(listener, 0)]
    for trial in range(len(game.targets)):
        orders += [game.listener_order(listener, trial)] * listener.shuffle
        orders += [game.shown_order(listener, trial)] * (trial in listener.misleading_trials)
    left = iter(orders)

    def shuffle(found: list[Any], order: Any = None) -> None:
        by_name = {one["filename"]: one for one in found}
        found[:] = [by_name[game.images[k]] for k in order or next(left)]

    def mask(found: list[Any], *_: Any) -> list[Any]:
        shuffle(found, game.listener_order(listener, 0))
        return [{**one, "URL": "mask"} for one in found]

    def model(role: str, version: str) -> Any:
        tokens = published.tokens["speaker" if role == "spkr" else "listener"] if published else 0
        labels = [*setup.presentation.names]
        return Model(loop.ModelArgs(role, "", tokens, "URL", labels, intro(role, version)))

    settings = {
        "no_history": not listener.history, "img_once": listener.images_once, "do_shuffle": listener.shuffle,
        "img_mask": listener.mask, "misleading_trials": [*listener.misleading_trials],
    }  # fmt: skip
    rows = [{"targetImg": file, "msg": ""} for file in game.target_images]
    quiet = contextlib.redirect_stdout(io.StringIO())
    with quiet, patch("random.shuffle", shuffle), patch.object(loop, "masking_images", mask):
        found, *_ = loop.eval_loop(
            rows, images, len(rows), 0, loop.InteractionArgs(model_type=name),
            loop.InteractionArgs(model_type=name, **settings), model("spkr", setup.speaker.instruction),
            model("lsnr", "masked" if listener.mask else "standard"), None,
        )  # fmt: skip
    return sent, found


def _own_games(out: Path) -> list[Game]:
    """Games of Diorama, played by the steady speaker, written and read again."""
    for number, spec in enumerate(generate(Options(contexts=OWN_GAMES)).items):
        graphs = [graph_from_json(frame["truth"]["picture"]) for frame in spec["frames"]]
        game = new_game(number, 0, [f"image-{k}.png" for k in range(4)], graphs)
        setup = Setup(Presented(), SPEAKER_VARIANTS["S1"], LISTENER_VARIANTS["L3"])
        speaker = SteadySpeaker(game, setup)
        trials = play(game, speaker, _First(), setup)
        (transcript,) = transcripts_of("\n".join(lines_of(game, setup, ("steady", "first"), trials)))
        files = {name: png_bytes(Image.new("RGB", (8, 8))) for name in game.images}
        table = game_folders.table_text(game, game_folders.transcript_rows(transcript))
        game_folders.write_game(out, game, files, table, None)
    return game_folders.read_games([out])


class _First:
    def choose(self, view: ListenerView) -> str:
        return view.labels[0]
