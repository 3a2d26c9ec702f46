"""What a picture shows, in a sentence written from its truth: for who cannot see it, and for searching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from render.model.record import FrameAnnotation, ObjectAnnotation

_MOST_NAMED = 8
_HALF = 0.5


def description(item: ObjectAnnotation) -> str:
    """`small red metal cube`: size, color, material and shape as far as they have names."""
    words = (item.size, item.color, item.material, item.shape)
    return " ".join(word.replace("_", " ") for word in words if word)


def caption(truth: FrameAnnotation) -> str:
    """One sentence of an image: what is seen in it, how much of what is half hidden, and what is pointed at."""
    pointer = truth.pointer
    things = [item for item in truth.objects if pointer is None or item.name != pointer.name]
    seen = [item for item in things if item.visible_pixels > 0]
    parts = [_listed(seen) if len(seen) <= _MOST_NAMED else _counted(seen)]
    hidden = len(things) - len(seen)
    if hidden:
        parts.append(f"{hidden} object{'s' if hidden > 1 else ''} out of sight")
    if pointer is not None:
        kinds = [item.shape.replace("_", " ") for item in truth.objects if item.name == pointer.name]
        targets = [description(item) for item in things if item.name == pointer.target]
        kind, target = (kinds or ["pointer"])[0], (targets or [pointer.target])[0]
        parts.append(f"{_article(kind)} points at the {target}")
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + "."


def _listed(items: Sequence[ObjectAnnotation]) -> str:
    if not items:
        return "no objects"
    named = []
    for item in items:
        part = f" ({item.visible_fraction:.0%} visible)" if item.visible_fraction < _HALF else ""
        named.append(_article(description(item)) + part)
    if len(named) == 1:
        return named[0]
    return f"{', '.join(named[:-1])} and {named[-1]}"


def _counted(items: Sequence[ObjectAnnotation]) -> str:
    counts = Counter(item.shape.replace("_", " ") for item in items)
    shapes = ", ".join(f"{shape} ({count})" for shape, count in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])))
    return f"{len(items)} objects: {shapes}"


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
