"""Shapes that nobody has a word for: meshes from numbers, and how similar two of them are. See docs/invented.md."""
