"""Importers: published scene files of other projects as specs."""
