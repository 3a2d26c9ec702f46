"""Stateless randomness: a counter-based generator for each purpose, keyed by seed, episode, frame and purpose."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, Philox


@dataclass(frozen=True)
class Keys:
    """The generators of one frame of one episode."""

    seed: int
    episode: str
    frame: str

    def _digest(self, purpose: str) -> bytes:
        # The lengths distinguish ("a", "bc") from ("ab", "c").
        parts = (str(self.seed), self.episode, self.frame, purpose)
        return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).digest()

    def generator(self, purpose: str) -> Generator:
        """A new generator; equal keys and purposes always give equal numbers."""
        return Generator(Philox(key=np.frombuffer(self._digest(purpose)[:16], dtype="<u8").astype(np.uint64)))

    def bits31(self, purpose: str) -> int:
        """31 bits, for a seed of Cycles."""
        return int.from_bytes(self._digest(purpose)[:4], "little") >> 1
