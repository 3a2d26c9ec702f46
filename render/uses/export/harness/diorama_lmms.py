"""Functions of the lmms-eval tasks beside this file, written by `render-export --format eval`."""

import sys
from pathlib import Path
from typing import Any

from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from diorama_answers import answer_of  # noqa: E402


def doc_to_visual(doc: dict[str, Any]) -> list[Any]:
    """Return the images, in order."""
    return [Image.open(HERE / part["image"]).convert("RGB") for part in doc["parts"] if part["image"]]


def doc_to_text(doc: dict[str, Any], lmms_eval_specific_kwargs: Any = None) -> str:
    """Return the texts, with <image> where an image stands, for models that don't read messages."""
    return "\n".join("<image>" if part["image"] else part["text"] for part in doc["parts"])


def doc_to_messages(doc: dict[str, Any], lmms_eval_specific_kwargs: Any = None) -> list[dict[str, Any]]:
    """One message of texts and images in order."""
    images = iter(doc_to_visual(doc))
    content = [
        {"type": "image", "url": next(images)} if part["image"] else {"type": "text", "text": part["text"]}
        for part in doc["parts"]
    ]
    return [{"role": "user", "content": content}]


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, Any]:
    """accuracy: 1 for a right answer by the rule of diorama_answers.py, otherwise 0. id: for the log of samples."""
    answer = answer_of(results[0], doc["options"], doc["lettered"])
    return {"accuracy": float(answer == doc["answer"]), "id": doc["id"]}
