"""Pairs of episodes that differ in one respect."""
