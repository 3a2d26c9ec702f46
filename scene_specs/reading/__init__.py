"""Spec files: find them, parse JSON with line numbers, and report all diagnostics in one pass."""
