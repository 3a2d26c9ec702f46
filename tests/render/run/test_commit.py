"""The committer's thread: whatever ends it, the run hears of it and waits for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from diorama.render.run.commit import Committer
from diorama.render.run.options import RunOptions
from diorama.render.run.worker import Done
from diorama.render.store.episode_store import PutResult
from diorama.render.store.lance.errors import translate_errors
from diorama.scene_specs.errors import StoreError

# Never waited for where all is well.
BOUND = 20.0


class Breaking:
    """A store that takes everything, and breaks where it would tidy up."""

    def put_encoded(self, parts: Sequence[bytes]) -> PutResult:
        return PutResult(len(parts), 0, 0)

    def maybe_compact(self) -> None:
        raise RuntimeError("planted")


@pytest.fixture
def committer() -> Iterator[Committer]:
    store: Any = Breaking()
    made = Committer(store, RunOptions(commit_every=1, store_wait=0.0, mix_series=True))
    yield made
    made.close()


def test_an_error_after_a_commit_comes_to_the_run(committer: Committer) -> None:
    first, second = Done("a", b"", 1), Done("b", b"", 1)
    committer.add(first)
    assert committer.finish(BOUND) == [first], "it was stored before anything broke"
    committer.add(second)
    with pytest.raises(RuntimeError, match="planted"):
        committer.finish(BOUND)


@pytest.mark.parametrize(
    "text",
    [
        "LocalFileSystem error: Permission denied (os error 13)",
        "LocalFileSystem error: Read-only file system (os error 30)",
        "S3 error: 404 Not Found: <Error><Code>NoSuchBucket</Code></Error>",
    ],
)
def test_an_error_that_does_not_go_away_is_not_retried(text: str) -> None:
    class Denied(Breaking):
        tries = 0

        def put_encoded(self, parts: Sequence[bytes]) -> PutResult:
            self.tries += 1
            with translate_errors("s.lance", "committing"):
                raise OSError(f"LanceError(IO): Generic {text}")

    store: Any = Denied()
    denied = Committer(store, RunOptions(commit_every=1, store_wait=300.0, mix_series=True))
    denied.add(Done("a", b"", 1))
    with pytest.raises(StoreError, match="committing"):
        denied.finish(BOUND)
    assert store.tries == 1


def test_a_thread_that_is_gone_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Committer, "_commit_group", lambda self, group: None)
    store: Any = Breaking()
    gone = Committer(store, RunOptions(commit_every=1, store_wait=0.0, mix_series=True))
    gone.add(Done("a", b"", 1))
    with pytest.raises(StoreError, match=r"1 episodes .* not known to be in the store"):
        gone.finish(BOUND)
