"""Finds, edits, renders again, compares and replaces one episode."""
