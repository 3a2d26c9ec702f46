"""Errors of Lance and of S3 servers, translated into StoreError."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from diorama.scene_specs.errors import StoreError, UsageError
from diorama.scene_specs.files.foreign import cut, without_secrets

# OverflowError: a requested number, such as a version's, has more than 64 bits.
LANCE_ERRORS = (OSError, ValueError, RuntimeError, OverflowError)
_WRONG_FILTER = re.compile("Invalid user input: |Error applying filter expression to batch: ")
# Characters of an error that are read, and of one that are shown: a server may send 50 MB.
_LONGEST_ERROR, _SHOWN = 100_000, 1_000
_CONFLICTS = ("conflict", "contention", "concurrent")
_PREFIX = re.compile(r"^LanceError\([^)]*\): ")
_UNREACHABLE = re.compile(r"Error performing [A-Z]+ (https?://[^/\s]+)\S* in .*error sending request", re.DOTALL)
_S3_CODE = re.compile(r"<Code>(\w+)</Code>")
_PERMANENT = re.compile(
    r"Permission denied|Read-only file system|Operation not permitted|"
    "<Code>(AccessDenied|NoSuchBucket|InvalidAccessKeyId|SignatureDoesNotMatch|InvalidBucketName)</Code>"
)
_KEYS = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN), and that they belong to this server"
_S3_MEANINGS = {
    "InvalidAccessKeyId": f"the server does not know this access key; {_KEYS}",
    "SignatureDoesNotMatch": f"the secret does not match the access key; {_KEYS}",
    "InvalidToken": f"the session token is not valid; {_KEYS}",
    "ExpiredToken": "the session token has expired: sign in again, then run the same command",
    "AccessDenied": "this key may not do that; ask the bucket's owner for permission to read, write, list and delete",
    "NoSuchBucket": "the bucket does not exist on this server; make it first, or check its name and AWS_ENDPOINT",
    "PermanentRedirect": "the bucket is in another region; set AWS_REGION to it",
    "AuthorizationHeaderMalformed": "the bucket is in another region; set AWS_REGION to it",
    "RequestTimeTooSkewed": "this machine's clock is wrong: set it",
    "QuotaExceeded": "the quota on this server is used up",
    "InvalidBucketName": "the bucket name is invalid",
}


@contextmanager
def translate_errors(where: str, action: str) -> Iterator[None]:
    """Turn errors of Lance inside the block into a StoreError: `where` and which `action` failed."""
    try:
        yield
    except BaseException as error:
        # A damaged file can make Lance panic; PanicException derives from BaseException and can't be imported.
        if isinstance(error, LANCE_ERRORS) or type(error).__name__ == "PanicException":
            translated = StoreError(f"{where}: {action} failed: {reason(error)}")
            translated.permanent = _PERMANENT.search(str(error)) is not None
            raise translated from error
        raise


@contextmanager
def translate_filter_errors(where: str, action: str, condition: str | None) -> Iterator[None]:
    """Translate as `translate_errors`, but raise UsageError for a user's SQL filter that Lance can't parse or apply."""
    with translate_errors(where, action + (f" where {condition[:200]}" if condition else "")):
        try:
            yield
        except LANCE_ERRORS as error:
            match = _WRONG_FILTER.search(str(error))
            if condition is None or match is None:
                raise
            problem = reason(error).partition(match[0])[2]
            verb = "apply" if "applying" in match[0] else "parse"
            raise UsageError(f"{where}: can't {verb} the condition {condition[:200]!r}: {problem}") from error


def is_conflict(error: Exception) -> bool:
    """Return whether another writer committed first, so that a retry can succeed."""
    return isinstance(error, OSError | RuntimeError) and any(word in str(error).lower() for word in _CONFLICTS)


def reason(error: BaseException) -> str:
    """Return the meaning of an S3 error, else Lance's message without the trailing locations in Lance's source."""
    text = without_secrets(str(error)[:_LONGEST_ERROR])
    # In one line, so that nobody else's text looks like a message.
    shown = cut(" ".join(_PREFIX.sub("", text.split(", /")[0]).split()), _SHOWN)
    return explain_s3_error(text) or shown or type(error).__name__


def explain_s3_error(text: str) -> str | None:
    """Return the meaning of an error of S3 within `text`, None if it is not a known one."""
    if unreachable := _UNREACHABLE.search(text):
        return f"{unreachable[1]} does not answer; check AWS_ENDPOINT and the network"
    match = _S3_CODE.search(text)
    if match is None or match[1] not in _S3_MEANINGS:
        return None
    return f"{_S3_MEANINGS[match[1]]} ({match[1]})"
