"""Random numbers: counter-based generators keyed by purpose, without state between calls."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.random import Generator

_Item = TypeVar("_Item")


def key_digest(*parts: str) -> bytes:
    """Return the SHA-256 of some texts and their lengths, which distinguish ("a", "bc") from ("ab", "c")."""
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).digest()


def keyed_generator(digest: bytes) -> np.random.Generator:
    """Return a new generator; equal digests give equal numbers on every machine."""
    key = np.frombuffer(digest[:16], dtype="<u8").astype(np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def generator(seed: int, episode: str, purpose: str) -> np.random.Generator:
    """Return a new generator for specs, by seed, episode id and purpose."""
    # The first part distinguishes the keys from the compiler's.
    return keyed_generator(key_digest("specs", str(seed), episode, purpose))


def pick(rng: np.random.Generator, items: Sequence[_Item]) -> _Item:
    """Draw one of the items uniformly."""
    return items[int(rng.integers(len(items)))]


def sample(rng: np.random.Generator, items: Sequence[_Item], count: int) -> list[_Item]:
    """Draw `count` different items (or all, if there are fewer), in random order."""
    return [items[k] for k in rng.permutation(len(items))[:count].tolist()]


def shuffled(rng: np.random.Generator, items: Sequence[_Item]) -> list[_Item]:
    """Return all items in random order."""
    return sample(rng, items, len(items))


@dataclass(frozen=True)
class Keys:
    """The generators of one frame of one episode."""

    seed: int
    episode: str
    frame: str

    def _purpose_digest(self, purpose: str) -> bytes:
        return key_digest(str(self.seed), self.episode, self.frame, purpose)

    def generator(self, purpose: str) -> Generator:
        """Return a new generator; equal keys and purposes always give equal numbers."""
        return keyed_generator(self._purpose_digest(purpose))

    def bits31(self, purpose: str) -> int:
        """Return 31 bits, for a seed of Cycles."""
        return int.from_bytes(self._purpose_digest(purpose)[:4], "little") >> 1
