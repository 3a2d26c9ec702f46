"""`diorama.live`: an endless stream of evaluation items, rendered ahead by the workers of a batch.

The render loop of a batch runs in a thread. A Feed gives it the episodes and takes the rendered ones, in place of a
Committer, and hands them to the caller in order.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from diorama.render.compiler.render_key import render_key_of
from diorama.render.run.commit import Committer
from diorama.render.run.local_ray import ray_nodes
from diorama.render.run.loop import RenderLoop
from diorama.render.run.options import RunOptions
from diorama.render.run.status import EventLog, Progress
from diorama.render.run.stopping import Interrupts
from diorama.render.run.summary import Summary
from diorama.render.run.worker import Done, Failure, Task, failures_in
from diorama.render.run.worker_plan import Node, plan_workers
from diorama.render.store import open_or_create
from diorama.render.store.rows import decode, record_of
from diorama.render.store.selection import Selection
from diorama.render.uses.items.scores import items_maker
from diorama.render.uses.live.feed import FORKED, Feed
from diorama.scene_specs.errors import RenderError, UsageError, counted
from diorama.scene_specs.model.profiles import episode_settings
from diorama.scene_specs.model.record import EpisodeRecord
from diorama.scene_specs.model.spec import EpisodeData, spec_text
from diorama.scene_specs.reading.source import parse_episode
from diorama.scene_specs.tasks.blocks import BLOCK, Blocks, Source
from diorama.scene_specs.tasks.items import Item, item_id

if TYPE_CHECKING:
    from diorama.render.uses.live.torch_items import LiveDataset

log = logging.getLogger(__name__)

_CLOSE_SECONDS = 30.0
# Options of a run that have no meaning for an endless one.
BATCH_ONLY = ("limit", "part", "resume", "skip_broken", "until")


@dataclass(frozen=True)
class LiveOptions:
    """What determines a stream of items, and how it is rendered.

    Attributes:
        sources: benchmarks.
        seed: seed of the stream.
        ahead: maximum number of episodes that are rendered ahead.
        questions: maximum number of questions per image; None for the items of the benchmarks.
        record: store that keeps what was shown; None to keep nothing.
        run: how to render.
        shard: (i, n) for the blocks i, i + n, ... of the stream.
        epoch: number of the epoch; epochs of one number have the same items.
    """

    sources: tuple[Source, ...]
    seed: int
    ahead: int
    questions: int | None
    record: str | None
    run: RunOptions
    shard: tuple[int, int] = (0, 1)
    epoch: int = 0


@dataclass(frozen=True, kw_only=True)
class LiveItem(Item):
    """A question about rendered images, with one right answer.

    Attributes:
        record: the episode that it is about.
    """

    record: EpisodeRecord

    @property
    def id(self) -> str:
        """The id of the item, which is the same in `render-eval` on the recorded store."""
        return item_id(self.record.episode_id, self)

    @property
    def message(self) -> list[str | bytes]:
        """What to show a model, in order: texts, and images as PNG."""
        images = {image.name: image.png for image in self.record.images}
        return [images[part.image] if part.image else part.text for part in self.parts]

    @property
    def question(self) -> str:
        """The texts of the message."""
        return "\n".join(part.text for part in self.parts if part.text)

    @cached_property
    def images(self) -> list[NDArray[np.uint8]]:
        """The images of the message, in its order: (H, W, 3), sRGB."""
        images = {image.name: image for image in self.record.images}
        return [images[part.image].color() for part in self.parts if part.image]

    @property
    def spec(self) -> EpisodeData:
        """The spec of the episode, which renders to the same images again."""
        return self.record.job.spec


def _generate_block(blocks: Blocks, number: int) -> Future[list[EpisodeData]]:
    """Generate a block in a thread that does not keep Python from ending; some benchmarks need half a minute."""
    specs = Future[list[EpisodeData]]()

    def generate() -> None:
        try:
            specs.set_result(blocks.block(number))
        except BaseException as error:
            specs.set_exception(error)

    threading.Thread(target=generate, daemon=True).start()
    return specs


def _tasks(options: LiveOptions, first: int) -> Iterator[Task | None]:
    """Yield the episodes of a shard without end, beginning with number `first` of the shard; None if none is ready."""
    blocks, run = Blocks(options.sources, options.seed, options.epoch), options.run
    index, shards = options.shard
    following = _generate_block(blocks, index + shards * (first // BLOCK))
    for number in count(first // BLOCK):
        while not following.done():
            yield None
        for position, spec in enumerate(following.result()):
            if position == BLOCK // 2:
                following = _generate_block(blocks, index + shards * (number + 1))
            if BLOCK * number + position < first:
                continue
            episode = parse_episode(spec_text(spec))
            if run.look is not None:
                episode = episode.model_copy(update={"look": run.look})
            settings = episode_settings(episode, run.profile, run.size)
            yield Task(episode, render_key_of(episode, settings, run.renderer, run.asset_roots), settings)


class _SharedRay:
    """The Ray of this process, which lives as long as one of its streams."""

    def __init__(self) -> None:
        self._lock, self._stack, self._users = threading.Lock(), ExitStack(), 0
        self._nodes, self._address, self._process = list[Node](), "", 0

    @contextmanager
    def connected(self, options: RunOptions) -> Iterator[list[Node]]:
        """Yield the nodes; a second stream uses the Ray of the first. Raises what `ray_nodes` raises, or UsageError."""
        with self._lock:
            address = options.address or "this machine"
            if not self._users:
                self._nodes = self._stack.enter_context(ray_nodes(options.address, options.logical_gpus))
                self._address, self._process = address, os.getpid()
            elif self._process != os.getpid():
                raise UsageError(FORKED)
            elif address != self._address:
                raise UsageError(f"address: found {address} while another stream is on {self._address}; close that one")
            self._users += 1
        try:
            yield self._nodes
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._stack.close()


_shared_ray = _SharedRay()


def _render_all(options: RunOptions, feed: Feed) -> None:
    """Render until the feed is closed; the thread of a stream."""
    summary = Summary()
    try:
        progress = Progress(summary, dry_run=True, on_progress=lambda done, total: None)
        with _shared_ray.connected(options) as nodes, closing(EventLog(options.json_log)) as events:
            loop = RenderLoop(feed, feed, options, summary, progress, events)
            loop.go(plan_workers(options, nodes, feed.ahead), Interrupts())
        raise RenderError(f"the stream has ended: {counted(len(summary.failed), 'episode')} failed (max_failures)")
    except BaseException as error:
        feed.end(error)


def _close_stream(feed: Feed, thread: threading.Thread, committer: Committer | None) -> None:
    """End the workers and commit what was shown. May run in any thread, and as Python ends."""
    if feed.process != os.getpid():  # A fork's copy.
        return
    feed.close()
    if thread is not threading.current_thread():
        thread.join(_CLOSE_SECONDS)
    if committer is not None:
        _warn_of_failures(committer.finish(_CLOSE_SECONDS))
        committer.close()
        if committer.unsaved:
            log.warning("%s not recorded in time", counted(committer.unsaved, "episode"))


def _warn_of_failures(stored: list[Done | Failure]) -> None:
    why = "the store has one of this id that was made from something else; record into another store"
    for failure in failures_in(stored):
        log.warning("episode %s was not recorded: %s", failure.episode_id, why)


class Live(Iterator[LiveItem]):
    """An endless iterator of items; `diorama.live` makes one.

    Nothing starts before the first item. Pickled, it continues elsewhere with the next item. It ends its processes when
    it is closed or deleted, and when Python ends.

    Attributes:
        options: options of the stream.
    """

    def __init__(self, options: LiveOptions, episode: int = 0, given: int = 0) -> None:
        # Number of the episode of the next item, and how many of its items were given.
        self.options, self._episode, self._given = options, episode, given
        self._reset()

    def _reset(self) -> None:
        self._feed: Feed | None = None
        self._committer: Committer | None = None
        self._items: deque[LiveItem] = deque()
        self._without = 0
        self._end: Callable[[], object] = list

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what the next item follows from."""
        return Live, (self.options, self._episode, self._given)

    def skip(self, episodes: int) -> Live:
        """Leave out episodes before the first item; return this stream.

        Questions are balanced over the images of a block, so up to 255 episodes are rendered and left out with them.

        Raises:
            UsageError: the stream has begun, or the number is negative.
        """
        if self._feed is not None:
            raise UsageError("skip: the stream has begun; call skip before the first item")
        if episodes < 0:
            raise UsageError(f"skip: found {episodes}; expected a number of episodes of at least 0")
        self._episode, self._given = self._episode + episodes, 0
        return self

    def __next__(self) -> LiveItem:
        """Return the next item.

        Raises:
            DioramaError: of a run, or of a benchmark. The episodes of a failure are left out, with a warning.
        """
        while not self._items:
            self._read_next()
        item = self._items.popleft()
        self._given += 1
        if not self._items:
            self._episode, self._given = self._episode + 1, 0
        return item

    def _start(self) -> Feed:
        if self.options.record is not None:
            self._committer = Committer(open_or_create(self.options.record), self.options.run)
        # Questions follow from the earlier images of their block.
        self._number = self._episode if self.options.questions is None else self._episode // BLOCK * BLOCK
        self._make = items_maker(Selection(questions=self.options.questions))
        feed = self._feed = Feed(_tasks(self.options, self._number), self.options.ahead)
        thread = threading.Thread(target=_render_all, args=(self.options.run, feed), name="diorama-live", daemon=True)
        end = weakref.finalize(self, _close_stream, feed, thread, self._committer)
        # Before Ray's own handler, which was registered when Ray was imported.
        end.atexit = False
        atexit.register(end)
        self._end = end
        thread.start()
        return feed

    def _read_next(self) -> None:
        """Take the next episode and make its items."""
        done = (self._feed or self._start()).take()
        number, self._number = self._number, self._number + 1
        if number > self._episode:  # The last one had no items.
            self._episode, self._given = number, 0
        if number % BLOCK == 0:
            self._make = items_maker(Selection(questions=self.options.questions))
        items, why = list[LiveItem](), ""
        match done:
            case Failure():
                log.warning("left out: %s", done.message)
                why = f"; the last: {done.message}"
            case Done():
                (row,) = decode([done.row]).to_pylist()
                record = record_of(row)
                items = [LiveItem(**vars(item), record=record) for item in self._make(record)]
        if number < self._episode:
            return
        self._without = 0 if items else self._without + 1
        if self._without > BLOCK:
            raise UsageError(f"{self._without} episodes in a row have no item{why}")
        self._items.extend(items[self._given :])
        if self._committer is not None:
            if self._items and isinstance(done, Done):
                self._committer.add(done)
            _warn_of_failures(self._committer.poll())

    def torch_dataset(self, length: int, transform: Callable[[LiveItem], Any] | None = None) -> LiveDataset:
        """Return a PyTorch IterableDataset of this stream, from its first item on.

        It divides the stream among the ranks of torch.distributed and the workers of a DataLoader. Each worker renders
        with processes of its own, so `num_workers=0` is best. With several shards, `record` is the beginning of the
        name of one store each.

        Args:
            length: number of items of each rank.
            transform: LiveItem -> what the dataset returns; by default a dict of id, images (N, 3, H, W) uint8,
                question, options, and answer, the number of the right option.

        Raises:
            UsageError: PyTorch is not installed.
        """
        from diorama.render.uses.live.torch_items import LiveDataset

        return LiveDataset(self.options, Live, length, transform)

    def close(self) -> None:
        """End the workers and commit what was shown. A later item starts them again."""
        atexit.unregister(self._end)
        try:
            self._end()
        finally:
            self._reset()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
