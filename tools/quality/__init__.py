"""The measure: how far a profile's pictures are from the truth, and what they cost. See docs/quality.md."""
