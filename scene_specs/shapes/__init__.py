"""Meshes that are not packaged as such: models of libraries and files, and invented shapes."""
