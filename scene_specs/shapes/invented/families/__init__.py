"""Families of invented shapes: one file each."""
