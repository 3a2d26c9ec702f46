"""Cases of broken specs: the content of a file, with what the one message about it must contain.

`episode(...)` and `frame(...)` make an episode that is right except for what is given.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

ANYTHING = "examples/of/an-id"


@dataclass(frozen=True)
class Broken:
    """name: of the case. content: of the file. parts: each must be in the one message. line, path: of the fault.

    suffix: of the file's name. good: episodes of the file that have no fault.
    """

    name: str
    content: bytes
    parts: tuple[str, ...]
    path: str = ""
    line: int = 1
    suffix: str = ".json"
    good: int = 0


def episode(**changes: Any) -> dict[str, Any]:
    """A right episode with some keys set; None takes a key out."""
    value = {"version": 1, "id": ANYTHING, "frames": [{}], **changes}
    return {key: item for key, item in value.items() if item is not None}


def frame(case: str, path: str, /, *parts: str, **fields: Any) -> Broken:
    """An episode of one frame with these fields; path is below the frame."""
    full = "frames[0]" + ("" if path.startswith("[") else "." if path else "") + path
    return Broken(case, json.dumps(episode(frames=[fields])).encode(), parts, full)


def item(case: str, path: str, /, *parts: str, **fields: Any) -> Broken:
    """A frame of one object with these fields."""
    return frame(case, "objects[0]" + (f".{path}" if path else ""), *parts, objects=[fields])


def two(case: str, path: str, /, *parts: str, **fields: Any) -> Broken:
    """A frame of two named objects, a and b, and these fields."""
    return frame(case, path, *parts, objects=[{"name": "a"}, {"name": "b"}], **fields)


def whole(case: str, path: str, /, *parts: str, **changes: Any) -> Broken:
    """An episode with these keys changed."""
    return Broken(case, json.dumps(episode(**changes)).encode(), parts, path)


def text(name: str, content: str | bytes, *parts: str, path: str = "", line: int = 1, suffix: str = ".json") -> Broken:
    """A file with this content."""
    raw = content.encode() if isinstance(content, str) else content
    return Broken(name, raw, parts, path, line, suffix)
