"""Whether an object store honors conditional PUT. One that ignores it loses commits, silently."""

from __future__ import annotations

import secrets
from typing import Any

from render.model.errors import StoreError
from render.store.lance.location import is_remote
from render.store.lance.translate_errors import reason

_PROBE = "_diorama_probe"


def check_conditional_put(url: str) -> None:
    """Put one key twice in create mode beside a remote store: the second must be refused. Nothing for a local path.

    Raises StoreError for a server that takes it (`rclone serve s3` does, and lost 42 of 160 acknowledged commits), and
    where the server can't be written at all.
    """
    if not is_remote(url):
        return
    try:
        import obstore
        from obstore.exceptions import AlreadyExistsError
        from obstore.store import from_url
    except ImportError:
        raise StoreError(f"{url}: writing to S3 needs obstore: pip install 'diorama[s3]'") from None
    key = f"{_PROBE}-{secrets.token_hex(8)}"
    try:
        server = from_url(url)
        obstore.put(server, key, b"1", mode="create")
    except Exception as error:
        raise StoreError(f"{url}: can't be written: {reason(error)}") from error
    try:
        obstore.put(server, key, b"2", mode="create")
    except AlreadyExistsError:
        return
    except Exception as error:
        raise StoreError(f"{url}: conditional PUT can't be tried: {reason(error)}") from error
    finally:
        # A key left behind does no harm, and its failure should not hide what was found out.
        _forget(server, key)
    raise StoreError(
        f"{url}: this server ignores If-None-Match on PUT, so two writers would overwrite each other's commits; "
        "use one that honors it (AWS S3, Ceph, MinIO), or a local store and `render-store copy`"
    )


def _forget(server: Any, key: str) -> None:
    import contextlib

    import obstore

    with contextlib.suppress(Exception):
        obstore.delete(server, key)
