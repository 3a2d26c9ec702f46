"""Evaluation items rendered while they are used."""
