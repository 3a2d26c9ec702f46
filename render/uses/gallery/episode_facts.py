"""What the gallery shows of an episode: a small row of facts to search and sort by, the data of its page, and captions.

Everything is plain JSON data and comes from the record alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any

from diorama.render.uses.draw.overlay import color_of
from diorama.render.uses.items.image_views import store_views
from diorama.scene_specs.errors import counted
from diorama.scene_specs.language.model_names import shape_class
from diorama.scene_specs.model.record import EpisodeRecord, FrameAnnotation, ImageRecord, ObjectAnnotation
from diorama.scene_specs.tasks.questions.expressions import expressions
from diorama.scene_specs.tasks.questions.generate import DisagreementError, Question, Questioner
from diorama.scene_specs.tasks.questions.grammar import default_grammar

_QUESTIONS = 8


def questions_and_expressions(record: EpisodeRecord) -> Iterator[dict[str, Any]]:
    """For each image, `questions` with their answers, and `expressions`: name of an object -> text."""
    grammar = default_grammar()
    for view in store_views([record]):
        asked: list[Question] = []
        # The checks of the gallery report annotations that contradict themselves.
        with suppress(DisagreementError):
            asked += Questioner(grammar, per_image=_QUESTIONS).ask(view)
        named = expressions(view, grammar, 0)
        yield {
            "questions": [{"question": question.text, "answer": question.answer} for question in asked],
            "expressions": {view.objects[expression.target].truth.name: expression.texts[0] for expression in named},
        }


_MAX_NAMED = 8
# Captions name the visible fraction of objects below this one.
_HALF = 0.5
# Characters. A browser reads the index of 40,000 episodes at once.
_MAX_TEXT = 2000
_UNNAMED_COLOR = "other"
# Part of a line of diorama.render.store.row_checks -> the check that failed.
_CHECKS = (
    (": object ", "boxes and masks"),
    ("SHA-256", "stored bytes"),
    ("be read", "stored bytes"),
    ("be shown", "stage or plug-in"),
    ("column ", "search columns"),
    ("images: ", "frames"),
    ("annotated objects", "frames"),
    ("passes requested", "frames"),
    ("answer ", "answer"),
)


def check_of(problem: str) -> str:
    """Return the short name of the check that reported a problem (diorama.render.store.row_checks.problems_of)."""
    return next((name for mark, name in _CHECKS if mark in problem), "images")


def search_row(key: str, record: EpisodeRecord, problems: Sequence[str]) -> dict[str, Any]:
    """Return the facts by which the gallery finds an episode.

    visible: least visible fraction of any object in any image, None without objects; pointers do not count as objects.
    objects: number in all images together. seconds: of all steps. things: descriptions of the objects, each once. text:
    utterances, instruction and options.
    """
    task = record.scene.task or {}
    items = [item for image in record.images for item in objects_of(image.annotation)]
    return {
        "key": key,
        "id": record.episode_id,
        "benchmark": _text_or_none(task.get("benchmark")),
        "task": _text_or_none(task.get("name")),
        "split": record.scene.split,
        "profile": record.scene.settings.profile,
        "stage": record.scene.stage,
        "shape": sorted({shape_class(item.shape) for item in items}),
        "color": sorted({item.color or _UNNAMED_COLOR for item in items}),
        "material": sorted({item.material for item in items}),
        "checks": sorted({check_of(problem) for problem in problems}),
        "images": len(record.images),
        "objects": len(items),
        "visible": min((round(item.visible_fraction, 4) for item in items), default=None),
        "seconds": round(sum(record.provenance.seconds.values()), 3),
        "created": record.provenance.created[:19],
        "things": sorted({description(item) for item in items}),
        "text": _searchable_text(record, task),
    }


def damaged_search_row(episode_id: str, columns: Mapping[str, Any], problems: Sequence[str]) -> dict[str, Any]:
    """Return the facts of an episode that can't be read, with an empty key.

    Args:
        columns: the readable columns of its row.
    """
    return {
        "key": "",
        "id": episode_id,
        **{name: columns.get(name) for name in ("benchmark", "task", "split", "profile")},
        "stage": None,
        **{name: [] for name in ("shape", "color", "material", "things")},
        **{"images": 0, "objects": 0, "visible": None, "seconds": None, "created": ""},
        "checks": sorted({check_of(problem) for problem in problems}),
        "text": "",
        "problems": list(problems),
    }


def page_data(record: EpisodeRecord, files: Sequence[str], problems: Sequence[str]) -> dict[str, Any]:
    """Everything that the page of an episode shows.

    Args:
        files: one file name per image.
    """
    # Questions measure masks with pycocotools, whose C code trusts its input.
    languages = repeat({}, len(files)) if problems else questions_and_expressions(record)
    images = [
        {**_image_facts(record, image, file), **language}
        for image, file, language in zip(record.images, files, languages, strict=True)
    ]
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


def _image_facts(record: EpisodeRecord, image: ImageRecord, file: str) -> dict[str, Any]:
    frame = next((frame for frame in record.scene.frames if frame.name == image.frame), None)
    return {
        "file": file,
        **image.model_dump(exclude={"png", "extra", "annotation"}),
        "caption": caption(image.annotation),
        "utterance": frame.utterance if frame else None,
        "passes": list(frame.passes) if frame else [],
        "truth": frame.truth if frame else None,
        "things": {item.name: description(item) for item in image.annotation.objects},
        "tints": {item.name: "#{:02x}{:02x}{:02x}".format(*color_of(item.index)) for item in image.annotation.objects},
        "annotation": image.annotation.model_dump(mode="json"),
    }


def objects_of(annotation: FrameAnnotation) -> list[ObjectAnnotation]:
    """Return the annotated objects without the pointer."""
    pointer = annotation.pointer
    return [item for item in annotation.objects if pointer is None or item.name != pointer.name]


def _searchable_text(record: EpisodeRecord, task: Mapping[str, Any]) -> str:
    texts = [frame.utterance for frame in record.scene.frames if frame.utterance]
    said = [task.get(name) for name in ("instruction", "question", "caption")]
    if isinstance(options := task.get("options"), list | tuple):
        said += options
    texts += [text for text in said if isinstance(text, str)]
    return " · ".join(dict.fromkeys(texts))[:_MAX_TEXT]


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def description(item: ObjectAnnotation) -> str:
    """Describe an object by those of size, color, material and shape that have names: `small red metal cube`."""
    words = (item.size, item.color, item.material, shape_class(item.shape))
    return " ".join(word.replace("_", " ") for word in words if word)


def caption(truth: FrameAnnotation) -> str:
    """Describe an image in a sentence: visible objects, how much of the half-hidden ones, and what is pointed at."""
    pointer = truth.pointer
    items = objects_of(truth)
    visible = [item for item in items if item.visible_pixels > 0]
    named = {item.name: f"the {description(item)}" for item in items}
    parts = [_describe_objects(visible) if len(visible) <= _MAX_NAMED else _count_shapes(visible)]
    if hidden := len(items) - len(visible):
        parts.append(f"{counted(hidden, 'object')} out of sight")
    if pointer is not None:
        # The shape hand_left is a left hand.
        kinds = (" ".join(item.shape.split("_")[::-1]) for item in truth.objects if item.name == pointer.name)
        target = named.get(pointer.target, f"the {pointer.target}")
        parts.append(f"{_article(next(kinds, 'pointer'))} points at {target}")
    for observer in truth.observers:
        target = named.get(observer.looks_at, observer.looks_at) if isinstance(observer.looks_at, str) else "a point"
        parts.append(f"{observer.name} looks at {target}")
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + "."


def _describe_objects(items: Sequence[ObjectAnnotation]) -> str:
    parts = [f" ({item.visible_fraction:.0%} visible)" if item.visible_fraction < _HALF else "" for item in items]
    named = [_article(description(item)) + part for item, part in zip(items, parts, strict=True)]
    *first, last = named or ["no objects"]
    return f"{', '.join(first)} and {last}" if first else last


def _count_shapes(items: Sequence[ObjectAnnotation]) -> str:
    counts = Counter(shape_class(item.shape).replace("_", " ") for item in items)
    shapes = ", ".join(f"{shape} ({count})" for shape, count in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])))
    return f"{len(items)} objects: {shapes}"


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
