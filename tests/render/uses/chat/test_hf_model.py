"""Models of transformers: tiny ones with random weights, made on the spot."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from diorama.render.uses.chat import ChatError, ChatSettings, Message, Picture, open_model
from diorama.scene_specs.errors import UsageError

WORDS = [
    "<unk>",
    "<pad>",
    "<s>",
    "</s>",
    "<image>",
    "A",
    "B",
    "C",
    "D",
    "user",
    "assistant",
    "system",
    ":",
    "which",
    "image",
    "?",
]
TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }} : {% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'image' %}<image>{% else %}{{ c['text'] }}{% endif %} {% endfor %}"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}assistant :{% endif %}"
)
TEXT = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(models.WordLevel({word: k for k, word in enumerate(WORDS)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
    made = PreTrainedTokenizerFast(tokenizer_object=words, additional_special_tokens=["<image>"], **special)
    made.chat_template = TEMPLATE
    return made


def tiny_language_model(folder: Path) -> str:
    from transformers import LlamaConfig, LlamaForCausalLM

    LlamaForCausalLM(LlamaConfig(vocab_size=len(WORDS), **TEXT)).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return f"hf:{folder}"


def tiny_vision_model(folder: Path) -> str:
    """LLaVA with two patches of each image."""
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    vision = CLIPVisionConfig(image_size=8, patch_size=4, projection_dim=16, **TEXT)
    text = LlamaConfig(vocab_size=len(WORDS), **TEXT)
    config = LlavaConfig(vision_config=vision, text_config=text, image_token_index=WORDS.index("<image>"))
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    size = {"height": 8, "width": 8}
    images = CLIPImageProcessor(size=size, crop_size=size)
    processor = LlavaProcessor(
        image_processor=images, tokenizer=tokenizer(), patch_size=4, vision_feature_select_strategy="default",
        chat_template=TEMPLATE, num_additional_image_tokens=1,
    )  # fmt: skip
    processor.save_pretrained(folder)
    return f"hf:{folder}"


def picture(color: str) -> Picture:
    stream = BytesIO()
    Image.new("RGB", (8, 8), color).save(stream, "PNG")
    return Picture(color, stream.getvalue())


@pytest.mark.readers
@pytest.mark.filterwarnings("default")
def test_tiny_models_reply(tmp_path: Path) -> None:
    seeing = open_model(tiny_vision_model(tmp_path / "seeing"), ChatSettings(parameters={"min_new_tokens": 4}))
    question = Message("user", ("which image ?", picture("red"), picture("blue")))
    reply = seeing.reply([Message("system", ("A",)), question], max_tokens=4)
    # system : A user : which image ? and four tokens for each image; assistant :
    assert (reply.input_tokens, reply.output_tokens) == (18, 4)
    assert reply == seeing.reply([Message("system", ("A",)), question], max_tokens=4)
    talking = open_model(tiny_language_model(tmp_path / "talking"))
    assert 1 <= talking.reply([Message("user", ("which", "image ?"))], max_tokens=3).output_tokens <= 3
    with pytest.raises(ChatError, match="takes no images"):
        talking.reply([question], max_tokens=3)
    with pytest.raises(UsageError, match="can't be loaded"):
        open_model(f"hf:{tmp_path}/none")
