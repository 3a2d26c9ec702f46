"""Chat models as players, and the published introductions that they can get instead of Diorama's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from diorama.scene_specs.benchmarks.icca.game import Game
from diorama.scene_specs.benchmarks.icca.play import MAX_ANSWER, MAX_MESSAGE, ListenerView, Setup, SpeakerView
from diorama.scene_specs.benchmarks.icca.prompts import Part, messages_of
from diorama.scene_specs.language.chat import OpenedModel, Picture
from diorama.scene_specs.language.errors import spec_error
from diorama.scene_specs.language.foreign import parse_json, read_text

# Limit of a message as published; an answer may be a sentence.
SPEAKER_TOKENS, LISTENER_TOKENS = 30, 16
# Marks of roles in the published introductions; here, prompts have roles.
_MARKS = re.compile(r"^\s*(User|system):\s*|<end_of_utterance>$")


class ModelPlayer:
    """A model as speaker or listener. usage: requests, tokens and cost of its last reply."""

    def __init__(self, model: OpenedModel, game: Game, setup: Setup) -> None:
        self._model, self._game = model, game
        self._pictures: dict[Part, Picture] = {}
        self.usage: dict[str, Any] = {}

    def speak(self, view: SpeakerView) -> str:
        """The model's message; "(no message)" if it is empty."""
        return self._ask("speaker", view, SPEAKER_TOKENS)[:MAX_MESSAGE].strip() or "(no message)"

    def choose(self, view: ListenerView) -> str:
        """The model's answer."""
        return self._ask("listener", view, LISTENER_TOKENS)[:MAX_ANSWER]

    def _ask(self, role: str, view: SpeakerView | ListenerView, most: int) -> str:
        messages = messages_of(self._game, view.prompt, self._pictures)
        reply = self._model.reply(messages, max_tokens=most, key=f"{self._game.name} {view.trial} {role}")
        self.usage = {key: value for key, value in vars(reply).items() if key != "text"}
        return reply.text


def with_texts(setup: Setup, files: Sequence[Path], model: str) -> Setup:
    """A setup with introductions of published files.

    files: `intro_texts_spkr.json`, `intro_texts_lsnr.json`, or both. model: whose texts, ignoring letter case. The
    version is the speaker variant's; of listeners `masked` if images are and the model has that version, otherwise
    `standard`. Raises SpecError.
    """
    speaker, listener = setup.speaker, setup.listener
    for file in files:
        data = parse_json(read_text(file), str(file))
        names = {name.casefold(): name for name in data} if isinstance(data, dict) else {}
        texts = data[names[model.casefold()]] if model.casefold() in names else None
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            found = f"no introductions of {model!r}; there are those of {', '.join(names.values()) or 'no model'}"
            raise spec_error(found, "choose others with --texts-of", file=str(file))
        texts = {version: _MARKS.sub("", text).strip() for version, text in texts.items()}
        if "standard" in texts:
            masked = listener.mask and "masked" in texts
            listener = replace(listener, rules=texts["masked" if masked else "standard"])
        elif speaker.instruction in texts:
            speaker = replace(speaker, rules=texts[speaker.instruction])
        else:
            found = f"{model}: found versions {', '.join(texts)}"
            raise spec_error(f"{found}; expected standard or {speaker.instruction}", file=str(file))
    return replace(setup, speaker=speaker, listener=listener)
