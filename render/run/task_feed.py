"""What goes into a run, episode by episode, and what a run tells while it goes on."""

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
    """One episode on its way. tries: how many workers it has been given to, but for those lost with their node.

    doubts: how often its worker was lost so, or could not be reached.
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
        """A Scene's own settings; a spec has none."""
        return self.episode.settings if isinstance(self.episode, Scene) else self.settings

    @cached_property
    def samples(self) -> int:
        """The most samples a pixel that one of its pictures may take."""
        settings = self.rendered_with
        glass = settings.glass_samples > settings.samples and may_show_glass(self.episode)
        return settings.glass_samples if glass else settings.samples

    @property
    def images(self) -> int:
        """How many pictures it will give."""
        if isinstance(self.episode, Scene):
            return sum(len(frame.views) for frame in self.episode.frames)
        return sum(len(frame.views or (None,)) for frame in self.episode.frames)


class ProgressBar(Protocol):
    """What a run tells about itself while it goes on."""

    def advance(self, episodes: int, images: int, failed: int) -> None:
        """So many more are done."""
        ...

    def tick(self, summary: Summary, workers: int, state: str) -> None:
        """About once a second: what is committed, how many workers are up; state: running, paused or stopping."""
        ...


class Feed:
    """Tasks one by one, those that came back first. Holds one of the stream ahead. A Failure is of what can be none."""

    def __init__(self, tasks: Iterable[Task | Failure]) -> None:
        self._tasks = iter(tasks)
        self._back: deque[Task | Failure] = deque()

    @property
    def more(self) -> bool:
        """Whether there is another."""
        if not self._back:
            task = next(self._tasks, None)
            if task is None:
                return False
            self._back.append(task)
        return True

    def take(self) -> Task | Failure | None:
        """The next, None after the last."""
        return self._back.popleft() if self.more else None

    def put_back(self, task: Task) -> None:
        """For another worker."""
        self._back.append(task)
