"""What Lance raises, turned into StoreError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from render.errors import StoreError

LANCE_ERRORS = (OSError, ValueError, RuntimeError)
_CONFLICTS = ("conflict", "contention", "concurrent")


@contextmanager
def explained(where: str, what: str) -> Iterator[None]:
    """Turns what Lance raises inside into a StoreError that says `where` and `what` failed."""
    try:
        yield
    except BaseException as error:
        # A damaged file can make Lance panic, and that exception is no Exception and can't be imported.
        if isinstance(error, LANCE_ERRORS) or type(error).__name__ == "PanicException":
            raise StoreError(f"{where}: {what} failed: {reason(error)}") from error
        raise


def is_conflict(error: Exception) -> bool:
    """Whether another writer was first, so that trying again helps."""
    return isinstance(error, OSError | RuntimeError) and any(word in str(error).lower() for word in _CONFLICTS)


def reason(error: BaseException) -> str:
    """Lance's message without the places in its own source that it ends with."""
    return str(error).split(", /")[0].strip() or type(error).__name__
