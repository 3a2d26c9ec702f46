"""Compile specs to Scenes. Pure: only numpy and the assets."""

from __future__ import annotations

from diorama.render.compiler.compile import compile_episode

__all__ = ["compile_episode"]
