"""Progress for people: a tqdm line on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class Progress:
    """Episodes with rate and ETA on standard error; images a second and failures behind it.

    Quiet when standard error is no terminal. tqdm is imported only where a line is drawn.
    """

    def __init__(self, total: int, what: str = "rendering") -> None:
        self._bar: Any = None
        self._images = 0
        self._failed = 0
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=what, unit="ep", dynamic_ncols=True, smoothing=0.1)

    def advance(self, episodes: int, images: int = 0, failed: int = 0) -> None:
        """So many more are done."""
        if self._bar is None:
            return
        self._images += images
        self._failed += failed
        elapsed = self._bar.format_dict["elapsed"]
        if elapsed > 0:
            self._bar.set_postfix_str(
                f"{self._images / elapsed:.2f} images/s" + (f", {self._failed} failed" if self._failed else ""),
                refresh=False,
            )
        self._bar.update(episodes)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
