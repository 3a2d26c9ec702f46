"""Randomness for generators of specs: counter-based, keyed by where its numbers go, without a state between calls."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

_Item = TypeVar("_Item")


def generator(seed: int, episode: str, purpose: str) -> np.random.Generator:
    """A fresh generator; the same seed, episode id and purpose give the same numbers on every machine."""
    # Lengths keep ("a", "bc") and ("ab", "c") apart; the first word keeps them apart from the compiler's.
    parts = ("specs", str(seed), episode, purpose)
    digest = hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).digest()
    key = np.frombuffer(digest[:16], dtype="<u8").astype(np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


def pick(rng: np.random.Generator, items: Sequence[_Item]) -> _Item:
    """One of the items, each as likely."""
    return items[int(rng.integers(len(items)))]
