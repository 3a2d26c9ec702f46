"""Stateless randomness: a counter-based generator for each purpose, keyed by seed, episode, frame and purpose."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from diorama.scene_specs.language.rng import key_digest, keyed_generator


@dataclass(frozen=True)
class Keys:
    """The generators of one frame of one episode."""

    seed: int
    episode: str
    frame: str

    def _digest(self, purpose: str) -> bytes:
        return key_digest(str(self.seed), self.episode, self.frame, purpose)

    def generator(self, purpose: str) -> Generator:
        """Return a new generator; equal keys and purposes always give equal numbers."""
        return keyed_generator(self._digest(purpose))

    def bits31(self, purpose: str) -> int:
        """Return 31 bits, for a seed of Cycles."""
        return int.from_bytes(self._digest(purpose)[:4], "little") >> 1
