"""Invent contradictions in published files and count the refused ones.

    python -m tools contradictions [KIND...] [--invented 40] [--clean 600] [--seed 0]

For each benchmark, the tool writes items in the published form, changes one copy of a fact in some of them, and imports
each item with --strict and proves it. A changed value is one that another item has at the same place. Prints a row per
kind: invented contradictions, refused by name (the file or the episode is named), clean items, refused clean items, and
what passed. Exit code 1: a clean item was refused, or less than 39 of 40 contradictions.
"""

from __future__ import annotations

from tests.hostile.contradictions import add_options, main

__all__ = ["add_options", "main"]
