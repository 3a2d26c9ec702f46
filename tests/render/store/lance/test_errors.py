"""Translated errors of S3 servers."""

from __future__ import annotations

import pytest

from diorama.render.store.lance.errors import explain_s3_error, translate_errors
from diorama.scene_specs.errors import StoreError

# The answer of a Ceph gateway in the text of Lance's error.
TEXT = (
    "LanceError(IO): Generic S3 error: Error performing list request: Error performing GET "
    "http://127.0.0.1:50477/bucket?list-type=2 in 888.9us - Server returned non-2xx status code: 403 Forbidden: "
    '<?xml version="1.0"?><Error><Code>{}</Code><Message></Message></Error>, /home/build/src/io.rs:1'
)


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"),
        ("SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"),
        ("AccessDenied", "may not"),
        ("NoSuchBucket", "make it first"),
    ],
)
def test_a_refusal_says_what_to_do(code: str, advice: str) -> None:
    with pytest.raises(StoreError) as caught, translate_errors("s3://bucket/x.lance", "opening"):
        raise OSError(TEXT.format(code))
    message = str(caught.value)
    assert message.startswith("s3://bucket/x.lance: opening failed: ") and advice in message and code in message
    assert "<" not in message and len(message) < 300


def test_an_unknown_error_is_shown_unchanged() -> None:
    assert explain_s3_error(TEXT.format("SlowDown")) is None
    with pytest.raises(StoreError, match="SlowDown"), translate_errors("s3://bucket/x.lance", "opening"):
        raise OSError(TEXT.format("SlowDown"))
