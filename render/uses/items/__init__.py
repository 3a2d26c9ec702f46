"""Evaluation items of a store, and what models and guessers reach on them."""
