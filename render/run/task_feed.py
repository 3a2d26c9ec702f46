"""The tasks of a run, and the protocol through which it reports progress."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from render.episode.make_record import Episode
from render.geometry.glass import may_show_glass
from render.model.record import RenderKey
from render.model.scene import Scene, Settings
from render.run.summary import Summary
from render.run.worker import Failure


@dataclass
class Task:
    """One episode to render. tries: number of workers that received it, except those lost with their node.

    unreachable_count: how often its worker was lost with its node, or could not be reached. ref: Ray's, of its answer.
    started: when its worker began with it, seconds of the monotonic clock.
    """

    episode: Episode
    job: RenderKey
    settings: Settings
    attempt: int = 1
    tries: int = 0
    unreachable_count: int = 0
    ref: Any = None
    started: float = 0.0

    @property
    def rendered_with(self) -> Settings:
        """Its settings; of a Scene its own."""
        return self.episode.settings if isinstance(self.episode, Scene) else self.settings

    @cached_property
    def samples(self) -> int:
        """Maximum number of samples per pixel of any of its images."""
        settings = self.rendered_with
        glass = settings.glass_samples > settings.samples and may_show_glass(self.episode)
        return settings.glass_samples if glass else settings.samples

    @property
    def images(self) -> int:
        """Number of images that it will have."""
        if isinstance(self.episode, Scene):
            return sum(len(frame.views) for frame in self.episode.frames)
        return sum(len(frame.views or (None,)) for frame in self.episode.frames)


class ProgressBar(Protocol):
    """Receives the progress of a run."""

    def advance(self, episodes: int, images: int, failed: int) -> None:
        """Count what is done since the last call."""
        ...

    def tick(self, summary: Summary, workers: int, state: str) -> None:
        """Called about once per second. workers: that are up. state: running, paused or stopping."""
        ...


class Feed:
    """Tasks one by one, returned ones first; reads the stream one ahead. A Failure is an episode that cannot be one."""

    def __init__(self, tasks: Iterable[Task | Failure]) -> None:
        self._tasks = iter(tasks)
        self._back: deque[Task | Failure] = deque()

    @property
    def more(self) -> bool:
        """Whether there is another task."""
        if not self._back:
            task = next(self._tasks, None)
            if task is None:
                return False
            self._back.append(task)
        return True

    def take(self) -> Task | Failure | None:
        """Return the next task, None after the last."""
        return self._back.popleft() if self.more else None

    def put_back(self, task: Task) -> None:
        """Return a task for another worker."""
        self._back.append(task)
