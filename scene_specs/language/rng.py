"""Random numbers for spec generators: counter-based and keyed by purpose, without state between calls."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

_Item = TypeVar("_Item")


def generator(seed: int, episode: str, purpose: str) -> np.random.Generator:
    """Return a new generator; equal seed, episode id and purpose give equal numbers on every machine."""
    # Lengths distinguish ("a", "bc") from ("ab", "c"); the first part distinguishes the keys from the compiler's.
    parts = ("specs", str(seed), episode, purpose)
    digest = hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).digest()
    key = np.frombuffer(digest[:16], dtype="<u8").astype(np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def pick(rng: np.random.Generator, items: Sequence[_Item]) -> _Item:
    """Draw one of the items uniformly."""
    return items[int(rng.integers(len(items)))]


def sample(rng: np.random.Generator, items: Sequence[_Item], count: int) -> list[_Item]:
    """Draw `count` different items (or all, if there are fewer), in random order."""
    return [items[k] for k in rng.permutation(len(items))[:count].tolist()]


def shuffled(rng: np.random.Generator, items: Sequence[_Item]) -> list[_Item]:
    """Return all items in random order."""
    return sample(rng, items, len(items))
