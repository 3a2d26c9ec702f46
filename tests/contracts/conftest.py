"""The package of docs/extending.md is installed for every contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from diorama.render.store.lance.lance_store import LanceStore
from tests.acme import write_installed
from tests.contracts.formats import records, store_of
from tests.distributions import installed


@pytest.fixture(scope="session")
def acme_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as pip would install it."""
    folder = tmp_path_factory.mktemp("acme")
    write_installed(folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def acme(acme_folder: Path) -> Iterator[None]:
    """Its plug-ins, beside Diorama's own."""
    with installed(acme_folder):
        yield


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A format."""
    return getattr(request, "param", "folder")


@pytest.fixture
def store(tmp_path: Path, name: str) -> LanceStore:
    """Five episodes that a format takes."""
    return store_of(tmp_path / "s.lance", records(name))
