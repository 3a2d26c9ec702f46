"""Spec to Scene. Pure: numpy, the assets, and nothing else."""

from __future__ import annotations

from render.compiler.compile import FrameReport, compile_episode, compile_with_report

__all__ = ["FrameReport", "compile_episode", "compile_with_report"]
