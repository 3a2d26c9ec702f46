"""Diorama: abstract scene specs in, rendered and annotated datasets out."""

__version__ = "0.1.0"
