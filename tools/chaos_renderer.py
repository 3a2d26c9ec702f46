"""A slow fake renderer, which leaves time to kill a process during a render."""

from __future__ import annotations

from diorama.render.renderers.fake import FakeRenderer


class Slow(FakeRenderer):
    """The fake renderer at 0.2 s per image."""

    def __init__(self) -> None:
        super().__init__(seconds=0.2)
