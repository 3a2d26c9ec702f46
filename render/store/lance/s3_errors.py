"""What an S3 server's refusal means, in words that say what to do."""

from __future__ import annotations

import re

_CODE = re.compile(r"<Code>(\w+)</Code>")
_KEYS = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN), and that they belong to this server"
_MEANINGS = {
    "InvalidAccessKeyId": f"the server does not know this access key; {_KEYS}",
    "SignatureDoesNotMatch": f"the secret does not fit the access key; {_KEYS}",
    "InvalidToken": f"the session's token is not valid; {_KEYS}",
    "ExpiredToken": "the session's token has expired: sign in again, then run the same command",
    "AccessDenied": "this key may not do that; ask the owner of the bucket for reading, writing, listing and deleting",
    "NoSuchBucket": "there is no such bucket on this server; make it first, or check its name and AWS_ENDPOINT",
    "PermanentRedirect": "the bucket is in another region; set AWS_REGION to it",
    "AuthorizationHeaderMalformed": "the bucket is in another region; set AWS_REGION to it",
    "RequestTimeTooSkewed": "this machine's clock is wrong: set it",
    "QuotaExceeded": "the quota on this server is used up",
    "InvalidBucketName": "that is no name of a bucket",
}


def explain_s3_error(text: str) -> str | None:
    """What a server's answer within an error's text means, None where it is not one of S3's known refusals.

    text: of the error, with the server's XML somewhere in it.
    """
    found = _CODE.search(text)
    if found is None or found[1] not in _MEANINGS:
        return None
    return f"{_MEANINGS[found[1]]} ({found[1]})"
