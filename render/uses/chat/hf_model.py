"""Models of Hugging Face's transformers, from the hub or from a folder."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from PIL import Image

from diorama.scene_specs.errors import ChatError, UsageError
from diorama.scene_specs.tasks.chat import Message, Picture, Reply


class HuggingFaceModel:
    """A model with a chat template. Greedy, unless `parameters`, which `generate` gets, say otherwise.

    It is on the GPU if there is one. Models without an image processor take texts only. One reply at a time.
    """

    def __init__(self, name: str, parameters: Mapping[str, Any]) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise UsageError(
                "hf: models need transformers and PyTorch; install them: pip install '.[transformers]' in the clone"
            ) from error
        self._name, self._parameters, self._torch, self._lock = name, parameters, torch, Lock()
        try:
            self._processor = transformers.AutoProcessor.from_pretrained(name)
            self._sees = hasattr(self._processor, "image_processor")
            kind = transformers.AutoModelForImageTextToText if self._sees else transformers.AutoModelForCausalLM
            model = kind.from_pretrained(name, dtype="auto")
        # Of many kinds: a missing file, a damaged one, a library that a processor needs.
        except Exception as error:
            raise UsageError(f"hf:{name}: can't be loaded: {error}") from error
        self._model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()

    def reply(self, messages: Sequence[Message], *, max_tokens: int) -> Reply:
        """Return the model's reply; see `ChatModel.reply`.

        Raises:
            ChatError: the model takes no images, or failed.
        """
        if not self._sees and any(isinstance(part, Picture) for turn in messages for part in turn.parts):
            raise ChatError(f"hf:{self._name}: takes no images")
        chat: list[dict[str, Any]] = [
            {
                "role": turn.role,
                "content": [*map(_content, turn.parts)] if self._sees else "\n".join(map(str, turn.parts)),
            }
            for turn in messages
        ]
        values = {"do_sample": False, "max_new_tokens": max_tokens, **self._parameters}
        with self._lock, self._torch.inference_mode():
            try:
                inputs = self._processor.apply_chat_template(
                    chat, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
                )
                # Pixels are floating-point numbers, and have to be of the model's type.
                inputs = inputs.to(self._model.device, **({"dtype": self._model.dtype} if self._sees else {}))
                generated = self._model.generate(**inputs, **values)
            except (ValueError, TypeError, RuntimeError, IndexError) as error:
                raise ChatError(f"hf:{self._name}: {error}") from error
        asked = inputs["input_ids"].shape[1]
        new = generated[0, asked:]
        return Reply(self._processor.decode(new, skip_special_tokens=True), asked, len(new))


def _content(part: str | Picture) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    with Image.open(io.BytesIO(part.png)) as image:
        return {"type": "image", "image": image.convert("RGB")}
