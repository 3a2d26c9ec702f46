"""What Lance raises, turned into StoreError."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from render.model.errors import StoreError, UsageError
from render.store.lance.s3_errors import explain_s3_error

# OverflowError: a number that was asked for, such as a version's, has more than 64 bits.
LANCE_ERRORS = (OSError, ValueError, RuntimeError, OverflowError)
_WRONG_CONDITION = "Invalid user input"
_CONFLICTS = ("conflict", "contention", "concurrent")


@contextmanager
def translate_errors(where: str, what: str) -> Iterator[None]:
    """Turns what Lance raises inside into a StoreError that says `where` and `what` failed."""
    try:
        yield
    except BaseException as error:
        # A damaged file can make Lance panic, and that exception is no Exception and can't be imported.
        if isinstance(error, LANCE_ERRORS) or type(error).__name__ == "PanicException":
            raise StoreError(f"{where}: {what} failed: {reason(error)}") from error
        raise


@contextmanager
def translate_condition_errors(where: str, what: str, condition: str | None) -> Iterator[None]:
    """As `translate_errors`, but raises UsageError where Lance can't make sense of the condition that the user gave."""
    with translate_errors(where, what):
        try:
            yield
        except LANCE_ERRORS as error:
            if condition is None or _WRONG_CONDITION not in str(error):
                raise
            said = reason(error).partition(f"{_WRONG_CONDITION}: ")[2]
            raise UsageError(f"{where}: the condition {condition[:200]!r} can't be read: {said}") from error


def is_conflict(error: Exception) -> bool:
    """Whether another writer was first, so that trying again helps."""
    return isinstance(error, OSError | RuntimeError) and any(word in str(error).lower() for word in _CONFLICTS)


def reason(error: BaseException) -> str:
    """What an S3 server's refusal means; else Lance's message, without the places in its own source at its end."""
    text = str(error)
    return explain_s3_error(text) or text.split(", /")[0].strip() or type(error).__name__
