"""Shapes that nobody has a word for: meshes from numbers. See docs/invented.md."""
