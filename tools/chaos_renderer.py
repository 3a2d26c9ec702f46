"""The fake renderer at a pace at which there is time to kill something."""

from __future__ import annotations

from render.renderers.fake import FakeRenderer


class Slow(FakeRenderer):
    """A fifth of a second an image."""

    def __init__(self) -> None:
        super().__init__(seconds=0.2)
