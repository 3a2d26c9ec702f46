"""Data that every part of `render` shares: Scene, record, passes, profiles, errors. It imports nothing above it."""
