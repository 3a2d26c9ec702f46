"""What the gallery is searched and sorted by: a small row of facts of an episode; and what the episode's page needs.

Both are plain JSON data, made from the record alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from render.gallery.captions import caption, description
from render.gallery.overlay import color_of
from render.model.record import EpisodeRecord, ImageRecord, ObjectAnnotation

# An index of 40,000 episodes is read at once by a browser, so one of them must not bring a book.
_MOST_TEXT = 2000
_UNNAMED_COLOR = "other"
# How a line of render.store.row_checks begins, or what is in it -> the check that failed.
_CHECKS = (
    (": object ", "boxes and masks"),
    ("SHA-256", "stored bytes"),
    ("be read", "stored bytes"),
    ("column ", "search columns"),
    ("images: ", "frames"),
    ("annotated objects", "frames"),
    ("passes requested", "frames"),
    ("answer ", "answer"),
)


def check_of(problem: str) -> str:
    """The short name of the check that a problem (render.store.row_checks.problems_of) failed."""
    return next((name for mark, name in _CHECKS if mark in problem), "pictures")


def row_of(key: str, record: EpisodeRecord, problems: Sequence[str]) -> dict[str, Any]:
    """The facts of an episode by which it is found.

    visible: least visible fraction of any object in any image, None without objects; the pointer is none. objects: of
    all images together. seconds: all steps. things: descriptions of its objects, each once. text: utterances,
    instruction and options.
    """
    task = record.scene.task or {}
    items = [item for image in record.images for item in _things(image)]
    return {
        "key": key,
        "id": record.episode_id,
        "benchmark": _text(task.get("benchmark")),
        "task": _text(task.get("name")),
        "split": record.scene.split,
        "profile": record.scene.settings.profile,
        "stage": record.scene.stage,
        "shape": _sorted(item.shape for item in items),
        "color": _sorted(item.color or _UNNAMED_COLOR for item in items),
        "material": _sorted(item.material for item in items),
        "checks": _sorted(check_of(problem) for problem in problems),
        "images": len(record.images),
        "objects": len(items),
        "visible": min((round(item.visible_fraction, 4) for item in items), default=None),
        "seconds": round(sum(record.provenance.seconds.values()), 3),
        "created": record.provenance.created[:19],
        "things": _sorted(description(item) for item in items),
        "text": _searched(record, task),
    }


def row_of_damaged(episode_id: str, columns: Mapping[str, Any], problems: Sequence[str]) -> dict[str, Any]:
    """The facts of an episode that can't be read; columns: of the store, those that could. Its key is empty."""
    named = {name: columns.get(name) for name in ("benchmark", "task", "split", "profile")}
    empty: dict[str, Any] = {name: [] for name in ("shape", "color", "material", "things")}
    numbers = {"images": 0, "objects": 0, "visible": None, "seconds": None, "created": ""}
    checks = _sorted(check_of(problem) for problem in problems)
    return {
        "key": "",
        "id": episode_id,
        **named,
        "stage": None,
        **empty,
        **numbers,
        "checks": checks,
        "text": "",
        "problems": list(problems),
    }


def page_of(record: EpisodeRecord, files: Sequence[str], problems: Sequence[str]) -> dict[str, Any]:
    """Everything that the page of an episode shows. files: of its pictures, one an image."""
    images = [_image(record, image, file) for image, file in zip(record.images, files, strict=True)]
    return {
        "id": record.episode_id,
        "images": images,
        "task": record.scene.task,
        "problems": list(problems),
        "provenance": record.provenance.model_dump(mode="json"),
        "job": {"hash": record.job.hash(), "version": record.job.version, "renderer": record.job.renderer},
        "spec": record.job.spec,
        "scene": record.scene.model_dump(mode="json"),
    }


def _image(record: EpisodeRecord, image: ImageRecord, file: str) -> dict[str, Any]:
    frame = next((frame for frame in record.scene.frames if frame.name == image.frame), None)
    return {
        "file": file,
        "name": image.name,
        "frame": image.frame,
        "view": image.view,
        "width": image.width,
        "height": image.height,
        "caption": caption(image.annotation),
        "utterance": frame.utterance if frame else None,
        "passes": list(frame.passes) if frame else [],
        "truth": frame.truth if frame else None,
        "things": {item.name: description(item) for item in image.annotation.objects},
        "tints": {item.name: "#{:02x}{:02x}{:02x}".format(*color_of(item.index)) for item in image.annotation.objects},
        "annotation": image.annotation.model_dump(mode="json"),
    }


def _things(image: ImageRecord) -> list[ObjectAnnotation]:
    pointer = image.annotation.pointer
    return [item for item in image.annotation.objects if pointer is None or item.name != pointer.name]


def _searched(record: EpisodeRecord, task: Mapping[str, Any]) -> str:
    texts = [frame.utterance for frame in record.scene.frames if frame.utterance]
    texts += [task[name] for name in ("instruction", "question", "caption") if isinstance(task.get(name), str)]
    options = task.get("options")
    texts += [text for text in options if isinstance(text, str)] if isinstance(options, list | tuple) else []
    return " · ".join(dict.fromkeys(texts))[:_MOST_TEXT]


def _sorted(values: Iterable[str]) -> list[str]:
    return sorted(set(values))


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else str(value)
