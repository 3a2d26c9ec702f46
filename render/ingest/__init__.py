"""Reads model files with Blender's importers, each in a confined process of its own: a mesh, materials, and notes."""
