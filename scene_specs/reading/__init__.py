"""Spec files: finding them, parsing JSON with line numbers, and reporting every diagnostic in one pass."""
