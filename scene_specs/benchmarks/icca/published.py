"""The published prompts, word for word: the published code makes them, from a clone of lil-lab/ICCA that users have."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, patch

from diorama.scene_specs.benchmarks.icca import LABELS, Presented
from diorama.scene_specs.benchmarks.icca.game import Game, ListenerVariant, Order, SpeakerVariant
from diorama.scene_specs.benchmarks.icca.prompts import Part, PastTrial, image_parts
from diorama.scene_specs.errors import UsageError
from diorama.scene_specs.files.foreign import parse_json, read_text
from diorama.scene_specs.tasks.chat import Role

# Class, number of its keys for services, and most tokens of a listener's answer (of main() in run_icca.py).
_MODELS = {
    "claude": ("ClaudeModel", 1, 1), "gpt": ("GPTModel", 2, 1), "gemini": ("GeminiModel", 1, 5),
    "idefics": ("IDEFICSModel", 0, 1), "llava": ("LlavaModel", 0, 5),
}  # fmt: skip
SPEAKER_TOKENS = 30
# Clients of services, which make no prompts.
_CLIENTS = ("openai", "httpx", "anthropic", "google", "google.generativeai", "google.generativeai.types")
_MODE = "URL"


class PublishedPrompts:
    """Prompts of a published model, as `speaker` or `listener`.

    Attributes:
        name: of the model.
        tokens: the longest reply, by role.
        parameters: of requests to services.
    """

    def __init__(self, name: str, clone: Path, speaker: SpeakerVariant, listener: ListenerVariant) -> None:
        kind, keys, answer = _MODELS[name]
        self.name, self.tokens = name, {"speaker": SPEAKER_TOKENS, "listener": answer}
        self._models, self._system = dict[str, Any](), {"speaker": "", "listener": ""}
        self.parameters = dict[str, Any]()
        stubs = patch.dict(sys.modules, {client: MagicMock() for client in _CLIENTS})
        try:
            # The code says hello.
            with stubs, contextlib.redirect_stdout(io.StringIO()):
                self._load_module(
                    kind,
                    keys,
                    clone,
                    {"speaker": speaker.instruction, "listener": "masked" if listener.mask else "standard"},
                )
        except Exception as error:
            raise UsageError(f"--published {clone}: expected a clone of lil-lab/ICCA: {error!r}") from error

    def _load_module(self, kind: str, keys: int, clone: Path, versions: dict[str, str]) -> None:
        spec = spec_from_file_location("published_icca", clone / "src/MLLMs.py")
        assert spec is not None and spec.loader is not None
        spec.loader.exec_module(module := module_from_spec(spec))
        for role, short in (("speaker", "spkr"), ("listener", "lsnr")):
            file = clone / f"src/args/intro_texts_{short}.json"
            texts = {key.casefold(): value for key, value in parse_json(read_text(file), str(file)).items()}[self.name]
            text = texts.get(versions[role], texts.get("standard"))
            about = SimpleNamespace(role=short, intro_text=text, img_mode=_MODE, model_ckpt="", max_output_tokens=1)
            about.label_space = list(LABELS["positions" if self.name == "llava" else "letters"])
            model = self._models[role] = object.__new__(getattr(module, kind))
            # The others load a model, which prompts do not need.
            if keys:
                model.__init__(about, *("",) * keys)
                self._system[role], self.parameters = _read_request(module, model)
            model.model_args = about

    def speaker(
        self, game: Game, presented: Presented, trial: int, past: Sequence[PastTrial], label: str
    ) -> list[Part]:
        """The published prompt of a speaker; see `prompts.speaker_prompt`."""
        model = self._models["speaker"]
        images = _image_entries(game, game.speaker_order, presented)
        files = dict(zip(presented.names, (image["filename"] for image in images), strict=True))
        records = []
        for turn in past:
            record = model.update_with_spkr_pred(
                model._get_spkr_prompt(f"Round {turn.trial + 1}", turn.speaker_label), turn.message
            )
            target = {"filename": files[turn.speaker_label]}
            record.append(model.get_spkr_feedback(files.get(turn.speaker_choice, "invalid"), target, images))
            records.append({"spkr_trial_record": record})
        settings = SimpleNamespace(no_history=False, has_intro=True)
        prompt = model.get_spkr_prompt(model.get_spkr_intro(images), trial, images, files[label], settings, records)[0]
        return self._parts("speaker", prompt, game, game.speaker_order, presented)

    def listener(
        self, game: Game, variant: ListenerVariant, presented: Presented, trial: int, past: Sequence[PastTrial],
        message: str,
    ) -> list[Part]:  # fmt: skip
        """The published prompt of a listener; see `prompts.listener_prompt`."""
        model = self._models["listener"]
        records = []
        for turn in past:
            images = _image_entries(game, turn.shown, presented, variant.mask)
            record = model._get_lsnr_prompt(
                f"Round {turn.trial + 1}", images, turn.message, not variant.shows(turn.trial)
            )
            record = model.update_with_lsnr_pred(record, turn.answer)
            record.append(model._get_lsnr_feedback(turn.answer, turn.listener_label, turn.message))
            records.append({"lsnr_trial_record": record})
        order = game.shown_order(variant, trial, presented.seed)
        images = _image_entries(game, order, presented, variant.mask)
        prompt = model.get_lsnr_prompt(
            model.get_lsnr_intro(), trial, images, game.images[0], message, records, no_history=not variant.history,
            omit_img=not variant.shows(trial), has_intro=variant.intro,
        )[0]  # fmt: skip
        return self._parts("listener", prompt, game, order, presented, variant.mask)

    def answer(self, text: str) -> str:
        """An answer as the published loop keeps it in the history."""
        return (text.lower() if self.name == "llava" else text.upper()).strip()

    def _parts(
        self, role: str, prompt: list[Any], game: Game, order: Order, presented: Presented, mask: bool = False
    ) -> list[Part]:
        """A prompt of strings and images, or of messages, as parts."""
        if self.name == "llava":
            prompt = [*image_parts(game, order, presented, mask), "".join(prompt)]
        messages = prompt if isinstance(prompt[0], dict) else [{"role": "user", "content": prompt}]
        if system := self._system[role]:
            messages = [{"role": "system", "content": system}, *messages]
        return [
            _part_of(block, message["role"], number)
            for number, message in enumerate(messages)
            for block in ([message["content"]] if isinstance(message["content"], str) else message["content"])
        ]


def _read_request(module: Any, model: Any) -> tuple[str, dict[str, Any]]:
    """The system message of a model, and the parameters of its requests, from one that goes nowhere."""
    model.query([])
    configured = module.genai.GenerationConfig.call_args if hasattr(model, "gemini_config") else None
    # Of all models' requests; calls on replies have no keywords.
    sent = (configured or [call for call in model.client.mock_calls if call.kwargs][-1]).kwargs
    names = {"seed": "seed", "temperature": "temperature", "stop_sequences": "stop"}
    parameters = {names[key]: value for key, value in sent.items() if key in names}
    # Not of OpenAI's interface, but of servers that follow it.
    extra = {"extra_body": {"top_k": sent["top_k"]}} if "top_k" in sent else {}
    system = sent["messages"][0]["content"] if "seed" in sent else sent.get("system", "")
    return system, {**parameters, **extra}


def _part_of(content: Any, role: Role, number: int) -> Part:
    """A part of the published content: a text, an image, or an object with either."""
    match content:
        case {"text": str(source)} | {"image_url": str(source)} | {"source": str(source)}:
            return _part_of(source, role, number)
        case {"image_url": source} | {"source": source}:
            return replace(_part_of(source.get("url") or source["data"], role, number), detail=source.get("detail", ""))
        case Part():
            return replace(content, role=role, message=number)
    return Part("text", content, role=role, message=number)


def _image_entries(game: Game, order: Order, presented: Presented, mask: bool = False) -> list[dict[str, Any]]:
    separate = presented.model_copy(update={"form": "separate"})
    parts = image_parts(game, order, separate, mask)
    return [{"filename": game.images[k], _MODE: part} for k, part in zip(order, parts, strict=True)]
