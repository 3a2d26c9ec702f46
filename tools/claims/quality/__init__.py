"""Measure the quality and the cost of a profile's images; see docs/quality.md."""
