"""Checks of a spec that need more than one field, which pydantic cannot express."""
