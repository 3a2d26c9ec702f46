"""Meshes, stages, materials and models, each listed in manifest.json."""
